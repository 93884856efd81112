package generator

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Source returns the registration of CREATE STREAM ... FROM GENERATOR.
func Source() *extension.SourceDef {
	return &extension.SourceDef{
		Def: extension.Def{
			Name:        "generator",
			Category:    "source",
			Description: "Make up a table and its changes from a seed",
		},
		Options: optionDefs,
		Open: func(_ context.Context, req extension.OpenRequest) (extension.Source, error) {
			return open(req.Table, req.Options)
		},
		FormatPosition: func(p extension.Position) string {
			n, err := DecodePosition(p)
			if err != nil {
				return fmt.Sprintf("invalid (%x)", []byte(p))
			}
			return strconv.FormatUint(n, 10)
		},
		ParsePosition: func(text string) (extension.Position, error) {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil || n > maxNumber {
				return nil, sqlerr.New(sqlerr.InvalidText, "%q is not a generator position", text).Hintf("it is the number of changes before the position, such as 1200")
			}
			return EncodePosition(n), nil
		},
		ComparePosition: func(a, b extension.Position) int { return compareBytes(a, b) },
		HasCommitTime:   true,
	}
}

// EncodePosition returns the position after the first n changes.
func EncodePosition(n uint64) extension.Position { return binary.BigEndian.AppendUint64(nil, n) }

// DecodePosition returns how many changes lie before the position.
func DecodePosition(p extension.Position) (uint64, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(p) != 8 {
		return 0, sqlerr.New(sqlerr.DataCorrupted, "a generator position has 8 bytes, not %d", len(p)).
			Hintf("the position was written by another kind of source: detach the stream and attach a new one")
	}
	n := binary.BigEndian.Uint64(p)
	if n > maxNumber {
		return 0, sqlerr.New(sqlerr.DataCorrupted, "generator position %d is beyond the last change", n).
			Hintf("detach the stream and attach a new one")
	}
	return n, nil
}

func compareBytes(a, b extension.Position) int {
	x, _ := DecodePosition(a)
	y, _ := DecodePosition(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// source is the opened generator. It holds nothing that ends.
type source struct {
	sequence *Sequence
	table    *table
}

func open(spec extension.TableSpec, options map[string]string) (*source, error) {
	c, err := parseOptions(options)
	if err != nil {
		return nil, err
	}
	t, err := newTable(spec.Columns, spec.Key, c)
	if err != nil {
		return nil, err
	}
	s := &source{newSequence(c), t}
	if c.limit < maxNumber && s.sequence.KeyNumbers(c.limit) > t.capacity {
		return nil, t.full(s.sequence.KeyNumbers(c.limit))
	}
	return s, nil
}

func (s *source) Check(context.Context) error { return nil } // open has checked all there is

func (s *source) Snapshot(context.Context) (extension.Snapshot, error) { return &snapshot{s}, nil }

func (s *source) Stream(_ context.Context, after extension.Position) (extension.Stream, error) {
	n, err := DecodePosition(after)
	if err != nil {
		return nil, extension.Permanent(err)
	}
	return newStream(s, n), nil
}

func (s *source) Drop(context.Context) error { return nil }

func (s *source) Close() error { return nil }

// partRows is the number of rows in a part of the snapshot.
const partRows = 1 << 20

// snapshot is key numbers 0 to keys-1 at version 0, in order.
type snapshot struct{ *source }

func (s *snapshot) Position() extension.Position { return EncodePosition(0) }

func (s *snapshot) Parts() int { return int((s.sequence.keys + partRows - 1) / partRows) }

func (s *snapshot) Read(ctx context.Context, part int, fn func(*vec.Batch) error) error {
	from := uint64(part) * partRows
	to := min(from+partRows, s.sequence.keys)
	versions := make([]uint64, vec.MaxBatchRows)
	keys := make([]uint64, vec.MaxBatchRows)
	for from < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(to-from, vec.MaxBatchRows))
		for i := range n {
			keys[i] = from + uint64(i)
		}
		from += uint64(n)
		if err := fn(vec.NewBatch(n, s.table.fill(rows{keys: keys[:n], versions: versions[:n]})...)); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshot) Close() error { return nil }
