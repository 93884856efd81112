package sql

import "strings"

func (pr *printer) statement(s Statement) {
	switch s := s.(type) {
	case QueryExpr:
		pr.query(s)
	case *Insert:
		pr.insert(s)
	case *Update:
		pr.withClause(s.With)
		pr.put("UPDATE ")
		pr.target(s.Table, s.Alias)
		pr.put(" SET ")
		pr.assignments(s.Set)
		pr.from(" FROM ", s.From)
		pr.clause(" WHERE ", s.Where)
		pr.returning(s.Returning)
	case *Delete:
		pr.withClause(s.With)
		pr.put("DELETE FROM ")
		pr.target(s.Table, s.Alias)
		pr.from(" USING ", s.Using)
		pr.clause(" WHERE ", s.Where)
		pr.returning(s.Returning)
	case *Merge:
		pr.merge(s)
	case *Truncate:
		pr.put("TRUNCATE ")
		pr.names(s.Tables)
		pr.when(s.Restart, " RESTART IDENTITY")
		pr.when(s.Cascade, " CASCADE")
	case *Copy:
		pr.copy(s)
	case *Explain:
		pr.explain(s)
	case *CreateTable, *CreateView, *CreateSchema, *CreateStream, *CreateIndex:
		pr.create(s)
	case *CreateSequence, *AlterSequence, *CreateType, *AlterEnum:
		pr.sequence(s)
	case *Drop, *Alter, *AlterCDCTable, *Comment:
		pr.alter(s)
	default:
		pr.session(s)
	}
}

func (pr *printer) target(table Name, alias Ident) {
	pr.name(table)
	pr.alias(TableAlias{Name: alias})
}

func (pr *printer) returning(items []SelectItem) {
	pr.when(len(items) > 0, " RETURNING ")
	pr.items(items)
}

func (pr *printer) assignments(list []Assignment) {
	pr.commas(len(list), func(i int) {
		if list[i].Multi {
			pr.idents(list[i].Columns)
		} else {
			pr.ident(list[i].Columns[0])
		}
		pr.clause(" = ", list[i].Value)
	})
}

func (pr *printer) insert(s *Insert) {
	pr.withClause(s.With)
	replace := s.OnConflict != nil && s.OnConflict.Replace
	pr.put("INSERT ")
	pr.when(replace, "OR REPLACE ")
	pr.put("INTO ")
	pr.target(s.Table, s.Alias)
	pr.put(" ")
	pr.idents(s.Columns)
	pr.when(s.ByName, "BY NAME")
	if s.Overriding != "" {
		pr.put(" OVERRIDING ", strings.ToUpper(s.Overriding), " VALUE")
	}
	if s.Source == nil {
		pr.put(" DEFAULT VALUES")
	} else {
		pr.put(" ")
		pr.query(s.Source)
	}
	if c := s.OnConflict; c != nil && !replace {
		pr.put(" ON CONFLICT ")
		pr.idents(c.Columns)
		pr.clause(" WHERE ", c.Predicate)
		if c.Constraint.Name != "" {
			pr.put("ON CONSTRAINT ")
			pr.ident(c.Constraint)
		}
		if len(c.Update) == 0 {
			pr.put(" DO NOTHING")
		} else {
			pr.put(" DO UPDATE SET ")
			pr.assignments(c.Update)
			pr.clause(" WHERE ", c.Where)
		}
	}
	pr.returning(s.Returning)
}

func (pr *printer) merge(s *Merge) {
	pr.withClause(s.With)
	pr.put("MERGE INTO ")
	pr.target(s.Table, s.Alias)
	pr.put(" USING ")
	pr.table(s.Source)
	pr.clause(" ON ", s.On)
	for _, w := range s.Whens {
		pr.put(" WHEN ", [...]string{"MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"}[w.Match])
		pr.clause(" AND ", w.And)
		pr.put(" THEN ", [...]string{"DO NOTHING", "INSERT ", "UPDATE SET ", "DELETE"}[w.Action])
		pr.assignments(w.Set)
		if w.Action != MergeInsert {
			continue
		}
		pr.idents(w.Columns)
		if len(w.Values) == 0 {
			pr.put(" DEFAULT VALUES")
			continue
		}
		pr.put(" VALUES (")
		pr.exprs(w.Values)
		pr.put(")")
	}
	pr.returning(s.Returning)
}

func (pr *printer) copy(s *Copy) {
	pr.put("COPY ")
	if s.Query != nil {
		pr.parens(s.Query)
	} else {
		pr.name(s.Table)
		pr.idents(s.Columns)
	}
	switch {
	case s.From && s.Path == "":
		pr.put(" FROM STDIN")
	case s.From:
		pr.put(" FROM ")
		pr.string(s.Path)
	case s.Path == "":
		pr.put(" TO STDOUT")
	default:
		pr.put(" TO ")
		pr.string(s.Path)
	}
	pr.with(s.Options)
}

