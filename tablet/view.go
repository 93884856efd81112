package tablet

// MaskRef says where a committed mask lies: a deletion-vector blob in a Puffin file. The zero MaskRef is no mask.
// Mask references compare with ==.
type MaskRef struct {
	File        ID    `json:"file"`   // of the file at [MaskPath]
	Offset      int64 `json:"offset"` // of the blob in the file
	Length      int64 `json:"length"` // bytes of the blob
	Cardinality int64 `json:"rows"`   // dead rows
}

// IsZero reports that there is no mask.
func (m MaskRef) IsZero() bool { return m == MaskRef{} }

// Path returns the mask file's path in the data root, "" for no mask.
func (m MaskRef) Path() string {
	if m.IsZero() {
		return ""
	}
	return MaskPath(m.File)
}

// Base is one tablet of the base with its committed mask.
type Base struct {
	*Desc
	Mask MaskRef
}

// Live returns the rows the committed mask leaves.
func (b Base) Live() int64 { return b.Rows - b.Mask.Cardinality }

// Staged is one staging tablet. Tablets of one append have the same number and hold distinct keys, or follow each
// other in order of Part.
type Staged struct {
	*Desc
	Append uint64 // number of the append, 1 and up, ascending
	Part   uint32 // place within the append, 0 and up

	// TruncateBefore says that the source truncated the table before this append: every position of the base and
	// of earlier appends is dead.
	TruncateBefore bool

	SourceMicros int64 // source commit time of the newest change in the append, Unix microseconds; 0 when not known
}

// Run is one run of the key index: fingerprints of many tablets in one sorted file.
type Run struct {
	ID       ID     `json:"id"`
	Tablets  []ID   `json:"tablets"` // in the order of the ordinals the file uses; some may be gone from the set
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`    // size of the file
	Checksum uint64 `json:"checksum"` // xxh3-64 of the file
}

// View is a set laid out for scans and mask resolution. It is immutable and may be shared.
type View struct {
	Table       TableID
	Version     uint64   // of the tablets and masks: equal versions of one table mean equal tablets and masks
	RunsVersion uint64   // of the runs
	Base        []Base   // in ID order
	Staging     []Staged // in order of (Append, Part): a later one wins
	Runs        []Run
}

// Rows returns the rows stored in base and staging, dead ones included.
func (v *View) Rows() int64 {
	var n int64
	for _, b := range v.Base {
		n += b.Rows
	}
	for _, s := range v.Staging {
		n += s.Rows
	}
	return n
}
