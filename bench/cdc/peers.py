"""Keeps one live row per key in other systems: the work of `go run ./bench/cdc -upsert`, for the same run.

usage: peers.py [duckdb] [duckdb-key] [postgres] [chdb] [--rows 10000000] [--batches 50] [--batch 10000] [--reader]
Prints changes a second and the least times of q1 and q2 on the untouched table and right after the last batch.

duckdb       DELETE ... USING and INSERT in one transaction, no index
duckdb-key   the same with a primary key
postgres     INSERT ... ON CONFLICT DO UPDATE and DELETE in one transaction, by COPY into a staging table; fsync on
chdb         ReplacingMergeTree, read with FINAL; a batch is one INSERT
"""
import argparse
import io
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa
from pyarrow import csv

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("peers", nargs="*", default=["duckdb", "duckdb-key"])
parser.add_argument("--rows", type=int, default=10_000_000)
parser.add_argument("--batches", type=int, default=50)
parser.add_argument("--batch", type=int, default=10_000)
parser.add_argument("--reader", action="store_true", help="run q1 in a second connection meanwhile (not chdb)")
args = parser.parse_args()

Q1 = "SELECT count(*), sum(price) FROM t"
# 18 % of the span of days and the lower half of the quantities, as the Go side takes them of its own values.
Q2 = "SELECT sum(price) FROM t WHERE day BETWEEN DATE '2022-03-12' AND DATE '2023-03-07' AND quantity < 500"


class DuckDB:
    def __init__(self, folder, key):
        import duckdb

        self.con = duckdb.connect(f"{folder}/peer.duckdb", config={"threads": 2, "checkpoint_threshold": "16GB"})
        self.name = f"duckdb {duckdb.__version__} {'primary key' if key else 'no key'}"
        self.con.execute(f"""CREATE TABLE t (id BIGINT {'PRIMARY KEY' if key else ''}, quantity INTEGER, price DECIMAL(12, 2),
          status VARCHAR, day DATE)""")
        self.con.execute(f"""INSERT INTO t SELECT i, (hash(i) % 1000)::INTEGER, (hash(i + 1) % 10000000) / 100.0,
          'status ' || (hash(i) % 8), DATE '2020-01-01' + (hash(i + 2) % 2000)::INTEGER FROM range({args.rows}) r(i)""")
        self.con.execute("CHECKPOINT")

    def apply(self, batch):
        self.con.register("b", batch)
        self.con.execute("BEGIN")
        self.con.execute("DELETE FROM t USING b WHERE t.id = b.id")
        self.con.execute("INSERT INTO t SELECT id, quantity, price, status, day FROM b WHERE NOT deleted")
        self.con.execute("COMMIT")

    def reader(self):
        c = self.con.cursor()
        return lambda q: c.execute(q).fetchall()

    def close(self):
        self.con.close()


class Postgres:
    def __init__(self, folder):
        import psycopg

        self.root = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.root:
            shutil.chown(folder, "postgres", "postgres")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.data, self.folder = f"{folder}/data", folder
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c shared_buffers=2GB -c max_wal_size=8GB -c work_mem=64MB"
        self.run("pg_ctl", "-D", self.data, "-l", f"{folder}/log", "-w", "-o", options, "start")
        self.dsn = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
        self.con = psycopg.connect(self.dsn, autocommit=True)
        self.name = f"postgres {self.con.info.server_version // 10000}.{self.con.info.server_version % 10000} on conflict"
        self.con.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, quantity INTEGER, price NUMERIC(12, 2), status TEXT, day DATE)")
        self.con.execute(f"""INSERT INTO t SELECT i, h % 1000, (h % 10000000) / 100.0, 'status ' || h % 8, DATE '2020-01-01' + (h % 1999)::INTEGER
          FROM (SELECT i, hashint8(i)::BIGINT + 2147483648 AS h FROM generate_series(0, {args.rows - 1}) g(i)) r""")
        self.con.execute("CREATE TEMP TABLE b (id BIGINT, quantity INTEGER, price NUMERIC(12, 2), status TEXT, day DATE, deleted BOOLEAN)")
        self.con.execute("VACUUM ANALYZE t")

    def run(self, *command):
        with open(f"{self.folder}/out", "w") as out:
            subprocess.run([*self.root, *command], check=True, stdout=out, stderr=out, cwd=self.folder)

    def apply(self, batch):
        rows = io.BytesIO()
        csv.write_csv(batch, rows, csv.WriteOptions(include_header=False))
        with self.con.transaction():
            self.con.execute("TRUNCATE b")
            with self.con.cursor().copy("COPY b FROM STDIN (FORMAT csv)") as copy:
                copy.write(rows.getvalue())
            self.con.execute("DELETE FROM t USING b WHERE t.id = b.id AND b.deleted")
            self.con.execute("""INSERT INTO t SELECT id, quantity, price, status, day FROM b WHERE NOT deleted
              ON CONFLICT (id) DO UPDATE SET quantity = excluded.quantity, price = excluded.price, status = excluded.status, day = excluded.day""")

    def reader(self):
        import psycopg

        c = psycopg.connect(self.dsn, autocommit=True)
        return lambda q: c.execute(q).fetchall()

    def close(self):
        self.con.close()
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


