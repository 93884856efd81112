package parquetstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// Bloom filters are what other writers add for columns whose bounds say little. Ours writes none: a filter of a tablet
// would cost memory in every lookup that the key index answers exactly.

const (
	bloomBlock = 32        // bytes a block of a split block filter
	maxBloom   = 128 << 20 // bytes of a filter that are read; larger ones are passed over
)

// bloomExcludes reports that the row group's bloom filter has none of the values p asks for.
func (f *File) bloomExcludes(ctx context.Context, g int, p *Predicate) (bool, error) {
	column := &f.schema.columns[p.Column]
	if p.Op != Eq && p.Op != In || !column.flat(f.schema) {
		return false, nil
	}
	c := &f.groups[g].chunks[column.leaves[0]]
	if c.meta.MetaData.BloomFilterOffset <= 0 {
		return false, nil
	}
	var hashes []uint64
	for _, v := range p.Values {
		if v.Null {
			continue
		}
		stored, ok := c.leaf.storedBytes(v)
		if !ok {
			return false, nil
		}
		hashes = append(hashes, bloom.XXH64{}.Sum64(stored))
	}
	if err := f.src.acquire(); err != nil {
		return false, f.damaged(err)
	}
	defer f.src.release()
	var filter bloom.SplitBlockFilter
	err := f.guard(func() (err error) {
		filter, err = f.readBloom(ctx, c.meta.MetaData.BloomFilterOffset)
		return err
	})
	if err != nil || filter == nil {
		return false, f.damaged(err)
	}
	for _, h := range hashes {
		if filter.Check(h) {
			return false, nil
		}
	}
	return true, nil
}

// readBloom reads the filter at an offset; nil when it is of a kind not known here.
func (f *File) readBloom(ctx context.Context, off int64) (bloom.SplitBlockFilter, error) {
	const headerMost = 256
	raw, err := f.src.view(ctx, off, int(max(min(headerMost, f.src.size-off), 0)))
	if err != nil {
		return nil, fmt.Errorf("bloom filter: %w", err)
	}
	r := compact{b: raw}
	r.skip(tStruct, false, 0)
	if r.bad {
		return nil, fmt.Errorf("bloom filter at offset %d: %w", off, errThrift)
	}
	var h format.BloomFilterHeader
	if err := unmarshalThrift(append([]byte(nil), raw[:r.pos]...), &h); err != nil {
		return nil, fmt.Errorf("bloom filter at offset %d: %w", off, err)
	}
	_, split := h.Algorithm.Value.(*format.SplitBlockAlgorithm)
	_, hash := h.Hash.Value.(*format.XxHash)
	_, plain := h.Compression.Value.(*format.BloomFilterUncompressed)
	if !split || !hash || !plain || h.NumBytes > maxBloom {
		return nil, nil
	}
	if h.NumBytes <= 0 || h.NumBytes%bloomBlock != 0 {
		return nil, fmt.Errorf("bloom filter at offset %d: %w", off, errors.New("its size is no number of blocks"))
	}
	bits, err := f.src.view(ctx, off+int64(r.pos), int(h.NumBytes))
	if err != nil {
		return nil, fmt.Errorf("bloom filter at offset %d: %w", off, err)
	}
	return bloom.MakeSplitBlockFilter(append([]byte(nil), bits...)), nil
}

// storedBytes returns a value as the file stores it, of which filters hold the hash. ok is false where equal values
// may be stored differently, as floats are, or where the form is not worth the trouble.
func (l *leaf) storedBytes(v vec.Value) (b []byte, ok bool) {
	switch {
	case l.typ.IsFloat():
		return nil, false
	case l.phys == format.ByteArray && l.conv == keep:
		return []byte(v.S), true
	case l.phys == format.Int32 && (l.conv == keep || l.conv == narrow16 || l.conv == widen64):
		return binary.LittleEndian.AppendUint32(nil, uint32(v.I)), v.I == int64(int32(v.I))
	case l.phys == format.Int64 && l.conv == keep:
		return binary.LittleEndian.AppendUint64(nil, uint64(v.I)), true
	case l.conv == uuidBytes:
		return appendBigEndian(nil, v.Int128(), 16), true
	}
	return nil, false
}
