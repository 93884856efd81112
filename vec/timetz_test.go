package vec_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestTimeTZOrder checks that the packed form comes apart again and has PostgreSQL's order.
func TestTimeTZOrder(t *testing.T) {
	ascending := []string{
		"00:00:00+15:59:59", "00:00:00+15", "12:00:00+02", "11:00:00+01", "10:00:00+00", "09:00:00-01", "10:00:00.000001+00",
		"23:59:59.999999+00", "24:00:00+00", "00:00:01-24:00:00", "24:00:00-15:59:59",
	}
	ascending = slices.DeleteFunc(ascending, func(s string) bool { _, err := vec.Parse(vec.TimeTZType, s, nil); return err != nil })
	if len(ascending) != 10 {
		t.Fatalf("%d of the texts are times, not 10: an offset of a day is none", len(ascending))
	}
	var last int64
	for i, text := range ascending {
		v, err := vec.Parse(vec.TimeTZType, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := vec.Format(v); got != text {
			t.Errorf("%s prints as %s", text, got)
		}
		if i > 0 && v.I <= last {
			t.Errorf("%s does not come after %s", text, ascending[i-1])
		}
		last = v.I
		ofDay, offset := vec.SplitTimeTZ(v.I)
		if vec.MakeTimeTZ(ofDay, offset) != v.I {
			t.Errorf("%s comes apart as %d and %d", text, ofDay, offset)
		}
	}
}

// TestTimeTZText reads what PostgreSQL reads, in the session's zone where the text names none.
func TestTimeTZText(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	winter := time.Date(2024, 1, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"04:05 PM-08": "16:05:00-08", "040506": "04:05:06+01", "040506-0330": "04:05:06-03:30", "04:05:06 PST": "04:05:06-08",
		"2024-07-01 12:00": "12:00:00+02", "12:00": "12:00:00+01", "allballs": "00:00:00+00", "now": "13:00:00+01",
		"2024-07-01 12:00 America/New_York": "12:00:00-04", "12:00 Etc/GMT+5": "12:00:00-05",
		"12:00 America/New_York": "", "2024-07-01": "", "25:00": "", "12:00+16": "", "": "",
	} {
		v, err := vec.ParseAt(vec.TimeTZType, text, berlin, winter)
		got := ""
		if err == nil {
			got = vec.Format(v)
		}
		if got != want {
			t.Errorf("%q reads as %q, want %q (%v)", text, got, want, err)
		}
	}
}
