package parquetstore

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/format"
	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// The entries our writer adds to a file's key-value metadata.
const (
	// sealKey holds "v1 <offset> <hash>": where the page indexes begin and the xxh3-64 of everything from there to the
	// end of the footer, with the digits of the hash itself read as '0'. Both take 16 hexadecimal digits.
	sealKey = "tidemark.seal"
	// headersKey holds the CRC-32 of every page header in base64, 4 bytes little-endian each, in file order.
	headersKey = "tidemark.headers"
	// intervalsKey lists the paths of the leaves that hold intervals, one a line.
	intervalsKey = "tidemark.intervals"
	// typesKey holds the types of the leaves that Parquet has no type for: a JSON object of paths and of types as
	// tablet.EncodeType writes them.
	typesKey = "tidemark.types"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	tailBytes      = 8 // length of the footer, magic
	sealVersion    = "v1 "
	// firstRead is how much of the end is read at once: enough for footer and indexes of most files.
	firstRead = 64 << 10
)

// footer is the end of a file as read and checked.
type footer struct {
	meta    format.FileMetaData
	start   int64 // offset of the footer
	own     bool  // our writer made the file and the seal holds
	headers []uint32
	byKey   map[string]string
}

// readFooter reads and checks the end of a file. ours makes a missing seal an error.
func readFooter(ctx context.Context, src *source, ours bool) (*footer, error) {
	if src.size < int64(len(magic)+tailBytes) {
		return nil, fmt.Errorf("%d bytes are too few for a Parquet file", src.size)
	}
	n := int(min(src.size, firstRead))
	end, err := src.view(ctx, src.size-int64(n), n)
	if err != nil {
		return nil, err
	}
	tail := end[n-tailBytes:]
	switch string(tail[4:]) {
	case magic:
	case encryptedMagic:
		return nil, errors.New("the file is encrypted, which is not supported: decrypt it first")
	default:
		return nil, fmt.Errorf("no Parquet magic at offset %d", src.size-4)
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	f := &footer{start: src.size - tailBytes - size}
	if f.start < int64(len(magic)) {
		return nil, fmt.Errorf("a footer of %d bytes does not fit the file", size)
	}
	raw, err := src.view(ctx, f.start, int(size))
	if err != nil {
		return nil, err
	}
	raw = append([]byte(nil), raw...) // the decoder's strings point into it
	if err := unmarshalThrift(raw, &f.meta); err != nil {
		return nil, fmt.Errorf("footer at offset %d: %w", f.start, err)
	}
	f.byKey = make(map[string]string, len(f.meta.KeyValueMetadata))
	for _, kv := range f.meta.KeyValueMetadata {
		f.byKey[kv.Key] = kv.Value
	}
	return f, f.checkSeal(ctx, src, raw, ours)
}

// checkSeal verifies what our writer signed; files of other writers have no seal.
func (f *footer) checkSeal(ctx context.Context, src *source, raw []byte, ours bool) error {
	seal, ok := f.byKey[sealKey]
	if !ok {
		if ours {
			return fmt.Errorf("footer at offset %d has no seal: it is damaged or another program wrote the file", f.start)
		}
		return nil
	}
	broken := fmt.Errorf("footer at offset %d does not match its seal", f.start)
	var indexes int64
	if n, err := fmt.Sscanf(seal, sealVersion+"%016x", &indexes); n != 1 || err != nil || indexes < 0 || indexes > f.start {
		return broken
	}
	region, err := src.view(ctx, indexes, int(f.start-indexes))
	if err != nil {
		return err
	}
	if sealText(indexes, sealOf(region, raw, seal)) != seal { // the very text, so that no digit may change its case
		return broken
	}
	packed, err := base64.StdEncoding.DecodeString(f.byKey[headersKey])
	if err != nil || len(packed)%4 != 0 {
		return broken
	}
	for i := 0; i < len(packed); i += 4 {
		f.headers = append(f.headers, binary.LittleEndian.Uint32(packed[i:]))
	}
	head, err := src.view(ctx, 0, len(magic))
	if err != nil {
		return err
	}
	if string(head) != magic {
		return errors.New("no Parquet magic at offset 0")
	}
	f.own = true
	return nil
}

// sealText writes a seal.
func sealText(indexes int64, sum uint64) string {
	return fmt.Sprintf("%s%016x %016x", sealVersion, indexes, sum)
}

// sealOf hashes the page indexes and the footer, the hash's own digits read as zeros.
func sealOf(indexes, raw []byte, seal string) uint64 {
	h := xxh3.New()
	h.Write(indexes)
	if at := bytes.Index(raw, []byte(seal)); at >= 0 {
		digits := at + max(len(seal)-16, 0)
		h.Write(raw[:digits])
		h.WriteString("0000000000000000")
		raw = raw[at+len(seal):]
	}
	h.Write(raw)
	return h.Sum64()
}

// types returns the types of the leaves, by path, that our writer stored and Parquet has none for.
func (f *footer) types() (map[string]vec.Type, error) {
	types := map[string]vec.Type{}
	for path := range strings.SplitSeq(f.byKey[intervalsKey], "\n") {
		if path != "" {
			types[path] = vec.IntervalType
		}
	}
	text, ok := f.byKey[typesKey]
	if !ok {
		return types, nil
	}
	var stored map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return nil, fmt.Errorf("the types in the footer: %w", err)
	}
	for path, form := range stored {
		t, err := tablet.DecodeType(form)
		if err != nil {
			return nil, fmt.Errorf("the type of column %q: %w", path, err)
		}
		if !unknownToParquet(t) {
			return nil, fmt.Errorf("column %q is of type %s, which the schema must say", path, t)
		}
		types[path] = t
	}
	return types, nil
}
