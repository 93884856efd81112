package function

import (
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func datetimeFamily() family {
	f := family{category: "date and time", scalars: []*extension.ScalarFunc{overlapsFunction()}}
	for _, part := range [][]*extension.ScalarFunc{clockFunctions(), secondFunctions(), fieldFunctions(), truncFunctions(), makeFunctions(), zoneFunctions(), spanFunctions(), formatFunctions()} {
		f.scalars = append(f.scalars, part...)
	}
	return f
}

func clockFunctions() []*extension.ScalarFunc {
	moment := func(ev *extension.Eval) int64 { return ev.Now.UnixMicro() }
	local := func(ev *extension.Eval) int64 { return vec.ToLocal(ev.Zone, moment(ev)) }
	return []*extension.ScalarFunc{
		session(also(def("now", "Start of the transaction", ex("now() = current_timestamp", "t")), "current_timestamp", "transaction_timestamp", "statement_timestamp", "get_current_timestamp"), stampTZ, func(ev *extension.Eval) vec.Value { return vec.IntValue(stampTZ, moment(ev)) }),
		volatile(def("clock_timestamp", "The time now, which moves on while a statement runs", ex("clock_timestamp() >= now()", "t")),
			session(extension.Def{}, stampTZ, func(*extension.Eval) vec.Value { return vec.IntValue(stampTZ, time.Now().UnixMicro()) }).Overloads...),
		session(also(def("current_date", "Today in the session's time zone", ex("current_date = now()::date", "t")), "today"), dateT, func(ev *extension.Eval) vec.Value {
			return vec.IntValue(dateT, int64(dateOf(local(ev))))
		}),
		session(also(def("localtimestamp", "Start of the transaction by the wall clock", ex("localtimestamp = now()::timestamp", "t"))), stampT, func(ev *extension.Eval) vec.Value { return vec.IntValue(stampT, local(ev)) }),
		session(also(def("localtime", "Time of day at the start of the transaction", ex("localtime = now()::time", "t"))), timeT, func(ev *extension.Eval) vec.Value {
			_, ofDay := vec.SplitMicros(local(ev))
			return vec.IntValue(timeT, ofDay)
		}),
		session(def("current_time", "Time of day at the start of the transaction, with the offset of the session's time zone", ex("current_time = now()::timetz", "t")), timeTZ, func(ev *extension.Eval) vec.Value {
			_, ofDay := vec.SplitMicros(local(ev))
			return vec.IntValue(timeTZ, vec.MakeTimeTZ(ofDay, vec.OffsetAt(ev.Zone, moment(ev))))
		}),
	}
}

// extractAs evaluates a field as NUMERIC: the value's integer is its unscaled value. Infinite moments give NULL.
func extractAs(t vec.Type, u unit) func(c *call, v *vec.Vector) (*vec.Vector, error) {
	return func(c *call, v *vec.Vector) (*vec.Vector, error) {
		out, infinite := make([]int64, c.n), vec.Bitmap(nil)
		factor := vec.Pow10Int64(int(t.Scale) - u.scale)
		eachPart(c, v, func(i int, p *parts, ok bool) {
			if !ok {
				if infinite == nil {
					infinite = vec.NewFullBitmap(c.n)
				}
				infinite.Clear(i)
				return
			}
			out[i] = u.of(p) * factor
		})
		return vec.FlatOf(t, out, infinite), nil
	}
}

// byUnit is an overload whose first argument names a unit. One that is no constant, or that the type does not have, is
// looked up row by row: it is no error where all rows are NULL.
func byUnit(s extension.Signature, result func(u unit, known bool) vec.Type) extension.ScalarOverload {
	return bound(s, func(args []extension.Argument) (vec.Type, body, error) {
		if name, ok := constText(args, 0); ok {
			if u, err := fieldUnit(name, args[1].Type); err == nil {
				t := result(u, true)
				return t, func(c *call) (*vec.Vector, error) { return fieldsOf(t, u, c, c.args[1]) }, nil
			}
		}
		t := result(unit{}, false)
		return t, func(c *call) (*vec.Vector, error) {
			names, out := textsOf(c.args[0]), vec.NewBuilder(t, c.n)
			for i := range c.n {
				if !c.ok(i) {
					out.AppendNull()
					continue
				}
				u, err := fieldUnit(names.str(i), c.args[1].Type)
				if err != nil {
					return nil, err
				}
				one := &call{ev: c.ev, n: 1}
				v, err := fieldsOf(t, u, one, vec.ConstantOf(c.args[1].Type, c.args[1].Value(i), 1))
				if err != nil {
					return nil, err
				}
				out.Append(v.Value(0))
			}
			return out.Finish(), nil
		}, nil
	})
}

func fieldsOf(t vec.Type, u unit, c *call, v *vec.Vector) (*vec.Vector, error) {
	if t.ID == vec.Decimal {
		return extractAs(t, u)(c, v)
	}
	scaled, err := extractAs(vec.DecimalType(vec.Precision64, u.scale), u)(c, v)
	if err != nil {
		return nil, err
	}
	a, _ := fixed[int64](scaled)
	unit := float64(vec.Pow10Int64(u.scale))
	out := make([]float64, c.n)
	for i := range out {
		out[i] = float64(a[i]) / unit
	}
	return vec.FlatOf(t, out, scaled.Valid), nil
}

var temporalTypes = []vec.Type{dateT, timeT, timeTZ, stampT, stampTZ, intervalT}

func fieldFunctions() []*extension.ScalarFunc {
	var extract, datePart []extension.ScalarOverload
	for _, t := range temporalTypes {
		extract = append(extract, byUnit(signature(textT, t), func(u unit, known bool) vec.Type {
			if !known {
				return vec.DecimalType(vec.Precision64, 6)
			}
			return vec.DecimalType(vec.Precision64, u.scale)
		}))
		datePart = append(datePart, byUnit(signature(textT, t), func(unit, bool) vec.Type { return float8 }))
	}
	out := []*extension.ScalarFunc{
		stable(def("extract", "Field of a moment or interval as NUMERIC", ex("extract(year FROM date '2024-03-01')", "2024"), ex("extract(second FROM time '10:20:30.5')", "30.500000")), extract...),
		stable(also(def("date_part", "Field of a moment or interval as DOUBLE PRECISION", ex("date_part('month', date '2024-03-01')", "3")), "datepart"), datePart...),
		nameFunction("dayname", "Name of the weekday", "Friday", func(p *parts) string { return dayNames[weekday(p.days)] }),
		nameFunction("monthname", "Name of the month", "March", func(p *parts) string { return monthNames[p.month-1] }),
	}
	for _, short := range []struct{ name, unit, alias string }{
		{"year", "year", ""}, {"month", "month", ""}, {"day", "day", "dayofmonth"}, {"hour", "hour", ""}, {"minute", "minute", ""},
		{"second", "second", ""}, {"quarter", "quarter", ""}, {"week", "week", "weekofyear"}, {"dayofweek", "dow", "weekday"},
		{"isodow", "isodow", ""}, {"dayofyear", "doy", ""}, {"decade", "decade", ""}, {"century", "century", ""}, {"isoyear", "isoyear", ""},
	} {
		out = append(out, shortField(short.name, short.unit, short.alias))
	}
	out = append(out, epochSeconds())
	for _, e := range []struct {
		name string
		unit int64
	}{{"epoch_ms", 1000}, {"epoch_us", 1}, {"epoch_ns", 0}} {
		out = append(out, epochField(e.name, e.unit))
	}
	return out
}

// shortField is a field as a function of its own, in BIGINT.
func shortField(name, unitName, alias string) *extension.ScalarFunc {
	u := units[unitName]
	clock := unitName == "hour" || unitName == "minute" || unitName == "second"
	d := def(name, "The "+unitName+" of a moment", ex("date_part('"+unitName+"', timestamp '2024-03-01 10:20:30') = "+name+"(timestamp '2024-03-01 10:20:30')", "t"))
	if alias != "" {
		d = also(d, alias)
	}
	f := stable(d)
	for _, t := range []vec.Type{dateT, stampT, stampTZ, timeT, timeTZ, intervalT} {
		if ((t.ID == vec.Time || t.ID == vec.TimeTZ) && !clock) || (t.ID == vec.Date && clock) {
			continue
		}
		of := u
		if t.ID == vec.Interval {
			var ok bool
			if of, ok = spanUnits[unitName]; !ok {
				continue
			}
		}
		f.Overloads = append(f.Overloads, on(signature(t), int8, func(c *call) (*vec.Vector, error) {
			v, err := extractAs(vec.DecimalType(vec.Precision64, of.scale), of)(c, c.args[0])
			if err != nil {
				return nil, err
			}
			a, _ := fixed[int64](v)
			if of.scale > 0 {
				for i := range a { // the vector is not yet shared
					a[i] /= vec.Pow10Int64(of.scale)
				}
			}
			return vec.FlatOf(int8, a, v.Valid), nil
		}))
	}
	return f
}

// epochSeconds is the field epoch as a function of its own, in DOUBLE PRECISION.
func epochSeconds() *extension.ScalarFunc {
	f := stable(def("epoch", "Seconds since 1970-01-01, or of a time or an interval", ex("epoch(timestamp '1970-01-01 00:00:01.5')", "1.5")))
	for _, t := range temporalTypes {
		f.Overloads = append(f.Overloads, on(signature(t), float8, func(c *call) (*vec.Vector, error) {
			u, err := fieldUnit("epoch", t)
			if err != nil {
				return nil, err
			}
			return fieldsOf(float8, u, c, c.args[0])
		}))
	}
	return f
}

func epochField(name string, unit int64) *extension.ScalarFunc {
	result := map[int64]string{1000: "1000", 1: "1000000", 0: "1000000000"}[unit]
	f := immutable(def(name, "Units since 1970-01-01", ex(name+"(timestamp '1970-01-01 00:00:01')", result)))
	for _, t := range []vec.Type{stampT, stampTZ} {
		f.Overloads = append(f.Overloads, on(signature(t), int8, try1(int8, func(x int64) (int64, error) {
			if unit != 0 {
				return floorDiv(x, unit), nil
			}
			ns, ok := vec.MulInt64(x, 1000).Int64()
			if !ok {
				return 0, outOfRange(int8)
			}
			return ns, nil
		})))
	}
	if unit == 1000 {
		f.Overloads = append(f.Overloads, on(signature(int8), stampT, try1(stampT, func(x int64) (int64, error) {
			us, ok := vec.MulInt64(x, 1000).Int64()
			if !ok {
				return 0, outOfRange(stampT)
			}
			return us, nil
		})))
	}
	return f
}

func nameFunction(name, description, result string, f func(p *parts) string) *extension.ScalarFunc {
	out := stable(def(name, description, ex(name+"(date '2024-03-01')", result)))
	for _, t := range []vec.Type{dateT, stampT, stampTZ} {
		out.Overloads = append(out.Overloads, on(signature(t), textT, func(c *call) (*vec.Vector, error) {
			text := newTextOut(c.n, c.n*8)
			eachPart(c, c.args[0], func(_ int, p *parts, ok bool) {
				if !ok {
					text.null(c.n)
					return
				}
				text.data = append(text.data, f(p)...)
				text.offsets = append(text.offsets, int32(len(text.data)))
			})
			return text.vector(textT), nil
		}))
	}
	return out
}

var dayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
