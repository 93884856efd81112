package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// And is the conjunction of one or more BOOLEAN arguments in any form by Kleene's logic: FALSE where one is FALSE,
// else NULL where one is NULL.
func And(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
	return kleene(args, n, 0), nil
}

// Or is the disjunction by Kleene's logic: TRUE where one is TRUE, else NULL where one is NULL.
func Or(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
	return kleene(args, n, 1), nil
}

// kleene computes AND with flip 0 and OR with flip 1, as NOT(NOT a AND NOT b).
func kleene(args []*vec.Vector, n int, flip byte) *vec.Vector {
	truth, some := make([]byte, n), []byte(nil) // some: an argument decided the row (FALSE for AND)
	for i := range truth {
		truth[i] = 1
	}
	for _, a := range args {
		a = a.Flatten()
		if a.Valid == nil && a.Type.ID != vec.Null {
			data := a.Data[:n]
			for i, x := range data {
				truth[i] &= x ^ flip
			}
			if some != nil {
				for i, x := range data {
					some[i] |= x ^ flip ^ 1
				}
			}
			continue
		}
		if some == nil { // so far rows are decided exactly where they are not TRUE
			some = make([]byte, n)
			for i, x := range truth {
				some[i] = x ^ 1
			}
		}
		data, valid := a.Data, a.Valid
		if a.Type.ID == vec.Null {
			data, valid = make([]byte, n), vec.NewBitmap(n)
		}
		for i, x := range data[:n] {
			v := byte(valid[uint(i)/64] >> (uint(i) % 64) & 1)
			truth[i] &= (x ^ flip) & v
			some[i] |= (x ^ flip ^ 1) & v
		}
	}
	var valid vec.Bitmap
	if some != nil {
		valid = vec.NewBitmap(n)
		for i, x := range truth {
			valid[uint(i)/64] |= uint64(x|some[i]) << (uint(i) % 64)
		}
	}
	if flip != 0 {
		for i := range truth {
			truth[i] ^= 1
		}
	}
	return vec.FlatOf(vec.BoolType, truth, valid)
}

// Not negates one BOOLEAN argument; NULL stays NULL.
func Not(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
	return notKernel(ev, args, n)
}

var notKernel = strict(vec.BoolType, func(c *call) (*vec.Vector, error) {
	a, mask := fixed[byte](c.args[0])
	out := make([]byte, c.n)
	for i := range out {
		out[i] = a[i&mask] ^ 1
	}
	return vec.FlatOf(vec.BoolType, out, nil), nil
})
