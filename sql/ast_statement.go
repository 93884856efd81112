package sql

// Explain is EXPLAIN [ANALYZE] [(options)] statement.
type Explain struct {
	Analyze   bool
	Options   []Option // what the parentheses held besides ANALYZE
	Statement Statement
	Pos       int
}

// Insert is INSERT INTO.
type Insert struct {
	With       *With
	Table      Name
	Alias      Ident
	Columns    []Ident   // empty for all
	ByName     bool      // BY NAME: the source's columns go to those of their names
	Overriding string    // "system" or "user" of OVERRIDING ... VALUE
	Source     QueryExpr // nil for DEFAULT VALUES
	OnConflict *OnConflict
	Returning  []SelectItem
	Through    *Through
	Pos        int
}

// Through is the view by which a statement named the table that it changes. It is found when the statement runs, and not
// written.
type Through struct {
	View    Name // schema and name
	Columns []ThroughColumn
	Filters []ThroughFilter // of the view and those it reads, innermost first
}

// ThroughColumn is a column of a view and the column of the table that it is.
type ThroughColumn struct{ Name, Of string }

// ThroughFilter is the WHERE of a view over what it reads.
type ThroughFilter struct {
	Relation string // name of what the view reads
	Columns  []ThroughColumn
	Where    Expr
}

// OnConflict is ON CONFLICT [(columns) [WHERE predicate] | ON CONSTRAINT name] DO NOTHING or DO UPDATE SET, or OR REPLACE.
type OnConflict struct {
	Replace    bool // the new row takes the place of those that have a key of it
	Columns    []Ident
	Predicate  Expr         // of a partial index over Columns
	Constraint Ident        // of ON CONFLICT ON CONSTRAINT name
	Update     []Assignment // empty for DO NOTHING
	Where      Expr
	Pos        int
}

// Assignment is column = value, or (columns) = row or query.
type Assignment struct {
	Columns []Ident // one, or several in parentheses
	Multi   bool    // parentheses were written
	Value   Expr    // a [Row] or a [Subquery] with Multi
	Pos     int
}

// Update is UPDATE ... SET ... [FROM ...] [WHERE ...].
type Update struct {
	With      *With
	Table     Name
	Alias     Ident
	Set       []Assignment
	From      []TableExpr
	Where     Expr
	Returning []SelectItem
	Through   *Through
	Pos       int
}

// Delete is DELETE FROM ... [USING ...] [WHERE ...].
type Delete struct {
	With      *With
	Table     Name
	Alias     Ident
	Using     []TableExpr
	Where     Expr
	Returning []SelectItem
	Through   *Through
	Pos       int
}

// Merge is MERGE INTO target USING source ON condition WHEN ....
type Merge struct {
	With      *With
	Table     Name
	Alias     Ident
	Source    TableExpr
	On        Expr
	Whens     []MergeWhen
	Returning []SelectItem
	Through   *Through
	Pos       int
}

// MergeMatch is the case a [MergeWhen] is for.
type MergeMatch uint8

// The cases of MERGE.
const (
	Matched MergeMatch = iota
	NotMatched
	NotMatchedBySource
)

// MergeAction is what a [MergeWhen] does.
type MergeAction uint8

// The actions of MERGE.
const (
	MergeNothing MergeAction = iota
	MergeInsert
	MergeUpdate
	MergeDelete
)

// MergeWhen is one WHEN clause of [Merge].
type MergeWhen struct {
	Match   MergeMatch
	And     Expr // the further condition, or nil
	Action  MergeAction
	Set     []Assignment // of MergeUpdate
	Columns []Ident      // of MergeInsert, empty for all
	Values  []Expr       // of MergeInsert, empty for DEFAULT VALUES
	Pos     int
}

// Truncate is TRUNCATE [TABLE] names.
type Truncate struct {
	Tables  []Name
	Restart bool // RESTART IDENTITY
	Cascade bool
	Pos     int
}

// Copy is COPY table [(columns)] or COPY (query), FROM or TO a file, STDIN or STDOUT.
type Copy struct {
	Table   Name // empty with Query
	Columns []Ident
	Query   QueryExpr
	From    bool   // else TO
	Path    string // "" for STDIN and STDOUT
	Options []Option
	Pos     int
}

// TransactionKind is what a [Transaction] statement does.
type TransactionKind uint8

// The transaction statements.
const (
	Begin      TransactionKind = iota // BEGIN, START TRANSACTION
	Commit                            // COMMIT, END
	Rollback                          // ROLLBACK, ABORT
	Savepoint                         // SAVEPOINT name
	RollbackTo                        // ROLLBACK TO name
	Release                           // RELEASE name
)

