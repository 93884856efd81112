package parquetstore

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"
)

// Sketch estimates the number of distinct values of a column and can be merged over tablets. Up to sparseMax values
// it keeps 32 bits of each one's hash and is all but exact; above, it is a HyperLogLog (Flajolet and others, 2007) of
// 64 registers with a standard error of 13 %. The zero Sketch has seen nothing.
//
//	sparse  byte 0 | n x u32 hash, ascending
//	dense   byte 1 | 64 x byte register
type Sketch struct {
	sparse []uint32
	dense  []uint8
}

const (
	sketchBits = 6
	registers  = 1 << sketchBits
	sparseMax  = 15
)

// ParseSketch reads the form of [Sketch.Bytes]; nil gives the zero Sketch.
func ParseSketch(b []byte) (*Sketch, error) {
	s := new(Sketch)
	switch {
	case len(b) == 0:
		return s, nil
	case b[0] == 0 && len(b)%4 == 1 && len(b) <= 1+4*sparseMax:
		for b = b[1:]; len(b) > 0; b = b[4:] {
			s.sparse = append(s.sparse, uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)
		}
		return s, nil
	case b[0] == 1 && len(b) == 1+registers:
		s.dense = slices.Clone(b[1:])
		return s, nil
	}
	return nil, errors.New("a sketch of distinct values is malformed")
}

// Bytes returns the stored form, nil when nothing was seen.
func (s *Sketch) Bytes() []byte {
	if s.dense != nil {
		return append([]byte{1}, s.dense...)
	}
	if len(s.sparse) == 0 {
		return nil
	}
	b := []byte{0}
	for _, h := range s.sparse {
		b = append(b, byte(h), byte(h>>8), byte(h>>16), byte(h>>24))
	}
	return b
}

// add counts a value in by its well-mixed hash.
func (s *Sketch) add(hash uint64) {
	if s.dense != nil {
		s.register(uint32(hash >> 32))
		return
	}
	s.addSparse(uint32(hash >> 32))
}

// register notes a hash: the top bits choose the register, the zeros that follow are its rank.
func (s *Sketch) register(h uint32) {
	i := h >> (32 - sketchBits)
	rank := uint8(bits.LeadingZeros32(h<<sketchBits|1<<(sketchBits-1))) + 1
	if rank > s.dense[i] {
		s.dense[i] = rank
	}
}

func (s *Sketch) addSparse(h uint32) {
	at, found := slices.BinarySearchFunc(s.sparse, h, cmp.Compare[uint32])
	if found {
		return
	}
	if s.sparse = slices.Insert(s.sparse, at, h); len(s.sparse) > sparseMax {
		s.dense = make([]uint8, registers)
		for _, h := range s.sparse {
			s.register(h)
		}
		s.sparse = nil
	}
}

// Merge counts in what o has seen.
func (s *Sketch) Merge(o *Sketch) {
	if o.dense == nil {
		for _, h := range o.sparse {
			s.add(uint64(h) << 32)
		}
		return
	}
	if s.dense == nil {
		sparse := s.sparse
		s.sparse, s.dense = nil, slices.Clone(o.dense)
		for _, h := range sparse {
			s.register(h)
		}
		return
	}
	for i, r := range o.dense {
		s.dense[i] = max(s.dense[i], r)
	}
}

// Estimate returns about how many distinct values were seen.
func (s *Sketch) Estimate() float64 {
	if s.dense == nil {
		return float64(len(s.sparse))
	}
	sum, empty := 0.0, 0
	for _, r := range s.dense {
		sum += math.Exp2(-float64(r))
		if r == 0 {
			empty++
		}
	}
	const m, alpha = float64(registers), 0.709 // alpha for 64 registers, from the paper
	estimate := alpha * m * m / sum
	switch {
	case estimate <= 2.5*m && empty > 0:
		return m * math.Log(m/float64(empty))
	case estimate > 1<<32/30.0: // 32-bit hashes collide
		return -(1 << 32) * math.Log(1-estimate/(1<<32))
	}
	return estimate
}

// mix64 spreads the bits of x over a hash (the finalizer of MurmurHash3).
func mix64(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
