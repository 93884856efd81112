package sql

import "strings"

// Text is the SQL of a node; parsing it gives an equal tree, positions aside. A node that was not made by this package's
// parser must respect the comments of its fields.
func Text(node Node) string {
	pr := &printer{}
	switch n := node.(type) {
	case nil:
		return ""
	case Expr:
		pr.expr(n, precLowest)
	case TableExpr:
		pr.table(n)
	case QueryExpr:
		pr.query(n)
	case Statement:
		pr.statement(n)
	}
	return pr.b.String()
}

// TypeText is the SQL of a type.
func TypeText(t TypeName) string {
	pr := &printer{}
	pr.typeName(t)
	return pr.b.String()
}

type printer struct{ b strings.Builder }

func (pr *printer) put(parts ...string) {
	for _, s := range parts {
		pr.b.WriteString(s)
	}
}

// when puts s if the condition holds.
func (pr *printer) when(condition bool, s string) {
	if condition {
		pr.put(s)
	}
}

// commas calls item for 0 to n-1 with commas between.
func (pr *printer) commas(n int, item func(i int)) {
	for i := range n {
		if i > 0 {
			pr.put(", ")
		}
		item(i)
	}
}

func (pr *printer) exprs(list []Expr) {
	pr.commas(len(list), func(i int) { pr.expr(list[i], precLowest) })
}

// clause puts the words and the expression, if there is one.
func (pr *printer) clause(words string, e Expr) {
	if e != nil {
		pr.put(words)
		pr.expr(e, precLowest)
	}
}

func (pr *printer) ident(id Ident) {
	if id.Quoted || !isPlainName(id.Name) {
		pr.put(`"`, strings.ReplaceAll(id.Name, `"`, `""`), `"`)
		return
	}
	pr.put(id.Name)
}

// label puts a name where any word may stand, after AS or a dot.
func (pr *printer) label(id Ident) {
	if !id.Quoted && wordClasses[id.Name] != ordinary {
		pr.put(id.Name)
		return
	}
	pr.ident(id)
}

func (pr *printer) name(n Name) {
	for i, part := range n {
		if i == 0 {
			pr.ident(part)
			continue
		}
		pr.put(".")
		pr.label(part)
	}
}

func (pr *printer) names(list []Name) {
	pr.commas(len(list), func(i int) { pr.name(list[i]) })
}

// idents puts (a, b), or nothing for none.
func (pr *printer) idents(list []Ident) {
	if len(list) == 0 {
		return
	}
	pr.put("(")
	pr.commas(len(list), func(i int) { pr.ident(list[i]) })
	pr.put(")")
}

func (pr *printer) string(s string) {
	pr.put("'", strings.ReplaceAll(s, "'", "''"), "'")
}

func (pr *printer) typeName(t TypeName) {
	if t.Schema.Name != "" {
		pr.ident(t.Schema)
		pr.put(".")
	}
	switch {
	case t.Name == "double precision" || t.Name == "struct" && len(t.Fields) > 0:
		pr.put(t.Name)
	default:
		pr.ident(Ident{Name: t.Name})
	}
	if len(t.Fields) > 0 {
		pr.structFields(t.Fields)
	}
	if t.Interval != "" {
		pr.put(" ", t.Interval)
	}
	if len(t.Args) > 0 {
		pr.put("(")
		pr.commas(len(t.Args), func(i int) { pr.put(itoa(t.Args[i])) })
		pr.put(")")
	}
	for _, size := range t.Dims {
		pr.put("[")
		pr.when(size > 0, itoa(size))
		pr.put("]")
	}
}

func (pr *printer) structFields(fields []StructField) {
	pr.put("(")
	pr.commas(len(fields), func(i int) {
		pr.label(fields[i].Name)
		pr.put(" ")
		pr.typeName(fields[i].Type)
	})
	pr.put(")")
}

// options puts (name = value, ...).
func (pr *printer) options(list []Option) {
	pr.put("(")
	pr.commas(len(list), func(i int) {
		pr.setting(list[i].Name.Name)
		if list[i].Value != nil {
			pr.put(" = ")
			pr.settingValue(list[i].Value)
		}
	})
	pr.put(")")
}

// with puts WITH (...) if there are options.
func (pr *printer) with(list []Option) {
	if len(list) > 0 {
		pr.put(" WITH ")
		pr.options(list)
	}
}