// Transaction begins or ends a transaction or a savepoint.
type Transaction struct {
	Kind      TransactionKind
	Savepoint Ident
	Modes     TransactionModes // of Begin
	Chain     bool             // AND CHAIN
	Pos       int
}

// TransactionModes are the properties of a transaction; empty strings where nothing was said.
type TransactionModes struct {
	Isolation string // "serializable", "repeatable read", "read committed", "read uncommitted"
	Access    string // "read only", "read write"
}

// SetTransaction is SET TRANSACTION modes, or SET SESSION CHARACTERISTICS AS TRANSACTION modes.
type SetTransaction struct {
	Modes   TransactionModes
	Session bool
	Pos     int
}

// Set is SET [SESSION | LOCAL] name = values. SET TIME ZONE sets timezone, SET NAMES client_encoding, SET SCHEMA
// search_path, SET ROLE role.
type Set struct {
	Name   string // dotted, lower case
	Values []Expr // as in [Option]; empty for DEFAULT
	Local  bool
	Pos    int
}

// Reset is RESET name or RESET ALL.
type Reset struct {
	Name string // "" for ALL
	Pos  int
}

// ShowKind is what [Show] lists.
type ShowKind uint8

// The kinds of SHOW.
const (
	ShowSetting ShowKind = iota // SHOW name
	ShowAll                     // SHOW ALL
	ShowTables                  // SHOW TABLES
	ShowSchemas                 // SHOW SCHEMAS, SHOW DATABASES
	ShowViews                   // SHOW VIEWS
	ShowStreams                 // SHOW STREAMS
	ShowColumns                 // SHOW COLUMNS FROM table
)

// Show is SHOW.
type Show struct {
	Kind  ShowKind
	Name  string // of ShowSetting: dotted, lower case
	Table Name   // of ShowColumns
	Pos   int
}

// Prepare is PREPARE name [(types)] AS statement.
type Prepare struct {
	Name      Ident
	Types     []TypeName
	Statement Statement
	Pos       int
}

// Execute is EXECUTE name [(args)].
type Execute struct {
	Name Ident
	Args []Expr
	Pos  int
}

// Deallocate is DEALLOCATE [PREPARE] name or ALL.
type Deallocate struct {
	Name Ident // none for ALL
	Pos  int
}

// Use is USE name.
type Use struct {
	Name Name
	Pos  int
}

// CallProc is CALL function(args).
type CallProc struct {
	Call *FuncCall
	Pos  int
}

// Load is LOAD 'source' [AS name].
type Load struct {
	Source string
	Name   Ident
	Pos    int
}

// Describe is DESCRIBE table or DESCRIBE query, or SUMMARIZE of either.
type Describe struct {
	Table     Name // empty with Query
	Query     QueryExpr
	Summarize bool
	Pos       int
}

// MaintainKind is what a [Maintain] statement does.
type MaintainKind uint8

// The maintenance statements.
const (
	Vacuum MaintainKind = iota
	Analyze
	Checkpoint
)

// Maintain is VACUUM, ANALYZE or CHECKPOINT.
type Maintain struct {
	Kind    MaintainKind
	Options []Option
	Tables  []Name // empty for all
	Pos     int
}

// Pragma is DuckDB's PRAGMA name, name = value or name(values).
type Pragma struct {
	Name   string // lower case
	Values []Expr
	Pos    int
}

// Discard is DISCARD ALL, PLANS, SEQUENCES or TEMP.
type Discard struct {
	What string // lower case
	Pos  int
}

func (s *Explain) statement()        {}
func (s *Insert) statement()         {}
func (s *Update) statement()         {}
func (s *Delete) statement()         {}
func (s *Merge) statement()          {}
func (s *Truncate) statement()       {}
func (s *Copy) statement()           {}
func (s *Transaction) statement()    {}
func (s *SetTransaction) statement() {}
func (s *Set) statement()            {}
func (s *Reset) statement()          {}
func (s *Show) statement()           {}
func (s *Prepare) statement()        {}
func (s *Execute) statement()        {}
func (s *Deallocate) statement()     {}
func (s *Use) statement()            {}
func (s *CallProc) statement()       {}
func (s *Load) statement()           {}
func (s *Describe) statement()       {}
func (s *Maintain) statement()       {}
func (s *Pragma) statement()         {}
func (s *Discard) statement()        {}
