package engine

import (
	"runtime/debug"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// guard runs f and turns a panic into an error with SQLSTATE XX000 that carries the stack.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.New(sqlerr.Internal, "internal error: %v", p).Detailf("%s", debug.Stack()).
				Hintf("this is a fault of the engine, not of the statement: please report it with the statement")
		}
	}()
	return f()
}
