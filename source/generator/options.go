package generator

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// blockChanges is the length of the blocks within which the kinds of changes have their exact shares.
const blockChanges = 100

// maxNumber bounds key and change numbers so that sums of a few never overflow.
const maxNumber = 1 << 60

var optionDefs = []extension.OptionDef{
	{Name: "keys", Default: "100000", Description: "rows of the snapshot", Check: extension.WholeNumber(0, maxNumber)},
	{Name: "seed", Default: "0", Description: "number that everything pseudo-random follows from", Check: extension.WholeNumber(0, math.MaxUint64)},
	{Name: "rate", Default: "1000", Description: "changes a second; 0 is as fast as they are read", Check: extension.Number(0, 1e9)},
	{Name: "limit", Description: "number of changes after which the source falls idle; unlimited when absent", Check: extension.WholeNumber(0, maxNumber)},
	{Name: "inserts", Default: "15", Description: "inserts in 100 changes", Check: extension.WholeNumber(0, 100)},
	{Name: "updates", Description: "updates in 100 changes; what inserts and deletes leave when absent", Check: extension.WholeNumber(0, 100)},
	{Name: "deletes", Default: "5", Description: "deletes in 100 changes", Check: extension.WholeNumber(0, 100)},
	{Name: "distribution", Default: "uniform", Description: "which keys updates choose: uniform or zipf", Check: extension.OneOf("uniform", "zipf")},
	{Name: "skew", Default: "1.1", Description: "exponent of the zipf distribution", Check: extension.Number(0.01, 10)},
	{Name: "transaction_rows", Default: "10", Description: "changes in one transaction", Check: extension.WholeNumber(1, maxNumber)},
	{Name: "nulls", Default: "0", Description: "NULLs in 100 values of a nullable column outside the merge key", Check: extension.WholeNumber(0, 100)},
}

// config is the options, parsed.
type config struct {
	keys, seed, limit         uint64 // limit: maxNumber when unlimited
	inserts, updates, deletes uint64 // in blockChanges changes
	rate                      float64
	skew                      float64 // 0: uniform
	transactionRows           uint64
	nulls                     uint64
}

// parseOptions reads options, in which absent ones take their defaults.
func parseOptions(options map[string]string) (config, error) {
	values, err := extension.Options("generator", optionDefs, options)
	if err != nil {
		return config{}, err
	}
	count := func(name string) uint64 { n, _ := strconv.ParseUint(values[name], 10, 64); return n } // checked above
	decimal := func(name string) float64 { x, _ := strconv.ParseFloat(values[name], 64); return x }
	c := config{
		keys: count("keys"), seed: count("seed"), limit: maxNumber, inserts: count("inserts"), deletes: count("deletes"),
		rate: decimal("rate"), transactionRows: count("transaction_rows"), nulls: count("nulls"),
	}
	if values["limit"] != "" {
		c.limit = count("limit")
	}
	if strings.EqualFold(values["distribution"], "zipf") {
		c.skew = decimal("skew")
	}
	if c.inserts+c.deletes > blockChanges {
		return config{}, sqlerr.New(sqlerr.InvalidParameterValue, "inserts = %d and deletes = %d exceed 100 percent", c.inserts, c.deletes)
	}
	c.updates = blockChanges - c.inserts - c.deletes
	if values["updates"] != "" && count("updates") != c.updates {
		return config{}, sqlerr.New(sqlerr.InvalidParameterValue, "inserts, updates and deletes add up to %d instead of 100", c.inserts+count("updates")+c.deletes).
			Hintf("leave updates out and it becomes %d", c.updates)
	}
	return c, c.checkSupply()
}

// checkSupply refuses options under which a delete or an update would find no live key.
func (c config) checkSupply() error {
	if c.limit == 0 || c.inserts == blockChanges {
		return nil
	}
	need := c.deletes + 1
	if c.deletes > c.inserts {
		if c.limit == maxNumber {
			return sqlerr.New(sqlerr.InvalidParameterValue, "deletes = %d exceed inserts = %d, so the table would run empty", c.deletes, c.inserts).
				Hintf("raise inserts, lower deletes or set limit")
		}
		need += (c.limit - 1) / blockChanges * (c.deletes - c.inserts)
	}
	if c.keys < need {
		return sqlerr.New(sqlerr.InvalidParameterValue, "keys = %d is too few for these changes", c.keys).Hintf("set keys to at least %d", need)
	}
	return nil
}
