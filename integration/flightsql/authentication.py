"""Users, tokens and roles against the server at argv[1]."""

import sys

import adbc_driver_flightsql
import adbc_driver_flightsql.dbapi as flight
import adbc_driver_manager

URI = "grpc://" + sys.argv[1]


def connect(user=None, password=None, **extra):
    options = dict(extra)
    if user:
        options |= {"username": user, "password": password}
    return flight.connect(URI, db_kwargs=options, autocommit=True)


def refused(action, text):
    try:
        action()
    except adbc_driver_manager.Error as error:
        assert text in str(error), str(error)
        return
    raise AssertionError(f"not refused: {text}")


def ask(c, sql="SELECT current_user"):
    with c.cursor() as cur:
        cur.execute(sql)
        return cur.fetchone()


with connect("ada", "s3cret") as c:
    assert ask(c) == ("ada",)
    with c.cursor() as cur:
        cur.execute("CREATE TABLE t (a BIGINT)")
refused(lambda: ask(connect("ada", "wrong")), "wrong user or password")
refused(lambda: ask(connect("nobody", "s3cret")), "wrong user or password")
refused(lambda: ask(connect()), "wants a user and password")
refused(lambda: ask(connect(**{adbc_driver_flightsql.DatabaseOptions.AUTHORIZATION_HEADER.value: "Bearer forged"})), "token is unknown")
with connect("rhea", "r3ad") as c:
    assert ask(c, "SELECT count(*) FROM t") == (0,)
    for change in ("INSERT INTO t VALUES (1)", "DROP TABLE t", "CREATE TABLE u (a BIGINT)", "SET execution.cdc.append_max_rows TO '5'"):
        refused(lambda: ask(c, change), "permission denied")
    assert ask(c, "SELECT count(*) FROM t") == (0,)
