package flightsql

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tidemarkdb/tidemark/vec"
)

// Batches above maxBatchBytes are cut into pieces of about half of it: grpc-go clients take messages of 4 MiB, and
// throughput is flat from 256 KiB to 8 MiB.
const maxBatchBytes = 2 << 20

// arrowSchema is vec.ToArrowSchema with what drivers ask of a column beyond its Arrow type.
func arrowSchema(columns vec.Schema) *arrow.Schema {
	fields := vec.ToArrowSchema(columns).Fields()
	for i, c := range columns {
		meta := fsql.NewColumnMetadataBuilder().TypeName(c.Type.String())
		if c.Type.ID == vec.Decimal {
			meta = meta.Precision(int32(c.Type.Precision)).Scale(int32(c.Type.Scale))
		}
		fields[i].Metadata = meta.Metadata()
	}
	return arrow.NewSchema(fields, nil)
}

// send streams batches until next returns nil. Send blocks while the client's window is full, so no more is computed
// than it reads.
func (h *handler) send(stream flight.DataStreamWriter, schema *arrow.Schema, next func() (*vec.Batch, error)) error {
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	for {
		batch, err := next()
		if err != nil {
			return err
		}
		if batch == nil {
			return w.Close()
		}
		for from := 0; from < batch.N; {
			n := fitting(batch, from)
			piece := batch.Slice(from, n)
			record, err := vec.ToArrowBatch(schema, piece)
			if err != nil {
				return err
			}
			if err := w.Write(record); err != nil {
				return err
			}
			h.metrics.rows.Add(float64(n))
			h.metrics.bytes.Add(float64(wireBytes(piece, 0, n)))
			from += n
		}
	}
}

// fitting returns how many rows of b from row from on make one message.
func fitting(b *vec.Batch, from int) int {
	n := b.N - from
	for n > 1 && wireBytes(b, from, n) > maxBatchBytes {
		n = (n + 1) / 2
	}
	return n
}

// wireBytes returns about how many bytes rows take once they are dense.
func wireBytes(b *vec.Batch, from, n int) (total int64) {
	for _, c := range b.Cols {
		total += denseBytes(c, from, n)
	}
	return total
}

func denseBytes(v *vec.Vector, from, n int) int64 {
	if n == 0 {
		return 0
	}
	switch v.Form {
	case vec.Constant:
		one := *v
		one.Form, one.N = vec.Flat, 1
		return denseBytes(&one, 0, 1) * int64(n)
	case vec.Dictionary:
		if w := fixedBytes(v.Type); w > 0 {
			return w * int64(n)
		}
		if v.Dict.N == 0 {
			return int64(n)
		}
		total := int64(0)
		for _, x := range v.Index[from : from+n] {
			total += denseBytes(v.Dict, int(x), 1)
		}
		return total
	}
	if w := fixedBytes(v.Type); w > 0 {
		return w * int64(n)
	}
	total := int64(n) / 8
	switch v.Type.Phys() {
	case vec.PhysBytes:
		return total + 4*int64(n) + int64(v.Offsets[from+n]-v.Offsets[from])
	case vec.PhysList:
		first, last := int(v.Offsets[from]), int(v.Offsets[from+n])
		return total + 4*int64(n) + denseBytes(v.Kids[0], first, last-first)
	case vec.PhysStruct:
		for _, k := range v.Kids {
			total += denseBytes(k, from, n)
		}
	}
	return total
}

// fixedBytes returns the bytes of a value on the wire, 0 when they vary.
func fixedBytes(t vec.Type) int64 {
	switch t.ID {
	case vec.Bool:
		return 1
	case vec.Decimal:
		return 16
	case vec.UUID:
		return 40
	case vec.TimeTZ:
		return 24
	}
	return int64(t.Phys().Width())
}
