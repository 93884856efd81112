package parquetstore

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/tablet"
)

func (w *Writer) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	start := w.written
	indexes, err := w.writeIndexes()
	if err != nil {
		return err
	}
	seal := sealText(start, 0)
	footer, err := w.footer(seal)
	if err != nil {
		return err
	}
	sum := sealOf(indexes, footer, seal)
	footer, err = w.footer(sealText(start, sum))
	if err != nil {
		return err
	}
	w.write(footer)
	w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...))
	return w.err
}

// writeIndexes writes the column indexes, then the offset indexes, and returns the bytes of both.
func (w *Writer) writeIndexes() ([]byte, error) {
	var all []byte
	put := func(v any) (int64, int32, error) {
		b, err := marshalThrift(v)
		at := w.written
		w.write(b)
		all = append(all, b...)
		return at, int32(len(b)), err
	}
	leaves := len(w.schema.leaves)
	for i := range w.indexes {
		c := &w.groups[i/leaves].Columns[i%leaves]
		if index := w.indexes[i].index; index != nil {
			var err error
			if c.ColumnIndexOffset, c.ColumnIndexLength, err = put(index); err != nil {
				return nil, err
			}
		}
	}
	for i := range w.indexes {
		c := &w.groups[i/leaves].Columns[i%leaves]
		var err error
		if c.OffsetIndexOffset, c.OffsetIndexLength, err = put(&w.indexes[i].offsets); err != nil {
			return nil, err
		}
	}
	return all, w.err
}

func (w *Writer) footer(seal string) ([]byte, error) {
	m := &format.FileMetaData{
		Version: 2, Schema: w.schema.elements, NumRows: w.rows, RowGroups: w.groups, CreatedBy: "tidemark version 1",
		KeyValueMetadata: []format.KeyValue{
			{Key: sealKey, Value: seal},
			{Key: headersKey, Value: base64.StdEncoding.EncodeToString(w.headers)},
		},
	}
	if m.RowGroups == nil {
		m.RowGroups = []format.RowGroup{}
	}
	if len(w.schema.intervals) > 0 {
		m.KeyValueMetadata = append(m.KeyValueMetadata, format.KeyValue{Key: intervalsKey, Value: strings.Join(w.schema.intervals, "\n")})
	}
	if len(w.schema.types) > 0 {
		types, err := json.Marshal(w.schema.types)
		if err != nil {
			return nil, err
		}
		m.KeyValueMetadata = append(m.KeyValueMetadata, format.KeyValue{Key: typesKey, Value: string(types)})
	}
	for range w.schema.leaves {
		m.ColumnOrders = append(m.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	b, err := marshalThrift(m)
	if err != nil {
		return nil, fmt.Errorf("encoding the footer of %s: %w", w.path, err)
	}
	return b, nil
}

// describe gathers the statistics of the finished file.
func (w *Writer) describe() *tablet.Desc {
	d := &tablet.Desc{Rows: w.rows, FileBytes: w.written, Checksum: w.hash.Sum64(), Deletes: w.deletes, Sorted: w.o.Sorted}
	var stats []tablet.ColumnStats
	leaf := 0
	for i, c := range w.columns {
		e := w.encoders[leaf]
		if isFlat(c.Type) && c.FieldID != 0 {
			s := tablet.ColumnStats{FieldID: c.FieldID, NullCount: e.nulls, NaNCount: e.extent.nans, Distinct: e.sketch.Bytes()}
			s.Min, s.Max = e.extent.tabletBounds(c.Type)
			stats = append(stats, s)
		}
		if c.FieldID == tablet.SeqFieldID && e.extent.known {
			d.MinSeq, d.MaxSeq = e.extent.min.I, e.extent.max.I
		}
		leaf += w.buffers[i].leaves()
	}
	d.Stats = tablet.MakeStats(stats)
	return d
}

// flatRows is the rowBuffer of a flat column.
type flatRows struct{ *columnBuffer }

func (f flatRows) leaves() int { return 1 }

func (f flatRows) encode(encoders []*chunkEncoder, out []encodedChunk) error {
	if err := f.checkText(); err != nil {
		return encoders[0].textError(err)
	}
	return encoders[0].encode(f.columnBuffer, &out[0])
}
