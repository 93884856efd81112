package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/vec"
)

// decodeFunc appends one value, which is not NULL and stands in raw, to a builder of the target's type. Its error says
// what is wrong with the value; of the builder only the rows before are then of use. raw is borrowed.
type decodeFunc func(b *vec.Builder, raw []byte) error

// PostgreSQL counts dates and times from 2000-01-01.
const (
	epochDays   = 10957
	epochMicros = epochDays * vec.MicrosPerDay
)

var errWidth = errors.New("it does not have the width of its type")

// binaryDecoder returns the decoder from t's binary form to target; t.fits(target) and not t.byText(target) hold.
func binaryDecoder(t sourceType, target vec.Type) decodeFunc {
	switch t.kind {
	case kindBool:
		return decodeBool
	case kindInt2, kindInt4, kindInt8:
		return integerDecoder(map[kind]int{kindInt2: 2, kindInt4: 4, kindInt8: 8}[t.kind], target)
	case kindFloat4:
		if target.ID == vec.Float64 {
			return decodeFloat4As8
		}
		return decode4
	case kindFloat8:
		return decode8
	case kindNumeric:
		return numericDecoder(target)
	case kindString, kindJSON:
		return decodeText
	case kindChar:
		return decodeChar
	case kindBytea:
		return decodeBytea
	case kindDate:
		return decodeDate
	case kindTime:
		return decode8
	case kindTimeTZ:
		return timeTZDecoder(target)
	case kindTimestamp, kindTimestampTZ:
		return decodeTimestamp
	case kindInterval:
		return decodeInterval
	case kindUUID:
		if target.ID == vec.Text {
			return decodeUUIDText
		}
		return decodeUUID
	case kindJSONB:
		return decodeJSONB
	case kindArray:
		return arrayDecoder(*t.elem, target)
	}
	panic(fmt.Sprintf("postgres: no binary form of %s", t.name)) // byText
}

func decodeBool(b *vec.Builder, raw []byte) error {
	if len(raw) != 1 {
		return errWidth
	}
	b.AppendBool(raw[0] != 0)
	return nil
}

func decode4(b *vec.Builder, raw []byte) error {
	if len(raw) != 4 {
		return errWidth
	}
	vec.AppendFixed(b, int32(binary.BigEndian.Uint32(raw)))
	return nil
}

func decode8(b *vec.Builder, raw []byte) error {
	if len(raw) != 8 {
		return errWidth
	}
	vec.AppendFixed(b, int64(binary.BigEndian.Uint64(raw)))
	return nil
}

func decodeFloat4As8(b *vec.Builder, raw []byte) error {
	if len(raw) != 4 {
		return errWidth
	}
	vec.AppendFixed(b, float64(math.Float32frombits(binary.BigEndian.Uint32(raw))))
	return nil
}

// integer reads a signed integer of 2, 4 or 8 bytes.
func integer(raw []byte) int64 {
	switch len(raw) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(raw)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(raw)))
	}
	return int64(binary.BigEndian.Uint64(raw))
}

func integerDecoder(width int, target vec.Type) decodeFunc {
	appendTo := func(b *vec.Builder, x int64) {}
	switch target.Phys() {
	case vec.PhysInt16:
		appendTo = func(b *vec.Builder, x int64) { vec.AppendFixed(b, int16(x)) }
	case vec.PhysInt32:
		appendTo = func(b *vec.Builder, x int64) { vec.AppendFixed(b, int32(x)) }
	case vec.PhysFloat32:
		appendTo = func(b *vec.Builder, x int64) { vec.AppendFixed(b, float32(x)) }
	case vec.PhysFloat64:
		appendTo = func(b *vec.Builder, x int64) { vec.AppendFixed(b, float64(x)) }
	case vec.PhysInt64:
		factor := int64(1)
		if target.ID == vec.Decimal {
			factor = vec.Pow10Int64(int(target.Scale))
		}
		appendTo = func(b *vec.Builder, x int64) { vec.AppendFixed(b, x*factor) }
	case vec.PhysInt128:
		factor := vec.Pow10(int(target.Scale))
		appendTo = func(b *vec.Builder, x int64) {
			product, _ := vec.MulInt128Checked(vec.Int128From(x), factor) // fits: integerFits
			vec.AppendFixed(b, product)
		}
	}
	return func(b *vec.Builder, raw []byte) error {
		if len(raw) != width {
			return errWidth
		}
		appendTo(b, integer(raw))
		return nil
	}
}

// checkText refuses what no vector of strings may hold.
func checkText(b *vec.Builder, raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("it is not valid UTF-8; repair it at the source, or use a database with an encoding")
	}
	return checkRoom(b, raw)
}

