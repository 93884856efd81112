package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/vec"
)

// step takes one random step.
func (l *life) step() {
	l.reboot()
	if l.engines[0] == nil && l.engines[1] == nil {
		l.heal()
		l.open(0)
	}
	switch r := l.random.IntN(100); {
	case r < 40:
		l.change()
	case r < 60:
		l.catchUp()
	case r < 70:
		l.resume()
	case r < 73:
		l.operate("SUSPEND")
	case r < 76:
		l.operate("DETACH STREAM")
	case r < 78:
		l.rename()
	case r < 82:
		l.setting()
	case r < 86:
		l.openOrClose()
	case r < 92:
		l.disturb()
	case r < 96:
		l.losePower()
	default:
		l.rest()
	}
}

// change commits some transactions at one of the sources.
func (l *life) change() {
	stream := l.pick("left", "left", "left", "right")
	source := l.sources[stream]
	n := 1 + l.random.IntN(12)
	size := 1 << l.random.IntN(6)
	if l.random.IntN(12) == 0 {
		size = 600
	}
	l.note("%d transactions at %s", n, stream)
	for range n {
		live := source.At(source.End())
		pending := map[string]bool{} // keys this transaction changed: what they hold is not in live
		var changes []scripted.Change
		for range 1 + l.random.IntN(size) {
			changes = append(changes, l.oneChange(source, live, pending))
		}
		if l.random.IntN(40) == 0 {
			changes = append([]scripted.Change{{Op: extension.Truncate}}, untouched(changes)...)
		}
		source.Commit(changes...)
	}
}

// untouched leaves out what needs rows from before a truncation.
func untouched(changes []scripted.Change) []scripted.Change {
	var out []scripted.Change
	for _, c := range changes {
		if c.Unchanged == nil && c.Moved == nil {
			out = append(out, c)
		}
	}
	return out
}

func (l *life) oneChange(source *scripted.Table, live map[string]string, pending map[string]bool) scripted.Change {
	n := vec.IntValue(vec.Int64Type, l.random.Int64N(keySpace))
	if l.random.IntN(10) == 0 {
		n = vec.NullValue(vec.Int64Type)
	}
	note := vec.StringValue(vec.TextType, fmt.Sprint("note ", l.random.IntN(30), strings.Repeat("~", l.random.IntN(20))))
	if l.random.IntN(10) == 0 {
		note = vec.NullValue(vec.TextType)
	}
	row := l.shape.row(l.random.Int64N(keySpace), n, note)
	key := source.Key(row)
	_, exists := live[key]
	exists = exists && !pending[key]
	fresh := pending[key]
	pending[key] = true
	switch r := l.random.IntN(10); {
	case r < 2:
		return scripted.Change{Op: extension.Delete, Row: row}
	case r < 4 && exists:
		return scripted.Change{Op: extension.Update, Row: row, Unchanged: []int{len(row) - 1}}
	case r == 4 && exists:
		to := l.shape.row(l.random.Int64N(keySpace), n, note)
		_, taken := live[source.Key(to)]
		if taken || pending[source.Key(to)] {
			break
		}
		pending[source.Key(to)] = true
		c := scripted.Change{Op: extension.Update, Row: to, Moved: row}
		if l.random.IntN(2) == 0 {
			c.Unchanged = []int{len(row) - 1}
		}
		return c
	}
	if exists || fresh {
		return scripted.Change{Op: extension.Update, Row: row}
	}
	return scripted.Change{Op: extension.Insert, Row: row}
}

// owner returns the engine whose worker ingests, -1 when none does.
func (l *life) owner() int {
	for i, e := range l.engines {
		if e != nil && l.ingest(i).worker {
			return i
		}
	}
	return -1
}

// catchUp waits until the table is level with its source, where there is a worker that can bring it there.
func (l *life) catchUp() {
	if l.faulty || l.crashed() {
		return
	}
	if l.crash != nil {
		l.crash.CrashAt(0)
	}
	if i := l.owner(); i >= 0 && l.ingest(i).state == "enabled" {
		l.note("catch up on engine %d", i)
		l.settle(i)
	}
}