class ChDB:
    def __init__(self, folder):
        import chdb
        from chdb import session

        self.session, self.version, self.folder = session.Session(f"{folder}/chdb"), 0, folder
        self.name = f"chdb {chdb.__version__} ReplacingMergeTree FINAL"
        self.session.query("CREATE DATABASE p")
        self.session.query("""CREATE TABLE p.t (id Int64, quantity Int32, price Decimal(12, 2), status String, day Date, version UInt64, gone UInt8)
          ENGINE = ReplacingMergeTree(version, gone) ORDER BY id""")
        self.session.query(f"""INSERT INTO p.t SELECT number, cityHash64(number) % 1000, toDecimal64(cityHash64(number + 1) % 10000000, 2) / 100,
          'status ' || toString(cityHash64(number) % 8), toDate('2020-01-01') + cityHash64(number + 2) % 2000, 0, 0 FROM numbers({args.rows})""")
        self.session.query("OPTIMIZE TABLE p.t FINAL")

    def apply(self, batch):
        import pyarrow.parquet as pq

        self.version += 1
        path = f"{self.folder}/b.parquet"
        pq.write_table(batch, path)
        self.session.query(f"""INSERT INTO p.t SELECT id, quantity, toDecimal64(price, 2), status, day, {self.version}, deleted FROM file('{path}', Parquet)""")

    def reader(self):
        return lambda q: self.session.query(q.replace("FROM t", "FROM p.t FINAL").replace("DATE '", "'") + " SETTINGS max_threads = 2").bytes()

    def close(self):
        self.session.close()


PEERS = {"duckdb": lambda f: DuckDB(f, False), "duckdb-key": lambda f: DuckDB(f, True), "postgres": Postgres, "chdb": ChDB}


def best(run, query, n=7):
    times = []
    for _ in range(n):
        started = time.perf_counter()
        run(query)
        times.append(time.perf_counter() - started)
    return min(times) * 1e3


def batches():
    """80 % updates, 15 % inserts, 5 % deletes of uniformly random keys, each key once a batch."""
    rng, next_key, n = np.random.default_rng(1), args.rows, args.batch
    for _ in range(args.batches):
        old = rng.choice(next_key, int(n * 0.85), replace=False)
        new = np.arange(next_key, next_key + n - len(old))
        next_key += len(new)
        ids = np.concatenate([old, new])
        deleted = np.zeros(n, bool)
        deleted[: int(n * 0.05)] = True
        yield pa.table({
            "id": ids, "quantity": rng.integers(0, 1000, n, dtype=np.int32), "price": rng.integers(0, 10_000_000, n) / 100.0,
            "status": pa.array(["status %d" % (i % 8) for i in ids]),
            "day": pa.array(18262 + rng.integers(0, 2000, n, dtype=np.int32)).cast(pa.date32()), "deleted": deleted})


def read(run, stop, times):
    while not stop.is_set():
        started = time.perf_counter()
        run(Q1)
        times.append((time.perf_counter() - started) * 1e3)


def measure(peer, work):
    run = peer.reader()
    before = best(run, Q1), best(run, Q2)
    stop, times = threading.Event(), []
    thread = threading.Thread(target=read, args=(peer.reader(), stop, times))
    if args.reader:
        thread.start()
    started = time.perf_counter()
    for b in work:
        peer.apply(b)
    took = time.perf_counter() - started
    stop.set()
    if args.reader:
        thread.join()
    after = best(run, Q1), best(run, Q2)
    line = f"{peer.name}: {args.batches * args.batch / took:,.0f} changes/s"
    line += f" | q1 {before[0]:.1f} -> {after[0]:.1f} ms, q2 {before[1]:.1f} -> {after[1]:.1f} ms"
    if times:
        line += f" | reader q1 median {statistics.median(times):.1f} ms of {len(times)}"
    print(line, flush=True)


work = list(batches())
for name in args.peers:
    with tempfile.TemporaryDirectory() as folder:
        peer = PEERS[name](folder)
        try:
            measure(peer, work)
        finally:
            peer.close()
