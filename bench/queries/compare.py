"""The queries of a benchmark by Tidemark and DuckDB or polars side by side: same files, same texts, same number of threads.

    python compare.py tpch --runner ./queries --scale 1 --storage parquet --storage native
    python compare.py hits --runner ./queries --scale 5
    python compare.py tpch --runner ./queries --scale 1 --beside polars --storage parquet --storage uncached

Queries alternate between the engines so that what else the machine does meets both; each figure is the least of --runs
after one run that is not counted. Every answer is compared before it is timed. parquet: both read the same Parquet
files, which DuckDB wrote. uncached: the same, but Tidemark keeps no decoded pages either. native: each reads tables of
its own, which polars has none of. masked: Tidemark's tables once more, after --masked percent of further rows were added and deleted; the
ratio is to its own tables without. Data and texts come from integration/benchmarks/data.py; the scale of hits is in
millions of rows. The table is written to bench/results.
"""

import argparse
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "integration" / "benchmarks"))
import data  # noqa: E402

TITLES = {"tpch": "TPC-H, scale factor {:g}", "tpcds": "TPC-DS, scale factor {:g}",
          "hits": "ClickBench's 43 shapes, {:g} million rows"}
FILES = {"tpch": "tpch-sf{:g}{}.md", "tpcds": "tpcds-sf{:g}{}.md", "hits": "clickbench{1}.md"}
STORAGES = {
    "parquet": "the same files, of which Tidemark keeps decoded pages while {beside} decodes them for every query",
    "uncached": "the same without that cache",
    "native": "each engine's own tables",
    "masked": "Tidemark's own tables with {masked:g} % of further rows, deleted again, beside the same tables without",
}