func (pr *printer) explain(s *Explain) {
	pr.put("EXPLAIN ")
	if options := s.Options; len(options) > 0 {
		if s.Analyze {
			options = append([]Option{{Name: Ident{Name: "analyze"}}}, options...)
		}
		pr.options(options)
		pr.put(" ")
	} else {
		pr.when(s.Analyze, "ANALYZE ")
	}
	pr.statement(s.Statement)
}

func (pr *printer) session(s Statement) {
	switch s := s.(type) {
	case *Transaction:
		pr.put([...]string{"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT ", "ROLLBACK TO ", "RELEASE "}[s.Kind])
		if s.Savepoint.Name != "" {
			pr.ident(s.Savepoint)
		}
		pr.modes(s.Modes)
		pr.when(s.Chain, " AND CHAIN")
	case *SetTransaction:
		pr.put("SET ")
		pr.when(s.Session, "SESSION CHARACTERISTICS AS ")
		pr.put("TRANSACTION")
		pr.modes(s.Modes)
	case *Set:
		pr.put("SET ")
		pr.when(s.Local, "LOCAL ")
		pr.setting(s.Name)
		pr.put(" = ")
		pr.when(len(s.Values) == 0, "DEFAULT")
		pr.commas(len(s.Values), func(i int) { pr.settingValue(s.Values[i]) })
	case *Reset:
		pr.put("RESET ")
		pr.when(s.Name == "", "ALL")
		pr.setting(s.Name)
	case *Show:
		pr.put("SHOW ", [...]string{"", "ALL", "TABLES", "SCHEMAS", "VIEWS", "STREAMS", "COLUMNS FROM "}[s.Kind])
		pr.setting(s.Name)
		pr.name(s.Table)
	case *Prepare:
		pr.put("PREPARE ")
		pr.ident(s.Name)
		if len(s.Types) > 0 {
			pr.put(" (")
			pr.commas(len(s.Types), func(i int) { pr.typeName(s.Types[i]) })
			pr.put(")")
		}
		pr.put(" AS ")
		pr.statement(s.Statement)
	case *Execute:
		pr.put("EXECUTE ")
		pr.ident(s.Name)
		if len(s.Args) > 0 {
			pr.put(" (")
			pr.exprs(s.Args)
			pr.put(")")
		}
	case *Deallocate:
		pr.put("DEALLOCATE ")
		if s.Name.Name == "" {
			pr.put("ALL")
		} else {
			pr.ident(s.Name)
		}
	default:
		if !pr.cursor(s) {
			pr.service(s)
		}
	}
}

func (pr *printer) service(s Statement) {
	switch s := s.(type) {
	case *Use:
		pr.put("USE ")
		pr.name(s.Name)
	case *CallProc:
		pr.put("CALL ")
		pr.name(s.Call.Name)
		call := *s.Call
		call.Name = nil
		pr.call(&call)
	case *Load:
		pr.put("LOAD ")
		pr.string(s.Source)
		pr.alias(TableAlias{Name: s.Name})
	case *Describe:
		pr.put(map[bool]string{false: "DESCRIBE ", true: "SUMMARIZE "}[s.Summarize])
		pr.name(s.Table)
		if s.Query != nil {
			pr.query(s.Query)
		}
	case *Maintain:
		pr.put([...]string{"VACUUM ", "ANALYZE ", "CHECKPOINT "}[s.Kind])
		if len(s.Options) > 0 {
			pr.options(s.Options)
			pr.put(" ")
		}
		pr.names(s.Tables)
	case *Pragma:
		pr.put("PRAGMA ", s.Name)
		if len(s.Values) > 0 {
			pr.put("(")
			pr.exprs(s.Values)
			pr.put(")")
		}
	case *Discard:
		pr.put("DISCARD ", s.What)
	}
}

func (pr *printer) modes(m TransactionModes) {
	if m.Isolation != "" {
		pr.put(" ISOLATION LEVEL ", strings.ToUpper(m.Isolation))
	}
	if m.Access != "" {
		pr.put(" ", strings.ToUpper(m.Access))
	}
}

// settingValue puts the value of an option or a setting: a list in parentheses alone, anything else as an expression.
func (pr *printer) settingValue(e Expr) {
	row, ok := e.(*Row)
	if !ok {
		pr.expr(e, precLowest)
		return
	}
	pr.put("(")
	pr.commas(len(row.Elems), func(i int) { pr.settingValue(row.Elems[i]) })
	pr.put(")")
}

func (pr *printer) setting(name string) {
	if name == "" {
		return
	}
	for i, part := range strings.Split(name, ".") {
		pr.when(i > 0, ".")
		pr.label(Ident{Name: part})
	}
}
