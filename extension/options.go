package extension

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Options returns the values of a source's options: those given, else their defaults, each checked. kind is the source's
// name in messages.
func Options(kind string, defs []OptionDef, given map[string]string) (map[string]string, error) {
	values := map[string]string{}
	for _, def := range defs {
		value := given[def.Name]
		if value == "" {
			value = def.Default
		}
		if value == "" && def.Required {
			return nil, sqlerr.New(sqlerr.UndefinedParameter, "a %s stream needs the option %s", kind, def.Name).
				Hintf("CREATE STREAM s FROM %s WITH (%s = '...'): %s", strings.ToUpper(kind), def.Name, def.Description)
		}
		if value != "" && def.Check != nil {
			err := def.Check(value)
			var want Want
			if errors.As(err, &want) {
				err = sqlerr.New(sqlerr.InvalidParameterValue, "option %s = %q of a %s stream is not %s", def.Name, value, kind, string(want)).
					Hintf("give it another value, or leave it out for its default")
			}
			if err != nil {
				return nil, err
			}
		}
		values[def.Name] = value
	}
	return values, nil
}

// Want is the error of an OptionDef's check that says what the value should have been, such as "on or off". [Options]
// makes the whole message of it, value included: checks of secrets return errors of their own.
type Want string

func (w Want) Error() string { return "it is not " + string(w) }

// WholeNumber checks that an option is a whole number from low to high.
func WholeNumber(low, high uint64) func(string) error {
	return func(value string) error {
		if n, err := strconv.ParseUint(value, 10, 64); err != nil || n < low || n > high {
			return Want(fmt.Sprintf("a whole number from %d to %d", low, high))
		}
		return nil
	}
}

// Number checks that an option is a number from low to high.
func Number(low, high float64) func(string) error {
	return func(value string) error {
		if x, err := strconv.ParseFloat(value, 64); err != nil || !(x >= low && x <= high) {
			return Want(fmt.Sprintf("a number from %g to %g", low, high))
		}
		return nil
	}
}

// Duration checks that an option is a duration in Go's form, at least least.
func Duration(least time.Duration) func(string) error {
	return func(value string) error {
		if d, err := time.ParseDuration(value); err != nil || d < least {
			return Want(fmt.Sprintf("a duration such as 500ms, 30s or 5m, at least %v", least))
		}
		return nil
	}
}

// OneOf checks that an option is one of some words, in whatever case.
func OneOf(words ...string) func(string) error {
	return func(value string) error {
		for _, w := range words {
			if strings.EqualFold(value, w) {
				return nil
			}
		}
		return Want(strings.Join(words, " or "))
	}
}
