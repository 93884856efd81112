package objstore

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"slices"
	"strings"
)

// List implements [Store]. It reads one folder at a time, and only those that can hold a match.
func (l *Local) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		w := walk{store: l, ctx: ctx, prefix: prefix, after: after, yield: yield}
		start, _ := splitPath(prefix)
		if start != "" {
			start += "/"
		}
		w.folder(start)
	}
}

type walk struct {
	store         *Local
	ctx           context.Context
	prefix, after string
	yield         func(Info, error) bool
}

// folder walks dir, which is "" or ends in a slash, and reports whether to go on.
func (w *walk) folder(dir string) bool {
	if err := w.ctx.Err(); err != nil {
		return w.stop(err)
	}
	entries, err := w.store.fs.ReadDir(w.store.file(dir))
	if isAbsent(err) {
		return true
	}
	if err != nil {
		return w.stop(fault(dir, err))
	}
	// A folder sorts as the paths in it do: by its name with a slash.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if !w.entry(dir, e) {
			return false
		}
	}
	return true
}

func (w *walk) entry(dir string, e fs.DirEntry) bool {
	path := dir + sortName(e)
	if e.IsDir() {
		holdsPrefix := strings.HasPrefix(path, w.prefix) || strings.HasPrefix(w.prefix, path)
		passed := path < w.after && !strings.HasPrefix(w.after, path)
		return !holdsPrefix || passed || w.folder(path)
	}
	if !strings.HasPrefix(path, w.prefix) || path <= w.after {
		return true
	}
	info, err := e.Info()
	if isAbsent(err) {
		return true // deleted meanwhile
	}
	if err != nil {
		return w.stop(fault(path, err))
	}
	return w.yield(Info{path, info.Size(), info.ModTime()}, nil)
}

// stop ends the sequence with an error.
func (w *walk) stop(err error) bool {
	w.yield(Info{}, err)
	return false
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}