// resume attaches a stream when none is, and moves ingestion to one of the engines.
func (l *life) resume() {
	i := l.any()
	state := l.ingest(i)
	if l.faulty || l.crashed() {
		l.note("resume on engine %d under faults", i)
		l.sql(i, "ALTER CDC TABLE "+l.table+" RESUME")
		return
	}
	text := ""
	if state.stream == "" {
		stream := l.pick("left", "left", "right")
		text = fmt.Sprintf("ALTER CDC TABLE %s ATTACH STREAM %s_stream; ", l.table, stream)
		l.note("attach %s", stream)
	}
	l.note("resume on engine %d", i)
	l.sql(i, text+"ALTER CDC TABLE "+l.table+" RESUME")
}

// operate runs an action on an attached table.
func (l *life) operate(action string) {
	i := l.any()
	if l.ingest(i).stream == "" {
		return
	}
	l.note("%s on engine %d", action, i)
	l.sql(i, "ALTER CDC TABLE "+l.table+" "+action)
}

func (l *life) rename() {
	if l.faulty || l.crash != nil {
		return // the outcome would have to be found out
	}
	next := fmt.Sprint("t", l.random.IntN(1000), "x", len(l.steps))
	l.note("rename")
	l.sql(l.any(), fmt.Sprintf("ALTER TABLE %s RENAME TO %s", l.table, next))
	l.table = next
	for i, e := range l.engines { // the other engine sees the new name when it looks
		if e == nil {
			continue
		}
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			out, _ := l.sql(i, "SELECT count(*) FROM information_schema.tables WHERE table_name = '"+next+"'")
			if len(out) == 1 && out[0] == "1" {
				break
			}
		}
	}
}

func (l *life) setting() {
	name, value := "execution.cdc.append_max_rows", l.pick("1", "7", "100", "2000000")
	switch l.random.IntN(4) {
	case 0:
		name, value = "execution.cdc.append_max_read_ms", l.pick("1", "5", "20")
	case 1:
		name, value = "execution.cdc.vacuum_budget_ms", l.pick("0", "10", "10000")
	case 2:
		name, value = "execution.cdc.append_max_threads", l.pick("0", "1", "3")
	}
	l.note("%s = %s", name, value)
	l.sql(l.any(), fmt.Sprintf("SET %s = %s", name, value))
}

func (l *life) openOrClose() {
	i := l.random.IntN(2)
	if l.engines[i] == nil {
		l.note("open engine %d", i)
		l.open(i)
		return
	}
	l.note("close engine %d", i)
	l.close(i)
}

// disturb makes the store fail for a while, or ends that.
func (l *life) disturb() {
	if l.faulty {
		l.note("faults end")
		l.heal()
		return
	}
	ops := map[string][]errstore.Op{
		"writes": {errstore.OpCreate, errstore.OpWrite, errstore.OpClose}, "log": {errstore.OpPutIfAbsent},
		"reads": {errstore.OpGet, errstore.OpReadAt, errstore.OpStat}, "all": nil,
	}
	kind := l.pick("writes", "log", "reads", "all")
	one := 1 + l.random.Int64N(4)
	after := l.random.IntN(2) == 0
	l.note("faults of %s, one in %d, after %v", kind, one, after)
	match := errstore.Matching("", ops[kind]...)
	turn := make(chan int64, 1)
	turn <- 0
	l.faulty = true
	l.store.SetRule(func(c errstore.Call) errstore.Verdict {
		if !match(c) {
			return errstore.Verdict{}
		}
		n := <-turn + 1
		turn <- n
		switch {
		case n%one != 0:
			return errstore.Verdict{}
		case after:
			return errstore.Verdict{After: errInjected}
		}
		return errstore.Verdict{Before: errInjected}
	})
}

// losePower arms a crash at one of the next writes.
func (l *life) losePower() {
	if l.crash == nil {
		return
	}
	n := 1 + l.random.IntN(15)
	l.note("crash at write %d", n)
	l.crash.CrashAt(n)
}

// rest lets what runs in the background run.
func (l *life) rest() {
	time.Sleep(time.Duration(l.random.IntN(20)) * time.Millisecond)
}
