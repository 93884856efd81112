"""Reads a Parquet file with several programs and prints {reader: [column, ...]} as JSON."""

import json
import sys

import duckdb
import polars
import pyarrow.parquet as pq

import canonical


def by_pyarrow(path):
    return pq.read_table(path, page_checksum_verification=True)


def by_duckdb(path):
    con = duckdb.connect()
    con.sql("SET TimeZone = 'UTC'")
    return con.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table()


def by_polars(path):
    return polars.read_parquet(path).to_arrow()


READERS = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars}


def pruned(path):
    """Counts rows through predicates that use row group and page bounds, against the same without."""
    con = duckdb.connect()
    total = con.sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchone()[0]
    counts = {"total": total}
    for name in ("c3_bigint", "c10_text"):
        low = con.sql(f"SELECT min({name}) FROM read_parquet('{path}')").fetchone()[0]
        want = con.sql(f"SELECT count(*) FROM (SELECT {name} x FROM read_parquet('{path}')) t WHERE x || '' = ? || ''", params=[low]).fetchone()[0]
        got = con.sql(f"SELECT count(*) FROM read_parquet('{path}') WHERE {name} = ?", params=[low]).fetchone()[0]
        counts[name] = [want, got]
    return counts


def main():
    path, names = sys.argv[1], sys.argv[2].split(",")
    out = {name: canonical.table(READERS[name](path)) for name in names}
    if len(sys.argv) > 3:
        out["pruned"] = pruned(path)
    meta = pq.read_metadata(path)
    schema = pq.read_schema(path)
    out["field_ids"] = [int((schema.field(i).metadata or {}).get(b"PARQUET:field_id", b"0")) for i in range(len(schema))]
    out["groups"] = meta.num_row_groups
    out["indexes"] = [meta.row_group(0).column(i).has_offset_index for i in range(meta.num_columns)] if meta.num_row_groups else []
    json.dump(out, sys.stdout)


main()
