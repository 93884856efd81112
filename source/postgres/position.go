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
// before lsn lies before it.
//
//	lsn uint64 | system identifier uint64, big-endian
type position struct {
	lsn    pglogrepl.LSN
	system uint64
}

func (p position) encode() extension.Position {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(p.lsn)), p.system)
}

func decodePosition(p extension.Position) (position, error) {
	if len(p) != 16 {
		return position{}, sqlerr.New(sqlerr.DataCorrupted, "a postgres position has 16 bytes, not %d", len(p)).
			Hintf("the position was written by another kind of source: detach the stream and attach a new one")
	}
	return position{pglogrepl.LSN(binary.BigEndian.Uint64(p)), binary.BigEndian.Uint64(p[8:])}, nil
}

// formatPosition shows a position as lsn@system identifier.
func formatPosition(p extension.Position) string {
	if len(p) == 0 {
		return ""
	}
	at, err := decodePosition(p)
	if err != nil {
		return fmt.Sprintf("invalid (%x)", []byte(p))
	}
	return fmt.Sprintf("%s@%d", at.lsn, at.system)
}

func parsePosition(text string) (extension.Position, error) {
	if text == "" {
		return nil, nil
	}
	left, right, _ := strings.Cut(text, "@")
	lsn, lsnErr := pglogrepl.ParseLSN(left)
	system, err := strconv.ParseUint(right, 10, 64)
	if lsnErr != nil || err != nil {
		return nil, sqlerr.New(sqlerr.InvalidText, "%q is not a postgres position", text).Hintf("it is an LSN and a system identifier, such as 0/16B3748@7300000000000000000")
	}
	return position{lsn, system}.encode(), nil
}

func comparePosition(a, b extension.Position) int {
	x, _ := decodePosition(a) // what does not decode comes first, as the empty position does
	y, _ := decodePosition(b)
	return cmp.Compare(x.lsn, y.lsn)
}
