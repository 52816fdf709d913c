#!/usr/bin/env python3
"""A worker for examples/payment.sql, with Python's standard library and psycopg, which finds its database by PGHOST, PGDATABASE, PGUSER, ….

    PGUSER=pay_worker examples/payment_worker.py https://provider.example/charges [SECONDS]

SECONDS is how long it waits for the provider. Run as many as you like, and stop them by any signal, whatever they do: when the lease of
a killed worker has ended another one sends the same charge again. The provider charges once for each Idempotency-Key.
"""
import http.client
import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request

import psycopg
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb

URL = sys.argv[1]
PATIENCE = float(sys.argv[2]) if len(sys.argv) > 2 else 20
# The lease is usually longer than the call, so that no other worker starts while this one waits. If it is not, the key protects the card.
LEASE = f"{PATIENCE + 1} s"
WORKER = f"{socket.gethostname()}:{os.getpid()}"
GONE = (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.UndefinedObject)  # 55000, 42704: another has the task, or it is closed
REPEAT = ("08", "40", "57P")
db = None


def ask(statement, *values):
    """Runs a statement in a transaction of its own. Does it again if the connection broke, even in COMMIT: an answer
    counts once by its token, and a task whose claim was lost is claimed again when its lease ends."""
    global db
    for pause in (0.1, 1, 10, None):
        try:
            if db is None or db.closed:
                db = psycopg.connect(row_factory=namedtuple_row, autocommit=True)
            return db.execute(statement, values).fetchone()
        except psycopg.OperationalError as error:
            if pause is None or not (error.sqlstate or "08").startswith(REPEAT):
                raise
            time.sleep(pause)


class Declined(Exception):
    """Another attempt would be declined as well."""


def charge(task):
    """The receipt of the provider."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(task.task_id)}
    request = urllib.request.Request(URL, json.dumps(task.payload).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)["receipt"]
    except urllib.error.HTTPError as error:
        if error.code == 402:
            raise Declined("the card was declined") from None
        raise


def process(task):
    try:
        answer = {"receipt": charge(task), "attempt": task.attempt}
    except Declined as error:
        fail(task, error, "card_declined")
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:  # no answer, or none that says what happened
        fail(task, error, "provider")
    else:
        ask("SELECT FROM wf_complete_task(%s, %s, token => %s, on_fault => 'store')", task.task_id, Jsonb(answer), task.token)


def fail(task, error, code):
    ask("SELECT wf_fail_task(%s, %s, %s, code => %s, on_fault => 'store')", task.task_id, task.token, str(error), code)


while True:
    task = ask("SELECT * FROM wf_claim_tasks('{Charge card}', worker => %s, lease => %s::interval)", WORKER, LEASE)
    try:
        if task:
            process(task)
        else:
            ask("CALL wf_wait_tasks('{Charge card}', '10 s')")
    except GONE as error:
        print(f"this worker does not hold the task any more: {error}", flush=True)
