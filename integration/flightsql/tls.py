"""Reads over TLS, trusting the authority given, and sees that one who does not trust it is refused: tls.py ADDRESS AUTHORITY."""

import sys

from adbc_driver_flightsql import DatabaseOptions, dbapi

address, authority = sys.argv[1:]
credentials = {"username": "ada", "password": "s3cret"}
with open(authority) as f:
    trusted = {DatabaseOptions.TLS_ROOT_CERTS.value: f.read(), **credentials}

with dbapi.connect(address, db_kwargs=trusted, autocommit=True) as db, db.cursor() as c:
    c.execute("SELECT 6 * 7")
    assert c.fetchall() == [(42,)]

for name, options in {"strangers": credentials, "plaintext": trusted}.items():
    where = address.replace("grpc+tls", "grpc+tcp") if name == "plaintext" else address
    try:
        with dbapi.connect(where, db_kwargs=options, autocommit=True) as db, db.cursor() as c:
            c.execute("SELECT 1")
    except dbapi.Error:
        continue
    sys.exit(f"{name} were let in")
