package extension

// ObjectKind is a kind of objects that oids number.
type ObjectKind string

// The kinds, by the name of the type that PostgreSQL writes such an oid with.
const (
	ClassObject     ObjectKind = "regclass" // tables, views, indexes, sequences
	TypeObject      ObjectKind = "regtype"
	NamespaceObject ObjectKind = "regnamespace"
	RoutineObject   ObjectKind = "regproc"
	RoleObject      ObjectKind = "regrole"
)

// Definition is what the text of an object says.
type Definition uint8

// The definitions.
const (
	ViewDefinition       Definition = iota // its query
	IndexDefinition                        // CREATE INDEX, or with a part its entry of that number from 1
	ConstraintDefinition                   // as behind ADD CONSTRAINT
	RoutineArguments
	RoutineResult
	Comment
)

// Objects are the objects of the catalog by their oids, as a session sees them. The methods may be called from any
// goroutine.
type Objects interface {
	// Oid returns the number of the object that text names, as SQL writes names, or that it is the digits of.
	Oid(kind ObjectKind, text string) (int64, error)
	// Name returns the name of an object as SQL writes it, with its schema where the search path does not find it.
	Name(kind ObjectKind, oid int64) (string, bool)
	// FormatType returns a type's name with its modifier, -1 for none.
	FormatType(oid, modifier int64) (string, bool)
	// Definition returns a text about the object of a number; pretty leaves out what only a machine needs.
	Definition(what Definition, oid, part int64, pretty bool) (string, bool)
	// Visible reports whether the bare name of an object finds it.
	Visible(kind ObjectKind, oid int64) (visible, found bool)
	// Bytes returns what the rows of a relation and what its keys take on disk; AllBytes what all relations take.
	Bytes(oid int64) (rows, keys int64, found bool)
	AllBytes() int64
	// Schemas returns those of the search path that exist, with implicit ones too if asked for.
	Schemas(implicit bool) []string
	// MayChange reports whether the session may change data.
	MayChange() bool
}
