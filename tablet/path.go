package tablet

import (
	"strings"
)

// The folders of a data root, relative to the root:
//
//	tables/<table>/<tablet>.parquet   rows of one tablet
//	tables/<table>/<tablet>.keys      its key sidecar
//	tables/<table>/runs/<id>.keys     a run of the key index
//	masks/<id>.puffin                 the masks one commit set, of any table
const (
	TablesDir = "tables/"
	MasksDir  = "masks/"
)

const (
	parquetSuffix = ".parquet"
	keysSuffix    = ".keys"
	puffinSuffix  = ".puffin"
	runsDir       = "runs/"
)

// TableDir returns the folder of a table's files, with a trailing slash.
func TableDir(table TableID) string { return TablesDir + table.String() + "/" }

// ParquetPath returns the path of a tablet's rows.
func ParquetPath(table TableID, id ID) string { return TableDir(table) + id.String() + parquetSuffix }

// SidecarPath returns the path of a tablet's key sidecar.
func SidecarPath(table TableID, id ID) string { return TableDir(table) + id.String() + keysSuffix }

// RunPath returns the path of a run of the key index.
func RunPath(table TableID, id ID) string {
	return TableDir(table) + runsDir + id.String() + keysSuffix
}

// MaskPath returns the path of a mask file.
func MaskPath(file ID) string { return MasksDir + file.String() + puffinSuffix }

// FileKind says what a file of a data root holds.
type FileKind uint8

// The kinds of files outside the log.
const (
	UnknownFile FileKind = iota
	ParquetFile
	SidecarFile
	RunFile
	MaskFile
)

// File is what a path names.
type File struct {
	Kind  FileKind
	Table TableID // zero for a mask file
	ID    ID
}

// Path is the inverse of [ParsePath]; "" for an unknown file.
func (f File) Path() string {
	switch f.Kind {
	case ParquetFile:
		return ParquetPath(f.Table, f.ID)
	case SidecarFile:
		return SidecarPath(f.Table, f.ID)
	case RunFile:
		return RunPath(f.Table, f.ID)
	case MaskFile:
		return MaskPath(f.ID)
	}
	return ""
}

// ParsePath says what a path names; the kind is UnknownFile when it names nothing of ours.
func ParsePath(path string) File {
	if rest, ok := strings.CutPrefix(path, MasksDir); ok {
		if id, ok := cutID(rest, puffinSuffix); ok {
			return File{Kind: MaskFile, ID: id}
		}
		return File{}
	}
	rest, ok := strings.CutPrefix(path, TablesDir)
	if !ok {
		return File{}
	}
	dir, name, ok := strings.Cut(rest, "/")
	if !ok {
		return File{}
	}
	table, err := ParseTableID(dir)
	if err != nil {
		return File{}
	}
	if id, ok := cutID(name, parquetSuffix); ok {
		return File{Kind: ParquetFile, Table: table, ID: id}
	}
	if id, ok := cutID(name, keysSuffix); ok {
		return File{Kind: SidecarFile, Table: table, ID: id}
	}
	if run, ok := strings.CutPrefix(name, runsDir); ok {
		if id, ok := cutID(run, keysSuffix); ok {
			return File{Kind: RunFile, Table: table, ID: id}
		}
	}
	return File{}
}

func cutID(name, suffix string) (ID, bool) {
	stem, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	id, err := ParseID(stem)
	return id, err == nil
}
