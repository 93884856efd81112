package plan

// wantedByAll returns conditions over the columns of a CTE's definition that every row read anywhere in body meets: for
// each column that all references filter, the disjunction of what they ask of it. The references keep their filters.
func wantedByAll(n *CTE, body Node) []Expr {
	if n.Materialize {
		return nil
	}
	uses := usesOf(n.ID, body)
	counts := map[int]int{}
	countCTERefs(body, counts)
	if len(uses) == 0 || len(uses) != counts[n.ID] {
		return nil
	}
	var out []Expr
	for k, col := range n.Def.Cols() {
		if c := wantedOf(k, col, uses); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// cteUse is one reference with the conditions right above it.
type cteUse struct {
	ref   *CTERef
	conds []Expr
}

func usesOf(id int, body Node) []cteUse {
	var uses []cteUse
	walkNode(body, func(n Node) bool {
		switch n := n.(type) {
		case *Filter:
			if ref, ok := n.Input.(*CTERef); ok && ref.ID == id {
				uses = append(uses, cteUse{ref, n.Conditions})
				return false
			}
		case *CTERef:
			if n.ID == id {
				uses = append(uses, cteUse{ref: n})
			}
		}
		return true
	})
	return uses
}

// wantedOf returns what the uses ask of column k, which the definition calls col; nil when one asks nothing.
func wantedOf(k int, col Col, uses []cteUse) Expr {
	var any []Expr
	seen := map[string]bool{}
	for _, u := range uses {
		id := u.ref.Columns[k].ID
		var all []Expr
		for _, c := range u.conds {
			if used := refs(c).ids(); len(used) == 1 && used[0] == id && !isVolatile(c) {
				all = append(all, substitute(c, map[ColID]Expr{id: refTo(col)}))
			}
		}
		var one Expr
		switch len(all) {
		case 0:
			return nil
		case 1:
			one = all[0]
		default:
			one = &And{Args: all}
		}
		if text := FormatExpr(one); !seen[text] {
			seen[text] = true
			any = append(any, one)
		}
	}
	if len(any) == 1 {
		return any[0]
	}
	return &Or{Args: any}
}
