"""Writes the vectors on standard input, JSON {path: [row, ...]}, as a Puffin file, with pyroaring's bitmaps."""

import json
import struct
import sys
import zlib

from pyroaring import BitMap

vectors = json.load(sys.stdin)
data, blobs = bytearray(b"PFA1"), []
for path, rows in vectors.items():
    bitmap = BitMap(rows)
    bitmap.run_optimize()
    body = b"\xd1\xd3\x39\x64" + struct.pack("<Q", 1 if rows else 0)
    if rows:
        body += struct.pack("<I", 0) + bitmap.serialize()
    blob = struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    blobs.append({
        "type": "deletion-vector-v1", "fields": [2147483645], "snapshot-id": -1, "sequence-number": -1,
        "offset": len(data), "length": len(blob),
        "properties": {"referenced-data-file": path, "cardinality": str(len(rows))},
    })
    data += blob
footer = json.dumps({"blobs": blobs, "properties": {"created-by": "pyroaring"}}).encode()
data += b"PFA1" + footer + struct.pack("<ii", len(footer), 0) + b"PFA1"
with open(sys.argv[1], "wb") as f:
    f.write(data)
