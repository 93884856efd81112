package tablet

import "encoding/json"

type baseJSON struct {
	Desc *Desc    `json:"tablet"`
	Mask *MaskRef `json:"mask,omitempty"`
}

type stagedJSON struct {
	Desc           *Desc  `json:"tablet"`
	Append         uint64 `json:"append"`
	Part           uint32 `json:"part,omitempty"`
	TruncateBefore bool   `json:"truncate_before,omitempty"`
	SourceMicros   int64  `json:"source_micros,omitempty"`
}

// MarshalJSON writes the description and the mask.
func (b Base) MarshalJSON() ([]byte, error) {
	j := baseJSON{Desc: b.Desc}
	if !b.Mask.IsZero() {
		j.Mask = &b.Mask
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the form of MarshalJSON.
func (b *Base) UnmarshalJSON(data []byte) error {
	var j baseJSON
	if err := decodeStrict(data, &j); err != nil {
		return err
	}
	*b = Base{Desc: j.Desc}
	if j.Mask != nil {
		b.Mask = *j.Mask
	}
	return nil
}

// MarshalJSON writes the description and the place in staging.
func (s Staged) MarshalJSON() ([]byte, error) {
	return json.Marshal(stagedJSON{s.Desc, s.Append, s.Part, s.TruncateBefore, s.SourceMicros})
}

// UnmarshalJSON reads the form of MarshalJSON.
func (s *Staged) UnmarshalJSON(data []byte) error {
	var j stagedJSON
	if err := decodeStrict(data, &j); err != nil {
		return err
	}
	*s = Staged{j.Desc, j.Append, j.Part, j.TruncateBefore, j.SourceMicros}
	return nil
}
