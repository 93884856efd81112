package main

import (
	"slices"
	"syscall"
	"time"
)

// cost is what one run of a query took: by the clock, and of all cores. On a busy machine the second says more.
type cost struct{ wall, cpu time.Duration }

// timed runs a query.
func (h *house) timed(query string) cost {
	before, started := cpuTime(), time.Now()
	h.value(query)
	return cost{time.Since(started), cpuTime() - before}
}

// best returns the least wall and CPU time of 21 runs of a query.
func (h *house) best(query string) cost {
	least := h.timed(query)
	for range 20 {
		c := h.timed(query)
		least.wall, least.cpu = min(least.wall, c.wall), min(least.cpu, c.cpu)
	}
	return least
}

// median returns the median of each part.
func median(costs []cost) (m cost) {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) })
	m.wall = costs[len(costs)/2].wall
	slices.SortFunc(costs, func(a, b cost) int { return int(a.cpu - b.cpu) })
	m.cpu = costs[len(costs)/2].cpu
	return m
}

// cpuTime returns what the process has used of all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }
