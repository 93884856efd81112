package catalog

func (*CreateSchema) apply(*draft) error   { return nil }
func (*DropSchema) apply(*draft) error     { return nil }
func (*CreateTable) apply(*draft) error    { return nil }
func (*DropTable) apply(*draft) error      { return nil }
func (*RenameTable) apply(*draft) error    { return nil }
func (*AlterColumns) apply(*draft) error   { return nil }
func (*CreateView) apply(*draft) error     { return nil }
func (*DropView) apply(*draft) error       { return nil }
func (*CreateStream) apply(*draft) error   { return nil }
func (*DropStream) apply(*draft) error     { return nil }
func (*AttachStream) apply(*draft) error   { return nil }
func (*DetachStream) apply(*draft) error   { return nil }
func (*SetIngestState) apply(*draft) error { return nil }
func (*AcquireWorker) apply(*draft) error  { return nil }
func (*Append) apply(*draft) error         { return nil }
func (*Load) apply(*draft) error           { return nil }
func (*Adopt) apply(*draft) error          { return nil }
func (*ReplaceTablets) apply(*draft) error { return nil }
func (*Modify) apply(*draft) error         { return nil }
func (*Truncate) apply(*draft) error       { return nil }
func (*ReplaceRuns) apply(*draft) error    { return nil }
func (*SetSetting) apply(*draft) error     { return nil }
func (*expire) apply(*draft) error         { return nil }
