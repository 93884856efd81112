"""ADBC, pandas and polars against the server at argv[1]."""

import datetime
import decimal
import sys
import threading

import adbc_driver_flightsql.dbapi as flight
import adbc_driver_manager
import pandas
import polars
import pyarrow as pa

URI = "grpc://" + sys.argv[1]


def connect(**options):
    return flight.connect(URI, autocommit=True, **options)


def raises(kind, text, action):
    try:
        action()
    except kind as error:
        assert text in str(error), str(error)
        return error
    raise AssertionError(f"{kind.__name__} with {text!r} was not raised")


def queries(c):
    cur = c.cursor()
    cur.execute("SELECT 1 AS a, 'x' AS b, NULL::integer AS c")
    assert cur.fetchall() == [(1, "x", None)]
    cur.execute("SELECT $1 + 1 AS n, $2 AS s", (41, "hé"))
    assert cur.fetchall() == [(42, "hé")]
    cur.execute("SELECT $1 + 1 AS n, $2 AS s", (1, "again"))
    assert cur.fetchall() == [(2, "again")]
    cur.execute("SELECT 1 WHERE false")
    assert cur.fetchall() == []
    assert cur.adbc_execute_schema("SELECT 1::bigint AS n").field("n").type == pa.int64()
    cur.close()


def types(c):
    with c.cursor() as cur:
        cur.execute(
            """SELECT true AS b, 1::smallint AS i2, 2::integer AS i4, 3::bigint AS i8, 1.5::real AS f4, 2.5::double precision AS f8,
            12.34::numeric(10, 2) AS n, 123456789012345678901234.5::numeric(38, 1) AS wide, 'é' AS t, '\\x01ff'::bytea AS y,
            DATE '2024-02-29' AS d, TIME '01:02:03.5' AS tm, TIMESTAMP '2024-02-29 01:02:03' AS ts,
            TIMESTAMPTZ '2024-02-29 01:02:03+02' AS tz, UUID '0123e4567-e89b-12d3-a456-42661417400'::text IS NULL AS dummy"""
            .replace(", UUID '0123e4567-e89b-12d3-a456-42661417400'::text IS NULL AS dummy", ""))
        table = cur.fetch_arrow_table()
    row = table.to_pylist()[0]
    utc = datetime.timezone.utc
    assert row["b"] is True and (row["i2"], row["i4"], row["i8"]) == (1, 2, 3) and (row["f4"], row["f8"]) == (1.5, 2.5)
    assert row["n"] == decimal.Decimal("12.34") and row["wide"] == decimal.Decimal("123456789012345678901234.5")
    assert row["t"] == "é" and row["y"] == b"\x01\xff"
    assert row["d"] == datetime.date(2024, 2, 29) and row["tm"] == datetime.time(1, 2, 3, 500000)
    assert row["ts"] == datetime.datetime(2024, 2, 29, 1, 2, 3)
    assert row["tz"] == datetime.datetime(2024, 2, 28, 23, 2, 3, tzinfo=utc)
    assert table.schema.field("n").type == pa.decimal128(10, 2)
    assert table.schema.field("n").metadata[b"ARROW:FLIGHT:SQL:TYPE_NAME"] == b"numeric(10,2)"
    with c.cursor() as cur:
        values = (True, 7, 2.5, "s", b"\x00\x01", datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5), None)
        cur.execute("SELECT $1::boolean, $2::bigint, $3::double precision, $4::text, $5::bytea, $6::date, $7::timestamp, $8::integer", values)
        assert cur.fetchone() == values
    with c.cursor() as cur:
        cur.execute("SELECT '0123e456-e89b-12d3-a456-426614174000'::uuid AS u, '{\"a\": 1}'::json AS j, "
                    "INTERVAL '1 month 2 days 3 seconds' AS i, ARRAY[1, 2, NULL] AS l")
        row = cur.fetch_arrow_table().to_pylist()[0]
    assert row["u"] == "0123e456-e89b-12d3-a456-426614174000" and row["j"] == '{"a": 1}'
    assert tuple(row["i"]) == (1, 2, 3_000_000_000) and row["l"] == [1, 2, None]


