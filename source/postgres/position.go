package postgres

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pglogrepl"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// position is a place in the write-ahead log of one database cluster: every transaction whose commit record begins
// before lsn lies before it. It names the table as well, since another one may take over its name.
//
//	lsn uint64 | system identifier uint64 | oid of the table uint32, big-endian
type position struct {
	lsn    pglogrepl.LSN
	system uint64
	oid    uint32
}

const positionBytes = 20

func (p position) encode() extension.Position {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, positionBytes), uint64(p.lsn))
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, p.system), p.oid)
}

func decodePosition(p extension.Position) (position, error) {
	if len(p) != positionBytes {
		return position{}, sqlerr.New(sqlerr.DataCorrupted, "a postgres position has %d bytes, not %d", positionBytes, len(p)).
			Hintf("the position was written by another kind of source: detach the stream and attach a new one")
	}
	return position{pglogrepl.LSN(binary.BigEndian.Uint64(p)), binary.BigEndian.Uint64(p[8:]), binary.BigEndian.Uint32(p[16:])}, nil
}

// formatPosition shows a position as lsn@system identifier.oid.
func formatPosition(p extension.Position) string {
	if len(p) == 0 {
		return ""
	}
	at, err := decodePosition(p)
	if err != nil {
		return fmt.Sprintf("invalid (%x)", []byte(p))
	}
	return fmt.Sprintf("%s@%d.%d", at.lsn, at.system, at.oid)
}

func parsePosition(text string) (extension.Position, error) {
	if text == "" {
		return nil, nil
	}
	left, right, _ := strings.Cut(text, "@")
	cluster, table, _ := strings.Cut(right, ".")
	lsn, lsnErr := pglogrepl.ParseLSN(left)
	system, systemErr := strconv.ParseUint(cluster, 10, 64)
	oid, err := strconv.ParseUint(table, 10, 32)
	if lsnErr != nil || systemErr != nil || err != nil {
		return nil, sqlerr.New(sqlerr.InvalidText, "%q is not a postgres position", text).
			Hintf("it is an LSN, a system identifier and a table's oid, such as 0/16B3748@7300000000000000000.16384")
	}
	return position{lsn, system, uint32(oid)}.encode(), nil
}

func comparePosition(a, b extension.Position) int {
	x, _ := decodePosition(a) // what does not decode comes first, as the empty position does
	y, _ := decodePosition(b)
	return cmp.Compare(x.lsn, y.lsn)
}
