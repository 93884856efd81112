package parquetstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// slack is the room behind every decode buffer that unrolled loops may read or write past the end.
const slack = 64

// newBuffer returns n bytes with slack behind them.
func newBuffer(n int) []byte { return make([]byte, n, n+slack) }

var zstdDecoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<31))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}}

var zstdEncoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}}

// decompress fills dst from src, which must hold exactly len(dst) bytes when decompressed.
func decompress(codec format.CompressionCodec, dst, src []byte) error {
	n, err := len(dst), error(nil)
	switch codec {
	case format.Uncompressed:
		n = copy(dst, src)
		if len(src) != len(dst) {
			n = len(src)
		}
	case format.Snappy:
		n, err = decompressSnappy(dst, src)
	case format.Zstd:
		d := zstdDecoders.Get().(*zstd.Decoder)
		var out []byte
		out, err = d.DecodeAll(src, dst[:0:len(dst)])
		zstdDecoders.Put(d)
		n = len(out)
	case format.Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			n, err = readExactly(r, dst)
		}
	case format.Brotli:
		n, err = readExactly(brotli.NewReader(bytes.NewReader(src)), dst)
	case format.Lz4Raw:
		n, err = lz4.UncompressBlock(src, dst)
	case format.Lz4:
		n, err = decompressHadoopLZ4(dst, src)
	default:
		return fmt.Errorf("compression %s is not supported: rewrite the file with snappy, zstd, gzip, brotli or lz4_raw", codec)
	}
	if err != nil {
		return fmt.Errorf("decompressing %s: %w", codec, err)
	}
	if n != len(dst) {
		return fmt.Errorf("decompressing %s: %d bytes where the page header announces %d", codec, n, len(dst))
	}
	return nil
}

func decompressSnappy(dst, src []byte) (int, error) {
	n, err := s2.DecodedLen(src)
	if err != nil || n != len(dst) || n == 0 {
		return n, err
	}
	_, err = s2.Decode(dst, src)
	return n, err
}

// readExactly fills dst and returns how many bytes r has: len(dst)+1 stands for more.
func readExactly(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	var one [1]byte
	more, err := r.Read(one[:])
	if err == io.EOF {
		err = nil
	}
	return n + more, err
}

// decompressHadoopLZ4 reads the deprecated LZ4 codec, of which there are two kinds in the wild: Hadoop's frames
// (big-endian uncompressed and compressed size, then a block) and one bare block.
func decompressHadoopLZ4(dst, src []byte) (int, error) {
	total, rest := 0, src
	for len(rest) >= 8 {
		size, packed := int(binary.BigEndian.Uint32(rest)), int(binary.BigEndian.Uint32(rest[4:]))
		if packed > len(rest)-8 || size > len(dst)-total {
			break
		}
		n, err := lz4.UncompressBlock(rest[8:8+packed], dst[total:total+size])
		if err != nil || n != size {
			break
		}
		total, rest = total+n, rest[8+packed:]
	}
	if len(rest) == 0 && total == len(dst) {
		return total, nil
	}
	return lz4.UncompressBlock(src, dst)
}

// compress appends src compressed to dst[:0] and returns it.
func compress(codec format.CompressionCodec, dst, src []byte) ([]byte, error) {
	switch codec {
	case format.Uncompressed:
		return append(dst[:0], src...), nil
	case format.Snappy:
		if need := s2.MaxEncodedLen(len(src)); need < 0 {
			return nil, errors.New("page is too large to compress")
		} else if cap(dst) < need {
			dst = make([]byte, need)
		}
		return s2.EncodeSnappy(dst[:cap(dst)], src), nil
	case format.Zstd:
		e := zstdEncoders.Get().(*zstd.Encoder)
		dst = e.EncodeAll(src, dst[:0])
		zstdEncoders.Put(e)
		return dst, nil
	}
	return nil, fmt.Errorf("pages cannot be written with compression %s", codec)
}
