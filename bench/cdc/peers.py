"""Keeps one live row per key in DuckDB: the work of `go run ./bench/cdc -upsert`, for the same run.

usage: peers.py [--rows 10000000] [--batches 50] [--batch 10000] [--key] [--reader]
Prints changes a second and the times of q1 and q2 on the untouched table and right after the last batch.
"""
import argparse
import statistics
import threading
import time

import duckdb
import numpy as np
import pyarrow as pa

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=10_000_000)
parser.add_argument("--batches", type=int, default=50)
parser.add_argument("--batch", type=int, default=10_000)
parser.add_argument("--key", action="store_true", help="declare a primary key")
parser.add_argument("--reader", action="store_true", help="run q1 in a second connection meanwhile")
parser.add_argument("--path", default="", help="database file; a temporary one when empty")
args = parser.parse_args()

import os
import tempfile

folder = tempfile.TemporaryDirectory()
path = args.path or os.path.join(folder.name, "peer.duckdb")
con = duckdb.connect(path, config={"threads": 2, "checkpoint_threshold": "16GB"})
key = "PRIMARY KEY" if args.key else ""
con.execute(f"CREATE TABLE t (id BIGINT {key}, quantity INTEGER, price DECIMAL(12, 2), status VARCHAR, day DATE)")
con.execute(f"""INSERT INTO t SELECT i, (hash(i) % 1000)::INTEGER, (hash(i + 1) % 10000000) / 100.0,
  'status ' || (hash(i) % 8), DATE '2020-01-01' + (hash(i + 2) % 2000)::INTEGER FROM range({args.rows}) r(i)""")
con.execute("CHECKPOINT")

Q1 = "SELECT count(*), sum(price) FROM t"
Q2 = "SELECT sum(price) FROM t WHERE day BETWEEN DATE '2021-01-01' AND DATE '2022-01-01' AND quantity < 500"


def best(c, query, n=7):
    times = []
    for _ in range(n):
        started = time.perf_counter()
        c.execute(query).fetchall()
        times.append(time.perf_counter() - started)
    return min(times) * 1e3


rng = np.random.default_rng(1)
next_key = args.rows


def batch():
    """80 % updates, 15 % inserts, 5 % deletes of uniformly random keys, each key once."""
    global next_key
    n = args.batch
    old = rng.choice(next_key, int(n * 0.85), replace=False)
    new = np.arange(next_key, next_key + n - len(old))
    next_key += len(new)
    ids = np.concatenate([old, new])
    deleted = np.zeros(n, bool)
    deleted[: int(n * 0.05)] = True
    return pa.table({
        "id": ids, "quantity": rng.integers(0, 1000, n, dtype=np.int32), "price": rng.integers(0, 10_000_000, n) / 100.0,
        "status": pa.array(["status %d" % (i % 8) for i in ids]),
        "day": pa.array(18262 + rng.integers(0, 2000, n, dtype=np.int32)).cast(pa.date32()), "deleted": deleted})


before = best(con, Q1), best(con, Q2)
batches = [batch() for _ in range(args.batches)]
stop, reads = threading.Event(), []


def reader():
    c = con.cursor()
    while not stop.is_set():
        started = time.perf_counter()
        c.execute(Q1).fetchall()
        reads.append((time.perf_counter() - started) * 1e3)


thread = threading.Thread(target=reader)
if args.reader:
    thread.start()
started = time.perf_counter()
for b in batches:
    con.register("b", b)
    con.execute("BEGIN")
    con.execute("DELETE FROM t USING b WHERE t.id = b.id")
    con.execute("INSERT INTO t SELECT id, quantity, price, status, day FROM b WHERE NOT deleted")
    con.execute("COMMIT")
took = time.perf_counter() - started
stop.set()
if args.reader:
    thread.join()
after = best(con, Q1), best(con, Q2)
line = f"duckdb {duckdb.__version__} {'primary key' if args.key else 'no key'}: {args.batches * args.batch / took:,.0f} changes/s"
line += f" | q1 {before[0]:.1f} -> {after[0]:.1f} ms, q2 {before[1]:.1f} -> {after[1]:.1f} ms"
if reads:
    line += f" | reader q1 median {statistics.median(reads):.1f} ms"
print(line)
