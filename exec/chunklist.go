package exec

import "github.com/tidemarkdb/tidemark/vec"

// chunkList is a sequence of batches without selections, some in memory, some in temporary files.
type chunkList struct {
	types []vec.Type
	items []chunkItem
	rows  int64
}

// chunkItem is one batch: b, or where it lies when b is nil.
type chunkItem struct {
	b *vec.Batch
	s spilled
}

func (l *chunkList) len() int { return len(l.items) }

func (l *chunkList) add(b *vec.Batch) {
	l.items = append(l.items, chunkItem{b: b})
	l.rows += int64(b.N)
}

// size returns how many rows batch i has.
func (l *chunkList) size(i int) int {
	if it := l.items[i]; it.b != nil {
		return it.b.N
	}
	return l.items[i].s.rows
}

// each calls f with the rows in stretches of at most vec.BatchRows.
func (l *chunkList) each(w *worker, f func(*vec.Batch) error) error {
	for i := range l.len() {
		b, err := l.read(i)
		if err != nil {
			return err
		}
		for from := 0; from < b.N; from += vec.BatchRows {
			if err := w.check(); err != nil {
				return err
			}
			if err := f(b.Slice(from, min(vec.BatchRows, b.N-from))); err != nil {
				return err
			}
		}
	}
	return nil
}

// read returns batch i.
func (l *chunkList) read(i int) (*vec.Batch, error) {
	if it := l.items[i]; it.b != nil {
		return it.b, nil
	}
	return l.items[i].s.read(l.types)
}

// spill writes every batch in memory to the file.
func (l *chunkList) spill(q *query, file *spillFile) error {
	for i := range l.items {
		if l.items[i].b == nil {
			continue
		}
		if err := q.check(); err != nil {
			return err
		}
		s, err := file.write(l.items[i].b)
		if err != nil {
			return err
		}
		l.items[i] = chunkItem{s: s}
	}
	return nil
}

// from returns the batches from number at on.
func (l *chunkList) from(at int) *chunkList {
	out := &chunkList{types: l.types, items: l.items[at:]}
	for i := range out.items {
		out.rows += int64(out.size(i))
	}
	return out
}

// join appends the batches of other.
func (l *chunkList) join(other *chunkList) {
	l.items = append(l.items, other.items...)
	l.rows += other.rows
}
