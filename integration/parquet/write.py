"""Writes one table with many writers and settings. Prints {file: [[name, ...], [column, ...]]} as JSON."""

import datetime
import decimal
import json
import pathlib
import random
import sys
import uuid

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

import canonical

ROWS = 3000
rnd = random.Random(5)


def some(make, share=0.1):
    return [None if rnd.random() < share else make(i) for i in range(ROWS)]


def text(i):
    return rnd.choice(["", "a", "ß", "long " * 20, f"row {i}"])


def base():
    epoch = datetime.datetime(1900, 1, 1)
    micros = lambda i: rnd.randrange(-10**15, 10**15)
    columns = {
        "bool": pa.array(some(lambda i: rnd.random() < 0.5)),
        "i8": pa.array(some(lambda i: rnd.randrange(-128, 128)), pa.int8()),
        "i16": pa.array(some(lambda i: rnd.randrange(-2**15, 2**15)), pa.int16()),
        "i32": pa.array(some(lambda i: rnd.randrange(-2**31, 2**31)), pa.int32()),
        "i64": pa.array(some(lambda i: rnd.randrange(-2**63, 2**63)), pa.int64()),
        "u8": pa.array(some(lambda i: rnd.randrange(2**8)), pa.uint8()),
        "u16": pa.array(some(lambda i: rnd.randrange(2**16)), pa.uint16()),
        "u32": pa.array(some(lambda i: rnd.randrange(2**32)), pa.uint32()),
        "u64": pa.array(some(lambda i: rnd.randrange(2**64)), pa.uint64()),
        "seq": pa.array([i * 7 for i in range(ROWS)], pa.int64()),
        "f32": pa.array(some(lambda i: rnd.choice([0.0, -0.0, float("nan"), float("inf"), rnd.random()])), pa.float32()),
        "f64": pa.array(some(lambda i: rnd.choice([0.0, -0.0, float("nan"), -float("inf"), rnd.random()])), pa.float64()),
        "dec5": pa.array(some(lambda i: decimal.Decimal(rnd.randrange(-99999, 99999)).scaleb(-2)), pa.decimal128(5, 2)),
        "dec18": pa.array(some(lambda i: decimal.Decimal(rnd.randrange(-10**17, 10**17)).scaleb(-4)), pa.decimal128(18, 4)),
        "dec38": pa.array(some(lambda i: decimal.Decimal(rnd.randrange(-10**29, 10**29)).scaleb(-10)), pa.decimal128(38, 10)),
        "text": pa.array(some(text)),
        "flag": pa.array(some(lambda i: rnd.choice("ANR"))),
        "bytes": pa.array(some(lambda i: rnd.randbytes(rnd.randrange(20))), pa.binary()),
        "fixed": pa.array(some(lambda i: rnd.randbytes(5)), pa.binary(5)),
        "date": pa.array(some(lambda i: rnd.randrange(-200000, 200000)), pa.int32()).cast(pa.date32()),
        "time_ms": pa.array(some(lambda i: rnd.randrange(86_400_000)), pa.int32()).cast(pa.time32("ms")),
        "time_us": pa.array(some(lambda i: rnd.randrange(86_400_000_000)), pa.int64()).cast(pa.time64("us")),
        "time_ns": pa.array(some(lambda i: rnd.randrange(86_400_000_000_000)), pa.int64()).cast(pa.time64("ns")),
        "ts_ms": pa.array(some(micros), pa.int64()).cast(pa.timestamp("ms")),
        "ts_us": pa.array(some(micros), pa.int64()).cast(pa.timestamp("us")),
        "ts_ns": pa.array(some(lambda i: rnd.randrange(-10**18, 10**18)), pa.int64()).cast(pa.timestamp("ns")),
        "tz_us": pa.array(some(micros), pa.int64()).cast(pa.timestamp("us", "UTC")),
        "nothing": pa.array([None] * ROWS, pa.int64()),
        "list": pa.array(some(lambda i: [None if rnd.random() < 0.2 else k for k in range(rnd.randrange(4))]), pa.list_(pa.int64())),
        "lists": pa.array(some(lambda i: [[str(k) * k for k in range(rnd.randrange(3))] if rnd.random() < 0.8 else None for _ in range(rnd.randrange(3))]),
                          pa.list_(pa.list_(pa.string()))),
        "struct": pa.array(some(lambda i: {"a": i, "b": {"c": text(i), "d": [1.5] * (i % 3)}}),
                           pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.float64()))]))])),
        "map": pa.array(some(lambda i: [(f"k{k}", k if k % 2 else None) for k in range(i % 4)]), pa.map_(pa.string(), pa.int64())),
    }
    return pa.table(columns)


