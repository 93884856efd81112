package function

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// sequence matches a regular expression that is a sequence of characters, classes and their repetitions, as those that
// take URLs and log lines apart are, by trying its pieces in order. It gives the leftmost-first match that package
// regexp gives. It knows ASCII texts only, and gives up where trying takes too many steps.
type sequence struct {
	pieces   []piece
	prefix   string // what every match begins with
	anchored bool   // matches begin where the text does
	slots    int
}

// maxSlots bounds the ends of groups, that of the whole match among them.
const maxSlots = 20

type pieceKind uint8

const (
	literal  pieceKind = iota
	oneOf              // one character of a class
	repeated           // a class, min or more times, or at most once
	maybe              // a literal or nothing
	slot               // an end of a group
	textBegin
	textEnd
)

type piece struct {
	kind   pieceKind
	text   string     // literal, maybe
	class  *[256]bool // oneOf, repeated
	min    int
	once   bool // repeated at most once
	lazy   bool // the shortest first
	only   bool // what follows can begin at the end of the longest repetition alone
	number int  // of the slot
}

// newSequence returns the sequence of an expression, nil when it is none.
func newSequence(text string) *sequence {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	tree = tree.Simplify()
	s := &sequence{slots: 2 * (tree.MaxCap() + 1)}
	if s.slots > maxSlots || !s.add(tree) {
		return nil
	}
	s.prepare()
	return s
}

// add appends the pieces of a tree and reports whether that could be done.
func (s *sequence) add(t *syntax.Regexp) bool {
	lazy := t.Flags&syntax.NonGreedy != 0
	switch t.Op {
	case syntax.OpEmptyMatch:
	case syntax.OpConcat:
		for _, sub := range t.Sub {
			if !s.add(sub) {
				return false
			}
		}
	case syntax.OpCapture:
		s.pieces = append(s.pieces, piece{kind: slot, number: 2 * t.Cap})
		if !s.add(t.Sub[0]) {
			return false
		}
		s.pieces = append(s.pieces, piece{kind: slot, number: 2*t.Cap + 1})
	case syntax.OpBeginText:
		s.pieces = append(s.pieces, piece{kind: textBegin})
	case syntax.OpEndText:
		s.pieces = append(s.pieces, piece{kind: textEnd})
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		p := piece{kind: repeated, class: classOf(t.Sub[0]), lazy: lazy, once: t.Op == syntax.OpQuest}
		if t.Op == syntax.OpPlus {
			p.min = 1
		}
		if p.class == nil {
			text, ok := literalOf(t.Sub[0])
			if !ok || !p.once {
				return false
			}
			p.kind, p.text = maybe, text
		}
		s.pieces = append(s.pieces, p)
	default:
		if text, ok := literalOf(t); ok {
			s.pieces = append(s.pieces, piece{kind: literal, text: text})
			return true
		}
		if c := classOf(t); c != nil {
			s.pieces = append(s.pieces, piece{kind: oneOf, class: c})
			return true
		}
		return s.addFolded(t)
	}
	return true
}

// addFolded appends a literal in either case.
func (s *sequence) addFolded(t *syntax.Regexp) bool {
	if t.Op != syntax.OpLiteral {
		return false
	}
	for _, r := range t.Rune {
		one := syntax.Regexp{Op: syntax.OpLiteral, Flags: t.Flags, Rune: []rune{r}}
		c := classOf(&one)
		if c == nil {
			return false
		}
		s.pieces = append(s.pieces, piece{kind: oneOf, class: c})
	}
	return true
}

// literalOf returns the text that a tree stands for.
func literalOf(t *syntax.Regexp) (string, bool) {
	if t.Op != syntax.OpLiteral || t.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	for _, r := range t.Rune {
		if r >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(t.Rune), true
}

// classOf returns the ASCII characters that a tree of one character stands for, nil when it is another.
func classOf(t *syntax.Regexp) *[256]bool {
	var c [256]bool
	switch t.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for i := range utf8.RuneSelf {
			c[i] = i != '\n' || t.Op == syntax.OpAnyChar
		}
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			for r := t.Rune[i]; r <= t.Rune[i+1] && r < utf8.RuneSelf; r++ {
				c[r] = true
			}
		}
	case syntax.OpLiteral:
		if len(t.Rune) != 1 || t.Rune[0] >= utf8.RuneSelf {
			return nil
		}
		r := t.Rune[0]
		c[r] = true
		if t.Flags&syntax.FoldCase != 0 && (r|0x20) >= 'a' && (r|0x20) <= 'z' {
			c[r^0x20] = true
		}
	default:
		return nil
	}
	return &c
}

