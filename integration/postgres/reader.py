"""Queries the accounts over ADBC until told to stop, and checks that every answer is a state the source went through.

usage: reader.py URI EXPECTED_SUM; stops when standard input ends; prints a line of JSON.
"""
import json
import sys
import threading
import time

import adbc_driver_flightsql.dbapi as flight

uri, expected = sys.argv[1], int(sys.argv[2])
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()

answers = connects = failures = 0
bad = []
query = "SELECT sum(balance), count(*), count(DISTINCT id), min(version) FROM accounts"
while not stop.is_set():
    try:
        with flight.connect(uri, autocommit=True) as db:
            connects += 1
            while not stop.is_set():
                with db.cursor() as cursor:
                    cursor.execute(query)
                    total, rows, keys, _ = cursor.fetchone()
                if rows == 0:
                    continue  # not loaded yet
                answers += 1
                if total != expected or rows != keys:
                    bad.append([str(total), rows, keys])
                    stop.set()
    except Exception as e:  # the server was killed: it comes back
        failures += 1
        last = str(e)
        time.sleep(0.1)
print(json.dumps({"answers": answers, "connects": connects, "failures": failures, "bad": bad}))
