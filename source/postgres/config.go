package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/extension"
)

var optionDefs = []extension.OptionDef{
	{Name: "connection", Required: true, Secret: true, Description: "connection string: postgres://user:password@host:port/database?sslmode=... or key=value pairs"},
	{Name: "table", Required: true, Description: "source table, such as public.orders"},
	{Name: "publication", Default: "tidemark", Description: "publication that contains the table; it must exist"},
	{Name: "slot", Description: "replication slot, made and dropped by the stream; tidemark_<stream> when absent", Check: checkSlotName},
	{Name: "snapshot_threads", Default: "4", Description: "connections that read the initial snapshot", Check: extension.WholeNumber(1, 64)},
	{Name: "slot_timeout", Default: "60s", Description: "how long making the slot may wait for transactions that are open at the source", Check: extension.Duration(leastDuration)},
	{Name: "check_interval", Default: "30s", Description: "how often the publication and the table are looked at while streaming", Check: extension.Duration(leastDuration)},
	{Name: "streaming", Default: "on", Description: "receive large transactions before they commit: on or off", Check: extension.OneOf("on", "off")},
}

// leastDuration is the shortest wait that an option may ask for.
const leastDuration = 10 * time.Millisecond

// maxNameBytes is the most bytes PostgreSQL keeps of a name.
const maxNameBytes = 63

// config is the options, parsed.
type config struct {
	connection      string
	table           string
	publication     string
	slot            string
	snapshotThreads int
	slotTimeout     time.Duration
	checkInterval   time.Duration
	streaming       bool
	partPages       uint64 // see leastPartPages
}

func parseConfig(req extension.OpenRequest) (config, error) {
	values, err := extension.Options("postgres", optionDefs, req.Options)
	if err != nil {
		return config{}, err
	}
	c := config{connection: values["connection"], table: values["table"], publication: values["publication"], slot: values["slot"], partPages: leastPartPages}
	c.snapshotThreads, _ = strconv.Atoi(values["snapshot_threads"]) // checked above, like the next two
	c.slotTimeout, _ = time.ParseDuration(values["slot_timeout"])
	c.checkInterval, _ = time.ParseDuration(values["check_interval"])
	c.streaming = strings.EqualFold(values["streaming"], "on")
	if c.slot == "" {
		c.slot = slotName(req.Stream)
	}
	return c, nil
}

// slotName makes a slot's name of a stream's: slots take lower-case letters, digits and underscores only. Where that
// changes the name, a hash keeps two streams apart.
func slotName(stream string) string {
	const prefix = "tidemark_"
	clean := []byte(stream)
	for i, c := range clean {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			clean[i] = '_'
		}
	}
	name := prefix + string(clean)
	if string(clean) == stream && len(name) <= maxNameBytes {
		return name
	}
	suffix := fmt.Sprintf("_%08x", uint32(xxh3.HashString(stream)))
	return name[:min(len(name), maxNameBytes-len(suffix))] + suffix
}

func checkSlotName(value string) error {
	for _, c := range []byte(value) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_') {
			return extension.Want("lower-case letters, digits and underscores")
		}
	}
	if len(value) > maxNameBytes {
		return extension.Want(fmt.Sprintf("at most %d characters", maxNameBytes))
	}
	return nil
}

// quoteIdent returns name as an SQL identifier.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteLiteral returns s as an SQL string; backslashes stand for themselves (standard_conforming_strings).
func quoteLiteral(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

// niceIdent is quoteIdent for messages: plain names stay as they are.
func niceIdent(name string) string {
	for i, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return quoteIdent(name)
		}
	}
	return name
}
