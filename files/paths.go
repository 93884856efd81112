package files

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// expand returns the files that paths and patterns name, each pattern's in order, all of them allowed.
func expand(b *extension.TableBind, patterns []string) ([]string, error) {
	var out []string
	for _, p := range patterns {
		found, err := match(b, p)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "no file given").Hintf("name at least one file")
	}
	return out, nil
}

func match(b *extension.TableBind, pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, "*?[") || exists(pattern) {
		if err := b.AllowPath(pattern); err != nil {
			return nil, err
		}
		if !exists(pattern) {
			return nil, sqlerr.New(sqlerr.UndefinedFile, "file %q does not exist", pattern).
				Hintf("check the path; it is relative to the folder the server was started in")
		}
		return []string{pattern}, nil
	}
	// Looking into a folder already tells what is there, so the folder itself must be allowed.
	if err := b.AllowPath(fixedPart(pattern)); err != nil {
		return nil, err
	}
	found, err := glob(pattern)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "pattern %q: %w", pattern, err)
	}
	if len(found) == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "no file matches %q", pattern).Hintf("check the pattern; ** stands for any folders")
	}
	for _, f := range found {
		if err := b.AllowPath(f); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// fixedPart returns the folder of a pattern before its first wildcard.
func fixedPart(pattern string) string {
	dir := filepath.Dir(pattern[:strings.IndexAny(pattern, "*?[")] + "x")
	return dir
}

// glob returns the files that match; ** stands for any number of folders.
func glob(pattern string) ([]string, error) {
	before, after, deep := strings.Cut(filepath.ToSlash(pattern), "**/")
	if !deep {
		found, err := filepath.Glob(pattern)
		return slices.DeleteFunc(found, isFolder), err
	}
	if _, err := path.Match(after, ""); err != nil {
		return nil, err
	}
	root := before
	if root == "" {
		root = "."
	}
	depth := strings.Count(after, "/") + 1
	var out []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		parts := strings.Split(filepath.ToSlash(name), "/")
		if len(parts) < depth {
			return nil
		}
		if ok, _ := path.Match(after, strings.Join(parts[len(parts)-depth:], "/")); ok {
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// pathsOf returns the paths of an argument: one, or a list of them.
func pathsOf(arg vec.Value) ([]string, error) {
	if arg.Null {
		return nil, sqlerr.New(sqlerr.NullNotAllowed, "the path must not be NULL")
	}
	if arg.Type.ID != vec.Array {
		return []string{arg.S}, nil
	}
	var out []string
	for _, v := range arg.List {
		if v.Null {
			return nil, sqlerr.New(sqlerr.NullNotAllowed, "a path must not be NULL")
		}
		out = append(out, v.S)
	}
	return out, nil
}
