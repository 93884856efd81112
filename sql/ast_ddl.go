package sql

// CreateSchema is CREATE SCHEMA [IF NOT EXISTS] name.
type CreateSchema struct {
	Name        Name
	IfNotExists bool
	Pos         int
}

// CreateTable is CREATE TABLE, or CREATE CDC TABLE with CDC set.
type CreateTable struct {
	Name         Name
	CDC          bool
	OrReplace    bool
	Temp         bool
	IfNotExists  bool
	Columns      []ColumnDef
	Likes        []TableLike
	Constraints  []Constraint  // of the table; those of a column are in its ColumnDef
	Indexes      []CreateIndex // which LIKE ... INCLUDING INDEXES brings along; not written
	PrimaryIndex []Ident       // sort order; empty when not written
	Options      []Option      // WITH (...)
	Names        []Ident       // of CREATE TABLE t (a, b) AS query: names without types
	As           QueryExpr     // nil without AS
	NoData       bool          // AS query WITH NO DATA
	Pos          int
}

// TableLike is LIKE table [INCLUDING what | EXCLUDING what]... in CREATE TABLE.
type TableLike struct {
	Table   Name
	Options []LikeOption
	At      int // how many of the columns come before
}

// LikeOption is one INCLUDING or EXCLUDING.
type LikeOption struct {
	What    string // lower case: all, comments, compression, constraints, defaults, generated, identity, indexes, statistics, storage
	Exclude bool
}

// Includes reports whether LIKE copies a part of the definition: the last word on it counts.
func (l *TableLike) Includes(what string) bool {
	includes := false
	for _, o := range l.Options {
		if o.What == what || o.What == "all" {
			includes = !o.Exclude
		}
	}
	return includes
}

// ColumnDef is one column of CREATE TABLE or ADD COLUMN.
type ColumnDef struct {
	Name        Ident
	Type        TypeName
	Collation   Name
	NotNull     bool
	Null        bool            // NULL was written
	Default     Expr            // or nil
	Generated   Expr            // GENERATED ALWAYS AS (...) [STORED], or nil
	Identity    bool            // GENERATED ... AS IDENTITY
	Always      bool            // of Identity: ALWAYS, not BY DEFAULT
	Sequence    SequenceOptions // of Identity
	Constraints []Constraint
	Comment     string // which LIKE ... INCLUDING COMMENTS brings along; not written
}

// ConstraintKind is the kind of a constraint.
type ConstraintKind uint8

// The constraints.
const (
	PrimaryKey ConstraintKind = iota
	Unique
	Check
	ForeignKey
)

// Constraint is a constraint of a table, or of a column when Columns is empty.
type Constraint struct {
	Name        Ident
	Kind        ConstraintKind
	Columns     []Ident
	Check       Expr
	References  Name
	RefColumns  []Ident
	MatchFull   bool
	OnDelete    string // of ForeignKey: "restrict", "cascade", "set null" or "set default"; "" for NO ACTION
	OnUpdate    string
	SetColumns  []Ident // of OnDelete: those to be set, all when empty
	NotEnforced bool
	Pos         int
}

// CreateView is CREATE VIEW.
type CreateView struct {
	Name        Name
	OrReplace   bool
	Temp        bool
	IfNotExists bool
	Recursive   bool
	Columns     []Ident
	Query       QueryExpr
	Pos         int
}

// CreateStream is CREATE STREAM name FROM source WITH (options).
type CreateStream struct {
	Name        Name
	IfNotExists bool
	OrReplace   bool
	Source      Ident // lower case: postgres, mongodb, generator, or one of an extension
	Options     []Option
	Pos         int
}

// CreateIndex is CREATE [UNIQUE | AGGREGATING] INDEX.
type CreateIndex struct {
	Name        Name // may be empty
	Unique      bool
	Aggregating bool
	IfNotExists bool
	Table       Name
	Method      Ident
	Exprs       []OrderItem
	Where       Expr
	Pos         int
}

// ObjectKind is a kind of catalog object.
type ObjectKind uint8

// The object kinds.
const (
	TableObject ObjectKind = iota
	ViewObject
	SchemaObject
	StreamObject
	IndexObject
	ColumnObject
	SequenceObject
	TypeObject
	ConstraintObject
	DatabaseObject
)

// Drop is DROP TABLE, VIEW, SCHEMA, STREAM, INDEX, SEQUENCE or TYPE.
type Drop struct {
	Kind     ObjectKind
	Names    []Name
	IfExists bool
	Cascade  bool
	Pos      int
}

// CDCAction is what [AlterCDCTable] does.
type CDCAction uint8

// The actions of ALTER CDC TABLE.
const (
	AttachStream CDCAction = iota
	DetachStream
	Resume
	Suspend
)

// AlterCDCTable is ALTER CDC TABLE name action.
type AlterCDCTable struct {
	Table    Name
	IfExists bool
	Action   CDCAction
	Stream   Name // of AttachStream
	Pos      int
}

// AlterKind is one action of ALTER.
type AlterKind uint8

// The actions of ALTER TABLE; views and schemas know RenameTo, views also SetSchema.
const (
	RenameTo AlterKind = iota
	RenameColumn
	AddColumn
	DropColumn
	AlterType
	SetDefault
	DropDefault
	SetNotNull
	DropNotNull
	SetPrimaryIndex
	SetSchema
	AddConstraint
	DropConstraint
	SetOptions
	DropExpression // of a generated column
)

// Alter is ALTER TABLE, VIEW, SCHEMA or STREAM with one or more actions.
type Alter struct {
	Kind     ObjectKind
	Name     Name
	IfExists bool
	Actions  []AlterAction
	Pos      int
}

// AlterAction is one action of [Alter].
type AlterAction struct {
	Kind       AlterKind
	Column     Ident      // the column, or the constraint of DropConstraint
	NewName    Ident      // of RenameTo, RenameColumn, SetSchema
	Def        *ColumnDef // of AddColumn
	IfExists   bool       // of DropColumn, DropConstraint; of AddColumn: IF NOT EXISTS
	Cascade    bool
	Type       TypeName    // of AlterType
	Using      Expr        // of AlterType
	Default    Expr        // of SetDefault
	Columns    []Ident     // of SetPrimaryIndex
	Constraint *Constraint // of AddConstraint
	Options    []Option    // of SetOptions
	Pos        int
}

// Comment is COMMENT ON object IS text.
type Comment struct {
	Kind ObjectKind
	Name Name
	On   Name    // the table of a constraint
	Text *string // nil for IS NULL
	Pos  int
}

func (s *CreateSchema) statement()  {}
func (s *CreateTable) statement()   {}
func (s *CreateView) statement()    {}
func (s *CreateStream) statement()  {}
func (s *CreateIndex) statement()   {}
func (s *Drop) statement()          {}
func (s *AlterCDCTable) statement() {}
func (s *Alter) statement()         {}
func (s *Comment) statement()       {}