// prepare notes what saves trying.
func (s *sequence) prepare() {
	for i := range s.pieces {
		if p := &s.pieces[i]; p.kind == repeated && !p.lazy {
			p.only = s.excludes(i+1, p.class)
		}
	}
	for i := range s.pieces {
		switch p := &s.pieces[i]; p.kind {
		case slot:
			continue
		case textBegin:
			s.anchored = true
		case literal:
			s.prefix = p.text
		}
		return
	}
}

// excludes reports that no character of a class begins what the pieces from i on match.
func (s *sequence) excludes(i int, class *[256]bool) bool {
	for ; i < len(s.pieces); i++ {
		switch p := &s.pieces[i]; p.kind {
		case slot:
			continue
		case literal:
			return !class[p.text[0]]
		case textEnd:
			return true
		case oneOf, repeated:
			if p.kind == repeated && p.min == 0 {
				return false
			}
			for c, in := range p.class {
				if in && class[c] {
					return false
				}
			}
			return true
		}
		return false
	}
	return false
}

// trial is one search.
type trial struct {
	s     string
	seq   *sequence
	at    [maxSlots]int
	steps int
}

// find looks for the first match; known is false when it could not find out.
func (s *sequence) find(text string, t *trial) (found, known bool) {
	if !isASCII(text) {
		return false, false
	}
	t.s, t.seq, t.steps = text, s, 1000+16*len(text)
	for start := 0; start <= len(text); start++ {
		if s.prefix != "" {
			at := strings.Index(text[start:], s.prefix)
			if at < 0 {
				return false, true
			}
			start += at
		}
		t.at[0] = start
		if t.match(0, start) {
			return true, true
		}
		if t.steps < 0 {
			return false, false
		}
		if s.anchored {
			break
		}
	}
	return false, true
}

func isASCII(s string) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// match tries the pieces from i on at a place. A slot is set by every way to the end, so none is restored.
func (t *trial) match(i, pos int) bool {
	if t.steps--; t.steps < 0 {
		return false
	}
	for ; i < len(t.seq.pieces); i++ {
		switch p := &t.seq.pieces[i]; p.kind {
		case literal:
			if !strings.HasPrefix(t.s[pos:], p.text) {
				return false
			}
			pos += len(p.text)
		case oneOf:
			if pos == len(t.s) || !p.class[t.s[pos]] {
				return false
			}
			pos++
		case slot:
			t.at[p.number] = pos
		case textBegin:
			if pos != 0 {
				return false
			}
		case textEnd:
			if pos != len(t.s) {
				return false
			}
		case maybe:
			there := strings.HasPrefix(t.s[pos:], p.text)
			switch {
			case there && p.lazy:
				if t.match(i+1, pos) {
					return true
				}
				pos += len(p.text)
			case there:
				if t.match(i+1, pos+len(p.text)) {
					return true
				}
			}
			if t.steps < 0 {
				return false
			}
		case repeated:
			return t.repeat(i, p, pos)
		}
	}
	t.at[1] = pos
	return true
}

// repeat tries the lengths of a repetition.
func (t *trial) repeat(i int, p *piece, pos int) bool {
	limit := len(t.s)
	if p.once {
		limit = min(pos+1, limit)
	}
	end := pos
	for end < limit && p.class[t.s[end]] {
		end++
	}
	low := pos + p.min
	if p.lazy {
		for at := low; at <= end; at++ {
			if t.match(i+1, at) {
				return true
			}
		}
		return false
	}
	if p.only && !p.once {
		return end >= low && t.match(i+1, end)
	}
	for at := end; at >= low; at-- {
		if t.match(i+1, at) {
			return true
		}
	}
	return false
}
