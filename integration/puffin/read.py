"""Prints the deletion vectors of a Puffin file, as pyiceberg reads them, as JSON: {path: [row, ...]}."""

import json
import sys

from pyiceberg.table.deletion_vector import deletion_vectors_from_puffin_file
from pyiceberg.table.puffin import PuffinFile

with open(sys.argv[1], "rb") as f:
    puffin = PuffinFile(f.read())

out = {}
for blob, vector in zip(puffin.footer.blobs, deletion_vectors_from_puffin_file(puffin)):
    assert blob.type == "deletion-vector-v1", blob.type
    assert blob.snapshot_id == -1 and blob.sequence_number == -1 and blob.compression_codec is None
    rows = [row for chunk in vector.to_vector().chunks for row in chunk.to_pylist()]
    assert int(blob.properties["cardinality"]) == len(rows)
    out[vector.referenced_data_file] = rows
json.dump(out, sys.stdout)
