package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// entryJSON is the payload of a log entry.
type entryJSON struct {
	Engine string     `json:"engine,omitempty"`
	Edits  []editJSON `json:"edits"`
}

type editJSON struct {
	Kind string          `json:"kind"`
	Edit json.RawMessage `json:"edit"`
}

func encodeEntry(engine string, edits []Edit) ([]byte, error) {
	entry := entryJSON{Engine: engine, Edits: make([]editJSON, len(edits))}
	for i, e := range edits {
		body, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encoding edit %s: %w", e.kind(), err)
		}
		entry.Edits[i] = editJSON{e.kind(), body}
	}
	return json.Marshal(entry)
}

func decodeEntry(payload []byte) ([]Edit, error) {
	var entry entryJSON
	if err := unmarshalStrict(payload, &entry); err != nil {
		return nil, err
	}
	edits := make([]Edit, len(entry.Edits))
	for i, e := range entry.Edits {
		make, known := editKinds[e.Kind]
		if !known {
			return nil, fmt.Errorf("edit %d is of kind %q, which this release does not know: a newer one wrote it", i, e.Kind)
		}
		edits[i] = make()
		if err := unmarshalStrict(e.Edit, edits[i]); err != nil {
			return nil, fmt.Errorf("edit %d (%s): %w", i, e.Kind, err)
		}
	}
	return edits, nil
}

// unmarshalStrict refuses fields this release does not know: to skip them could mean wrong answers.
func unmarshalStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there are bytes behind the value")
	}
	return nil
}

// follow applies a decoded entry to the snapshot before it.
func (s *Snapshot) follow(path string, h header, payload []byte) (*Snapshot, error) {
	if h.previous != s.checksum {
		return nil, damaged(path, 24, "it follows an entry of checksum %016x, and the one before has %016x", h.previous, s.checksum)
	}
	if h.micros < s.micros {
		return nil, damaged(path, 32, "its time is before that of the entry before it")
	}
	edits, err := decodeEntry(payload)
	if err != nil {
		return nil, damaged(path, headerSize, "%w", err)
	}
	d := s.draft(h.version, h.version, h.micros)
	d.replaying = true
	for i, e := range edits {
		if err := e.apply(d); err != nil {
			return nil, damaged(path, headerSize, "edit %d (%s) does not fit: %w", i, e.kind(), err)
		}
	}
	return d.snapshot(h.checksum), nil
}

// with applies edits that are about to be committed; the snapshot has no checksum yet.
func (s *Snapshot) with(edits []Edit, version, setVersion uint64, micros int64) (*Snapshot, error) {
	d := s.draft(version, setVersion, micros)
	for _, e := range edits {
		if err := e.apply(d); err != nil {
			return nil, err
		}
	}
	return d.snapshot(0), nil
}