def prepare(args):
    """Write tables and queries to the folder unless they are there; return the names of tables and the queries."""
    folder = args.data
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "tables.json"
    if not done.exists():
        con = duckdb.connect(config={"threads": args.threads})
        queries = data.queries_of(con, args.benchmark, args.scale)
        tables = [t for (t,) in con.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        for t in tables:
            con.execute(f"COPY {t} TO '{folder / t}.parquet' (FORMAT parquet)")
        (folder / "texts.json").write_text(json.dumps(queries))
        done.write_text(json.dumps(tables))
    return json.loads(done.read_text()), json.loads((folder / "texts.json").read_text())


class Tidemark:
    """The runner beside this program, as a process of its own over a data root that goes with it."""

    def __init__(self, args, storage):
        self.root = tempfile.TemporaryDirectory()
        command = [args.runner, "-threads", str(args.threads), "-root", self.root.name]
        if storage == "uncached":
            command += ["-cache", "1"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, sql, dump=False):
        self.process.stdin.write(json.dumps({"sql": sql, "dump": dump}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the runner ended")
        answer = json.loads(line)
        if answer.get("error"):
            raise RuntimeError(f"{answer['error']}\nin {sql}")
        return answer

    def rows(self, sql):
        return self.ask(sql, dump=True).get("values") or []

    def run(self, sql):
        """Milliseconds by the clock and of the processors."""
        answer = self.ask(sql)
        return answer["ms"][0], answer["cpu"][0]

    def create(self, kind, table, file):
        self.ask(f"CREATE {kind} {table} AS SELECT * FROM read_parquet('{file}')")

    def mask(self, table, file, percent):
        """Makes the table with copies of percent % of its rows among the others, and deletes them."""
        numbered = f"SELECT *, row_number() OVER () AS place FROM read_parquet('{file}')"
        self.ask(f"CREATE TABLE {table} AS WITH numbered AS ({numbered}) SELECT *, false AS spare FROM numbered UNION ALL "
                 f"SELECT *, true FROM numbered WHERE place * 7919 % 1000 < {10 * percent} ORDER BY place, spare")
        self.ask(f"DELETE FROM {table} WHERE spare")
        for column in "spare", "place":
            self.ask(f"ALTER TABLE {table} DROP COLUMN {column}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.root.cleanup()


class DuckDB:
    """In memory, or with its tables in a file where they are large."""

    def __init__(self, args):
        self.root = tempfile.TemporaryDirectory()
        database = self.root.name + "/duck.db" if args.scale > 3 else ":memory:"
        self.con = duckdb.connect(database, config={"threads": args.threads})

    def rows(self, sql):
        return [["NULL" if v is None else data.text(v) for v in row] for row in self.con.execute(sql).fetchall()]

    def run(self, sql):
        begin, cpu = time.perf_counter(), time.process_time()
        self.con.execute(sql).fetchall()
        return (time.perf_counter() - begin) * 1000, (time.process_time() - cpu) * 1000

    def create(self, kind, table, file):
        self.con.execute(f"CREATE {kind} {table} AS SELECT * FROM read_parquet('{file}')")

    def version(self):
        return f"DuckDB {duckdb.__version__}"

    def close(self):
        self.con.close()
        self.root.cleanup()


class Polars:
    """SQL over lazy frames that scan the files, run by the streaming engine, its fastest here."""

    def __init__(self, args):
        os.environ["POLARS_MAX_THREADS"] = str(args.threads)  # read when polars is imported
        import polars
        self.polars, self.context = polars, polars.SQLContext()

    def collect(self, sql):
        return self.context.execute(sql).collect(engine="streaming")

    def rows(self, sql):
        return [["NULL" if v is None else data.text(v) for v in row] for row in self.collect(sql).rows()]

    def run(self, sql):
        begin, cpu = time.perf_counter(), time.process_time()
        self.collect(sql)
        return (time.perf_counter() - begin) * 1000, (time.process_time() - cpu) * 1000

    def create(self, _, table, file):
        self.context.register(table, self.polars.scan_parquet(file))

    def version(self):
        return f"polars {self.polars.__version__}"

    def close(self):
        pass


BESIDE = {"duckdb": DuckDB, "polars": Polars}
NAMES = {"duckdb": "DuckDB", "polars": "polars"}


def same(a, b):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a.strip() == b.strip()
    return abs(x - y) <= 1e-6 * max(1, abs(x), abs(y))


def agree(got, want):
    return len(got) == len(want) and all(same(x, y) for g, w in zip(got, want) for x, y in zip(g, w))


def order(row):
    """Sorts rows whatever their numbers look like; those that are nearly equal may still lie apart."""
    def key(v):
        try:
            return (0, float(f"{float(v):.6g}"), "")
        except ValueError:
            return (1, 0, v)
    return [key(v) for v in row]


def check(name, got, want):
    if not agree(got, want) and not agree(sorted(got, key=order), sorted(want, key=order)):
        sys.exit(f"query {name}: the answers differ")


def engines(args, storage, tables):
    """The engine that is measured and the one beside it, both with all tables."""
    ours = Tidemark(args, storage)
    theirs = Tidemark(args, storage) if storage == "masked" else BESIDE[args.beside](args)
    kind = "TABLE" if storage in ("native", "masked") else "VIEW"
    for t in tables:
        file = args.data / f"{t}.parquet"
        if storage == "masked":
            ours.mask(t, file, args.masked)
        else:
            ours.create(kind, t, file)
        theirs.create(kind, t, file)
    return ours, theirs


def measure(args, storage, tables, queries):
    ours, theirs = engines(args, storage, tables)
    rows = []
    for name, sql in queries:
        if args.query and name not in args.query:
            continue
        check(name, ours.rows(sql), theirs.rows(sql))
        a, b = [], []
        for _ in range(args.runs):
            a.append(ours.run(sql))
            b.append(theirs.run(sql))
        ms, cpu = zip(least(a), least(b))
        rows.append((name, *ms, ratio(*ms), ratio(*cpu)))
        print(f"{storage:8} q{name:<3} {ms[0]:8.1f} {ms[1]:8.1f} {ratio(*ms):6.2f}   cpu {cpu[0]:8.1f} {cpu[1]:8.1f} {ratio(*cpu):6.2f}", flush=True)
    ours.close()
    theirs.close()
    return rows


def least(runs):
    """The least time by the clock and the least of the processors, which need not be of one run."""
    return [min(r) for r in zip(*runs)]


def ratio(a, b):
    return a / max(b, 0.01)


def geomean(ratios):
    return math.exp(sum(math.log(max(r, 0.001)) for r in ratios) / len(ratios))


def heads(args, storage):
    if storage == "masked":
        return "Tidemark, masked", "Tidemark, not masked"
    return f"Tidemark, {storage}", f"{NAMES[args.beside]}, {storage}"


def report(args, all_rows):
    meaning = "; ".join(f"{s}: {STORAGES[s].format(masked=args.masked, beside=NAMES[args.beside])}" for s in all_rows)
    lines = [f"# {TITLES[args.benchmark].format(args.scale)}: Tidemark and {BESIDE[args.beside](args).version()}", "",
             f"{args.threads} threads each, {platform.machine()}, warm, least of {args.runs} runs, alternating query by query on "
             f"the same machine. Milliseconds; the ratio is the first column's time over the second's, the CPU ratio that of "
             f"processor time (user and system, of the whole process), which other work on the machine disturbs less. {meaning}. "
             f"Load of the machine at the end: {os.getloadavg()[1]:.1f}.", "",
             f"Command: `python bench/queries/compare.py {' '.join(command(args, all_rows))}`", ""]
    head, rule = "|Q|", "|---|"
    for storage in all_rows:
        head += "".join(f"{h}|" for h in heads(args, storage)) + "ratio|CPU ratio|"
        rule += "---|" * 4
    lines += [head, rule]
    tables = list(all_rows.values())
    for i, row in enumerate(tables[0]):
        lines.append(f"|{row[0]}|" + "".join("{1:.1f}|{2:.1f}|{3:.2f}|{4:.2f}|".format(*t[i]) for t in tables))
    lines.append("|sum|" + "".join(f"{sum(r[1] for r in t):.0f}|{sum(r[2] for r in t):.0f}|||" for t in tables))
    for name, of in ("geometric mean", geomean), ("worst", max):
        lines.append(f"|{name}|" + "".join(f"||{of([r[3] for r in t]):.2f}|{of([r[4] for r in t]):.2f}|" for t in tables))
    return "\n".join(lines) + "\n"


def command(args, storages):
    words = [args.benchmark, "--runner", "./queries", "--scale", f"{args.scale:g}", "--threads", str(args.threads), "--runs", str(args.runs)]
    if args.beside != "duckdb":
        words += ["--beside", args.beside]
    for s in storages:
        words += ["--storage", s]
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", choices=sorted(TITLES))
    parser.add_argument("--runner", required=True, help="binary of `go build ./bench/queries`")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--beside", choices=list(BESIDE), default="duckdb", help="the other engine; polars runs the texts of tpch")
    parser.add_argument("--storage", action="append", choices=list(STORAGES), help="default parquet")
    parser.add_argument("--masked", type=float, default=5, help="percent of further rows in masked")
    parser.add_argument("--query", action="append", help="only this one")
    parser.add_argument("--data", type=pathlib.Path, help="folder of the files; default in the system's temporary folder")
    parser.add_argument("--out", type=pathlib.Path, help="default a file of bench/results; none with --query")
    args = parser.parse_args()
    if args.beside == "polars" and (args.benchmark != "tpch" or set(args.storage or []) - {"parquet", "uncached"}):
        parser.error("polars runs tpch, with --storage parquet and uncached")
    args.data = args.data or pathlib.Path(tempfile.gettempdir()) / f"tidemark-{args.benchmark}-{args.scale:g}"
    tables, queries = prepare(args)
    results = {s: measure(args, s, tables, queries) for s in args.storage or ["parquet"]}
    text = report(args, results)
    print(text)
    if not args.query:
        out = args.out or HERE.parent / "results" / FILES[args.benchmark].format(args.scale, "" if args.beside == "duckdb" else "-" + args.beside)
        out.write_text(text)


if __name__ == "__main__":
    main()
