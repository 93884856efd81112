package engine

import (
	"math"
	"math/rand/v2"
	"sync"
)

// randomSource is a session's random numbers: from chance until setseed gives it a seed. The zero value is ready.
type randomSource struct {
	mu     sync.Mutex
	seeded *rand.PCG
}

func (r *randomSource) next() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeded == nil {
		return rand.Uint64()
	}
	return r.seeded.Uint64()
}

// seed makes the numbers that follow depend on x alone.
func (r *randomSource) seed(x float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seeded = rand.NewPCG(math.Float64bits(x), 0)
}
