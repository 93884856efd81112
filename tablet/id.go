package tablet

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// ID names a tablet, a run or a mask file: 42 bits of Unix milliseconds above 22 random bits, so IDs sort by age.
// The zero ID names nothing.
type ID uint64

// TableID names a table for its lifetime, whatever it is renamed to. It is made like an [ID].
type TableID uint64

const randomBits = 22

var lastID atomic.Uint64

// NewID returns an ID that this process has not returned before and that sorts after those it has.
func NewID() ID {
	var b [4]byte
	rand.Read(b[:])
	fresh := uint64(time.Now().UnixMilli())<<randomBits | uint64(binary.LittleEndian.Uint32(b[:])>>(32-randomBits))
	for {
		last := lastID.Load()
		next := max(fresh, last+1)
		if lastID.CompareAndSwap(last, next) {
			return ID(next)
		}
	}
}

// NewTableID returns a TableID nothing else has.
func NewTableID() TableID { return TableID(NewID()) }

// Time returns when the ID was made, to the millisecond.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id >> randomBits)) }

// String returns 16 hexadecimal digits, which sort as the IDs do.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// String returns 16 hexadecimal digits.
func (id TableID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// ParseID is the inverse of [ID.String].
func ParseID(s string) (ID, error) {
	n, err := parseHex16(s)
	return ID(n), err
}

// ParseTableID is the inverse of [TableID.String].
func ParseTableID(s string) (TableID, error) {
	n, err := parseHex16(s)
	return TableID(n), err
}

func parseHex16(s string) (uint64, error) {
	if len(s) != 16 {
		return 0, fmt.Errorf("%q is not an identifier of 16 hexadecimal digits", s)
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, fmt.Errorf("%q is not an identifier of 16 hexadecimal digits", s)
		}
	}
	return strconv.ParseUint(s, 16, 64)
}

// MarshalText writes the form of [ID.String].
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the form of [ID.String].
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// MarshalText writes the form of [TableID.String].
func (id TableID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the form of [TableID.String].
func (id *TableID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseTableID(string(text))
	return err
}
