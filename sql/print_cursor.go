package sql

import "strconv"

// cursor prints the statements about cursors; it reports whether s is one.
func (pr *printer) cursor(s Statement) bool {
	switch s := s.(type) {
	case *DeclareCursor:
		pr.put("DECLARE ")
		pr.ident(s.Name)
		if s.Scroll {
			pr.put(" SCROLL")
		}
		pr.put(" CURSOR")
		if s.Hold {
			pr.put(" WITH HOLD")
		}
		pr.put(" FOR ")
		pr.query(s.Query)
	case *Fetch:
		pr.put(map[bool]string{false: "FETCH ", true: "MOVE "}[s.Move])
		pr.put([...]string{"FORWARD ", "BACKWARD ", "ABSOLUTE ", "RELATIVE "}[s.Direction])
		if s.All {
			pr.put("ALL")
		} else {
			pr.put(strconv.FormatInt(s.Count, 10))
		}
		pr.put(" FROM ")
		pr.ident(s.Cursor)
	case *CloseCursor:
		pr.put("CLOSE ")
		if s.Name.Name == "" {
			pr.put("ALL")
		} else {
			pr.ident(s.Name)
		}
	default:
		return false
	}
	return true
}
