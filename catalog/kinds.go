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
var editKinds = map[string]func() Edit{}

func register[E any, P interface {
	*E
	Edit
}]() {
	editKinds[P(new(E)).kind()] = func() Edit { return P(new(E)) }
}
