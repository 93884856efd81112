package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestTablesAreFoundByNameAndIdentity(t *testing.T) {
	r := newRoot(t)
	orders := managed("orders")
	r.must(&CreateSchema{Name: "sales"}, orders)
	table, err := r.Snapshot().Table(DefaultSchema, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if table.ID != orders.ID || table.SchemaVersion != 1 || table.NextFieldID != 3 || table.Columns[1].FieldID != 2 || !table.Tablets.Empty() {
		t.Errorf("created %+v", table)
	}
	if byID := r.table(orders.ID); byID != table {
		t.Error("the name and the identity lead to different tables")
	}
	r.must(&RenameTable{Table: orders.ID, Schema: "sales", Name: "sold"})
	if _, err := r.Snapshot().Table(DefaultSchema, "orders"); sqlerr.Code(err) != sqlerr.UndefinedTable {
		t.Errorf("the old name: %v", err)
	}
	if table, err := r.Snapshot().Table("sales", "sold"); err != nil || table.ID != orders.ID {
		t.Errorf("the new name: %v, %v", table, err)
	}
	r.must(&DropTable{Table: orders.ID})
	if _, ok := r.Snapshot().TableByID(orders.ID); ok {
		t.Error("the dropped table is there")
	}
	r.refuse(sqlerr.UndefinedTable, &DropTable{Table: orders.ID})
}

func TestListsAreInNameOrder(t *testing.T) {
	r := newRoot(t)
	r.must(&CreateSchema{Name: "a"}, managed("zebra"), managed("ant"), &CreateView{View: View{Schema: DefaultSchema, Name: "middle"}},
		stream("s2"), stream("s1"), &SetSetting{Name: "y", Value: "1"}, &SetSetting{Name: "x", Value: "2"})
	inA := managed("bee")
	inA.Definition.Schema = "a"
	r.must(inA)
	s := r.Snapshot()
	var names []string
	for table := range s.Tables("") {
		names = append(names, table.QualifiedName())
	}
	for table := range s.Tables(DefaultSchema) {
		names = append(names, table.Name)
	}
	for v := range s.Views(DefaultSchema) {
		names = append(names, v.Name)
	}
	for st := range s.Streams() {
		names = append(names, st.Name)
	}
	for name := range s.Settings() {
		names = append(names, name)
	}
	for sc := range s.Schemas() {
		names = append(names, sc.Name)
	}
	want := "a.bee public.ant public.zebra ant zebra middle s1 s2 x y a public"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("lists: %s, want %s", got, want)
	}
}

