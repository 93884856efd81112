package main

import (
	"fmt"
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

// used is what the process has taken of cores, memory and disk.
type used struct {
	cpu                    time.Duration
	minor, major           int64 // page faults without and with a read from disk
	read, written          int64 // from and to the disk, in blocks of 512 bytes
	voluntary, involuntary int64 // switches to another thread: to wait, and because another had the core
}

func usage() used {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Minflt, u.Majflt, u.Inblock, u.Oublock, u.Nvcsw, u.Nivcsw}
}

func (u used) since(v used) used {
	return used{u.cpu - v.cpu, u.minor - v.minor, u.major - v.major, u.read - v.read, u.written - v.written, u.voluntary - v.voluntary, u.involuntary - v.involuntary}
}

func (u used) String() string {
	return fmt.Sprintf("page faults %d, of which %d read from disk; %.1f MB read, %.1f MB written; %d waits, %d times another had the core",
		u.minor+u.major, u.major, float64(u.read)/2048, float64(u.written)/2048, u.voluntary, u.involuntary)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }
