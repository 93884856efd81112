package function

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func outOfRange(t vec.Type) error {
	if t.ID == vec.Decimal {
		return vec.NumericOverflow(t)
	}
	name := t.String()
	switch t.ID {
	case vec.Float32, vec.Float64:
		return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: overflow")
	case vec.Timestamp, vec.TimestampTZ, vec.Date:
		return vec.DatetimeOverflow(t)
	case vec.Interval:
		return sqlerr.New(sqlerr.DatetimeOverflow, "interval out of range")
	}
	return sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", name)
}

func divisionByZero() error {
	return sqlerr.New(sqlerr.DivisionByZero, "division by zero").Hintf("NULLIF(divisor, 0) gives NULL instead.")
}

func resultTooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "the strings of one batch exceed 2 GB")
}

func invalidParameter(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

func cannotSubtractInfinity() error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "cannot subtract infinite timestamps")
}

func invalidDateDifference() error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "cannot subtract infinite dates")
}

func invalidFraction(format string, args ...any) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, format, args...)
}
