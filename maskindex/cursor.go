package maskindex

import (
	"context"
)

// cursor reads the entries of a file in order, some blocks at a time.
type cursor struct {
	f       *File
	next    int // next block to decode
	entries []entry
	at      int
	window  []byte
	start   int // block at which window starts
	held    int // blocks in window
}

func (f *File) cursor() *cursor { return &cursor{f: f} }

// head returns the next entry without passing it; nil at the end.
func (c *cursor) head(ctx context.Context) (*entry, error) {
	if c.at < len(c.entries) {
		return &c.entries[c.at], nil
	}
	if c.next == int(c.f.f.blocks) {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err := guard(c.f.name, c.decode)
	if err != nil {
		return nil, err
	}
	return &c.entries[0], nil
}

func (c *cursor) decode() error {
	b, err := c.block(c.next)
	if err != nil {
		return err
	}
	v := viewBlock(b, c.f.wide())
	c.entries, c.at = v.decode(c.entries[:0]), 0
	c.next++
	return c.check()
}

// check verifies what a checksum cannot vouch for: the order that merging relies on.
func (c *cursor) check() error {
	for i := 1; i < len(c.entries); i++ {
		a, b := &c.entries[i-1], &c.entries[i]
		if a.hi > b.hi || a.hi == b.hi && a.lo >= b.lo {
			return damaged(c.f.name, int64(c.next-1)*BlockSize, "the keys of block %d do not ascend", c.next-1)
		}
	}
	if e := c.entries[len(c.entries)-1]; c.next < int(c.f.f.blocks) &&
		(c.f.dirHi[c.next] < e.hi || c.f.dirHi[c.next] == e.hi && c.f.low(c.next) <= e.lo) {
		return damaged(c.f.name, int64(c.next)*BlockSize, "the keys of block %d do not follow those before", c.next)
	}
	return nil
}

func (c *cursor) block(i int) (*block, error) {
	if c.f.mapped != nil {
		return c.f.mappedBlock(i)
	}
	if i >= c.start+c.held {
		c.start, c.held = i, min(windowBlocks, int(c.f.f.blocks)-i)
		if c.window == nil {
			c.window = make([]byte, c.held*BlockSize)
		}
		if err := readFull(c.f.name, c.f.src, c.window[:c.held*BlockSize], int64(i)*BlockSize); err != nil {
			return nil, err
		}
	}
	b := (*block)(c.window[(i-c.start)*BlockSize:])
	return b, c.f.verify(b, i)
}

// Scan calls fn for every key of the file in ascending order until fn fails.
func (f *File) Scan(ctx context.Context, fn func(hi, lo uint64, p Position) error) error {
	c := f.cursor()
	for {
		e, err := c.head(ctx)
		if err != nil || e == nil {
			return err
		}
		ordinal, row, ok := f.position(e.pos)
		if !ok {
			return f.strayPosition(e.hi, e.lo, e.pos)
		}
		if err := fn(e.hi, e.lo, Position{f.tablets[ordinal].ID, row}); err != nil {
			return err
		}
		c.at++
	}
}

// Check reads every block and verifies it.
func (f *File) Check(ctx context.Context) error {
	n := uint64(0)
	err := f.Scan(ctx, func(uint64, uint64, Position) error { n++; return nil })
	if err == nil && n != f.f.keys {
		return damaged(f.name, f.size-footerSize, "it holds %d keys where the footer names %d", n, f.f.keys)
	}
	return err
}
