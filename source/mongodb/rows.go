package mongodb

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// families remembers the family of the _id seen, across the parts of a snapshot. Any goroutine may use it.
type families struct{ seen atomic.Uint32 }

// note refuses an _id of another family than those before.
func (f *families) note(v value) error {
	now := uint32(familyOf(v.kind))
	if was := f.seen.Load(); was != now {
		if was != 0 || !f.seen.CompareAndSwap(0, now) && f.seen.Load() != now {
			return extension.Permanent(mixedKeys(family(f.seen.Load()), family(now)))
		}
	}
	return nil
}

// rows turns documents into rows, in the snapshot and in the stream alike. One goroutine uses it.
type rows struct {
	config
	*layout
	ids      *families
	decoder  decoder
	builders []*vec.Builder
	found    []value // by column: the value in the document at hand
	keyText  []byte
	names    []byte  // of the columns whose values did not fit, in the row at hand
	misfit   []int64 // by column: values that became NULL because they do not fit
	bytes    int64   // of the documents whose rows are held
}

func newRows(c config, l *layout, ids *families) *rows {
	r := &rows{config: c, layout: l, ids: ids, decoder: decoder{json: c.json}, found: make([]value, len(l.columns)), misfit: make([]int64, len(l.columns))}
	for _, col := range l.columns {
		r.builders = append(r.builders, vec.NewBuilder(col.Type, 0))
	}
	return r
}

// find looks up the values of the columns in a document.
func (r *rows) find(document []byte) error {
	clear(r.found)
	e, err := open(document)
	if err != nil {
		return err
	}
	for {
		name, v, ok, err := e.next()
		if err != nil || !ok {
			return err
		}
		for _, i := range r.byField[string(name)] {
			if !r.found[i].missing() { // a second field of the same name
				continue
			}
			if r.found[i], err = follow(v, r.columns[i].path[1:]); err != nil {
				return err
			}
		}
	}
}

// add appends the row of a document. With an error it may leave a part of the row behind.
func (r *rows) add(document []byte, where string) error {
	if err := r.find(document); err != nil {
		return damaged(where, err)
	}
	r.bytes += int64(len(document))
	r.names = r.names[:0]
	id := r.found[r.key]
	for i := range r.columns {
		switch i {
		case r.misfits:
			continue
		case r.document:
			r.found[i] = value{kindDocument, document}
		}
		if err := r.append(i, r.found[i], id, where); err != nil {
			return err
		}
	}
	return r.appendNames()
}

// appendNames fills the column of misfits.
func (r *rows) appendNames() error {
	if r.misfits < 0 {
		return nil
	}
	b := r.builders[r.misfits]
	if len(r.names) == 0 {
		if !r.columns[r.misfits].Nullable {
			b.AppendBytes(nil)
			return nil
		}
		b.AppendNull()
		return nil
	}
	b.AppendBytes(r.names)
	return nil
}

// append appends the value of column i.
func (r *rows) append(i int, v, id value, where string) error {
	c := &r.columns[i]
	if c.key {
		return r.appendKey(v, where)
	}
	out, err := r.decoder.decode(v, c.Type)
	if err != nil {
		err = misfitError(c, id, where, v, err)
		if !extension.IsPermanent(err) {
			return damaged(where, err)
		}
		if !r.nullMisfits || !c.Nullable {
			return err
		}
		r.misfit[i]++
		if len(r.names) > 0 {
			r.names = append(r.names, ", "...)
		}
		r.names = append(r.names, c.Name...)
		out = vec.NullValue(c.Type)
	}
	if out.Null && !c.Nullable {
		return nullError(c, id, where)
	}
	r.builders[i].Append(out)
	return nil
}

// appendKey appends an _id. It fits whatever on_misfit says, or is an error: rows without a key cannot be kept.
func (r *rows) appendKey(v value, where string) error {
	c := &r.columns[r.key]
	if v.null() {
		return nullError(c, v, where)
	}
	if c.Type.ID != vec.Text {
		out, err := r.decoder.decode(v, c.Type)
		if err != nil {
			return r.keyError(v, where, err)
		}
		r.builders[r.key].Append(out)
		return nil
	}
	var err error
	if r.keyJSON {
		r.keyText, err = appendJSON(r.keyText[:0], v, keyed)
	} else {
		if err := r.ids.note(v); err != nil {
			return err
		}
		r.keyText, err = appendPlainKey(r.keyText[:0], v)
	}
	if err != nil {
		return r.keyError(v, where, err)
	}
	r.builders[r.key].AppendBytes(r.keyText)
	return nil
}

func (r *rows) keyError(v value, where string, err error) error {
	if err == errUTF8 || err == errDepth {
		err = misfit(err.Error())
	}
	if err = misfitError(&r.columns[r.key], v, where, v, err); !extension.IsPermanent(err) {
		return damaged(where, err)
	}
	return err
}

// addKey appends a row that has a key only, from a change's documentKey.
func (r *rows) addKey(document []byte, where string) error {
	id, err := field(document, idField)
	if err != nil {
		return damaged(where, err)
	}
	r.bytes += int64(len(document))
	for i := range r.columns {
		if i != r.key {
			r.builders[i].AppendNull()
		} else if err := r.appendKey(id, where); err != nil {
			return err
		}
	}
	return nil
}

// finish returns the first n rows as columns and starts anew.
func (r *rows) finish(n int) []*vec.Vector {
	cols := make([]*vec.Vector, len(r.builders))
	for i, b := range r.builders {
		cols[i] = b.Finish()
		if cols[i].N != n {
			cols[i] = cols[i].Slice(0, n)
		}
	}
	r.bytes = 0
	return cols
}

// report says in the log how many values became NULL because they do not fit, and forgets them.
func (r *rows) report(log func(string, ...any), where string) {
	for i, n := range r.misfit {
		if n > 0 {
			log("values that do not fit their column became NULL", "collection", r.database+"."+r.collection, "column", r.columns[i].Name, "values", n, "in", where)
			r.misfit[i] = 0
		}
	}
}
