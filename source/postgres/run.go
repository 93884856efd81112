package postgres

import (
	"bytes"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// run collects the changes that the next call of Next returns.
type run struct {
	columns   []column
	builders  []*vec.Builder
	ops       []extension.Op
	unchanged [][]int32 // by column: the rows whose value the source did not send
	moved     [][2]int32
	bytes     int64
	counts    counts

	// The last transaction that ended in the run: what lies before is whole.
	ended     bool
	end       pglogrepl.LSN
	endRows   int
	endCounts counts
	endTime   time.Time
}

type counts struct{ inserts, updates, deletes int64 }

func newRun(columns []column) *run {
	r := &run{columns: columns, unchanged: make([][]int32, len(columns))}
	for _, c := range columns {
		r.builders = append(r.builders, vec.NewBuilder(c.Type, 0))
	}
	return r
}

// commit marks the end of a transaction.
func (r *run) commit(end pglogrepl.LSN, at time.Time) {
	r.ended, r.end, r.endRows, r.endCounts, r.endTime = true, end, len(r.ops), r.counts, at
}

// add appends the row t.
func (r *run) add(op extension.Op, where string, t *tuple) error {
	row := int32(len(r.ops))
	for i := range r.columns {
		c, b := &r.columns[i], r.builders[i]
		f := t.at(c, i)
		switch f.kind {
		case 'n':
			if c.key || !c.Nullable {
				return nullError(c, where)
			}
			b.AppendNull()
			continue
		case 'u':
			if c.key {
				return toastedKey(c)
			}
			b.AppendNull()
			r.unchanged[i] = append(r.unchanged[i], row)
			continue
		}
		decode := c.binary
		if f.kind == 't' {
			decode = c.text
		}
		if decode == nil {
			return errMessage // binary although text was asked for
		}
		if err := decode(b, f.data); err != nil {
			return valueError(c, where, f.data, err)
		}
		r.bytes += int64(len(f.data)) + 8
	}
	r.ops = append(r.ops, op)
	return nil
}

// addKey appends a row that has a key only.
func (r *run) addKey(op extension.Op, where string, t *tuple) error {
	for i := range r.columns {
		c := &r.columns[i]
		if !c.key {
			r.builders[i].AppendNull()
			continue
		}
		f := t.at(c, i)
		decode := c.binary
		switch f.kind {
		case 'n':
			return nullError(c, where)
		case 'u':
			return toastedKey(c)
		case 't':
			decode = c.text
		}
		if decode == nil {
			return errMessage
		}
		if err := decode(r.builders[i], f.data); err != nil {
			return valueError(c, where, f.data, err)
		}
		r.bytes += int64(len(f.data)) + 8
	}
	r.ops = append(r.ops, op)
	return nil
}

// truncate appends a Truncate.
func (r *run) truncate() {
	for _, b := range r.builders {
		b.AppendNull()
	}
	r.ops = append(r.ops, extension.Truncate)
}

// sameKey reports whether old and new have the same bytes in every key column.
func (r *run) sameKey(old, now *tuple) bool {
	for i := range r.columns {
		if c := &r.columns[i]; c.key {
			if a, b := old.at(c, i), now.at(c, i); a.kind != b.kind || !bytes.Equal(a.data, b.data) {
				return false
			}
		}
	}
	return true
}

// take returns the changes collected, only those of whole transactions when wholeOnly is set, and starts the next run.
// It returns nil when there are none and no transaction has ended. at says which cluster and table they are of.
func (r *run) take(wholeOnly bool, at position) *extension.Changes {
	n, counted := len(r.ops), r.counts
	if wholeOnly {
		n, counted = r.endRows, r.endCounts
	}
	if n == 0 && !r.ended {
		if wholeOnly {
			r.clear()
		}
		return nil
	}
	out := &extension.Changes{Ops: r.ops[:n], Inserts: counted.inserts, Updates: counted.updates, Deletes: counted.deletes}
	for _, b := range r.builders {
		v := b.Finish()
		if v.N != n {
			v = v.Slice(0, n)
		}
		out.Cols = append(out.Cols, v)
	}
	r.markUnchanged(out, n)
	if n == r.endRows && r.ended {
		out.Boundary, out.CommitTime = true, r.endTime
		at.lsn = r.end
		out.Position = at.encode()
	}
	r.clear()
	return out
}

// clear starts the next run.
func (r *run) clear() {
	for i, b := range r.builders {
		if b.Len() > 0 {
			b.Finish()
		}
		r.unchanged[i] = nil
	}
	*r = run{columns: r.columns, builders: r.builders, unchanged: r.unchanged, ops: make([]extension.Op, 0, cap(r.ops))}
}

func (r *run) markUnchanged(out *extension.Changes, n int) {
	for i, list := range r.unchanged {
		for _, row := range list {
			if int(row) >= n {
				break
			}
			if out.Unchanged == nil {
				out.Unchanged = make([]vec.Bitmap, len(r.columns))
			}
			if out.Unchanged[i] == nil {
				out.Unchanged[i] = vec.NewBitmap(n)
			}
			out.Unchanged[i].Set(int(row))
		}
	}
	if out.Unchanged == nil {
		return
	}
	out.KeyRow = vec.Sequence(n)
	for _, m := range r.moved {
		if int(m[1]) < n {
			out.KeyRow[m[1]] = m[0]
		}
	}
}

// toastedKey is the error of an update that left a large key value out and does not carry the old key either.
func toastedKey(c *column) error {
	return tableChanged("an update left out the value of key column %s, which is stored out of line, so its row is not known", niceIdent(c.Name))
}
