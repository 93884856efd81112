package sql

import (
	"reflect"
	"strconv"
)

func (pr *printer) sequence(s Statement) {
	switch s := s.(type) {
	case *CreateSequence:
		pr.put("CREATE ")
		pr.when(s.OrReplace, "OR REPLACE ")
		pr.when(s.Temp, "TEMP ")
		pr.put("SEQUENCE ")
		pr.when(s.IfNotExists, "IF NOT EXISTS ")
		pr.name(s.Name)
		pr.sequenceOptions(&s.Options)
	case *AlterSequence:
		pr.put("ALTER SEQUENCE ")
		pr.when(s.IfExists, "IF EXISTS ")
		pr.name(s.Name)
		pr.sequenceOptions(&s.Options)
	case *CreateType:
		pr.put("CREATE TYPE ")
		pr.when(s.IfNotExists, "IF NOT EXISTS ")
		pr.name(s.Name)
		pr.put(" AS ENUM (")
		pr.commas(len(s.Labels), func(i int) { pr.string(s.Labels[i]) })
		pr.put(")")
	case *AlterEnum:
		pr.put("ALTER TYPE ")
		pr.name(s.Name)
		pr.alterEnum(s)
	}
}

func (pr *printer) alterEnum(s *AlterEnum) {
	switch {
	case s.RenameTo.Name != "":
		pr.put(" RENAME TO ")
		pr.ident(s.RenameTo)
		return
	case s.SetSchema.Name != "":
		pr.put(" SET SCHEMA ")
		pr.ident(s.SetSchema)
		return
	case s.Old != "":
		pr.put(" RENAME VALUE ")
		pr.string(s.Old)
		pr.put(" TO ")
		pr.string(s.Label)
		return
	}
	pr.put(" ADD VALUE ")
	pr.when(s.IfNotExists, "IF NOT EXISTS ")
	pr.string(s.Label)
	if s.Before != "" {
		pr.put(" BEFORE ")
		pr.string(s.Before)
	}
	if s.After != "" {
		pr.put(" AFTER ")
		pr.string(s.After)
	}
}

// identityOptions prints the options of an identity column in parentheses, when there are any.
func (pr *printer) identityOptions(o *SequenceOptions) {
	if reflect.ValueOf(*o).IsZero() {
		return
	}
	pr.put(" (")
	pr.sequenceOptions(o)
	pr.put(")")
}

func (pr *printer) sequenceOptions(o *SequenceOptions) {
	number := func(words string, n *int64) {
		if n != nil {
			pr.put(words, strconv.FormatInt(*n, 10))
		}
	}
	if o.Type != nil {
		pr.put(" AS ")
		pr.typeName(*o.Type)
	}
	number(" INCREMENT BY ", o.Increment)
	number(" MINVALUE ", o.Min)
	pr.when(o.NoMin, " NO MINVALUE")
	number(" MAXVALUE ", o.Max)
	pr.when(o.NoMax, " NO MAXVALUE")
	number(" START WITH ", o.Start)
	if o.RestartAt != nil {
		number(" RESTART WITH ", o.RestartAt)
	} else {
		pr.when(o.Restart, " RESTART")
	}
	if o.Cycle != nil {
		pr.when(!*o.Cycle, " NO")
		pr.put(" CYCLE")
	}
	if len(o.OwnedBy) > 0 {
		pr.put(" OWNED BY ")
		pr.name(o.OwnedBy)
	}
}