def changes(c):
    with c.cursor() as cur:
        cur.execute("CREATE TABLE items (id BIGINT, name TEXT, price NUMERIC(10, 2))")
        cur.execute("INSERT INTO items VALUES (1, 'one', 1.10)")
        cur.executemany("INSERT INTO items VALUES ($1, $2, $3)", [(2, "two", decimal.Decimal("2.20")), (3, None, None)])
        cur.execute("INSERT INTO items VALUES ($1, $2, 4.40)", (4, "four"))
        assert cur.rowcount == 1, cur.rowcount
        cur.execute("SELECT id, name, price FROM items ORDER BY id")
        assert cur.fetchall() == [(1, "one", decimal.Decimal("1.10")), (2, "two", decimal.Decimal("2.20")), (3, None, None),
                                  (4, "four", decimal.Decimal("4.40"))]
        assert cur.execute("SELECT * FROM items").fetch_df().shape == (4, 3)


def low_level(c):
    """Statements without preparing, and DDL that arrives as a query: run exactly once."""
    statement = adbc_driver_manager.AdbcStatement(c.adbc_connection)
    statement.set_sql_query("INSERT INTO items VALUES (5, 'five', 5)")
    assert statement.execute_update() == 1
    statement.set_sql_query("INSERT INTO items VALUES (6, 'six', 6)")
    handle, _ = statement.execute_query()
    assert pa.RecordBatchReader._import_from_c(handle.address).read_all().num_rows == 0
    statement.set_sql_query("SELECT count(*) FROM items WHERE id = 6")
    handle, _ = statement.execute_query()
    assert pa.RecordBatchReader._import_from_c(handle.address).read_all().to_pylist() == [{"count": 1}]
    statement.close()


def metadata(c):
    objects = c.adbc_get_objects(depth="all").read_all().to_pylist()
    assert [o["catalog_name"] for o in objects] == ["tidemark"]
    public = next(s for s in objects[0]["catalog_db_schemas"] if s["db_schema_name"] == "public")
    items = next(t for t in public["db_schema_tables"] if t["table_name"] == "items")
    assert items["table_type"] == "TABLE" and [x["column_name"] for x in items["table_columns"]] == ["id", "name", "price"]
    for depth in ("catalogs", "db_schemas", "tables"):
        assert c.adbc_get_objects(depth=depth).read_all().num_rows == 1
    schema = c.adbc_get_table_schema("items")
    assert schema.names == ["id", "name", "price"] and schema.field("price").type == pa.decimal128(10, 2)
    assert set(c.adbc_get_table_types()) >= {"TABLE", "VIEW"}
    assert c.adbc_get_info()["vendor_name"] == "Tidemark"
    raises(adbc_driver_manager.Error, "", lambda: c.adbc_get_table_schema("nothing"))


def options(c):
    assert c.adbc_current_catalog == "tidemark" and c.adbc_current_db_schema == "public"
    with c.cursor() as cur:
        cur.execute("CREATE SCHEMA other")
    c.adbc_current_db_schema = "other"
    assert c.adbc_current_db_schema == "other"
    with c.cursor() as cur:
        cur.execute("CREATE TABLE here (a BIGINT)")
        cur.execute("SELECT table_schema FROM information_schema.columns WHERE table_name = 'here'")
        assert cur.fetchall() == [("other",)]
        c.adbc_current_db_schema = "public"
        cur.execute("SET timezone TO 'Europe/Berlin'")
        cur.execute("SHOW timezone")
        assert cur.fetchall() == [("Europe/Berlin",)]


def transactions():
    with flight.connect(URI) as c, connect() as other:
        with c.cursor() as cur, other.cursor() as watch:
            cur.execute("CREATE TABLE moves (a BIGINT)")
            cur.execute("INSERT INTO moves VALUES (1)")
            raises(flight.ProgrammingError, "moves", lambda: watch.execute("SELECT * FROM moves"))
            c.commit()
            watch.execute("SELECT * FROM moves")
            assert watch.fetchall() == [(1,)]
            cur.execute("INSERT INTO moves VALUES (2)")
            cur.execute("SELECT count(*) FROM moves")
            assert cur.fetchone() == (2,)
            c.rollback()
            cur.execute("SELECT count(*) FROM moves")  # the same text: the handle of the ended transaction
            assert cur.fetchone() == (1,)
            cur.execute("INSERT INTO moves VALUES (3)")
        # closing without a commit rolls back
    with connect() as c, c.cursor() as cur:
        cur.execute("SELECT a FROM moves")
        assert cur.fetchall() == [(1,)]


