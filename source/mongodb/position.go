package mongodb

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// position is a place in the order of a collection's changes: everything up to it lies before. It is kept as a BSON
// document.
type position struct {
	// Time is the cluster time of the last change, or that up to which all are in the snapshot; Token the resume token of
	// that place, nil before the first.
	Time  bson.Timestamp `bson:"time"`
	Token bson.Raw       `bson:"token,omitempty"`
	// UUID names the collection, since another one may take over its name.
	UUID bson.Binary `bson:"uuid"`
	// Family is that of the _id seen so far, 0 before the first or when it does not matter.
	Family int32 `bson:"family,omitempty"`
	// Whole is the time up to which changes overlap with the snapshot; zero when they no longer do.
	Whole bson.Timestamp `bson:"whole,omitempty"`
}

func (p position) encode() extension.Position {
	out, err := bson.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("mongodb: encoding a position: %v", err)) // plain fields always encode
	}
	return out
}

func decodePosition(p extension.Position) (position, error) {
	var out position
	err := bson.Raw(p).Validate()
	if err == nil {
		err = bson.Unmarshal(p, &out)
	}
	if err != nil || len(out.UUID.Data) != 16 {
		return position{}, sqlerr.New(sqlerr.DataCorrupted, "a mongodb position of %d bytes cannot be read", len(p)).
			Hintf("the position was written by another kind of source: detach the stream and attach a new one")
	}
	return out, nil
}

// data returns what a resume token consists of: hexadecimal digits in the order of changes.
func (p position) data() string {
	if len(p.Token) == 0 {
		return ""
	}
	s, _ := p.Token.Lookup("_data").StringValueOK()
	return s
}

// tokenTime returns the cluster time that a resume token begins with, zero when it has another form.
//
//	82 (a timestamp) | seconds, 8 hexadecimal digits | counter, 8 digits | ...
func tokenTime(token bson.Raw) bson.Timestamp {
	raw, err := hex.DecodeString(firstOf(position{Token: token}.data(), 18))
	if err != nil || len(raw) != 9 || raw[0] != 0x82 {
		return bson.Timestamp{}
	}
	return bson.Timestamp{T: binary.BigEndian.Uint32(raw[1:]), I: binary.BigEndian.Uint32(raw[5:])}
}

func firstOf(s string, n int) string { return s[:min(len(s), n)] }

func compareTime(a, b bson.Timestamp) int {
	return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.I, b.I))
}

// formatPosition shows a position as seconds.counter of its cluster time, then the resume token's data.
func formatPosition(p extension.Position) string {
	if len(p) == 0 {
		return ""
	}
	at, err := decodePosition(p)
	if err != nil {
		return fmt.Sprintf("invalid (%x)", []byte(p))
	}
	text := fmt.Sprintf("%d.%d", at.Time.T, at.Time.I)
	if data := at.data(); data != "" {
		text += "@" + data
	}
	return text
}

// parsePosition reads what formatPosition writes; the token may be left out, as the operationTime of a session has none.
// The result serves to compare with.
func parsePosition(text string) (extension.Position, error) {
	if text == "" {
		return nil, nil
	}
	moment, data, tokened := strings.Cut(text, "@")
	seconds, counter, dotted := strings.Cut(moment, ".")
	t, secondsErr := strconv.ParseUint(seconds, 10, 32)
	i, counterErr := strconv.ParseUint(counter, 10, 32)
	_, err := hex.DecodeString(data)
	if secondsErr != nil || counterErr != nil || !dotted || err != nil || tokened != (data != "") {
		return nil, sqlerr.New(sqlerr.InvalidText, "%q is not a mongodb position", text).
			Hintf("it is a cluster time as seconds.counter, such as 1735689600.1 for Timestamp(1735689600, 1), the operationTime of a session")
	}
	out := position{Time: bson.Timestamp{T: uint32(t), I: uint32(i)}, UUID: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, 16)}}
	if data != "" {
		token, err := bson.Marshal(bson.D{{Key: "_data", Value: data}})
		if err != nil {
			return nil, err
		}
		out.Token = token
	}
	return out.encode(), nil
}

func comparePosition(a, b extension.Position) int {
	x, _ := decodePosition(a) // what does not decode comes first, as the empty position does
	y, _ := decodePosition(b)
	return cmp.Or(compareTime(x.Time, y.Time), cmp.Compare(x.data(), y.data()))
}