func TestMissingNamesAreSuggested(t *testing.T) {
	r := newRoot(t)
	other := managed("invoices")
	other.Definition.Schema = "sales"
	r.must(&CreateSchema{Name: "sales"}, managed("orders"), other, stream("changes"))
	s := r.Snapshot()
	for _, c := range []struct {
		err        error
		code, hint string
	}{
		{second(s.Table(DefaultSchema, "ordres")), sqlerr.UndefinedTable, `did you mean "orders"?`},
		{second(s.Table(DefaultSchema, "invoices")), sqlerr.UndefinedTable, `did you mean "sales.invoices"?`},
		{second(s.Table("sale", "orders")), sqlerr.InvalidSchema, `did you mean "sales"?`},
		{second(s.Stream("change")), sqlerr.UndefinedObject, `did you mean "changes"?`},
		{second(s.View(DefaultSchema, "orders")), sqlerr.WrongObjectType, "it is a table: use DROP TABLE or ALTER TABLE"},
	} {
		if e := sqlerr.From(c.err); e == nil || e.Code != c.code || e.Hint != c.hint {
			t.Errorf("error %v, want SQLSTATE %s with hint %s", c.err, c.code, c.hint)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDefinitionsThatBreakARuleAreRefused(t *testing.T) {
	r := newRoot(t)
	attached := r.ingest("fed")
	r.must(&CreateSchema{Name: "full"}, &CreateView{View: View{Schema: "full", Name: "v"}}, managed("taken"), &CreateView{View: View{Schema: DefaultSchema, Name: "view"}})
	with := func(e *CreateTable, change func(*CreateTable)) *CreateTable { change(e); return e }
	column := func(name string, typ vec.Type) func(*CreateTable) {
		return func(e *CreateTable) {
			e.Definition.Columns = append(e.Definition.Columns, tablet.Column{Name: name, Type: typ})
		}
	}
	keyOf := func(typ vec.Type, mode MergeMode) *CreateTable {
		return with(cdc("k"), func(e *CreateTable) { e.Definition.Columns[0].Type, e.Definition.MergeMode = typ, mode })
	}
	fed, _ := r.Snapshot().StreamByID(attached.stream)
	for name, c := range map[string]struct {
		code string
		edit Edit
	}{
		"a schema twice":            {sqlerr.DuplicateSchema, &CreateSchema{Name: "full"}},
		"a system schema":           {sqlerr.ReservedName, &CreateSchema{Name: "information_schema"}},
		"a pg_ schema":              {sqlerr.ReservedName, &CreateSchema{Name: "pg_mine"}},
		"a schema without name":     {sqlerr.InvalidName, &CreateSchema{}},
		"dropping no schema":        {sqlerr.InvalidSchema, &DropSchema{Name: "none"}},
		"dropping a full schema":    {sqlerr.DependentObjects, &DropSchema{Name: "full"}},
		"a table twice":             {sqlerr.DuplicateTable, managed("taken")},
		"a table named as a view":   {sqlerr.DuplicateTable, managed("view")},
		"a table in no schema":      {sqlerr.InvalidSchema, with(managed("x"), func(e *CreateTable) { e.Definition.Schema = "none" })},
		"a table of no columns":     {sqlerr.InvalidTableDefinition, with(managed("x"), func(e *CreateTable) { e.Definition.Columns = nil })},
		"a column twice":            {sqlerr.DuplicateColumn, with(managed("x"), column("id", vec.TextType))},
		"a column without type":     {sqlerr.InvalidTableDefinition, with(managed("x"), column("n", vec.NullType))},
		"a long column name":        {sqlerr.InvalidName, with(managed("x"), column(strings.Repeat("n", 256), vec.TextType))},
		"a reserved prefix":         {sqlerr.ReservedName, with(cdc("x"), column("__mine", vec.TextType))},
		"a reserved name":           {sqlerr.ReservedName, with(cdc("x"), column("last_seq", vec.TextType))},
		"no merge key":              {sqlerr.InvalidTableDefinition, with(cdc("x"), func(e *CreateTable) { e.MergeKeyNames = nil })},
		"a key of no column":        {sqlerr.UndefinedColumn, with(cdc("x"), func(e *CreateTable) { e.MergeKeyNames = []string{"idd"} })},
		"a key column twice":        {sqlerr.DuplicateColumn, with(cdc("x"), func(e *CreateTable) { e.MergeKeyNames = []string{"id", "id"} })},
		"an index of no column":     {sqlerr.UndefinedColumn, with(cdc("x"), func(e *CreateTable) { e.PrimaryIndexNames = []string{"nope"} })},
		"a merge mode of its own":   {sqlerr.InvalidParameterValue, with(cdc("x"), func(e *CreateTable) { e.Definition.MergeMode = "both" })},
		"a negative interval":       {sqlerr.InvalidParameterValue, with(cdc("x"), func(e *CreateTable) { e.Definition.CascadeInterval = -1 })},
		"a merge mode when managed": {sqlerr.InvalidTableDefinition, with(managed("x"), func(e *CreateTable) { e.Definition.MergeMode = MergeRead })},
		"a read key of doubles":     {sqlerr.FeatureNotSupported, keyOf(vec.Float64Type, MergeRead)},
		"a read key of UUID":        {sqlerr.FeatureNotSupported, keyOf(vec.UUIDType, "")},
		"a key of JSON":             {sqlerr.InvalidTableDefinition, keyOf(vec.JSONType, MergeWrite)},
		"renaming to a taken name":  {sqlerr.DuplicateTable, &RenameTable{Table: attached.table, Schema: DefaultSchema, Name: "taken"}},
		"altering in read mode":     {sqlerr.FeatureNotSupported, &AlterColumns{Table: attached.table, FromVersion: 1}},
		"a view twice":              {sqlerr.DuplicateTable, &CreateView{View: View{Schema: DefaultSchema, Name: "view"}}},
		"replacing a table":         {sqlerr.DuplicateTable, &CreateView{View: View{Schema: DefaultSchema, Name: "taken"}, OrReplace: true}},
		"dropping no view":          {sqlerr.UndefinedTable, &DropView{Schema: DefaultSchema, Name: "none"}},
		"dropping a table as view":  {sqlerr.WrongObjectType, &DropView{Schema: DefaultSchema, Name: "taken"}},
		"a stream twice":            {sqlerr.DuplicateObject, stream(fed.Name)},
		"dropping no stream":        {sqlerr.UndefinedObject, &DropStream{Name: "none"}},
		"dropping a busy stream":    {sqlerr.DependentObjects, &DropStream{Name: fed.Name}},
	} {
		t.Run(name, func(t *testing.T) {
			inner := *r
			inner.t = t
			if err := sqlerr.From(inner.refuse(c.code, c.edit)); err.Hint == "" && c.code != sqlerr.InvalidName && c.code != sqlerr.DuplicateColumn {
				t.Errorf("no hint says what to do: %v", err)
			}
		})
	}
}

func TestReadModeKeysAreThoseOfTheRule(t *testing.T) {
	for _, typ := range []vec.Type{vec.BoolType, vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.DateType, vec.TimestampType, vec.TimestampTZType,
		vec.DecimalType(12, 2), vec.DecimalType(38, 5), vec.TextType} {
		e := cdc("k")
		e.Definition.Columns[0].Type, e.Definition.Columns[0].Nullable = typ, true
		resolved, err := e.Resolve()
		if err != nil {
			t.Errorf("a key of type %s: %v", typ, err)
			continue
		}
		d := resolved.Definition
		if d.Columns[0].Nullable || d.MergeMode != MergeRead || d.CascadeInterval != DefaultCascadeInterval || !slices.Equal(d.MergeKey, []int32{1}) {
			t.Errorf("resolved to %+v", d)
		}
		if e.Definition.Columns[0].FieldID != 0 {
			t.Error("Resolve changed its receiver")
		}
	}
	for _, typ := range []vec.Type{vec.Float32Type, vec.Float64Type, vec.UUIDType, vec.TimeType, vec.TimeTZType, vec.ByteaType, vec.IntervalType} {
		e := cdc("k")
		e.Definition.Columns[0].Type, e.Definition.MergeMode = typ, MergeWrite
		if _, err := e.Resolve(); err != nil {
			t.Errorf("a key of type %s in write mode: %v", typ, err)
		}
	}
	for _, typ := range []vec.Type{vec.JSONType, vec.ArrayType(vec.Int64Type)} {
		e := cdc("k")
		e.Definition.Columns[0].Type, e.Definition.MergeMode = typ, MergeWrite
		if _, err := e.Resolve(); sqlerr.Code(err) != sqlerr.InvalidTableDefinition {
			t.Errorf("a key of type %s in write mode: %v", typ, err)
		}
	}
}

func TestManagedTablesMayUseReservedNames(t *testing.T) {
	e := managed("m")
	e.Definition.Columns[0].Name, e.Definition.Columns[1].Name = "__x", "last_seq"
	newRoot(t).must(e)
}

func TestIfExistsAndIfNotExists(t *testing.T) {
	r := newRoot(t)
	first := managed("m")
	again := managed("m")
	again.IfNotExists = true
	r.must(first, &CreateSchema{Name: "s"}, stream("c"), &CreateView{View: View{Schema: "s", Name: "v", SQL: "1"}})
	sameStream := stream("c")
	sameStream.IfNotExists = true
	r.must(again, &CreateSchema{Name: "s", IfNotExists: true}, sameStream, &CreateView{View: View{Schema: "s", Name: "v", SQL: "2"}, IfNotExists: true},
		&DropSchema{Name: "none", IfExists: true}, &DropView{Schema: "s", Name: "none", IfExists: true}, &DropStream{Name: "none", IfExists: true})
	if table, err := r.Snapshot().Table(DefaultSchema, "m"); err != nil || table.ID != first.ID {
		t.Errorf("IF NOT EXISTS replaced the table: %v", err)
	}
	if v, err := r.Snapshot().View("s", "v"); err != nil || v.SQL != "1" {
		t.Errorf("IF NOT EXISTS replaced the view: %+v, %v", v, err)
	}
	r.must(&CreateView{View: View{Schema: "s", Name: "v", SQL: "3"}, OrReplace: true})
	if v, err := r.Snapshot().View("s", "v"); err != nil || v.SQL != "3" {
		t.Errorf("OR REPLACE left %+v, %v", v, err)
	}
}

func TestDropSchemaCascade(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("fed")
	r.must(&CreateSchema{Name: "s"}, &RenameTable{Table: in.table, Schema: "s", Name: "fed"}, &CreateView{View: View{Schema: "s", Name: "v"}})
	r.must(&DropSchema{Name: "s", Cascade: true})
	s := r.Snapshot()
	if s.HasSchema("s") || s.tables.Len() != 0 || s.relations.Len() != 0 {
		t.Error("the schema or something in it is left")
	}
	if _, attached := s.FedBy(in.stream); attached {
		t.Error("the stream is attached still")
	}
	if st, _ := s.StreamByID(in.stream); st.Loaded != 0 {
		t.Error("the stream still says that it loaded the table")
	}
}

func TestAlterColumns(t *testing.T) {
	r := newRoot(t)
	m := managed("m")
	r.must(m)
	columns := slices.Clone(r.table(m.ID).Columns)
	columns[1].Name = "text"
	columns = append(columns, tablet.Column{Name: "added", Type: vec.DateType, Nullable: true})
	r.must(&AlterColumns{Table: m.ID, FromVersion: 1, Columns: columns, PrimaryIndex: []int32{1}})
	table := r.table(m.ID)
	if table.SchemaVersion != 2 || table.Columns[2].FieldID != 3 || table.NextFieldID != 4 || table.Columns[1].Name != "text" || !slices.Equal(table.SortColumns(), []int32{1}) {
		t.Errorf("altered to %+v", table)
	}
	r.must(&AlterColumns{Table: m.ID, FromVersion: 2, Columns: table.Columns[:2]})
	again := append(slices.Clone(table.Columns[:2]), tablet.Column{Name: "added", Type: vec.DateType})
	r.must(&AlterColumns{Table: m.ID, FromVersion: 3, Columns: again})
	if got := r.table(m.ID).Columns[2].FieldID; got != 4 {
		t.Errorf("the field id %d of a dropped column is used again", got)
	}
	retyped := slices.Clone(r.table(m.ID).Columns)
	retyped[0].Type = vec.TextType
	reused := append(slices.Clone(table.Columns[:2]), tablet.Column{FieldID: 3, Name: "x", Type: vec.DateType})
	r.refuse(sqlerr.SerializationFailure, &AlterColumns{Table: m.ID, FromVersion: 3, Columns: again})
	r.refuse(sqlerr.FeatureNotSupported, &AlterColumns{Table: m.ID, FromVersion: 4, Columns: retyped})
	r.refuse(sqlerr.Internal, &AlterColumns{Table: m.ID, FromVersion: 4, Columns: reused})
	r.refuse(sqlerr.UndefinedColumn, &AlterColumns{Table: m.ID, FromVersion: 4, Columns: again, PrimaryIndex: []int32{77}})
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
}

func TestAlterColumnsKeepsTheMergeKey(t *testing.T) {
	r := newRoot(t)
	w := cdc("w")
	w.Definition.MergeMode = MergeWrite
	r.must(w)
	columns := r.table(w.ID).Columns
	r.refuse(sqlerr.DependentObjects, &AlterColumns{Table: w.ID, FromVersion: 1, Columns: columns[1:]})
	r.must(&AlterColumns{Table: w.ID, FromVersion: 1, Columns: columns[:1]})
}
