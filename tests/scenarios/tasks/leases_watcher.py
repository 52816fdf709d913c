"""The watcher of leases_crash.sh: leases_watcher.py SEEN LOOKS OVER

It fails when a wake-up was lost: when a session sleeps in wf_wait_tasks while a claim of its names would give work. It asks the server
four times a second, and only reads. A claim that it rolled back would wake the session, and so hide what it looks for.

One look finds pairs of a sleep and a task:
  - A sleep is a session and the begin of its transaction. A waiter ends its transaction with each look for work, so while that begin stays
    the same, the session has not looked.
  - The task can be claimed: no lease and no delay of it runs, and no running transaction has locked its row or that of its instance. (The
    rows name one transaction: nothing locks them FOR KEY SHARE.) xmin names the version of the row, which every claim changes.
A pair that is found in so many looks one after the other is a wake-up that was lost. What else could be in the way ends sooner:
  - Another waiter of these names was told of the task instead: if it does not claim within a second, the next one looks. So the session
    sleeps on only if, each second, a worker is killed between that answer and its claim.
  - A transaction that was in the way when the session looked has ended before the first look that found the pair; one that came later
    and locked the task must have ended before each look, and whoever looks after it finds the task.
  - The machine is slow: then the looks are late as well, because they are counted, and not the time.

It ends when the file OVER is there, and then writes to SEEN a line for each task that it has seen open, with the last time:

    task|time

and to LOOKS the time of each look. The time is in nanoseconds of the machine's monotonic clock, before the question was sent.
"""

import os
import sys
import time

from leases_psql import Lost, Psql

SEEN, LOOKS_FILE, OVER = sys.argv[1:4]
PAUSE = 0.25
# The second that a woken waiter has for its claim, and four more.
LOOKS = 1 + round(5 / PAUSE)

PAIRS = """
WITH sleeps AS MATERIALIZED (
    SELECT pid, xact_start, CAST(substring(query FROM '{[^}]*}') AS text[]) AS names FROM pg_stat_activity
    WHERE state = 'active' AND wait_event_type = 'Extension' AND query LIKE 'CALL wf_wait_tasks%'),
running AS MATERIALIZED (SELECT transactionid AS id FROM pg_locks WHERE locktype = 'transactionid' AND granted),
free AS MATERIALIZED (
    SELECT t.task_id, t.name, b.xmin AS version FROM workflow.open_tasks AS t
    JOIN workflow.bookmarks AS b ON b.id = t.task_id JOIN workflow.instances AS i ON i.id = t.instance_id
    WHERE (t.available_at IS NULL OR t.available_at <= clock_timestamp())
        AND (t.lease_until IS NULL OR t.lease_until <= clock_timestamp()) AND i.sub_status <> 'Faulted'
        AND NOT EXISTS (SELECT FROM running AS r WHERE r.id IN (b.xmax, i.xmax)))
SELECT 'sleep', pid, xact_start, '', '' FROM sleeps
UNION ALL
SELECT 'pair', pid, xact_start, task_id::text, version::text FROM sleeps JOIN free ON names IS NULL OR name = ANY (names)
UNION ALL
SELECT 'open', NULL, NULL, id::text, '' FROM workflow.tasks WHERE status = 'Open'
"""
DETAILS = """
SELECT pid, application_name, state, wait_event, xact_start, left(query, 80) FROM pg_stat_activity WHERE backend_type = 'client backend';
SELECT task_id, name, attempt, available_at, lease_until, worker, clock_timestamp() FROM workflow.open_tasks
"""


class Watcher:
    def __init__(self):
        self.psql = Psql()
        # When each task was last seen open.
        self.seen = {}
        self.sleeps = set()
        # In how many consecutive checks each pair was found.
        self.pairs = {}
        # When each look was.
        self.looks = []

    def run(self):
        while not os.path.exists(OVER):
            try:
                self.look()
            except Lost:
                # Every session has ended.
                self.pairs = {}
                self.psql.kill()
                self.psql = Psql()
            time.sleep(PAUSE)
        with open(SEEN, "w") as file:
            for task, at in self.seen.items():
                print(task, at, sep="|", file=file)
        with open(LOOKS_FILE, "w") as file:
            print(*self.looks, sep="\n", file=file)
        print(f"{len(self.looks)} looks found {len(self.sleeps)} sleeps")

    def look(self):
        at = time.monotonic_ns()
        rows, state = self.psql.ask(PAIRS)
        if state != "00000":
            sys.exit(f"the watcher cannot look: {state}")
        self.looks.append(at)
        rows = [row.split("|") for row in rows]
        self.seen.update({task: at for kind, _, _, task, _ in rows if kind == "open"})
        self.sleeps.update((pid, begin) for kind, pid, begin, _, _ in rows if kind == "sleep")
        self.pairs = {tuple(pair): self.pairs.get(tuple(pair), 0) + 1 for kind, *pair in rows if kind == "pair"}
        for (pid, begin, task, _), looks in self.pairs.items():
            if looks >= LOOKS:
                details = "\n".join(self.psql.ask(DETAILS)[0])
                sys.exit(f"a wake-up was lost: session {pid} has slept since {begin}, and in {looks} looks task {task} could be claimed\n"
                         f"{details}")


Watcher().run()
