package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// fuzzColumns has a column of every kind that is read in binary form.
func fuzzColumns() []column {
	var out []column
	add := func(src sourceType, target vec.Type) {
		name := fmt.Sprintf("c%d", len(out))
		out = append(out, newColumn(vec.Column{Name: name, Type: target, Nullable: true}, src, len(out) == 0))
	}
	for k := kindBool; k < kindArray; k++ {
		src := sourceType{oid: uint32(k), typmod: -1, name: "x", kind: k}
		if k == kindNumeric {
			add(src, vec.DecimalType(12, 2))
			add(src, vec.DecimalType(38, 10))
		}
		add(src, src.natural())
		if array := (sourceType{kind: kindArray, elem: &src}); k == kindInt4 || k == kindString {
			add(array, vec.ArrayType(src.natural()))
			add(array, vec.ArrayType(vec.ArrayType(src.natural())))
		}
	}
	return out
}

// fuzzStream is a stream without a connection, about table 7 with columns.
func fuzzStream(columns []column) *stream {
	return &stream{
		source: &source{}, table: &table{oid: 7, schema: "public", name: "t"}, columns: columns, run: newRun(columns),
		spools: newSpools("", 1<<30), status: &status{},
	}
}

// message builds pgoutput messages.
type message []byte

func (m message) u8(x byte) message     { return append(m, x) }
func (m message) u16(x int) message     { return binary.BigEndian.AppendUint16(m, uint16(x)) }
func (m message) u32(x int) message     { return binary.BigEndian.AppendUint32(m, uint32(x)) }
func (m message) u64(x int) message     { return binary.BigEndian.AppendUint64(m, uint64(x)) }
func (m message) text(s string) message { return append(append(m, s...), 0) }

func relationOf(columns []column) message {
	m := message{'R'}.u32(7).text("public").text("t").u8('d').u16(len(columns))
	for _, c := range columns {
		flag := byte(0)
		if c.key {
			flag = 1
		}
		m = m.u8(flag).text(c.Name).u32(int(c.source.oid)).u32(int(c.wireTypmod))
	}
	return m
}

// FuzzMessages feeds a stream messages, each with its length before it.
func FuzzMessages(f *testing.F) {
	columns := fuzzColumns()
	relation := relationOf(columns)
	insert := message{'I'}.u32(7).u8('N').u16(len(columns))
	for i := range columns {
		if i == 0 {
			insert = insert.u8('b').u32(1).u8(1)
		} else {
			insert = insert.u8('n')
		}
	}
	pack := func(messages ...message) (out []byte) {
		for _, m := range messages {
			out = append(binary.BigEndian.AppendUint16(out, uint16(len(m))), m...)
		}
		return out
	}
	inside := func(m message) message { return append(message{m[0]}.u32(9), m[1:]...) }
	begin, commit := message{'B'}.u64(100).u64(5).u32(3), message{'C'}.u8(0).u64(100).u64(110).u64(5)
	f.Add(pack(begin, relation, insert, commit))
	f.Add(pack(message{'S'}.u32(9).u8(1), inside(relation), inside(insert), message{'E'}, message{'c'}.u32(9).u8(0).u64(200).u64(210).u64(5)))
	f.Add(pack(message{'S'}.u32(9).u8(1), inside(relation), inside(insert), message{'E'}, message{'A'}.u32(9).u32(9)))
	f.Add(pack(begin, message{'T'}.u32(1).u8(0).u32(7), commit))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := fuzzStream(columns)
		defer s.spools.close()
		rows := 0
		for len(data) >= 2 {
			n := min(int(binary.BigEndian.Uint16(data)), len(data)-2)
			err := s.change(data[2 : 2+n])
			data = data[2+n:]
			for err == nil && s.replay != nil {
				err = s.replayNext()
			}
			if err != nil {
				if !errors.Is(err, errMessage) && !extension.IsPermanent(err) {
					t.Fatalf("%v", err)
				}
				break
			}
			rows = len(s.run.ops)
			for i, b := range s.run.builders {
				if b.Len() != rows {
					t.Fatalf("column %d has %d values for %d rows", i, b.Len(), rows)
				}
			}
		}
		if c := s.run.take(true, s.start); c != nil {
			for _, col := range c.Cols {
				for i := range c.Rows() {
					vec.Format(col.Value(i))
				}
			}
		}
	})
}

// FuzzValues decodes one value with every decoder; what is accepted can be printed.
func FuzzValues(f *testing.F) {
	f.Add([]byte{1})
	f.Add([]byte{0, 0, 0, 1})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{0, 2, 0, 1, 0x40, 0, 0, 2, 0, 12, 13, 172})
	f.Add([]byte(message{}.u32(1).u32(0).u32(23).u32(2).u32(1).u32(4).u32(5).u32(-1)))
	f.Add([]byte(message{}.u32(2).u32(0).u32(25).u32(1).u32(1).u32(1).u32(1).u32(1).u8('a')))
	columns := fuzzColumns()
	f.Fuzz(func(t *testing.T, raw []byte) {
		for i := range columns {
			for _, decode := range []decodeFunc{columns[i].binary, columns[i].text} {
				b := vec.NewBuilder(columns[i].Type, 1)
				if decode(b, raw) != nil {
					continue
				}
				if b.Len() != 1 {
					t.Fatalf("%s: %d values", columns[i].source.natural(), b.Len())
				}
				vec.Format(b.Finish().Value(0))
			}
		}
	})
}

// FuzzCopy feeds COPY output in two pieces cut anywhere; the rows must not depend on the cut.
func FuzzCopy(f *testing.F) {
	row := message{}.u16(2).u32(4).u32(7).u32(1).u8('x')
	head := append(append(message{}, copySignature...), message{}.u32(0).u32(0)...)
	f.Add([]byte(append(append(append(head, row...), row...), 0xff, 0xff)), 20)
	f.Add([]byte(head), 3)
	columns := []column{
		newColumn(vec.Column{Name: "a", Type: vec.Int32Type}, sourceType{kind: kindInt4}, true),
		newColumn(vec.Column{Name: "b", Type: vec.TextType, Nullable: true}, sourceType{kind: kindString}, false),
	}
	read := func(pieces ...[]byte) (text string, err error) {
		r := &copyReader{columns: columns, fn: func(b *vec.Batch) error {
			for i := range b.N {
				text += vec.Format(b.Cols[0].Value(i)) + vec.Format(b.Cols[1].Value(i)) + "\n"
			}
			return nil
		}}
		for _, c := range columns {
			r.builders = append(r.builders, vec.NewBuilder(c.Type, 0))
		}
		for _, p := range pieces {
			if _, err := r.Write(bytes.Clone(p)); err != nil {
				return "", err
			}
		}
		return text, r.end()
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		whole, wholeErr := read(data)
		cut = min(max(cut, 0), len(data))
		halves, halvesErr := read(data[:cut], data[cut:])
		if (wholeErr == nil) != (halvesErr == nil) || wholeErr == nil && whole != halves {
			t.Fatalf("%q, %v; cut at %d: %q, %v", whole, wholeErr, cut, halves, halvesErr)
		}
	})
}
