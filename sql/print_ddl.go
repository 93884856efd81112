package sql

import "strings"

func (pr *printer) create(s Statement) {
	switch s := s.(type) {
	case *CreateSchema:
		pr.put("CREATE SCHEMA ")
		pr.when(s.IfNotExists, "IF NOT EXISTS ")
		pr.name(s.Name)
	case *CreateTable:
		pr.createTable(s)
	case *CreateView:
		pr.put("CREATE ")
		pr.when(s.OrReplace, "OR REPLACE ")
		pr.when(s.Temp, "TEMP ")
		pr.when(s.Recursive, "RECURSIVE ")
		pr.put("VIEW ")
		pr.when(s.IfNotExists, "IF NOT EXISTS ")
		pr.name(s.Name)
		pr.idents(s.Columns)
		pr.put(" AS ")
		pr.query(s.Query)
	case *CreateStream:
		pr.put("CREATE ")
		pr.when(s.OrReplace, "OR REPLACE ")
		pr.put("STREAM ")
		pr.when(s.IfNotExists, "IF NOT EXISTS ")
		pr.name(s.Name)
		pr.put(" FROM ")
		pr.ident(s.Source)
		pr.with(s.Options)
	case *CreateIndex:
		pr.createIndex(s)
	}
}

func (pr *printer) createIndex(s *CreateIndex) {
	pr.put("CREATE ")
	pr.when(s.Unique, "UNIQUE ")
	pr.when(s.Aggregating, "AGGREGATING ")
	pr.put("INDEX ")
	pr.when(s.IfNotExists, "IF NOT EXISTS ")
	pr.name(s.Name)
	pr.put(" ON ")
	pr.name(s.Table)
	if s.Method.Name != "" {
		pr.put(" USING ")
		pr.ident(s.Method)
	}
	pr.orderBy(" (", s.Exprs)
	pr.put(")")
	pr.clause(" WHERE ", s.Where)
}

func (pr *printer) createTable(s *CreateTable) {
	pr.put("CREATE ")
	pr.when(s.OrReplace, "OR REPLACE ")
	pr.when(s.Temp, "TEMP ")
	pr.when(s.CDC, "CDC ")
	pr.put("TABLE ")
	pr.when(s.IfNotExists, "IF NOT EXISTS ")
	pr.name(s.Name)
	if elements := pr.tableElements(s); len(elements) > 0 || s.As == nil {
		pr.put(" (")
		pr.commas(len(elements), func(i int) { elements[i]() })
		pr.put(")")
	}
	if len(s.PrimaryIndex) > 0 {
		pr.put(" PRIMARY INDEX ")
		pr.idents(s.PrimaryIndex)
	}
	pr.with(s.Options)
	if s.As != nil {
		pr.put(" AS ")
		pr.query(s.As)
		pr.when(s.NoData, " WITH NO DATA")
	}
}

// tableElements returns what prints the elements of CREATE TABLE, in order.
func (pr *printer) tableElements(s *CreateTable) []func() {
	var out []func()
	likes := s.Likes
	for i := range s.Columns {
		for len(likes) > 0 && likes[0].At == i {
			like := &likes[0]
			out, likes = append(out, func() { pr.like(like) }), likes[1:]
		}
		out = append(out, func() { pr.column(&s.Columns[i]) })
	}
	for i := range likes {
		out = append(out, func() { pr.like(&likes[i]) })
	}
	for _, name := range s.Names {
		out = append(out, func() { pr.ident(name) })
	}
	for i := range s.Constraints {
		out = append(out, func() { pr.constraint(&s.Constraints[i]) })
	}
	return out
}

func (pr *printer) like(l *TableLike) {
	pr.put("LIKE ")
	pr.name(l.Table)
	for _, o := range l.Options {
		pr.when(o.Exclude, " EXCLUDING ")
		pr.when(!o.Exclude, " INCLUDING ")
		pr.put(strings.ToUpper(o.What))
	}
}

func (pr *printer) column(c *ColumnDef) {
	pr.ident(c.Name)
	if c.Type.Name != "" {
		pr.put(" ")
		pr.typeName(c.Type)
	}
	if len(c.Collation) > 0 {
		pr.put(" COLLATE ")
		pr.name(c.Collation)
	}
	pr.when(c.NotNull, " NOT NULL")
	pr.when(c.Null, " NULL")
	if c.Default != nil {
		pr.put(" DEFAULT ")
		pr.expr(c.Default, precOperator)
	}
	if c.Identity {
		pr.put(" GENERATED ")
		pr.when(c.Always, "ALWAYS")
		pr.when(!c.Always, "BY DEFAULT")
		pr.put(" AS IDENTITY")
		pr.identityOptions(&c.Sequence)
	}
	if c.Generated != nil {
		pr.clause(" GENERATED ALWAYS AS (", c.Generated)
		pr.put(") STORED")
	}
	for i := range c.Constraints {
		pr.put(" ")
		pr.constraint(&c.Constraints[i])
	}
}

