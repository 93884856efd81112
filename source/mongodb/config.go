package mongodb

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

var optionDefs = []extension.OptionDef{
	{Name: "connection", Required: true, Secret: true, Description: "connection string: mongodb://user:password@host:port/?replicaSet=... or mongodb+srv://...", Check: checkConnection},
	{Name: "database", Required: true, Description: "source database"},
	{Name: "collection", Required: true, Description: "source collection"},
	{Name: "fields", Description: "columns that take a field of another name or inside others: 'city = address.city, first_sku = items.0.sku'", Check: checkFields},
	{Name: "document_column", Description: "column that receives the whole document as extended JSON"},
	{Name: "json_format", Default: "relaxed", Description: "form of extended JSON: relaxed or canonical", Check: extension.OneOf("relaxed", "canonical")},
	{Name: "key_format", Default: "plain", Description: "form of _id in a TEXT key: plain for _id of one type, json for mixed types", Check: extension.OneOf("plain", "json")},
	{Name: "on_misfit", Default: "error", Description: "what to do with a value that does not fit its column: error or null", Check: extension.OneOf("error", "null")},
	{Name: "misfit_column", Description: "column that receives the names of the columns that on_misfit = 'null' set to NULL in its row"},
	{Name: "unique_id", Default: "off", Description: "on says that _id is unique over all shards of a collection that is sharded by another key", Check: extension.OneOf("on", "off")},
	{Name: "snapshot_threads", Default: "4", Description: "cursors that read the initial snapshot", Check: extension.WholeNumber(1, 64)},
	{Name: "idle_interval", Default: "10s", Description: "how often the position of an idle stream is committed", Check: extension.Duration(10 * time.Millisecond)},
}

// config is the options, parsed.
type config struct {
	connection, database, collection string
	fields                           map[string][]string // column to path
	documentColumn, misfitColumn     string
	json                             form
	keyJSON                          bool
	nullMisfits                      bool
	uniqueID                         bool
	snapshotThreads                  int
	idleInterval                     time.Duration

	partDocuments int64         // least documents of a part of the snapshot, see leastPartDocuments
	silence       time.Duration // see silenceLimit
	retryPause    time.Duration // see retryPause
}

func parseConfig(options map[string]string) (config, error) {
	values, err := extension.Options("mongodb", optionDefs, options)
	if err != nil {
		return config{}, err
	}
	c := config{
		connection: values["connection"], database: values["database"], collection: values["collection"],
		documentColumn: values["document_column"], misfitColumn: values["misfit_column"],
		keyJSON: strings.EqualFold(values["key_format"], "json"), nullMisfits: strings.EqualFold(values["on_misfit"], "null"), uniqueID: strings.EqualFold(values["unique_id"], "on"),
		partDocuments: leastPartDocuments, silence: silenceLimit, retryPause: retryPause,
	}
	if strings.EqualFold(values["json_format"], "canonical") {
		c.json = canonical
	}
	c.fields, _ = parseFields(values["fields"]) // checked above, like the next two
	c.snapshotThreads, _ = strconv.Atoi(values["snapshot_threads"])
	c.idleInterval, _ = time.ParseDuration(values["idle_interval"])
	return c, nil
}

func checkConnection(value string) error {
	if !strings.HasPrefix(value, "mongodb://") && !strings.HasPrefix(value, "mongodb+srv://") {
		// The value may hold a password, so it is not repeated.
		return sqlerr.New(sqlerr.InvalidParameterValue, "option connection of a mongodb stream is not a connection string").
			Hintf("write it as mongodb://user:password@host:port/?replicaSet=name or mongodb+srv://user:password@host/")
	}
	_, err := clientOptions(value)
	return err
}

// parseFields reads "column = path, column = path", where the path's steps are separated by dots.
func parseFields(text string) (map[string][]string, error) {
	out := map[string][]string{}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	for _, entry := range strings.Split(text, ",") {
		column, path, ok := strings.Cut(entry, "=")
		column, path = strings.TrimSpace(column), strings.TrimSpace(path)
		steps := strings.Split(path, ".")
		for _, s := range steps {
			ok = ok && s != ""
		}
		if !ok || column == "" {
			return nil, extension.Want("a list such as 'city = address.city, first_sku = items.0.sku'")
		}
		if _, twice := out[column]; twice {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "option fields of a mongodb stream names the column %s twice", column).
				Hintf("give each column one path")
		}
		out[column] = steps
	}
	return out, nil
}

func checkFields(value string) error {
	_, err := parseFields(value)
	return err
}
