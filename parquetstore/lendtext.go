package parquetstore

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/vec"
)

// decodeStrings decodes n plain byte strings after skip others. Rows outside sel are left empty.
func (p *lentPage) decodeStrings(skip, n int, sel vec.Selection) (*vec.Vector, error) {
	in, err := skipPlainBytes(p.values, p.in, skip)
	if err != nil {
		return nil, err
	}
	p.start = in
	m := p.memory
	m.offsets = grown(m.offsets, n+1)
	m.offsets[0] = 0
	out := stringCopy{src: p.values, in: in, data: m.data[:cap(m.data)]}
	if sel == nil {
		err = out.copy(m.offsets[1:])
	} else {
		err = out.pick(m.offsets[1:], sel)
	}
	p.in, m.data = out.in, out.data
	return &vec.Vector{Type: p.leaf.typ, N: n, Data: out.data[:out.at:out.at], Offsets: m.offsets}, err
}

// stringCopy copies plain byte strings to one after the other.
type stringCopy struct {
	src  []byte // slack behind it
	in   int    // read of src
	data []byte
	at   int // written of data
}

// copy copies one string for each of ends, which it sets.
func (s *stringCopy) copy(ends []int32) error {
	src, in, data, at := s.src, s.in, s.data, s.at
	for i := range ends {
		if len(src)-in < 4 {
			return errPlainCut
		}
		length := int(binary.LittleEndian.Uint32(src[in:]))
		if in += 4; length > len(src)-in {
			return errPlainCut
		}
		if at+length+slack > len(data) {
			data = append(data, make([]byte, max(length+slack, len(data)))...)
			data = data[:cap(data)]
		}
		// src and data have slack, so short strings are copied in whole 16-byte pieces.
		if over := src[in:cap(src)]; length <= 48 && len(over) >= 48 {
			to := data[at : at+48]
			*(*[16]byte)(to) = *(*[16]byte)(over)
			if length > 16 {
				*(*[32]byte)(to[16:]) = *(*[32]byte)(over[16:])
			}
		} else {
			copy(data[at:], src[in:in+length])
		}
		in += length
		at += length
		ends[i] = int32(at)
	}
	s.in, s.data, s.at = in, data, at
	return nil
}

// pick copies the strings of sel; the others end where the one before does.
func (s *stringCopy) pick(ends []int32, sel vec.Selection) (err error) {
	done := 0
	for _, row := range sel {
		if s.in, err = skipPlainBytes(s.src, s.in, int(row)-done); err != nil {
			return err
		}
		fill(ends[done:row], int32(s.at))
		if err = s.copy(ends[row : row+1]); err != nil {
			return err
		}
		done = int(row) + 1
	}
	fill(ends[done:], int32(s.at))
	s.in, err = skipPlainBytes(s.src, s.in, len(ends)-done)
	return err
}

// skipPlainBytes returns where the byte string lies that comes n after the one at in.
func skipPlainBytes(src []byte, in, n int) (int, error) {
	for range n {
		if len(src)-in < 4 {
			return 0, errPlainCut
		}
		length := int(binary.LittleEndian.Uint32(src[in:]))
		if in += 4; length > len(src)-in {
			return 0, errPlainCut
		}
		in += length
	}
	return in, nil
}
