"""TPC-H of Tidemark under a memory limit, beside DuckDB under the same: rows compared, time, spilled bytes, memory.

    python memory.py --runner ./queries --scale 10 --limit 2GiB

Tidemark's limit is execution.memory_limit, what one query's operators may hold; the page cache is --cache bytes beside
it. --process sets GOMEMLIMIT, the size to which Go's runtime confines its heap, collecting more often as it gets near.
The memory shown is the highest anonymous resident size of the process while a query ran, looked at every 10 ms, so that
nothing escapes it: operators, page cache, garbage and the runtime. DuckDB reads the same Parquet files under
memory_limit and with the same number of threads, in this process.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import tempfile
import threading

import duckdb

import compare

UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
HISTORY = ("SELECT spilled_bytes, peak_memory_bytes FROM information_schema.query_history "
           "WHERE query NOT LIKE '%query_history%' ORDER BY query_id DESC LIMIT 1")


def size(text):
    number, unit = re.fullmatch(r"([\d.]+)([KMG]iB|)", text).groups()
    return int(float(number) * UNITS[unit])


class Watch:
    """The highest anonymous resident size of a process meanwhile. Pages of mapped files are the system's file cache,
    which it takes back when it needs them, and do not count."""

    def __init__(self, pid):
        self.path, self.peak, self.done = f"/proc/{pid}/status", 0, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.done.wait(0.01):
            for line in open(self.path):
                if line.startswith("RssAnon"):
                    self.peak = max(self.peak, int(line.split()[1]) << 10)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


class Limited(compare.Tidemark):
    """The runner with a limit on its heap, a small page cache and its data and temporary files where they are wanted."""

    def __init__(self, args):
        self.root = tempfile.TemporaryDirectory(dir=args.temp)
        heap = size(args.process) if args.process else size(args.limit) + args.cache + size(args.overhead)
        env = dict(os.environ, GOMEMLIMIT=str(heap), TMPDIR=self.root.name)
        command = [args.runner, "-threads", str(args.threads), "-root", self.root.name + "/root", "-cache", str(args.cache)]
        if args.pprof:
            command += ["-pprof", args.pprof]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=env)
        self.ask(f"SET execution.memory_limit = '{size(args.limit)}'")


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(args, tables, queries):
    rows = []
    tidemark, duck = Limited(args), compare.DuckDB(args)
    duck.con.execute(f"SET memory_limit='{size(args.limit)}B'; SET temp_directory='{tidemark.root.name}/duck'")
    for t in tables:
        file = args.data / f"{t}.parquet"
        tidemark.create("TABLE" if args.native else "VIEW", t, file)
        duck.create("VIEW", t, file)
    for name, sql in queries:
        if args.query and name not in args.query:
            continue
        row = {"query": name, "ms": math.inf, "duck_ms": math.inf, "cpu": math.inf, "duck_cpu": math.inf, "rss": 0, "spilled": 0, "held": 0}
        rows.append(row)
        try:
            want = duck.rows(sql)
            for _ in range(args.runs):
                ms, cpu = duck.run(sql)
                row["duck_ms"], row["duck_cpu"] = min(row["duck_ms"], ms), min(row["duck_cpu"], cpu)
        except duckdb.Error as e:
            row["fault"] = "DuckDB: " + str(e).splitlines()[0]
            duck.con.execute("SET memory_limit='8GB'")
            want = duck.rows(sql)
            duck.con.execute(f"SET memory_limit='{size(args.limit)}B'")
        try:
            for _ in range(args.runs):
                with Watch(tidemark.process.pid) as watch:
                    answer = tidemark.ask(sql, dump=True)
                row["ms"], row["cpu"] = min(row["ms"], answer["ms"][0]), min(row["cpu"], answer["cpu"][0])
                row["rss"] = max(row["rss"], watch.peak)
                spilled, held = tidemark.rows(HISTORY)[0]
                row["spilled"], row["held"] = int(spilled), int(held)
                got = answer.get("values") or []
                if not compare.agree(got, want) and not compare.agree(sorted(got, key=compare.order), sorted(want, key=compare.order)):
                    row["fault"] = "the answers differ " + row.get("fault", "")
        except RuntimeError as e:
            row["fault"] = str(e).splitlines()[0]
            if tidemark.process.poll() is not None:
                return rows
        print(f"q{name:<3} {row['ms']:9.0f} ms  DuckDB {row['duck_ms']:9.0f} ms  {row['ms'] / row['duck_ms']:6.2f}  cpu {row['cpu']:9.0f} {row['duck_cpu']:9.0f}  "
              f"{row['cpu'] / row['duck_cpu']:6.2f}  spilled {row['spilled'] >> 20:6} MiB  held {row['held'] >> 20:5} MiB  "
              f"resident {row['rss'] >> 20:5} MiB  {row.get('fault', '')}", flush=True)
    tidemark.close()
    duck.close()
    return rows


def report(args, rows):
    done = [r for r in rows if math.isfinite(r["ms"]) and math.isfinite(r["duck_ms"])]
    heap = args.process or f"{args.limit} + {args.cache >> 20} MiB + {args.overhead}"
    lines = [f"## {args.limit} of memory", "",
             f"execution.memory_limit and DuckDB's memory_limit {args.limit}, {args.threads} threads each, "
             f"{'Tidemark with tables of its own, DuckDB with' if args.native else 'both with'} the Parquet files. Page cache {args.cache >> 20} MiB; "
             f"GOMEMLIMIT {heap}. Least of {args.runs} runs; every answer equals DuckDB's unless said. Spilled is what was written "
             "to temporary files, held the most that operators had reserved, resident the highest anonymous resident size of the "
             f"whole process during the query. Load of the machine at the end: {os.getloadavg()[1]:.1f}.", "",
             "|Q|Tidemark ms|DuckDB ms|ratio|CPU ratio|spilled MiB|held MiB|resident MiB||", "|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"|{r['query']}|{r['ms']:.0f}|{r['duck_ms']:.0f}|{r['ms'] / r['duck_ms']:.2f}|{r['cpu'] / r['duck_cpu']:.2f}|"
                     f"{r['spilled'] >> 20}|{r['held'] >> 20}|{r['rss'] >> 20}|{r.get('fault', '')}|")
    lines.append(f"|sum|{sum(r['ms'] for r in done):.0f}|{sum(r['duck_ms'] for r in done):.0f}|||{sum(r['spilled'] for r in rows) >> 20}||||")
    lines.append(f"|geometric mean|||{compare.geomean([r['ms'] / r['duck_ms'] for r in done]):.2f}|"
                 f"{compare.geomean([r['cpu'] / r['duck_cpu'] for r in done]):.2f}|||||")
    lines.append(f"|highest|||{max(r['ms'] / r['duck_ms'] for r in done):.2f}|{max(r['cpu'] / r['duck_cpu'] for r in done):.2f}||"
                 f"{max(r['held'] for r in rows) >> 20}|{max(r['rss'] for r in rows) >> 20}||")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--limit", default="2GiB", help="memory of one query, with KiB, MiB or GiB")
    parser.add_argument("--cache", type=int, default=256 << 20, help="bytes of decoded pages to keep")
    parser.add_argument("--overhead", default="512MiB", help="what the process may take beside limit and cache")
    parser.add_argument("--process", help="the same in all, instead")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--native", action="store_true", help="Tidemark reads tables of its own instead of the files")
    parser.add_argument("--query", action="append")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--temp", help="folder for the data root and temporary files")
    parser.add_argument("--pprof", help="let Tidemark serve profiles at HOST:PORT")
    parser.add_argument("--out", type=pathlib.Path, help="file to append the table to")
    args = parser.parse_args()
    args.benchmark = "tpch"
    args.data = args.data or pathlib.Path(tempfile.gettempdir()) / f"tidemark-tpch-{args.scale:g}"
    tables, queries = compare.prepare(args)
    text = report(args, measure(args, tables, queries))
    print(text)
    if args.out:
        with args.out.open("a") as f:
            f.write("\n" + text)


if __name__ == "__main__":
    main()