func checkRoom(b *vec.Builder, raw []byte) error {
	if len(raw) > vec.MaxBytes-b.BytesLen() {
		return errors.New("it exceeds the 2 GiB that one batch can hold")
	}
	return nil
}

func decodeText(b *vec.Builder, raw []byte) error {
	if err := checkText(b, raw); err != nil {
		return err
	}
	b.AppendBytes(raw)
	return nil
}

// decodeChar reads the one-byte type "char", whose zero byte prints as nothing.
func decodeChar(b *vec.Builder, raw []byte) error {
	if len(raw) == 1 && raw[0] == 0 {
		raw = nil
	}
	return decodeText(b, raw)
}

func decodeBytea(b *vec.Builder, raw []byte) error {
	if err := checkRoom(b, raw); err != nil {
		return err
	}
	b.AppendBytes(raw)
	return nil
}

func decodeJSONB(b *vec.Builder, raw []byte) error {
	if len(raw) == 0 || raw[0] != 1 {
		return errors.New("it has a version of the jsonb format that is not known")
	}
	return decodeText(b, raw[1:])
}

func decodeDate(b *vec.Builder, raw []byte) error {
	if len(raw) != 4 {
		return errWidth
	}
	days := int32(binary.BigEndian.Uint32(raw))
	if days != vec.DateInfinity && days != vec.DateMinusInfinity {
		if int64(days)+epochDays >= math.MaxInt32 {
			return errors.New("it is beyond the last DATE")
		}
		days += epochDays
	}
	vec.AppendFixed(b, days)
	return nil
}

// timeTZDecoder reads microseconds of the day and seconds west of UTC.
func timeTZDecoder(target vec.Type) decodeFunc {
	return func(b *vec.Builder, raw []byte) error {
		if len(raw) != 12 {
			return errWidth
		}
		ofDay, offset := int64(binary.BigEndian.Uint64(raw)), -int64(int32(binary.BigEndian.Uint32(raw[8:])))
		if ofDay < 0 || ofDay > vec.MicrosPerDay || offset > vec.MaxTimeTZOffset || offset < -vec.MaxTimeTZOffset {
			return errors.New("it is beyond the range of TIMETZ")
		}
		if target.ID == vec.Text {
			b.AppendBytes(vec.AppendTimeTZ(nil, vec.MakeTimeTZ(ofDay, offset)))
			return nil
		}
		vec.AppendFixed(b, vec.MakeTimeTZ(ofDay, offset))
		return nil
	}
}

func decodeTimestamp(b *vec.Builder, raw []byte) error {
	if len(raw) != 8 {
		return errWidth
	}
	micros := int64(binary.BigEndian.Uint64(raw))
	if vec.FiniteMicros(micros) {
		if micros >= vec.InfinityMicros-epochMicros {
			return errors.New("it is beyond the last TIMESTAMP, in the year 294246")
		}
		micros += epochMicros
	}
	vec.AppendFixed(b, micros)
	return nil
}

func decodeInterval(b *vec.Builder, raw []byte) error {
	if len(raw) != 16 {
		return errWidth
	}
	v := vec.IntervalValue{
		Micros: int64(binary.BigEndian.Uint64(raw)),
		Days:   int32(binary.BigEndian.Uint32(raw[8:])),
		Months: int32(binary.BigEndian.Uint32(raw[12:])),
	}
	largest := vec.IntervalValue{Micros: math.MaxInt64, Days: math.MaxInt32, Months: math.MaxInt32}
	least := vec.IntervalValue{Micros: math.MinInt64, Days: math.MinInt32, Months: math.MinInt32}
	if v == largest || v == least {
		return errors.New("it is an infinite interval, which INTERVAL cannot hold; declare the column TEXT at the source's side, or change the value")
	}
	vec.AppendFixed(b, v)
	return nil
}

func decodeUUID(b *vec.Builder, raw []byte) error {
	if len(raw) != 16 {
		return errWidth
	}
	vec.AppendFixed(b, vec.Int128{Hi: int64(binary.BigEndian.Uint64(raw)), Lo: binary.BigEndian.Uint64(raw[8:])})
	return nil
}

func decodeUUIDText(b *vec.Builder, raw []byte) error {
	if len(raw) != 16 {
		return errWidth
	}
	const hex = "0123456789abcdef"
	var text [36]byte
	at := 0
	for i, x := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text[at] = '-'
			at++
		}
		text[at], text[at+1] = hex[x>>4], hex[x&15]
		at += 2
	}
	b.AppendBytes(text[:])
	return nil
}
