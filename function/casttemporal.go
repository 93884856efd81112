package function

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// castTemporal converts between dates, times, timestamps and intervals; TIMESTAMPTZ by the session's zone.
func castTemporal(x *conversion) (*vec.Vector, error) {
	v := x.args[0]
	if x.from.ID == vec.Interval {
		a, mask := fixed[vec.IntervalValue](v)
		out := make([]int64, x.n)
		for i := range out {
			_, out[i] = vec.SplitMicros(a[i&mask].Micros)
		}
		return vec.FlatOf(x.to, out, nil), nil
	}
	if x.to.ID == vec.Interval { // from TIME
		a, mask := fixed[int64](v)
		out := make([]vec.IntervalValue, x.n)
		for i := range out {
			out[i].Micros = a[i&mask]
		}
		return vec.FlatOf(x.to, out, nil), nil
	}
	if x.from.ID == vec.Date {
		return x.castDate()
	}
	a, mask := fixed[int64](v)
	if x.to.ID == vec.Date {
		out := make([]int32, x.n)
		for i := range out {
			out[i] = dateOf(x.local(a[i&mask]))
		}
		return vec.FlatOf(x.to, out, nil), nil
	}
	out := make([]int64, x.n)
	for i := range out {
		t := a[i&mask]
		switch {
		case x.from.ID == vec.TimeTZ:
			out[i], _ = vec.SplitTimeTZ(t)
		case x.from.ID == vec.Time: // to TIMETZ
			out[i] = vec.LocalTimeTZ(x.ev.Zone, x.ev.Now.UnixMicro(), t)
		case x.to.ID == vec.Time:
			if !vec.FiniteMicros(t) {
				if x.ok(i) {
					x.null(i)
				}
				continue
			}
			_, out[i] = vec.SplitMicros(x.local(t))
		case x.to.ID == vec.TimeTZ:
			if !vec.FiniteMicros(t) {
				if x.ok(i) {
					x.null(i)
				}
				continue
			}
			_, ofDay := vec.SplitMicros(x.local(t))
			out[i] = vec.MakeTimeTZ(ofDay, vec.OffsetAt(x.ev.Zone, t))
		case x.to.ID == vec.TimestampTZ:
			out[i] = vec.FromLocal(x.ev.Zone, t)
		default:
			out[i] = x.local(t)
		}
	}
	return vec.FlatOf(x.to, out, nil), nil
}

// null makes row i NULL.
func (x *conversion) null(i int) {
	if x.good == nil {
		x.good = vec.NewFullBitmap(x.n)
	}
	x.good.Clear(i)
}

// local returns a moment of the source type as a wall-clock time.
func (x *conversion) local(t int64) int64 {
	if x.from.ID == vec.TimestampTZ {
		return vec.ToLocal(x.ev.Zone, t)
	}
	return t
}

// dateOf returns the day of a wall-clock time; infinities stay.
func dateOf(local int64) int32 {
	switch local {
	case vec.InfinityMicros:
		return vec.DateInfinity
	case vec.MinusInfinityMicros:
		return vec.DateMinusInfinity
	}
	days, _ := vec.SplitMicros(local)
	return int32(days)
}

// microsOfDate returns a day's midnight and whether it is within TIMESTAMP's range; infinities stay.
func microsOfDate(days int32) (int64, bool) {
	switch days {
	case vec.DateInfinity:
		return vec.InfinityMicros, true
	case vec.DateMinusInfinity:
		return vec.MinusInfinityMicros, true
	}
	return int64(days) * vec.MicrosPerDay, vec.ValidTimestampDate(int64(days))
}

func (x *conversion) castDate() (*vec.Vector, error) {
	a, mask := fixed[int32](x.args[0])
	out := make([]int64, x.n)
	for i := range out {
		t, ok := microsOfDate(a[i&mask])
		if !ok {
			if err := x.fail(i, outOfRange(vec.TimestampType)); err != nil {
				return nil, err
			}
			continue
		}
		if x.to.ID == vec.TimestampTZ {
			t = vec.FromLocal(x.ev.Zone, t)
		}
		out[i] = t
	}
	return vec.FlatOf(x.to, out, nil), nil
}
