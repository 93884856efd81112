package engine

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// allowPath reports whether SQL may read or write a file: one inside an allowed folder, links followed.
func (e *Engine) allowPath(path string) error {
	if e.options.AllowAnyPath {
		return nil
	}
	real, err := resolve(path)
	if err == nil {
		for _, folder := range e.options.AllowPaths {
			allowed, err := resolve(folder)
			if err == nil && (real == allowed || strings.HasPrefix(real, strings.TrimSuffix(allowed, string(filepath.Separator))+string(filepath.Separator))) {
				return nil
			}
		}
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "access to file %q is not allowed", path).
		Hintf("start the server with --allow-path for its folder")
}

// resolve returns the absolute path behind links; of a file that is not there yet, that of its folder with its name.
func resolve(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		return real, nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(absolute)), nil
}

func itoa(n int) string { return strconv.Itoa(n) }
