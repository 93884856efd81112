package tablet

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Desc describes one tablet. It is immutable once the tablet is written.
type Desc struct {
	ID   ID
	Rows int64 // row versions stored, delete markers included

	FileBytes    int64  // size of the Parquet file
	Checksum     uint64 // xxh3-64 of the Parquet file
	SidecarBytes int64  // size of the key sidecar, 0 when the tablet has none
	SidecarSum   uint64 // xxh3-64 of the key sidecar

	MinSeq, MaxSeq int64 // range of last_seq; both 0 in a managed table
	Deletes        int64 // rows whose op is delete

	Sorted        []int32 // field ids the rows are sorted by, ascending and NULLs last; empty when unsorted
	SchemaVersion uint32  // of the table, when the tablet was written
	Stats         Stats
}

const descVersion = 1

// maxSorted is more sort columns than any table has; it bounds what damaged bytes can allocate.
const maxSorted = 4096

// AppendBinary appends the encoded description to b.
//
//	byte version | u64 id, checksum, sidecar sum | uvarint rows, file bytes, sidecar bytes, deletes, schema version |
//	varint min seq, max seq | uvarint n, n x varint field id | stats with their length
func (d *Desc) AppendBinary(b []byte) ([]byte, error) {
	for _, n := range []int64{d.Rows, d.FileBytes, d.SidecarBytes, d.Deletes} {
		if n < 0 {
			return nil, fmt.Errorf("tablet %s: a count is negative", d.ID)
		}
	}
	b = append(b, descVersion)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.ID))
	b = binary.LittleEndian.AppendUint64(b, d.Checksum)
	b = binary.LittleEndian.AppendUint64(b, d.SidecarSum)
	b = binary.AppendUvarint(b, uint64(d.Rows))
	b = binary.AppendUvarint(b, uint64(d.FileBytes))
	b = binary.AppendUvarint(b, uint64(d.SidecarBytes))
	b = binary.AppendUvarint(b, uint64(d.Deletes))
	b = binary.AppendUvarint(b, uint64(d.SchemaVersion))
	b = binary.AppendVarint(b, d.MinSeq)
	b = binary.AppendVarint(b, d.MaxSeq)
	b = binary.AppendUvarint(b, uint64(len(d.Sorted)))
	for _, id := range d.Sorted {
		b = binary.AppendVarint(b, int64(id))
	}
	return appendString(b, d.Stats.encoded), nil
}

// MarshalBinary is AppendBinary into a new slice.
func (d *Desc) MarshalBinary() ([]byte, error) { return d.AppendBinary(nil) }

// UnmarshalBinary is the inverse of AppendBinary. It keeps no part of data.
func (d *Desc) UnmarshalBinary(data []byte) error { return d.decode(string(data)) }

// DecodeDesc decodes a description that shares the memory of data, which is cheap for many of them in one buffer.
func DecodeDesc(data string) (*Desc, error) {
	d := new(Desc)
	if err := d.decode(data); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Desc) decode(data string) error {
	r := decoder{rest: data}
	if v := r.byte(); r.err == nil && v != descVersion {
		return fmt.Errorf("tablet description of version %d: this release reads version %d, a newer one wrote it", v, descVersion)
	}
	*d = Desc{ID: ID(r.u64()), Checksum: r.u64(), SidecarSum: r.u64()}
	d.Rows, d.FileBytes, d.SidecarBytes, d.Deletes = r.count(), r.count(), r.count(), r.count()
	version := r.uvarint()
	d.SchemaVersion = uint32(version)
	d.MinSeq, d.MaxSeq = r.varint(), r.varint()
	n := r.uvarint()
	if n > maxSorted || version > math.MaxUint32 {
		return fmt.Errorf("tablet description %s: a number is out of range", d.ID)
	}
	for range n {
		d.Sorted = append(d.Sorted, int32(r.varint()))
	}
	d.Stats = Stats{r.text()}
	if err := r.done(); err != nil {
		return fmt.Errorf("tablet description %s: %w", d.ID, err)
	}
	return d.Stats.validate()
}

func (d *decoder) count() int64 {
	n := d.uvarint()
	if n > math.MaxInt64 {
		d.fail(errCutOff)
		return 0
	}
	return int64(n)
}

// ParquetPath returns the path of the tablet's rows in the data root.
func (d *Desc) ParquetPath(table TableID) string { return ParquetPath(table, d.ID) }

// SidecarPath returns the path of the tablet's key sidecar, "" when it has none.
func (d *Desc) SidecarPath(table TableID) string {
	if d.SidecarBytes == 0 {
		return ""
	}
	return SidecarPath(table, d.ID)
}

// Equal reports whether two descriptions say the same.
func (d *Desc) Equal(o *Desc) bool {
	a, b := *d, *o
	a.Sorted, b.Sorted = nil, nil
	return slices.Equal(d.Sorted, o.Sorted) &&
		a.ID == b.ID && a.Rows == b.Rows && a.FileBytes == b.FileBytes && a.Checksum == b.Checksum &&
		a.SidecarBytes == b.SidecarBytes && a.SidecarSum == b.SidecarSum && a.MinSeq == b.MinSeq &&
		a.MaxSeq == b.MaxSeq && a.Deletes == b.Deletes && a.SchemaVersion == b.SchemaVersion && a.Stats == b.Stats
}

// MarshalJSON writes the binary form as a base64 string.
func (d *Desc) MarshalJSON() ([]byte, error) {
	b, err := d.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// UnmarshalJSON reads the form of MarshalJSON.
func (d *Desc) UnmarshalJSON(data []byte) error {
	var b []byte
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	return d.UnmarshalBinary(b)
}
