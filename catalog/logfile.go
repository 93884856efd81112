package catalog

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

const (
	logDir           = "log/"
	checkpointPrefix = logDir + "checkpoint-"
	versionDigits    = 20
)

func entryPath(version uint64) string { return fmt.Sprintf("%s%0*d", logDir, versionDigits, version) }

func checkpointPath(version uint64) string {
	return fmt.Sprintf("%s%0*d", checkpointPrefix, versionDigits, version)
}

// parseVersion reads the version in a path with the given prefix.
func parseVersion(path, prefix string) (uint64, bool) {
	digits, ok := strings.CutPrefix(path, prefix)
	if !ok || len(digits) != versionDigits {
		return 0, false
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	return v, err == nil
}

// A log file is a header and a payload, nothing behind:
//
//	 0  "TIDEMARK"
//	 8  u16 format version | u16 kind | u32 zero
//	16  u64 version of the catalog
//	24  u64 checksum of the log file before: of entry v-1 for entry v, of entry v for checkpoint v
//	32  i64 commit time, Unix microseconds
//	40  u64 nonce: tells one writer's attempt from all others
//	48  u64 bytes of payload
//	56  u64 xxh3-64 of bytes 0 to 56 and the payload
//	64  payload
const (
	logMagic   = "TIDEMARK"
	logFormat  = 1
	headerSize = 64
	hashAt     = 56
)

type logKind uint16

const (
	entryFile      logKind = 1
	checkpointFile logKind = 2
)

type header struct {
	kind     logKind
	version  uint64
	previous uint64 // checksum
	micros   int64
	nonce    uint64
	length   uint64
	checksum uint64
}

// encodeLogFile fills in the length and the checksum of h and returns the file.
func encodeLogFile(h *header, payload []byte) []byte {
	b := make([]byte, headerSize+len(payload))
	copy(b, logMagic)
	le := binary.LittleEndian
	le.PutUint16(b[8:], logFormat)
	le.PutUint16(b[10:], uint16(h.kind))
	le.PutUint64(b[16:], h.version)
	le.PutUint64(b[24:], h.previous)
	le.PutUint64(b[32:], uint64(h.micros))
	le.PutUint64(b[40:], h.nonce)
	h.length = uint64(len(payload))
	le.PutUint64(b[48:], h.length)
	copy(b[headerSize:], payload)
	h.checksum = hashLogFile(b)
	le.PutUint64(b[hashAt:], h.checksum)
	return b
}

func hashLogFile(b []byte) uint64 {
	h := xxh3.New()
	h.Write(b[:hashAt])
	h.Write(b[headerSize:])
	return h.Sum64()
}

// decodeHeader reads a header without its checksum, which covers the payload too.
func decodeHeader(path string, b []byte) (header, error) {
	if len(b) < headerSize {
		return header{}, damaged(path, len(b), "the file ends within its header of %d bytes", headerSize)
	}
	if string(b[:8]) != logMagic {
		return header{}, damaged(path, 0, "this is not a log file")
	}
	le := binary.LittleEndian
	if f := le.Uint16(b[8:]); f != logFormat {
		return header{}, sqlerr.New(sqlerr.DataCorrupted, "%s at offset 8: format %d is not the %d this release reads", path, f, logFormat).
			Hintf("if a newer release wrote it, upgrade this one; else run flightsrv check")
	}
	return header{
		kind: logKind(le.Uint16(b[10:])), version: le.Uint64(b[16:]), previous: le.Uint64(b[24:]),
		micros: int64(le.Uint64(b[32:])), nonce: le.Uint64(b[40:]), length: le.Uint64(b[48:]), checksum: le.Uint64(b[hashAt:]),
	}, nil
}

// decodeLogFile verifies a file that should be of a kind and version and returns its payload, which shares b.
func decodeLogFile(path string, b []byte, kind logKind, version uint64) (header, []byte, error) {
	h, err := decodeHeader(path, b)
	if err != nil {
		return h, nil, err
	}
	if have := uint64(len(b) - headerSize); h.length != have {
		return h, nil, damaged(path, min(len(b), headerSize+int(min(h.length, 1<<40))), "the payload should have %d bytes and has %d", h.length, have)
	}
	if sum := hashLogFile(b); sum != h.checksum {
		return h, nil, damaged(path, hashAt, "the checksum is %016x and should be %016x", sum, h.checksum)
	}
	if h.kind != kind || h.version != version {
		return h, nil, damaged(path, 10, "it holds kind %d of version %d, not kind %d of version %d", h.kind, h.version, kind, version)
	}
	return h, b[headerSize:], nil
}

func damaged(path string, offset int, format string, args ...any) error {
	return sqlerr.New(sqlerr.DataCorrupted, "%s at offset %d: %w", path, offset, fmt.Errorf(format, args...)).
		Hintf("restore the file from a copy of the data root, and run flightsrv check")
}