func (pr *printer) constraint(c *Constraint) {
	if c.Name.Name != "" {
		pr.put("CONSTRAINT ")
		pr.ident(c.Name)
		pr.put(" ")
	}
	switch c.Kind {
	case PrimaryKey:
		pr.put("PRIMARY KEY ")
	case Unique:
		pr.put("UNIQUE ")
	case Check:
		pr.clause("CHECK (", c.Check)
		pr.put(")")
	case ForeignKey:
		pr.when(len(c.Columns) > 0, "FOREIGN KEY ")
	}
	pr.idents(c.Columns)
	if c.Kind == ForeignKey {
		pr.put(" REFERENCES ")
		pr.name(c.References)
		pr.idents(c.RefColumns)
		pr.when(c.MatchFull, " MATCH FULL")
		pr.when(c.OnDelete != "", " ON DELETE "+strings.ToUpper(c.OnDelete))
		pr.idents(c.SetColumns)
		pr.when(c.OnUpdate != "", " ON UPDATE "+strings.ToUpper(c.OnUpdate))
	}
	pr.when(c.NotEnforced, " NOT ENFORCED")
}

var objectWords = [...]string{"TABLE ", "VIEW ", "SCHEMA ", "STREAM ", "INDEX ", "COLUMN ", "SEQUENCE ", "TYPE ", "CONSTRAINT ", "DATABASE "}

func (pr *printer) alter(s Statement) {
	switch s := s.(type) {
	case *Drop:
		pr.put("DROP ", objectWords[s.Kind])
		pr.when(s.IfExists, "IF EXISTS ")
		pr.names(s.Names)
		pr.when(s.Cascade, " CASCADE")
	case *Comment:
		pr.put("COMMENT ON ", objectWords[s.Kind])
		pr.name(s.Name)
		if len(s.On) > 0 {
			pr.put(" ON ")
			pr.name(s.On)
		}
		pr.put(" IS ")
		if s.Text == nil {
			pr.put("NULL")
		} else {
			pr.string(*s.Text)
		}
	case *AlterCDCTable:
		pr.put("ALTER CDC TABLE ")
		pr.when(s.IfExists, "IF EXISTS ")
		pr.name(s.Table)
		pr.put([...]string{" ATTACH STREAM ", " DETACH STREAM", " RESUME", " SUSPEND"}[s.Action])
		pr.name(s.Stream)
	case *Alter:
		pr.put("ALTER ", objectWords[s.Kind])
		pr.when(s.IfExists, "IF EXISTS ")
		pr.name(s.Name)
		pr.put(" ")
		pr.commas(len(s.Actions), func(i int) { pr.action(&s.Actions[i]) })
	}
}

func (pr *printer) action(a *AlterAction) {
	switch a.Kind {
	case RenameTo:
		pr.put("RENAME TO ")
		pr.ident(a.NewName)
	case RenameColumn:
		pr.put("RENAME COLUMN ")
		pr.ident(a.Column)
		pr.put(" TO ")
		pr.ident(a.NewName)
	case AddColumn:
		pr.put("ADD COLUMN ")
		pr.when(a.IfExists, "IF NOT EXISTS ")
		pr.column(a.Def)
	case DropColumn, DropConstraint:
		if a.Kind == DropColumn {
			pr.put("DROP COLUMN ")
		} else {
			pr.put("DROP CONSTRAINT ")
		}
		pr.when(a.IfExists, "IF EXISTS ")
		pr.ident(a.Column)
		pr.when(a.Cascade, " CASCADE")
	case SetPrimaryIndex:
		pr.put("SET PRIMARY INDEX ")
		pr.idents(a.Columns)
	case SetSchema:
		pr.put("SET SCHEMA ")
		pr.ident(a.NewName)
	case AddConstraint:
		pr.put("ADD ")
		pr.constraint(a.Constraint)
	case SetOptions:
		pr.put("SET ")
		pr.options(a.Options)
	default:
		pr.alterColumn(a)
	}
}

func (pr *printer) alterColumn(a *AlterAction) {
	pr.put("ALTER COLUMN ")
	pr.ident(a.Column)
	switch a.Kind {
	case AlterType:
		pr.put(" TYPE ")
		pr.typeName(a.Type)
		pr.clause(" USING ", a.Using)
	case SetDefault:
		pr.clause(" SET DEFAULT ", a.Default)
	case DropDefault:
		pr.put(" DROP DEFAULT")
	case SetNotNull:
		pr.put(" SET NOT NULL")
	case DropNotNull:
		pr.put(" DROP NOT NULL")
	case DropExpression:
		pr.put(" DROP EXPRESSION")
		pr.when(a.IfExists, " IF EXISTS")
	}
}
