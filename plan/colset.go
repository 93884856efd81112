package plan

import "math/bits"

// colSet is a set of column ids. The zero value is empty; sets are grown by add and shared otherwise.
type colSet struct{ words []uint64 }

func colsOf(n Node) colSet {
	var s colSet
	s.addNode(n)
	return s
}

// addNode adds a node's columns. Joins of many tables ask for those of every join on the way: they are not copied.
func (s *colSet) addNode(n Node) {
	for {
		join, ok := n.(*Join)
		if !ok {
			s.addCols(n.Cols())
			return
		}
		switch join.Kind {
		case Semi, Anti:
		case Mark:
			s.add(join.MarkCol.ID)
		default:
			s.addNode(join.Right)
		}
		n = join.Left
	}
}

func (s *colSet) add(id ColID) {
	w := int(id) / 64
	for len(s.words) <= w {
		s.words = append(s.words, 0)
	}
	s.words[w] |= 1 << (uint(id) % 64)
}

func (s *colSet) addAll(o colSet) {
	for len(s.words) < len(o.words) {
		s.words = append(s.words, 0)
	}
	for i, w := range o.words {
		s.words[i] |= w
	}
}

func (s *colSet) addCols(cols []Col) {
	for i := range cols {
		s.add(cols[i].ID)
	}
}

func (s colSet) has(id ColID) bool {
	w := int(id) / 64
	return w < len(s.words) && s.words[w]>>(uint(id)%64)&1 != 0
}

func (s colSet) empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s colSet) intersects(o colSet) bool {
	for i := range min(len(s.words), len(o.words)) {
		if s.words[i]&o.words[i] != 0 {
			return true
		}
	}
	return false
}

// within reports whether every member of s is in o.
func (s colSet) within(o colSet) bool {
	for i, w := range s.words {
		var ow uint64
		if i < len(o.words) {
			ow = o.words[i]
		}
		if w&^ow != 0 {
			return false
		}
	}
	return true
}

// minus returns the members of s that are not in o.
func (s colSet) minus(o colSet) colSet {
	out := colSet{words: append([]uint64(nil), s.words...)}
	for i := range min(len(out.words), len(o.words)) {
		out.words[i] &^= o.words[i]
	}
	return out
}

func (s colSet) clone() colSet { return colSet{words: append([]uint64(nil), s.words...)} }

// ids lists the members in ascending order.
func (s colSet) ids() []ColID {
	var out []ColID
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			out = append(out, ColID(i*64+bits.TrailingZeros64(w)))
		}
	}
	return out
}
