package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// addPrefixRanges gives scans a range beside LIKE 'abc%', by which statistics prune.
func addPrefixRanges(_ *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		s, ok := n.(*Scan)
		if !ok {
			return n
		}
		var ranges []Expr
		for _, f := range s.Filters {
			ranges = append(ranges, prefixRange(f)...)
		}
		if len(ranges) == 0 {
			return n
		}
		c := *s
		c.Filters = append(ranges, slices.Clone(s.Filters)...)
		return &c
	})
}

func prefixRange(f Expr) []Expr {
	call, ok := f.(*Call)
	if !ok || call.Name != "~~" || len(call.Args) != 2 {
		return nil
	}
	ref, isRef := call.Args[0].(*ColumnRef)
	k, isConst := call.Args[1].(*Const)
	if !isRef || !isConst || k.Value.Null || ref.T.ID != vec.Text {
		return nil
	}
	prefix, rest := likePrefix(k.Value.S)
	if prefix == "" || rest == "" || rest == `\` {
		return nil
	}
	out := []Expr{&Compare{Op: Ge, Left: ref, Right: &Const{Value: vec.StringValue(vec.TextType, prefix)}}}
	if end, ok := successor(prefix); ok {
		out = append(out, &Compare{Op: Lt, Left: ref, Right: &Const{Value: vec.StringValue(vec.TextType, end)}})
	}
	return out
}

// successor returns the least text above every text that begins with prefix. Only a last ASCII character is raised, so
// that the result is text again.
func successor(prefix string) (string, bool) {
	last := prefix[len(prefix)-1]
	if last >= 0x7e {
		return "", false
	}
	return prefix[:len(prefix)-1] + string(rune(last+1)), true
}
