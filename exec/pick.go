package exec

// pickBlock is the stretch of a dense selection that is looked at as one: when it holds no gap it is copied whole.
const pickBlock = 16

// pickTo writes from[sel[i]] to dst[i] for an ascending selection. One of nearly every row, as a mask of few dead rows
// leaves it, is copied in stretches: a gap is seen by comparing the ends of a block.
func pickTo[T any](dst, from []T, sel []int32) {
	n := len(sel)
	if n < pickBlock || int(sel[n-1]-sel[0]) > n+n/16 {
		gatherTo(dst, from, sel)
		return
	}
	dst = dst[:n]
	i := 0
	for i+pickBlock <= n {
		if i+4*pickBlock <= n && sel[i+4*pickBlock-1]-sel[i] == 4*pickBlock-1 {
			copy(dst[i:i+4*pickBlock], from[sel[i]:])
			i += 4 * pickBlock
			continue
		}
		block := sel[i : i+pickBlock : i+pickBlock]
		at := block[0]
		to := dst[i : i+pickBlock : i+pickBlock]
		if block[pickBlock-1]-at == pickBlock-1 {
			*(*[pickBlock]T)(to) = *(*[pickBlock]T)(from[at:])
		} else {
			for k, s := range block {
				to[k] = from[s]
			}
		}
		i += pickBlock
	}
	for ; i < n; i++ {
		dst[i] = from[sel[i]]
	}
}

// pickRows writes from[sel[i]] to dst[i]; ascends says that sel is a selection.
func pickRows[T any](dst, from []T, sel []int32, ascends bool) {
	if ascends {
		pickTo(dst, from, sel)
		return
	}
	gatherTo(dst, from, sel)
}
