package vec

import (
	"math"
	"time"
)

// The values of DATE and TIMESTAMP that stand for infinity, as in PostgreSQL.
const (
	DateInfinity         = math.MaxInt32
	DateMinusInfinity    = math.MinInt32
	InfinityMicros       = math.MaxInt64
	MinusInfinityMicros  = math.MinInt64
	MicrosPerSecond      = 1_000_000
	MicrosPerDay         = 24 * 60 * 60 * MicrosPerSecond
	unixSecondsPerDay    = 24 * 60 * 60
	julianDayOfUnixEpoch = 2440588
)

// minDate and maxDate bound a finite DATE: 4714-11-24 BC and 5874897-12-31, PostgreSQL's range.
var (
	minDate = DaysFromCivil(-4713, 11, 24)
	maxDate = DaysFromCivil(5874897, 12, 31)
	// maxTimestampDate bounds TIMESTAMP, whose microseconds since 1970 must fit 64 bits.
	maxTimestampDate = int64(math.MaxInt64/MicrosPerDay) - 1
)

// DaysFromCivil returns the days from 1970-01-01 to a date of the proleptic Gregorian calendar; year 0 is 1 BC. Day
// may lie outside the month, which then carries over.
func DaysFromCivil(year, month, day int) int64 {
	// Years start in March so that the leap day comes last (H. Hinnant, "chrono-compatible low-level date algorithms").
	y := int64(year)
	if month <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	dayOfYear := int64((153*((month+9)%12)+2)/5) + int64(day) - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*146097 + dayOfEra - 719468
}

// CivilFromDays is the inverse of [DaysFromCivil].
func CivilFromDays(days int64) (year, month, day int) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	if month > 12 {
		month -= 12
	}
	y := yoe + era*400
	if month <= 2 {
		y++
	}
	return int(y), month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// DaysInMonth returns how many days a month has.
func DaysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// SplitMicros returns the day of a finite timestamp and the microseconds since its midnight.
func SplitMicros(micros int64) (days, ofDay int64) {
	days = floorDiv(micros, MicrosPerDay)
	return days, micros - days*MicrosPerDay
}

// ValidDate reports whether a finite day number lies in DATE's range.
func ValidDate(days int64) bool { return days >= minDate && days <= maxDate }

// ValidTimestampDate reports whether a day can be part of a finite TIMESTAMP.
func ValidTimestampDate(days int64) bool { return days >= minDate && days <= maxTimestampDate }

// FiniteMicros reports whether a timestamp is neither infinity.
func FiniteMicros(micros int64) bool {
	return micros != InfinityMicros && micros != MinusInfinityMicros
}

// OffsetAt returns how many seconds the zone is ahead of UTC at a moment given in microseconds since 1970. nil is UTC.
func OffsetAt(zone *time.Location, micros int64) int64 {
	if zone == nil || zone == time.UTC {
		return 0
	}
	_, offset := time.Unix(floorDiv(micros, MicrosPerSecond), 0).In(zone).Zone()
	return int64(offset)
}

// ToLocal returns the wall-clock time of a moment in the zone, as a TIMESTAMP. Infinities stay.
func ToLocal(zone *time.Location, micros int64) int64 {
	if !FiniteMicros(micros) {
		return micros
	}
	return micros + OffsetAt(zone, micros)*MicrosPerSecond
}

// FromLocal returns the moment of a wall-clock time in the zone, as a TIMESTAMPTZ. A time that a change of offset
// skips is read with the offset before the change; of a time that occurs twice the later occurrence is taken, as
// PostgreSQL does. Infinities stay.
func FromLocal(zone *time.Location, local int64) int64 {
	if zone == nil || zone == time.UTC || !FiniteMicros(local) {
		return local
	}
	before, after := OffsetAt(zone, local-MicrosPerDay), OffsetAt(zone, local+MicrosPerDay)
	early := local - before*MicrosPerSecond
	if before == after {
		return early
	}
	late := local - after*MicrosPerSecond
	if OffsetAt(zone, late) == after {
		return late
	}
	return early
}