DELTA = {"column_encoding": {"i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "seq": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY",
                             "bytes": "DELTA_LENGTH_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY", "flag": "DELTA_LENGTH_BYTE_ARRAY", "bool": "RLE",
                             "f32": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT", "ts_us": "BYTE_STREAM_SPLIT"}, "use_dictionary": False}


def variants():
    """Settings of pyarrow's writer by file name."""
    yield "plain.parquet", {"use_dictionary": False, "compression": "none"}
    for codec in ("snappy", "gzip", "brotli", "lz4", "zstd"):
        yield f"dict_{codec}.parquet", {"compression": codec}
    yield "v2_pages.parquet", {"data_page_version": "2.0", "compression": "zstd", "data_page_size": 500, "write_page_index": True}
    yield "v1_small_pages.parquet", {"data_page_size": 300, "row_group_size": 700, "write_page_index": True, "write_page_checksum": True}
    yield "dict_overflow.parquet", {"dictionary_pagesize_limit": 200, "data_page_size": 400}
    yield "delta_v1.parquet", dict(DELTA)
    yield "delta_v2.parquet", dict(DELTA, data_page_version="2.0", data_page_size=600)
    yield "int96.parquet", {"use_deprecated_int96_timestamps": True}
    yield "decimal_as_integer.parquet", {"store_decimal_as_integer": True}
    yield "old_lists.parquet", {"use_compliant_nested_type": False}
    yield "no_stats.parquet", {"write_statistics": False}


FLAT = ["list", "lists", "struct", "map"]


def main():
    folder = pathlib.Path(sys.argv[1])
    t = base()
    out = {}

    def keep(name, table):
        out[name] = [table.column_names, canonical.table(table)]

    for name, options in variants():
        table = t
        if "column_encoding" in options:
            options["column_encoding"] = {k: v for k, v in options["column_encoding"].items()}
            table = t.drop_columns(FLAT)
        pq.write_table(table, folder / name, **options)
        keep(name, table)
    required = pa.table([c.fill_null(c[0] if c[0].is_valid else c.drop_null()[0]) for c in t.select(["i64", "text", "flag", "f64", "date"]).columns],
                        schema=pa.schema([pa.field(n, t.schema.field(n).type, nullable=False) for n in ["i64", "text", "flag", "f64", "date"]]))
    pq.write_table(required, folder / "required.parquet")
    keep("required.parquet", required)
    pq.write_table(t.slice(0, 0), folder / "empty.parquet")
    keep("empty.parquet", t.slice(0, 0))

    con = duckdb.connect()
    con.sql("SET TimeZone = 'UTC'")
    for name, options in {"duckdb_v1.parquet": "", "duckdb_v2.parquet": ", PARQUET_VERSION V2, COMPRESSION zstd",
                          "duckdb_small.parquet": ", ROW_GROUP_SIZE 2048, COMPRESSION lz4"}.items():
        source = t.drop_columns(["time_ns", "nothing"])
        con.register("source", source)
        con.sql(f"COPY (SELECT *, uuid() AS id, '{{\"a\": 1}}'::JSON AS doc FROM source) TO '{folder / name}' (FORMAT parquet{options})")
        back = con.sql(f"SELECT * REPLACE (replace(id::VARCHAR, '-', '') AS id) FROM read_parquet('{folder / name}')").to_arrow_table()
        keep(name, back)
    polars.from_arrow(t.drop_columns(["dec38", "map", "u64"])).write_parquet(folder / "polars.parquet")
    keep("polars.parquet", pq.read_table(folder / "polars.parquet"))
    json.dump(out, sys.stdout)


main()
