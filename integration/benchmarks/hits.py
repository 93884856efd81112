"""The table hits: web analytics events shaped like ClickBench's, made from a seed."""

import re

# Every value is a pure function of row number and seed, through DuckDB's hash: the table is the same on any machine and
# with any number of threads. r(k, m) is the row's k-th random number below m, skew(k, m) one that is mostly
# small.
COLUMNS = [
    ("WatchID", "BIGINT", "r(1, 4611686018427387904)"),
    ("JavaEnable", "SMALLINT", "r(2, 2)"),
    ("Title", "VARCHAR", "CASE WHEN r(3, 10) = 0 THEN '' ELSE 'Page ' || skew(4, 3000) || CASE WHEN r(5, 40) = 0 THEN ' - Market' ELSE ' - News' END END"),
    ("GoodEvent", "SMALLINT", "1"),
    ("EventTime", "TIMESTAMP", "TIMESTAMP '2013-07-01 00:00:00' + to_seconds(r(6, 31 * 86400))"),
    ("EventDate", "DATE", "CAST(TIMESTAMP '2013-07-01 00:00:00' + to_seconds(r(6, 31 * 86400)) AS DATE)"),
    ("CounterID", "INTEGER", "CASE WHEN r(7, 4) = 0 THEN 62 ELSE skew(8, 5000) END"),
    ("ClientIP", "INTEGER", "skew(9, 200000) - 100000"),
    ("RegionID", "INTEGER", "skew(10, 400)"),
    ("UserID", "BIGINT", "skew(11, 60000) * 1234567890123"),
    ("CounterClass", "SMALLINT", "r(12, 3) - 1"),
    ("OS", "SMALLINT", "skew(13, 90)"),
    ("UserAgent", "SMALLINT", "skew(14, 80)"),
    ("URL", "VARCHAR", "CASE WHEN r(15, 30) = 0 THEN '' ELSE 'http://' || CASE WHEN r(16, 50) = 0 THEN 'shop.market.' ELSE '' END || 'site' || skew(17, 200) || '.example/' || CASE WHEN r(18, 60) = 0 THEN 'market/' ELSE '' END || 'p' || skew(19, 20000) END"),
    ("Referer", "VARCHAR", "CASE WHEN r(20, 3) = 0 THEN '' ELSE CASE WHEN r(21, 2) = 0 THEN 'https://www.' ELSE 'http://' END || 'from' || skew(22, 300) || '.example/' || CASE WHEN r(23, 5) = 0 THEN '' ELSE 'q' || skew(24, 9000) END END"),
    ("IsRefresh", "SMALLINT", "CASE WHEN r(25, 10) = 0 THEN 1 ELSE 0 END"),
    ("ResolutionWidth", "SMALLINT", "[0, 1024, 1280, 1366, 1440, 1600, 1920, 2560][1 + skew(26, 8)]"),
    ("ResolutionHeight", "SMALLINT", "[0, 600, 720, 768, 900, 1050, 1080, 1440][1 + skew(26, 8)]"),
    ("WindowClientWidth", "SMALLINT", "r(27, 300) * 6"),
    ("WindowClientHeight", "SMALLINT", "r(28, 150) * 6"),
    ("MobilePhone", "SMALLINT", "CASE WHEN r(29, 10) = 0 THEN skew(30, 80) ELSE 0 END"),
    ("MobilePhoneModel", "VARCHAR", "CASE WHEN r(29, 10) = 0 THEN 'model-' || skew(31, 120) ELSE '' END"),
    ("TraficSourceID", "SMALLINT", "r(32, 11) - 1"),
    ("SearchEngineID", "SMALLINT", "CASE WHEN r(33, 5) = 0 THEN skew(34, 60) ELSE 0 END"),
    ("SearchPhrase", "VARCHAR", "CASE WHEN r(33, 5) = 0 THEN 'phrase ' || skew(35, 8000) || CASE WHEN r(36, 20) = 0 THEN ' ж' ELSE '' END ELSE '' END"),
    ("AdvEngineID", "SMALLINT", "CASE WHEN r(37, 50) = 0 THEN 1 + skew(38, 40) ELSE 0 END"),
    ("IsLink", "SMALLINT", "CASE WHEN r(39, 8) = 0 THEN 1 ELSE 0 END"),
    ("IsDownload", "SMALLINT", "CASE WHEN r(40, 100) = 0 THEN 1 ELSE 0 END"),
    ("DontCountHits", "SMALLINT", "CASE WHEN r(41, 12) = 0 THEN 1 ELSE 0 END"),
    ("HitColor", "VARCHAR", "['5', 'E', 'D', 'g'][1 + r(42, 4)]"),
    ("SendTiming", "INTEGER", "CASE WHEN r(43, 4) = 0 THEN NULL ELSE r(44, 30000) END"),
    ("Price", "DECIMAL(12, 2)", "CASE WHEN r(45, 20) = 0 THEN CAST(r(46, 1000000) AS DECIMAL(12, 0)) / 100 ELSE NULL END"),
    ("URLHash", "BIGINT", "skew(47, 5000) * 7919"),
    ("RefererHash", "BIGINT", "skew(48, 7000) * 104729"),
]


def create(con, rows, seed):
    """Make the table hits in the connection."""
    con.execute(f"CREATE MACRO random(i, k, m) AS CAST(hash(i * 256 + k + {seed} * 1000003) % CAST(m AS UBIGINT) AS BIGINT)")
    # The product of two random fractions: small numbers are frequent, as they are among visitors and pages.
    con.execute("CREATE MACRO skewed(i, k, m) AS "
                "CAST(floor((random(i, k, 65536) / 65536.0) * (random(i, k + 100, 65536) / 65536.0) * m) AS BIGINT)")
    fields = ", ".join(f"CAST({value} AS {kind}) AS {name}" for name, kind, value in COLUMNS)
    fields = re.sub(r"\bskew\(", "skewed(i, ", re.sub(r"\br\(", "random(i, ", fields))
    con.execute(f"CREATE TABLE hits AS SELECT {fields} FROM range({rows}) AS t(i)")
