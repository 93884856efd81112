package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// tableChanges is table_changes: the storage does the work, see extension.TableBind.
func tableChanges() *extension.TableFunc {
	between := func(t vec.Type) extension.TableOverload {
		return extension.TableOverload{
			Signature: optional(signature(textT, t, t), 1),
			Bind: func(b *extension.TableBind, args []vec.Value, _ map[string]vec.Value) (extension.TableSource, error) {
				to := vec.NullValue(t)
				if len(args) == 3 {
					to = args[2]
				}
				switch {
				case b.Changes == nil:
					return nil, sqlerr.New(sqlerr.FeatureNotSupported, "there are no stored tables here").Hintf("call table_changes on an engine with a data root")
				case args[0].Null:
					return nil, sqlerr.New(sqlerr.NullNotAllowed, "the name of the table must not be null").Hintf("for instance table_changes('orders', 41, 42)")
				}
				return b.Changes(args[0].S, args[1], to)
			},
		}
	}
	return &extension.TableFunc{
		Def: def("table_changes", "What became of the rows of a table after one version or time, up to another or the newest: the columns of the table, "+
			"then _change_type (insert, update_preimage, update_postimage, delete), _commit_version and _commit_timestamp",
			ex("SELECT _change_type FROM table_changes('orders', 1, 2)", "insert"),
			ex("SELECT count(*) FROM table_changes('public.orders', now())", "0")),
		Overloads: []extension.TableOverload{between(int8), between(stampTZ)},
	}
}
