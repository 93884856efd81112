// Package sqlerr is the error a user sees: an SQLSTATE, a message, and where and how to go on.
//
// # Concepts
//
// [Error] carries what PostgreSQL clients expect: a five-character SQLSTATE, a primary message, an optional
// detail and hint, and a position in the SQL text. Packages below the engine return it for faults of the user;
// faults of data name the file and offset and use [DataCorrupted]; broken invariants use [Internal].
//
// # Invariants
//
// An Error is not changed after it left the function that made it: the With methods return copies.
package sqlerr

import (
	"errors"
	"fmt"
	"strings"
)

// SQLSTATE codes, as PostgreSQL names them (PostgreSQL documentation, appendix A).
const (
	FeatureNotSupported     = "0A000"
	CardinalityViolation    = "21000"
	DataException           = "22000"
	NumericOutOfRange       = "22003"
	StringTruncation        = "22001"
	NullNotAllowed          = "22004"
	InvalidDatetime         = "22007"
	DatetimeOverflow        = "22008"
	DivisionByZero          = "22012"
	InvalidEscape           = "22025"
	InvalidRegex            = "2201B"
	InvalidLogArgument      = "2201E"
	InvalidPowerArgument    = "2201F"
	InvalidLimit            = "2201W"
	InvalidOffset           = "2201X"
	InvalidParameterValue   = "22023"
	InvalidText             = "22P02"
	InvalidBinary           = "22P03"
	InvalidJSON             = "22032"
	ArraySubscript          = "2202E"
	InvalidSample           = "2202H"
	InvalidSampleRepeat     = "2202G"
	SequenceLimit           = "2200H"
	IntegrityViolation      = "23000"
	NotNullViolation        = "23502"
	ForeignKeyViolation     = "23503"
	UniqueViolation         = "23505"
	CheckViolation          = "23514"
	ActiveTransaction       = "25001"
	ReadOnlyTransaction     = "25006"
	NoActiveTransaction     = "25P01"
	FailedTransaction       = "25P02"
	InvalidStatementName    = "26000"
	InvalidCursorName       = "34000"
	DuplicateCursor         = "42P03"
	DuplicatePrepared       = "42P05"
	InvalidAuthorization    = "28000"
	InvalidPassword         = "28P01"
	DependentObjects        = "2BP01"
	InvalidSavepoint        = "3B001"
	InvalidCatalog          = "3D000"
	InvalidSchema           = "3F000"
	SerializationFailure    = "40001"
	SyntaxError             = "42601"
	InsufficientPrivilege   = "42501"
	CannotCoerce            = "42846"
	Grouping                = "42803"
	Windowing               = "42P20"
	InvalidRecursion        = "42P19"
	InvalidColumnReference  = "42P10"
	InvalidForeignKey       = "42830"
	GeneratedAlways         = "428C9"
	InvalidObjectDefinition = "42P17"
	InvalidTableDefinition  = "42P16"
	DatatypeMismatch        = "42804"
	WrongObjectType         = "42809"
	UndefinedColumn         = "42703"
	UndefinedFunction       = "42883"
	UndefinedTable          = "42P01"
	UndefinedParameter      = "42P02"
	UndefinedObject         = "42704"
	DuplicateColumn         = "42701"
	DuplicateAlias          = "42712"
	DuplicateTable          = "42P07"
	DuplicateSchema         = "42P06"
	DuplicateObject         = "42710"
	AmbiguousColumn         = "42702"
	AmbiguousFunction       = "42725"
	AmbiguousParameter      = "42P08"
	IndeterminateDatatype   = "42P18"
	ReservedName            = "42939"
	InvalidName             = "42602"
	OutOfMemory             = "53200"
	DiskFull                = "53100"
	ConfigurationLimit      = "53400"
	ProgramLimitExceeded    = "54000"
	StatementTooComplex     = "54001"
	ObjectNotInPrerequisite = "55000"
	ObjectInUse             = "55006"
	QueryCanceled           = "57014"
	AdminShutdown           = "57P01"
	IOError                 = "58030"
	UndefinedFile           = "58P01"
	ForeignDataError        = "HV000"
	ConnectionFailure       = "08006"
	Internal                = "XX000"
	DataCorrupted           = "XX001"
)

// Error is one error as a user sees it.
type Error struct {
	Code    string // SQLSTATE
	Message string // what went wrong, one line
	Detail  string // more of the what, or ""
	Hint    string // what to do next, or ""
	Pos     int    // 1-based byte offset into the SQL text, 0 when not tied to it
	cause   error
}

// New returns an error of the SQLSTATE code with a formatted message; %w in format keeps the cause.
func New(code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Hintf returns a copy with a hint.
func (e *Error) Hintf(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Detailf returns a copy with a detail.
func (e *Error) Detailf(format string, args ...any) *Error {
	c := *e
	c.Detail = fmt.Sprintf(format, args...)
	return &c
}

// At returns a copy with a 1-based byte position in the SQL text; a position already set stays.
func (e *Error) At(pos int) *Error {
	if e.Pos != 0 {
		return e
	}
	c := *e
	c.Pos = pos
	return &c
}

// Error renders every part on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if e.Pos > 0 {
		fmt.Fprintf(&b, " at position %d", e.Pos)
	}
	fmt.Fprintf(&b, " (SQLSTATE %s)", e.Code)
	if e.Detail != "" {
		b.WriteString("; " + e.Detail)
	}
	if e.Hint != "" {
		b.WriteString("; hint: " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause kept by %w, or nil.
func (e *Error) Unwrap() error { return e.cause }

// From returns err as an *Error: itself when it is or wraps one, else an [Internal] error around it. nil gives nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Message: err.Error(), cause: err}
}

// Code returns the SQLSTATE of err, [Internal] when it carries none, "" for nil.
func Code(err error) string {
	if err == nil {
		return ""
	}
	return From(err).Code
}

// Nearest returns the candidate most like name by edit distance, or "" when none is close enough to suggest.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			row[j] = min(cost, above+1, row[j-1]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
