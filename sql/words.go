package sql

// wordClass says where an unquoted word may stand without quotes.
type wordClass uint8

const (
	ordinary  wordClass = iota // a name anywhere
	needsAs                    // a name, but not an alias without AS
	funcWord                   // a function's name, never a column's, a table's or a bare alias
	reserved                   // never a name, except after a dot or AS
	statement                  // ordinary, begins a statement: a candidate when a statement's first word is misspelled
)

// wordClasses holds the words with a meaning to the grammar that restricts their use as names, after PostgreSQL's
// documentation, appendix C, and the words that begin statements.
var wordClasses = classify(map[wordClass]string{
	reserved: `all analyse and any array as asc asymmetric between both case cast check collate column constraint create
		current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc
		distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral
		leading limit localtime localtimestamp not null offset on only or order placing primary qualify references
		returning select session_user some symmetric table then to trailing true union unique user using variadic when
		where window with`,
	funcWord: `collation cross full ilike inner is isnull join left like natural notnull outer overlaps right similar
		tablesample verbose`,
	needsAs: `char character day filter hour minute month over precision second varying within without year escape`,
	statement: `abort alter analyze begin call checkpoint comment commit copy deallocate delete describe discard drop
		execute explain insert load merge prepare release reset rollback savepoint set show start truncate update use
		vacuum values`,
})

func classify(groups map[wordClass]string) map[string]wordClass {
	classes := make(map[string]wordClass, 256)
	for class, words := range groups {
		for start, i := -1, 0; i <= len(words); i++ {
			letter := i < len(words) && words[i] > ' '
			switch {
			case letter && start < 0:
				start = i
			case !letter && start >= 0:
				classes[words[start:i]] = class
				start = -1
			}
		}
	}
	return classes
}

// niladic are the functions called without parentheses.
var niladic = map[string]bool{
	"current_catalog": true, "current_date": true, "current_role": true, "current_time": true,
	"current_timestamp": true, "current_user": true, "localtime": true, "localtimestamp": true,
	"session_user": true, "user": true, "current_schema": true,
}

// isPlainName reports whether s reads back as itself without quotes.
func isPlainName(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' || !isLetter(c) && !isDigit(c) && c != '$' {
			return false
		}
	}
	return !isReserved(s)
}

// knownWords maps every word of the grammar to one shared copy, so that folding SELECT allocates nothing.
var knownWords = func() map[string]string {
	known := make(map[string]string, 512)
	for word := range wordClasses {
		known[word] = word
	}
	for _, word := range []string{
		"add", "anti", "asof", "attach", "bigint", "boolean", "by", "cascade", "cdc", "character", "coalesce", "conflict",
		"cube", "current", "date", "day", "decimal", "detach", "double", "enforced", "escape", "exclude", "exists",
		"extract", "first", "float", "following", "generated", "groups", "hour", "if", "ignore", "index", "int", "integer",
		"interval", "key", "last", "local", "matched", "materialized", "minute", "month", "name", "next", "nothing",
		"nullif", "nulls", "numeric", "ordinality", "overlay", "partition", "plan", "position", "postgres", "preceding",
		"range", "real", "recursive", "rename", "repeatable", "replace", "restrict", "resume", "rollup", "row", "rows",
		"schema", "second", "semi", "sets", "smallint", "stream", "struct", "substring", "suspend", "temp", "temporary",
		"text", "ties", "time", "timestamp", "timestamptz", "transaction", "trim", "type", "unbounded", "unknown", "uuid",
		"varchar", "view", "year", "zone", "sum", "avg", "min", "max", "count", "begin", "only", "work",
	} {
		known[word] = word
	}
	return known
}()
