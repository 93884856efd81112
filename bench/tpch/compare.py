"""TPC-H of Tidemark and DuckDB side by side: the same files, the same query texts, the same number of threads.

    python compare.py --runner ./tpch --sf 1 --storage parquet --storage native

Queries alternate between the engines so that what else the machine does meets both; each figure is the least of
--runs after one run that is not counted. Every answer is compared before it is timed. parquet: both read the same
Parquet files, which DuckDB wrote. uncached: the same, but Tidemark keeps no decoded pages either. native: each reads tables of its own. Data and query texts are those of DuckDB's tpch
extension. The table is written to bench/results.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import duckdb

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"


def connect(threads, database=":memory:"):
    con = duckdb.connect(database, config={"threads": threads})
    root = pathlib.Path(importlib.util.find_spec("duckdb_extension_tpch").origin).parent
    con.execute(f"LOAD '{root}/extensions/v{duckdb.__version__}/tpch.duckdb_extension'")
    return con


def generate(folder, sf, threads):
    """Write the tables as Parquet files unless they are there; return the names of the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "tables.json"
    if not done.exists():
        con = connect(threads)
        con.execute(f"CALL dbgen(sf={sf})")
        tables = [t for (t,) in con.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        for t in tables:
            con.execute(f"COPY {t} TO '{folder / t}.parquet' (FORMAT parquet)")
        done.write_text(json.dumps(tables))
    return json.loads(done.read_text())


class Tidemark:
    def __init__(self, runner, threads, root, cache):
        self.process = subprocess.Popen([runner, "-threads", str(threads), "-root", root] + (["-cache", str(cache)] if cache else []),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, sql, runs=1, dump=False):
        self.process.stdin.write(json.dumps({"sql": sql, "runs": runs, "dump": dump}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the runner ended")
        answer = json.loads(line)
        if answer.get("error"):
            raise RuntimeError(f"{answer['error']}\nin {sql}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def same(a, b):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a.strip() == b.strip()
    return abs(x - y) <= 1e-6 * max(1, abs(x), abs(y))


def check(number, sql, tidemark, con):
    want = [["NULL" if v is None else str(v) for v in row] for row in con.execute(sql).fetchall()]
    got = tidemark.ask(sql, dump=True).get("values") or []
    if len(want) != len(got) or not all(same(x, y) for w, g in zip(want, got) for x, y in zip(w, g)):
        sys.exit(f"query {number}: the answers differ")


def measure(args, storage, folder, tables):
    con = connect(args.threads)
    with tempfile.TemporaryDirectory() as root:
        tidemark = Tidemark(args.runner, args.threads, root, 1 if storage == "uncached" else None)
        kind = "TABLE" if storage == "native" else "VIEW"
        for t in tables:
            read = f"SELECT * FROM read_parquet('{folder / t}.parquet')"
            con.execute(f"CREATE {kind} {t} AS {read}")
            tidemark.ask(f"CREATE {kind} {t} AS {read}")
        rows = []
        for number, sql in con.execute("FROM tpch_queries()").fetchall():
            if args.query and number not in args.query:
                continue
            check(number, sql, tidemark, con)
            ours, theirs = [], []
            for _ in range(args.runs):
                ours += tidemark.ask(sql)["ms"]
                begin = time.perf_counter()
                con.execute(sql).fetchall()
                theirs.append((time.perf_counter() - begin) * 1000)
            rows.append((number, min(ours), min(theirs)))
            print(f"{storage:8} q{number:<3} {min(ours):8.1f} {min(theirs):8.1f} {min(ours) / min(theirs):6.2f}", flush=True)
        tidemark.close()
    return rows


def geomean(rows):
    return math.exp(sum(math.log(a / b) for _, a, b in rows) / len(rows))


def report(args, all_rows):
    lines = [f"# TPC-H, scale factor {args.sf}: Tidemark and DuckDB {duckdb.__version__}", "",
             f"{args.threads} threads each, {platform.machine()}, warm, least of {args.runs} runs, alternating query by "
             "query on the same machine. Milliseconds; the ratio is Tidemark's time over DuckDB's. parquet: the same files, of "
             "which Tidemark keeps decoded pages while DuckDB decodes them for every query. uncached: the same without that "
             f"cache. native: each engine's own tables. Load of the machine at the end: {os.getloadavg()[1]:.1f}.", ""]
    head, rule = "|Q|", "|---|"
    for storage in all_rows:
        head += f"Tidemark, {storage}|DuckDB, {storage}|ratio|"
        rule += "---|---|---|"
    lines += [head, rule]
    numbers = [n for n, _, _ in next(iter(all_rows.values()))]
    for i, n in enumerate(numbers):
        lines.append(f"|{n}|" + "".join(f"{r[i][1]:.1f}|{r[i][2]:.1f}|{r[i][1] / r[i][2]:.2f}|" for r in all_rows.values()))
    lines.append("|sum|" + "".join(f"{sum(a for _, a, _ in r):.0f}|{sum(b for _, _, b in r):.0f}||" for r in all_rows.values()))
    lines.append("|geometric mean|" + "".join(f"||{geomean(r):.2f}|" for r in all_rows.values()))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True, help="binary of `go build ./bench/tpch`")
    parser.add_argument("--sf", type=float, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--storage", action="append", choices=["parquet", "uncached", "native"])
    parser.add_argument("--query", action="append", type=int)
    parser.add_argument("--data", type=pathlib.Path, help="folder of the files; default in the system's temporary folder")
    parser.add_argument("--out", type=pathlib.Path, help="default bench/results/tpch-sf<SF>.md; none with --query")
    args = parser.parse_args()
    folder = args.data or pathlib.Path(tempfile.gettempdir()) / f"tidemark-tpch-sf{args.sf:g}"
    tables = generate(folder, args.sf, args.threads)
    results = {s: measure(args, s, folder, tables) for s in args.storage or ["parquet", "uncached", "native"]}
    text = report(args, results)
    print(text)
    if not args.query:
        out = args.out or RESULTS / f"tpch-sf{args.sf:g}.md"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


if __name__ == "__main__":
    main()
