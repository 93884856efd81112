package extension

import (
	"strings"

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
			if err := def.Check(value); err != nil {
				return nil, err
			}
		}
		values[def.Name] = value
	}
	return values, nil
}
