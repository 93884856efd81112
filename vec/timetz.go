package vec

import "time"

// A TIMETZ is one integer whose order is PostgreSQL's: by the moment in UTC, and of equal moments the zone farthest
// ahead of UTC first.
//
//	| microseconds of the day, less the offset | 65536 - offset in seconds |
//	  47 bits, signed                            17 bits
//
// Offsets are less than 16 hours, 57600 seconds, either way.
const (
	timeTZOffsetBits = 17
	timeTZOffsetMask = 1<<timeTZOffsetBits - 1
	timeTZOffsetBias = 1 << (timeTZOffsetBits - 1)
)

// MaxTimeTZOffset is the largest offset from UTC that a TIMETZ has, in seconds either way.
const MaxTimeTZOffset = 16*3600 - 1

// MakeTimeTZ packs microseconds since midnight, at most those of a day, and an offset in seconds ahead of UTC, at most
// [MaxTimeTZOffset] either way.
func MakeTimeTZ(ofDay, offset int64) int64 {
	return (ofDay-offset*MicrosPerSecond)<<timeTZOffsetBits | timeTZOffsetBias - offset
}

// SplitTimeTZ is the inverse of [MakeTimeTZ].
func SplitTimeTZ(x int64) (ofDay, offset int64) {
	offset = timeTZOffsetBias - x&timeTZOffsetMask
	return x>>timeTZOffsetBits + offset*MicrosPerSecond, offset
}

// ShiftTimeTZ adds microseconds to the time of day, which wraps around at midnight.
func ShiftTimeTZ(x, micros int64) int64 {
	ofDay, offset := SplitTimeTZ(x)
	_, ofDay = SplitMicros(ofDay + micros%MicrosPerDay)
	return MakeTimeTZ(ofDay, offset)
}

// TimeTZAt is the time that clocks of another offset show at the moment of x.
func TimeTZAt(x, offset int64) int64 {
	ofDay, was := SplitTimeTZ(x)
	_, ofDay = SplitMicros(ofDay + (offset-was)*MicrosPerSecond)
	return MakeTimeTZ(ofDay, offset)
}

// LocalTimeTZ gives a time of day the offset that the zone (nil: UTC) has then on the day of a moment, now.
func LocalTimeTZ(zone *time.Location, now, ofDay int64) int64 {
	days, _ := SplitMicros(ToLocal(zone, now))
	return timeTZOn(zone, days, ofDay)
}

// timeTZOn is the time of day on a day in a zone.
func timeTZOn(zone *time.Location, days, ofDay int64) int64 {
	local := days*MicrosPerDay + ofDay
	return MakeTimeTZ(ofDay, (local-FromLocal(zone, local))/MicrosPerSecond)
}

// AppendTimeTZ appends a TIMETZ: its time of day and its offset.
func AppendTimeTZ(dst []byte, x int64) []byte {
	ofDay, offset := SplitTimeTZ(x)
	return AppendOffset(AppendTime(dst, ofDay), offset)
}

// timeTZ makes a TIMETZ of what was read: without a zone it has the session's. The offset of a zone that has several is
// that of the day, which must then be there.
func (c parseContext) timeTZ(m moment, bad error) (Value, error) {
	if m.hasOffset {
		return IntValue(TimeTZType, MakeTimeTZ(m.ofDay, m.offset)), nil
	}
	zone := m.zone
	if zone == nil {
		zone = c.zone
	}
	switch {
	case m.hasDate:
		return IntValue(TimeTZType, timeTZOn(zone, DaysFromCivil(m.year, m.month, m.day), m.ofDay)), nil
	case m.zone != nil && !oneOffset(zone):
		return Value{}, bad
	}
	return IntValue(TimeTZType, LocalTimeTZ(zone, c.present().UnixMicro(), m.ofDay)), nil
}

// oneOffset reports a zone whose clocks were never changed.
func oneOffset(zone *time.Location) bool {
	const firstYear, lastYear = 1850, 2037 // of the zone database's local mean times, of its last listed change
	_, offset := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone()
	for month := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC); month.Year() <= lastYear; month = month.AddDate(0, 1, 0) {
		if _, at := month.In(zone).Zone(); at != offset {
			return false
		}
	}
	return true
}
