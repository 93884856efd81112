package soak

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// measure is what is looked at once in a while.
type measure struct {
	at                   time.Duration // since the first
	files, base, staging int64         // that the newest snapshot names
	onDisk, bytes        int64         // files of the root, those kept for the retention included
	maskedShare          float64       // of the rows in base tablets
	query                time.Duration // the least of three
	heap                 int64         // bytes that outlived the last garbage collection
	changes              int64         // applied so far
}

// panel is one series of a plot.
type panel struct {
	name  string // with its unit
	value func(measure) float64
}

var panels = []panel{
	{"changes applied, millions", func(m measure) float64 { return float64(m.changes) / 1e6 }},
	{"files of the snapshot", func(m measure) float64 { return float64(m.files) }},
	{"files on disk", func(m measure) float64 { return float64(m.onDisk) }},
	{"bytes on disk, MB", func(m measure) float64 { return float64(m.bytes) / 1e6 }},
	{"base tablets", func(m measure) float64 { return float64(m.base) }},
	{"staging tablets", func(m measure) float64 { return float64(m.staging) }},
	{"masked rows of the base, %", func(m measure) float64 { return 100 * m.maskedShare }},
	{"query over all rows, ms", func(m measure) float64 { return float64(m.query) / 1e6 }},
	{"live heap, MB", func(m measure) float64 { return float64(m.heap) / 1e6 }},
}

// write puts the series into prefix.csv and a picture of them into prefix.svg.
func write(prefix string, taken []measure) error {
	var csv strings.Builder
	csv.WriteString("seconds")
	for _, p := range panels {
		csv.WriteString("," + strings.ReplaceAll(p.name, ",", ""))
	}
	csv.WriteByte('\n')
	for _, m := range taken {
		fmt.Fprintf(&csv, "%.0f", m.at.Seconds())
		for _, p := range panels {
			fmt.Fprintf(&csv, ",%.4g", p.value(m))
		}
		csv.WriteByte('\n')
	}
	if err := os.WriteFile(prefix+".csv", []byte(csv.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(prefix+".svg", []byte(draw(taken)), 0o644)
}

// draw returns one panel below the other as SVG, each from 0 to its greatest value over the same time.
func draw(taken []measure) string {
	const width, height, left, gap = 900, 80, 20, 34
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		width+2*left, len(panels)*(height+gap)+gap)
	out.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	end := 1.0
	if len(taken) > 0 {
		end = max(end, taken[len(taken)-1].at.Seconds())
	}
	for i, p := range panels {
		top := i*(height+gap) + gap
		most := 0.0
		for _, m := range taken {
			most = max(most, p.value(m))
		}
		fmt.Fprintf(&out, `<text x="%d" y="%d">%s (0 to %.4g)</text>`+"\n", left, top-6, p.name, most)
		fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#bbb"/>`+"\n", left, top, width, height)
		out.WriteString(`<polyline fill="none" stroke="#0a5c91" points="`)
		for _, m := range taken {
			y := float64(top + height)
			if most > 0 {
				y -= height * p.value(m) / most
			}
			fmt.Fprintf(&out, "%.1f,%.1f ", left+width*m.at.Seconds()/end, y)
		}
		out.WriteString(`"/>` + "\n")
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d">0 to %s</text>`+"\n</svg>\n", left, len(panels)*(height+gap)+gap-8, time.Duration(end*1e9).Round(time.Second))
	return out.String()
}
