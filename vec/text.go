package vec

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
)

// Format returns v in PostgreSQL's text form, TIMESTAMPTZ in UTC; NULL as "NULL".
func Format(v Value) string { return FormatIn(v, time.UTC) }

// FormatIn is [Format] with TIMESTAMPTZ shown in the zone.
func FormatIn(v Value, zone *time.Location) string {
	if v.Null {
		return "NULL"
	}
	return string(AppendValue(nil, v, zone))
}

// AppendText appends row i of v, which is not NULL, in PostgreSQL's text form, TIMESTAMPTZ in UTC.
func AppendText(dst []byte, v *Vector, i int) []byte { return AppendTextIn(dst, v, i, time.UTC) }

// AppendTextIn is [AppendText] with TIMESTAMPTZ shown in the zone.
func AppendTextIn(dst []byte, v *Vector, i int, zone *time.Location) []byte {
	p, i := v.Physical(i)
	switch p.Type.Phys() {
	case PhysInt16:
		return strconv.AppendInt(dst, int64(Cast[int16](p.Data)[i]), 10)
	case PhysInt32:
		if p.Type.ID == Int32 {
			return strconv.AppendInt(dst, int64(Cast[int32](p.Data)[i]), 10)
		}
	case PhysInt64:
		if p.Type.ID == Int64 {
			return strconv.AppendInt(dst, Cast[int64](p.Data)[i], 10)
		}
	case PhysFloat64:
		return AppendFloat(dst, Cast[float64](p.Data)[i], 64)
	case PhysBytes:
		raw := p.Data[p.Offsets[i]:p.Offsets[i+1]]
		if p.Type.ID == Bytea {
			return hex.AppendEncode(append(dst, '\\', 'x'), raw)
		}
		return append(dst, raw...)
	}
	return AppendValue(dst, p.Value(i), zone)
}

// AppendValue appends a value that is not NULL in PostgreSQL's text form, TIMESTAMPTZ in the zone (nil: UTC).
func AppendValue(dst []byte, v Value, zone *time.Location) []byte {
	switch v.Type.ID {
	case Null:
		return append(dst, "NULL"...)
	case Bool:
		if v.I != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Int16, Int32, Int64:
		return strconv.AppendInt(dst, v.I, 10)
	case Float32:
		return AppendFloat(dst, v.F, 32)
	case Float64:
		return AppendFloat(dst, v.F, 64)
	case Decimal:
		return AppendDecimal(dst, v.Int128(), int(v.Type.Scale))
	case Text, JSON:
		return append(dst, v.S...)
	case Bytea:
		return hex.AppendEncode(append(dst, '\\', 'x'), StringBytes(v.S))
	case Date:
		return AppendDate(dst, int32(v.I))
	case Time:
		return AppendTime(dst, v.I)
	case TimeTZ:
		return AppendTimeTZ(dst, v.I)
	case Timestamp:
		return AppendTimestamp(dst, v.I)
	case TimestampTZ:
		return AppendTimestampTZ(dst, v.I, zone)
	case Interval:
		return AppendInterval(dst, v.Span)
	case UUID:
		return appendUUID(dst, v)
	case Array:
		return appendArray(dst, v.List, zone)
	case Struct:
		return appendRecord(dst, v.List, zone)
	}
	return dst
}

// AppendFloat appends the shortest text that reads back as f, in the form PostgreSQL gives it: an exponent below 1e-4
// and from 1e15 (REAL, bits 32: 1e6) on.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	abs, low, top := math.Abs(f), 1e-4, 1e15
	if bits == 32 {
		low, top = float64(float32(1e-4)), 1e6
	}
	format := byte('f')
	if abs != 0 && (abs < low || abs >= top) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, bits)
}

func appendPadded(dst []byte, x int64, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], x, 10)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// appendCivil appends a day as year-month-day and reports whether the year is BC and shown without its mark.
func appendCivil(dst []byte, days int64) (out []byte, bc bool) {
	y, m, d := CivilFromDays(days)
	if y <= 0 {
		y, bc = 1-y, true
	}
	dst = append(appendPadded(dst, int64(y), 4), '-')
	dst = append(appendPadded(dst, int64(m), 2), '-')
	return appendPadded(dst, int64(d), 2), bc
}