def errors(c):
    with c.cursor() as cur:
        raises(flight.ProgrammingError, "42P01", lambda: cur.execute("SELECT * FROM nothing"))
        raises(flight.ProgrammingError, "42601", lambda: cur.execute("SELEC 1"))
        raises(flight.ProgrammingError, "22012", lambda: cur.execute("SELECT 1 / (id - id) FROM items").fetchall())
        raises(flight.ProgrammingError, "already exists", lambda: cur.execute("CREATE TABLE items (a BIGINT)"))
        raises(flight.ProgrammingError, "parameter", lambda: cur.execute("SELECT $1::bigint", (1, 2)).fetchall())
        cur.execute("SELECT 1")  # and the connection goes on
        assert cur.fetchone() == (1,)


def large(c):
    with c.cursor() as cur:
        cur.execute("SELECT i AS n, repeat('x', 1000) AS t FROM generate_series(1, 100000) AS g(i)")
        table = cur.fetch_arrow_table()
        assert table.num_rows == 100000 and max(len(b) for b in table.to_batches()) <= 65536
        assert pa.compute.sum(table["n"]).as_py() == 100000 * 100001 // 2
        assert max(b.nbytes for b in table.to_batches()) < 4 << 20


def cancel(c):
    with c.cursor() as cur:
        threading.Timer(0.3, cur.adbc_cancel).start()
        raises(adbc_driver_manager.Error, "", lambda: cur.execute(
            "SELECT count(*) FROM generate_series(1, 1000000) AS a(i), generate_series(1, 1000000) AS b(j) WHERE i + j = 3").fetchall())
        cur.execute("SELECT 1")
        assert cur.fetchone() == (1,)


def ingest(c):
    rows = pa.table({"id": pa.array([1, 2, None], pa.int32()), "s": pa.array(["a", None, "c"], pa.large_utf8()),
                     "at": pa.array([0, 1, 2], pa.timestamp("ns")), "n": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("2.5")])})
    with c.cursor() as cur:
        assert cur.adbc_ingest("loaded", rows, mode="create") == 3
        raises(flight.ProgrammingError, "already exists", lambda: cur.adbc_ingest("loaded", rows, mode="create"))
        assert cur.adbc_ingest("loaded", rows, mode="append") == 3
        assert cur.adbc_ingest("loaded", rows.select(["s", "id"]), mode="append") == 3
        cur.execute("SELECT count(*), count(id), count(s), count(n) FROM loaded")
        assert cur.fetchone() == (9, 6, 6, 4)
        assert cur.adbc_ingest("loaded", rows.slice(0, 1), mode="replace") == 1
        cur.execute("SELECT id, s, at, n FROM loaded")
        assert cur.fetchone() == (1, "a", datetime.datetime(1970, 1, 1), decimal.Decimal("1.5"))
        raises(flight.ProgrammingError, "does not exist", lambda: cur.adbc_ingest("absent", rows, mode="append"))
        assert cur.adbc_ingest("loaded", pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches()), mode="create_append") == 3


def frames(c):
    df = pandas.read_sql("SELECT id, name FROM items WHERE id < 3 ORDER BY id", c)
    assert df["id"].tolist() == [1, 2] and df["name"].tolist() == ["one", "two"]
    pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_sql("from_pandas", c, index=False)
    assert pandas.read_sql("SELECT * FROM from_pandas ORDER BY a", c)["b"].tolist() == ["x", "y"]
    pl = polars.read_database("SELECT id, name FROM items WHERE id < 3 ORDER BY id", c)
    assert pl["name"].to_list() == ["one", "two"]
    polars.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_database("from_polars", c, engine="adbc")
    assert polars.read_database("SELECT * FROM from_polars ORDER BY a", c)["b"].to_list() == ["x", "y"]


with connect() as connection:
    for step in (queries, types, changes, low_level, metadata, options, errors, large, cancel, ingest, frames):
        try:
            step(connection)
        except BaseException:
            print("in", step.__name__, file=sys.stderr)
            raise
transactions()
