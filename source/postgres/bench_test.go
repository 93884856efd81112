package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

// benchSpec is a narrow row: 112 bytes on the wire.
func benchSpec() extension.TableSpec {
	return target("*id", vec.Int64Type, "n", vec.Int32Type, "note", vec.TextType, "amount", vec.DecimalType(12, 2), "at", vec.TimestampTZType)
}

// BenchmarkDecode measures the client's work for one insert, without a server.
func BenchmarkDecode(b *testing.B) {
	kinds := []kind{kindInt8, kindInt4, kindString, kindNumeric, kindTimestampTZ}
	var columns []column
	for i, c := range benchSpec().Columns {
		columns = append(columns, newColumn(c, sourceType{kind: kinds[i], typmod: -1}, i == 0))
	}
	s := fuzzStream(columns)
	insert := message{'I'}.u32(7).u8('N').u16(5).u8('b').u32(8).u64(12345).u8('b').u32(4).u32(99).u8('b').u32(20)
	insert = append(insert, "twenty bytes of text"...)
	insert = insert.u8('b').u32(12).u16(2).u16(0).u16(0).u16(2).u16(1234).u16(5600).u8('b').u32(8).u64(700000000000000)
	if err := s.change(relationOf(columns)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		if err := s.change(insert); err != nil {
			b.Fatal(err)
		}
		if rows++; rows%vec.MaxBatchRows == 0 {
			s.run.take(false, position{})
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkServer measures the snapshot and the stream of a real server over its socket.
func BenchmarkServer(b *testing.B) {
	const rows = 500_000
	server := pgtest.Start(b)
	server.Exec(`CREATE TABLE t (id bigint PRIMARY KEY, n int, note text, amount numeric(12,2), at timestamptz); CREATE PUBLICATION tidemark FOR TABLE t`)
	src, err := open(extension.OpenRequest{Stream: "s", Table: benchSpec(), SpillDir: b.TempDir(), MemoryBytes: 256 << 20,
		Options: map[string]string{"connection": server.SocketDSN, "table": "t", "snapshot_threads": "2"}})
	if err != nil {
		b.Fatal(err)
	}
	for size, name := range map[int]string{rows: "one transaction", 200: "200 rows a transaction"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				server.Exec("TRUNCATE t")
				snap, err := src.Snapshot(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				_ = snap.Close()
				server.Exec(fmt.Sprintf(`DO $$ BEGIN FOR b IN 0..%d LOOP %s; COMMIT; END LOOP; END $$`, rows/size-1,
					fmt.Sprintf("INSERT INTO t SELECT i, i %% 1000, 'twenty bytes of text', i / 100.0, now() FROM generate_series(b * %d + 1, b * %d + %d) i", size, size, size)))
				st, err := src.Stream(context.Background(), snap.Position())
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for got := 0; got < rows; {
					c, err := st.Next(context.Background(), time.Second, vec.MaxBatchRows)
					if err != nil {
						b.Fatal(err)
					}
					if c != nil {
						got += c.Rows()
					}
				}
				b.StopTimer()
				_ = st.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
	b.Run("snapshot", func(b *testing.B) {
		server.Exec("TRUNCATE t; " + fmt.Sprintf("INSERT INTO t SELECT i, i %% 1000, 'twenty bytes of text', i / 100.0, now() FROM generate_series(1, %d) i", 4*rows))
		for b.Loop() {
			snap, err := src.Snapshot(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			for part := range snap.Parts() {
				if err := snap.Read(context.Background(), part, func(*vec.Batch) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			_ = snap.Close()
		}
		b.ReportMetric(float64(b.N)*4*rows/b.Elapsed().Seconds(), "rows/s")
	})
}
