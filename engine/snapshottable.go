package engine

import "github.com/tidemarkdb/tidemark/vec"

var snapshotSchema = vec.Schema{column("version", vec.Int64Type), column("commit_time", vec.TimestampTZType)}

// fillSnapshot has one row: the version that the statement reads and when it was committed.
func fillSnapshot(v *virtualRows) {
	at := v.snapshot
	if tx := v.session.tx; tx != nil && tx.pin != nil {
		at = tx.pin.Snapshot // without what the transaction changed and has not committed
	}
	v.add(int64(at.Version()), vec.IntValue(vec.TimestampTZType, at.Time().UnixMicro()))
}
