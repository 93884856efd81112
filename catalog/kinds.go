package catalog

func (*CreateSchema) kind() string   { return "create_schema" }
func (*DropSchema) kind() string     { return "drop_schema" }
func (*CreateTable) kind() string    { return "create_table" }
func (*DropTable) kind() string      { return "drop_table" }
func (*RenameTable) kind() string    { return "rename_table" }
func (*AlterColumns) kind() string   { return "alter_columns" }
func (*CreateView) kind() string     { return "create_view" }
func (*DropView) kind() string       { return "drop_view" }
func (*CreateStream) kind() string   { return "create_stream" }
func (*DropStream) kind() string     { return "drop_stream" }
func (*AttachStream) kind() string   { return "attach_stream" }
func (*DetachStream) kind() string   { return "detach_stream" }
func (*SetIngestState) kind() string { return "set_ingest_state" }
func (*RequestWorker) kind() string  { return "request_worker" }
func (*YieldWorker) kind() string    { return "yield_worker" }
func (*AcquireWorker) kind() string  { return "acquire_worker" }
func (*Append) kind() string         { return "append" }
func (*Load) kind() string           { return "load" }
func (*Adopt) kind() string          { return "adopt" }
func (*ReplaceTablets) kind() string { return "replace_tablets" }
func (*Modify) kind() string         { return "modify" }
func (*Truncate) kind() string       { return "truncate" }
func (*ReplaceRuns) kind() string    { return "replace_runs" }
func (*SetSetting) kind() string     { return "set_setting" }
func (*expire) kind() string         { return "expire" }

// editKinds makes an empty edit of each stored kind.
var editKinds = func() map[string]func() Edit {
	kinds := make(map[string]func() Edit)
	for _, make := range []func() Edit{
		func() Edit { return new(CreateSchema) }, func() Edit { return new(DropSchema) },
		func() Edit { return new(CreateTable) }, func() Edit { return new(DropTable) },
		func() Edit { return new(RenameTable) }, func() Edit { return new(AlterColumns) },
		func() Edit { return new(CreateView) }, func() Edit { return new(DropView) },
		func() Edit { return new(CreateStream) }, func() Edit { return new(DropStream) },
		func() Edit { return new(AttachStream) }, func() Edit { return new(DetachStream) },
		func() Edit { return new(SetIngestState) }, func() Edit { return new(RequestWorker) },
		func() Edit { return new(YieldWorker) }, func() Edit { return new(AcquireWorker) },
		func() Edit { return new(Append) }, func() Edit { return new(Load) }, func() Edit { return new(Adopt) },
		func() Edit { return new(ReplaceTablets) }, func() Edit { return new(Modify) },
		func() Edit { return new(Truncate) }, func() Edit { return new(ReplaceRuns) },
		func() Edit { return new(SetSetting) }, func() Edit { return new(expire) },
		func() Edit { return new(SetComment) }, func() Edit { return new(SetConstraints) }, func() Edit { return new(ExpectRows) },
		func() Edit { return new(CreateSequence) }, func() Edit { return new(DropSequence) },
		func() Edit { return new(CreateType) }, func() Edit { return new(DropType) }, func() Edit { return new(AlterType) },
		func() Edit { return new(RenameType) },
		func() Edit { return new(AlterSequence) }, func() Edit { return new(TakeNumbers) },
	} {
		kinds[make().kind()] = make
	}
	return kinds
}()

// validator is an edit with rules that do not depend on the snapshot. They are checked before a commit and never on
// replay, so that a later release may tighten them.
type validator interface{ validate() error }

// resolver is an edit that is spelled out before a commit.
type resolver interface{ resolve() (Edit, error) }

func (e *CreateTable) resolve() (Edit, error) { return e.Resolve() }

// prepare returns the edits as they will be stored, checked as far as they can be without a snapshot.
func prepare(edits []Edit) ([]Edit, error) {
	out := make([]Edit, len(edits))
	for i, e := range edits {
		if r, ok := e.(resolver); ok {
			resolved, err := r.resolve()
			if err != nil {
				return nil, err
			}
			e = resolved
		}
		if v, ok := e.(validator); ok {
			if err := v.validate(); err != nil {
				return nil, err
			}
		}
		out[i] = e
	}
	return out, nil
}
