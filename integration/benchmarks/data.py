"""Make the data of a benchmark as Parquet files, and its queries with DuckDB's answers.

    python data.py {tpch|tpcds|hits} SCALE FOLDER

Writes FOLDER/<table>.parquet, FOLDER/tables.json and FOLDER/queries.json: a list of {"name", "sql", "types", "rows"}
where rows hold text, null for NULL. The scale of hits is in millions of rows.
"""

import datetime
import decimal
import importlib.util
import json
import pathlib
import sys

import duckdb

import hits


def load(con, extension):
    root = pathlib.Path(importlib.util.find_spec("duckdb_extension_" + extension).origin).parent
    con.execute(f"LOAD '{root}/extensions/v{duckdb.__version__}/{extension}.duckdb_extension'")


def queries_of(con, kind, scale):
    """Fill the database and return [(name, sql)]."""
    if kind == "hits":
        hits.create(con, int(float(scale) * 1_000_000), seed=42)
        text = (pathlib.Path(__file__).parent / "hits.sql").read_text()
        parts = [p.strip() for p in text.split(";") if p.strip()]
        return [(str(i + 1), p) for i, p in enumerate(parts)]
    load(con, kind)
    con.execute(f"CALL {'dbgen' if kind == 'tpch' else 'dsdgen'}(sf={float(scale)})")
    return [(str(n), q) for n, q in con.execute(f"FROM {kind}_queries()").fetchall()]


def text(v):
    if v is None:
        return None
    if isinstance(v, bool):
        return "t" if v else "f"
    if isinstance(v, datetime.datetime) and v.microsecond:
        return str(v).rstrip("0")
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    return str(v)


def main():
    kind, scale, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    con = duckdb.connect()
    queries = queries_of(con, kind, scale)
    tables = [t for (t,) in con.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    for t in tables:
        con.execute(f"COPY {t} TO '{folder / t}.parquet' (FORMAT parquet)")
    out = []
    for name, sql in queries:
        cursor = con.execute(sql)
        types = [str(d[1]) for d in cursor.description]
        out.append({"name": name, "sql": sql, "types": types, "rows": [[text(v) for v in row] for row in cursor.fetchall()]})
    (folder / "queries.json").write_text(json.dumps(out))
    (folder / "tables.json").write_text(json.dumps(tables))


if __name__ == "__main__":
    main()
