"""Times a filtered sum over the tablets of a CDC table: Tidemark over Flight SQL and DuckDB (2 threads) on the same
Parquet files, in turn.

usage: scan.py FLIGHTSRV [--rows 10000000] [--rounds 9]
"""
import argparse
import glob
import os
import socket
import statistics
import subprocess
import tempfile
import time

import adbc_driver_flightsql.dbapi as flight
import duckdb

parser = argparse.ArgumentParser()
parser.add_argument("flightsrv")
parser.add_argument("--rows", type=int, default=10_000_000)
parser.add_argument("--rounds", type=int, default=9)
args = parser.parse_args()

QUERIES = {
    "filtered sum": "SELECT sum(price * discount) FROM {t} WHERE shipped BETWEEN DATE '{low}' AND DATE '{high}' AND quantity < {q}",
    "sum": "SELECT sum(price) FROM {t}",
    "group": "SELECT status, count(*), sum(price) FROM {t} GROUP BY status ORDER BY status",
}
SETUP = """CREATE STREAM s FROM GENERATOR WITH (keys = %d, rate = 0, seed = 1, "limit" = 0);
CREATE CDC TABLE t (id BIGINT, quantity INTEGER, price NUMERIC(12, 2), discount NUMERIC(4, 2), status TEXT, shipped DATE,
  PRIMARY KEY (id) NOT ENFORCED);
ALTER CDC TABLE t ATTACH STREAM s; ALTER CDC TABLE t RESUME""" % args.rows


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


with tempfile.TemporaryDirectory() as root:
    addr = "127.0.0.1:%d" % free_port()
    server = subprocess.Popen([args.flightsrv, "serve", "--root", root, "--listen", addr, "--http", "", "--log-level", "error"],
                              stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                db = flight.connect("grpc://" + addr, autocommit=True)
                cursor = db.cursor()
                cursor.execute("SELECT 1")
                cursor.fetchall()
                break
            except Exception:
                time.sleep(0.1)
        for statement in SETUP.split(";"):
            cursor.execute(statement)

        def ours(q):
            cursor.execute(q)
            return cursor.fetchall()

        while ours("SELECT count(*) FROM t")[0][0] < args.rows:
            time.sleep(0.2)
        low, high, q = ours("SELECT min(shipped) + (max(shipped) - min(shipped)) * 3 / 10, "
                            "min(shipped) + (max(shipped) - min(shipped)) * 6 / 10, (min(quantity)::bigint + max(quantity)) / 2 FROM t")[0]
        files = glob.glob(os.path.join(root, "tables", "*", "*.parquet"))
        duck = duckdb.connect(config={"threads": 2})
        duck.execute("CREATE VIEW t AS SELECT * FROM read_parquet(%r)" % files)
        duck.execute("CREATE TABLE native AS SELECT * FROM t")
        print(f"{args.rows} rows in {len(files)} Parquet files, medians of {args.rounds} rounds in turn, ms")
        for name, text in QUERIES.items():
            text = text.format(t="{t}", low=low, high=high, q=q)
            runs = {"tidemark": lambda s: ours(s.format(t="t")), "duckdb on the files": lambda s: duck.execute(s.format(t="t")).fetchall(),
                    "duckdb native": lambda s: duck.execute(s.format(t="native")).fetchall()}
            times = {k: [] for k in runs}
            answers = {}
            for round in range(args.rounds + 2):
                for k, run in runs.items():
                    started = time.perf_counter()
                    answers[k] = run(text)
                    if round >= 2:
                        times[k].append((time.perf_counter() - started) * 1e3)
            same = len({str([tuple(map(str, r)) for r in a]) for a in answers.values()}) == 1
            m = {k: statistics.median(v) for k, v in times.items()}
            print(f"  {name:13} " + " | ".join(f"{k} {v:.1f}" for k, v in m.items()) +
                  f" | ratio to the files {m['tidemark'] / m['duckdb on the files']:.2f}, to native {m['tidemark'] / m['duckdb native']:.2f}" +
                  ("" if same else "  ANSWERS DIFFER " + str(answers)[:300]))
        cursor.close()
        db.close()
    finally:
        server.terminate()
        server.wait()
