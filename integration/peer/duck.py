"""Runs DuckDB: reads one JSON string with a statement a line, answers with one JSON object a line.

The argument is how many seconds a statement may take. The object has either error, tooslow, or kinds (0 text, 1 exact number, 2 floating point) and rows of text in PostgreSQL's form.
"""
import datetime
import decimal
import json
import sys
import threading

import duckdb

EXACT = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}


def kind(column_type):
    name = str(column_type)
    if name in EXACT or name.startswith("DECIMAL"):
        return 1
    return 2 if name in ("FLOAT", "DOUBLE") else 0


def text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return repr(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        out = value.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")
        if value.microsecond:
            out += ("%.6f" % (value.microsecond / 1e6))[1:].rstrip("0")
        if value.tzinfo:
            out += "+00"
        return out
    if isinstance(value, datetime.time):
        out = value.strftime("%H:%M:%S")
        return out + ("%.6f" % (value.microsecond / 1e6))[1:].rstrip("0").rstrip(".")
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, list):
        return "{" + ",".join("NULL" if v is None else quoted(text(v)) for v in value) + "}"
    if isinstance(value, (dict, tuple, datetime.timedelta)):
        raise ValueError("a value of this type has no text in PostgreSQL's form")
    return str(value)


def quoted(item):
    if item == "" or item.upper() == "NULL" or any(c in item for c in '{}," \\'):
        return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return item


def run(connection, statement):
    result = connection.execute(statement)
    if result is None or result.description is None:
        return {"kinds": [], "rows": []}
    rows = result.fetchall()
    return {"kinds": [kind(c[1]) for c in result.description], "rows": [[text(v) for v in row] for row in rows]}


def main():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = false")  # which would go to the answers
    for line in sys.stdin:
        timer = threading.Timer(float(sys.argv[1]), connection.interrupt)
        timer.start()
        try:
            reply = run(connection, json.loads(line))
        except duckdb.InterruptException:
            reply = {"tooslow": True}
        except Exception as e:  # the statement's error, whatever its class
            reply = {"error": str(e) or type(e).__name__}
        finally:
            timer.cancel()
        print(json.dumps(reply), flush=True)


main()