// AppendDate appends a DATE.
func AppendDate(dst []byte, days int32) []byte {
	switch days {
	case DateInfinity:
		return append(dst, "infinity"...)
	case DateMinusInfinity:
		return append(dst, "-infinity"...)
	}
	dst, bc := appendCivil(dst, int64(days))
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendTime appends microseconds since midnight.
func AppendTime(dst []byte, micros int64) []byte {
	seconds, fraction := micros/MicrosPerSecond, micros%MicrosPerSecond
	dst = append(appendPadded(dst, seconds/3600, 2), ':')
	dst = append(appendPadded(dst, seconds/60%60, 2), ':')
	return appendFraction(appendPadded(dst, seconds%60, 2), fraction)
}

// appendFraction appends microseconds as a decimal fraction without trailing zeros.
func appendFraction(dst []byte, micros int64) []byte {
	if micros == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), micros, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendInfinity(dst []byte, micros int64) []byte {
	if micros == InfinityMicros {
		return append(dst, "infinity"...)
	}
	return append(dst, "-infinity"...)
}

// AppendTimestamp appends a TIMESTAMP.
func AppendTimestamp(dst []byte, micros int64) []byte {
	if !FiniteMicros(micros) {
		return appendInfinity(dst, micros)
	}
	days, ofDay := SplitMicros(micros)
	dst, bc := appendCivil(dst, days)
	dst = AppendTime(append(dst, ' '), ofDay)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendTimestampTZ appends a TIMESTAMPTZ as the zone's wall clock shows it, with its offset.
func AppendTimestampTZ(dst []byte, micros int64, zone *time.Location) []byte {
	if !FiniteMicros(micros) {
		return appendInfinity(dst, micros)
	}
	offset := OffsetAt(zone, micros)
	days, ofDay := SplitMicros(micros + offset*MicrosPerSecond)
	dst, bc := appendCivil(dst, days)
	dst = AppendTime(append(dst, ' '), ofDay)
	dst = AppendOffset(dst, offset)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendOffset appends a zone's offset from UTC in seconds as +hh, +hh:mm or +hh:mm:ss.
func AppendOffset(dst []byte, seconds int64) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = appendPadded(append(dst, sign), seconds/3600, 2)
	if seconds%3600 != 0 {
		dst = appendPadded(append(dst, ':'), seconds/60%60, 2)
	}
	if seconds%60 != 0 {
		dst = appendPadded(append(dst, ':'), seconds%60, 2)
	}
	return dst
}

// AppendInterval appends an INTERVAL in the style PostgreSQL calls postgres.
func AppendInterval(dst []byte, v IntervalValue) []byte {
	start, before := len(dst), false
	part := func(x int64, unit string) {
		if x == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if before && x > 0 {
			dst = append(dst, '+')
		}
		dst = append(strconv.AppendInt(dst, x, 10), ' ')
		dst = append(dst, unit...)
		if x != 1 {
			dst = append(dst, 's')
		}
		before = x < 0
	}
	part(int64(v.Months/12), "year")
	part(int64(v.Months%12), "mon")
	part(int64(v.Days), "day")
	if v.Micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	micros := uint64(v.Micros)
	switch {
	case v.Micros < 0:
		dst, micros = append(dst, '-'), -micros
	case before:
		dst = append(dst, '+')
	}
	seconds := int64(micros / MicrosPerSecond)
	dst = append(appendPadded(dst, seconds/3600, 2), ':')
	dst = append(appendPadded(dst, seconds/60%60, 2), ':')
	return appendFraction(appendPadded(dst, seconds%60, 2), int64(micros%MicrosPerSecond))
}

func appendUUID(dst []byte, v Value) []byte {
	var raw [16]byte
	for i := range 8 {
		raw[i] = byte(uint64(v.Hi) >> (56 - 8*i))
		raw[8+i] = byte(uint64(v.I) >> (56 - 8*i))
	}
	dst = append(hex.AppendEncode(dst, raw[:4]), '-')
	dst = append(hex.AppendEncode(dst, raw[4:6]), '-')
	dst = append(hex.AppendEncode(dst, raw[6:8]), '-')
	dst = append(hex.AppendEncode(dst, raw[8:10]), '-')
	return hex.AppendEncode(dst, raw[10:])
}
