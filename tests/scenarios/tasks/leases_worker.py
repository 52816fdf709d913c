"""A worker of leases_crash.sh: leases_worker.py NUMBER SECONDS LOG OVER

It claims tasks through a psql of its own, and does with each of them one of the things that workers do. If it gets none it waits for
tasks of the names that it has asked for. It ends when the file OVER is there.

    leases_worker.py NUMBER SECONDS LOG visit VISITS

is a visitor: it comes when no task is open and all workers sleep, so that nothing but a wake-up brings them to look for one. In each
visit a new session starts a task, and mostly takes it away from the workers: it claims the task in the transaction that starts it. What
it does not complete it leaves to them, and it comes again when that has ended.

LOG gets a line for each task that it claims or starts, for each call that names a task, and for each wait:

    worker|sent|returned|call|task|token|attempt|answer|outcome

`sent` and `returned` are nanoseconds of the machine's monotonic clock. The outcome is "unknown", without `returned`, if the connection was
lost before the reply came, and "undone" if the transaction was rolled back. It is a SQLSTATE if the server raised what no worker expects.
The answer of a wait is what it was called with: the names, and the milliseconds of its time. That of a heartbeat is the end of
the lease, and that of a claim the end and the moment of its answer, in microseconds since 1970 by the clock of the server.
"""

import json
import os
import random
import sys
import time
from collections import namedtuple

from leases_psql import Lost, Psql

NUMBER, LIMIT = sys.argv[1], time.monotonic() + float(sys.argv[2])
LOG, OVER = open(sys.argv[3], "w", buffering=1), sys.argv[4]
LEASE = 0.3
# The task names that a worker claims, and their frequency.
NAMES = {"NULL": 50, "'{Work,Doomed}'": 30, "'{Doomed,Work}'": 15, "'{Work}'": 5}
# Maximum wait in seconds. Workers that wait for some of the names do not serve the others, so their waits are short.
LONG, SHORT = 30, 0.3
# What a worker does with a task, and its frequency.
ACTS = {"complete": 30, "complete in a transaction": 4, "complete twice": 6, "complete differently": 4, "complete and roll back": 6, "extend": 8, "fail": 12, "give up": 3,
        "release": 10, "wait": 12, "forget": 8, "die": 3}
# The same for a visitor.
VISITS = {"complete and roll back": 3, "extend": 3, "fail": 1, "release": 1, "forget": 1, "die": 2}
# Counts workers that are not asleep with the longest timeout.
AWAKE = f"""SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker'
    AND NOT (state = 'active' AND wait_event_type = 'Extension' AND query LIKE '% ''{LONG * 1000} ms'')%')"""

# How the transaction of a killed client ends.
DEATH = "death"

Held = namedtuple("Held", "task token name attempt lease")
NOTHING = Held("", "", "", "", "")


def note(call, held, answer, outcome, sent, returned=""):
    print(NUMBER, sent, returned, call, held.task, held.token, held.attempt, answer, outcome, sep="|", file=LOG)


def microseconds(instant):
    return f"(extract(epoch FROM {instant}) * 1000000)::bigint"


def completion(held, answer):
    result = json.dumps({"token": held.token, "answer": answer})
    return f"SELECT 'Completed' FROM wf_complete_task('{held.task}', '{result}', token => '{held.token}')"


class Worker:
    acts = ACTS
    # Probability that a transaction stays open, and for how many leases.
    pauses, stays = 0.1, (0, 1.5)
    # Probability that it leaves a task that it could complete.
    leaves = 0.3
    # Probability that it repeats an answer whose outcome it does not know.
    repeats = 0.7

    def __init__(self):
        self.psql = Psql()
        self.answers = 0
        # Tasks to complete late: when, and which.
        self.late = []
        # Answers with unknown outcome: tasks, each with the answer.
        self.unsure = []
        self.is_over = False
        # The names of the tasks that it was offered.
        self.names = None

    def run(self):
        while not self.is_over or self.late or self.unsure:
            if time.monotonic() > LIMIT:
                sys.exit(f"worker {NUMBER} gives up: there are still open tasks")
            try:
                self.turn()
            except Lost:
                self.psql.kill()
                # The server may be starting.
                time.sleep(0.02)
                self.psql = Psql()

    def turn(self):
        self.is_over = os.path.exists(OVER)
        for entry in [entry for entry in self.late if self.is_over or entry[0] < time.monotonic()]:
            self.late.remove(entry)
            self.act(entry[1])
        for entry in list(self.unsure):
            self.unsure.remove(entry)
            self.complete(*entry)
        names = self.names or random.choices(list(NAMES), list(NAMES.values()))[0]
        self.names = None
        claimed = self.claim(names)
        # No worker completes these. Each of their leases expires.
        held = [held for held in claimed if held.name != "Doomed"]
        if len(held) > 1 and random.random() < 0.15:
            self.answer_together(held)
        else:
            for one in held:
                self.act(one)
        if claimed or self.is_over:
            return
        if random.random() < 0.1:
            self.query("SELECT wf_run_due()")
        if random.random() < 0.95:
            self.wait(names)
        else:
            time.sleep(0.02)

    def wait(self, names):
        """Waits for tasks, until there is one to be answered late."""
        most = SHORT * random.random() if names == "'{Work}'" or random.random() < 0.03 else LONG
        most = min([most] + [at - time.monotonic() for at, _ in self.late])
        timeout = max(0, round(most * 1000))
        sent, returned, outcome = time.monotonic_ns(), "", "unknown"
        try:
            rows, state = self.psql.ask(f"CALL wf_wait_tasks({names}, '{timeout} ms')")
            returned = time.monotonic_ns()
            outcome = rows[0] if state == "00000" and len(rows) == 1 else f"{state}, {len(rows)} rows"
        finally:
            note("wait", NOTHING, f"{names} {timeout}", outcome, sent, returned)
        if outcome == "t":
            self.names = names

    def query(self, statement):
        """The rows of a statement that must not fail."""
        sent = time.monotonic_ns()
        rows, state = self.psql.ask(statement)
        if state != "00000":
            note("other", NOTHING, "", state, sent, time.monotonic_ns())
        return rows

    def pause(self):
        if random.random() < self.pauses:
            time.sleep(random.uniform(*self.stays) * LEASE)

    def ask_for(self, names, number):
        return [Held(*row.split("|")) for row in self.query(
            f"SELECT task_id, token, name, attempt, {microseconds('lease_until')} || ' ' || {microseconds('clock_timestamp()')} "
            f"FROM wf_claim_tasks({names}, 'worker {NUMBER}', {number}, '{LEASE} s')")]

    def claim(self, names):
        is_undone = random.random() < 0.05
        # All of the transaction, or what follows a savepoint.
        begin, end = random.choice([("BEGIN", "ROLLBACK"), ("BEGIN; SAVEPOINT before", "ROLLBACK TO before; COMMIT")])
        if is_undone:
            self.query(begin)
        sent = time.monotonic_ns()
        claimed = self.ask_for(names, random.randint(1, 5))
        returned = time.monotonic_ns()
        if is_undone:
            self.pause()
            self.query(end)
        for held in claimed:
            note("claim", held, held.lease, "undone" if is_undone else "claimed", sent, returned)
        if not is_undone:
            return claimed
        # The tokens of a rolled-back claim are invalid; the worker tries them all the same.
        self.late += [(0, held) for held in claimed]
        return []

    def tell(self, statement, calls, end=None):
        """Runs a statement that makes these calls (name, task, answer), in a transaction that ends like this. It returns a row for each, in
        their order: the outcome, and what else there is to say."""
        if end:
            self.query("BEGIN")
        sent, returned = time.monotonic_ns(), ""
        is_undone = end in ("ROLLBACK", DEATH)
        outcomes = ["undone" if is_undone else "unknown"] * len(calls)
        try:
            rows, state = self.psql.ask(statement)
            if end:
                self.end(end)
            returned = time.monotonic_ns()
            if state == "55000":
                outcomes = ["refused"] * len(calls)
            elif state != "00000" or len(rows) != len(calls):
                outcomes = [f"{state}, {len(rows)} rows"] * len(calls)
            elif not is_undone:
                outcomes = rows
        finally:
            for (call, held, answer), outcome in zip(calls, outcomes):
                outcome, _, said = outcome.partition(" ") if call == "extend" else (outcome, "", "")
                self.note(call, held, answer or said, outcome, sent, returned)

    def end(self, how):
        self.pause()
        if how == DEATH:
            raise Lost
        self.query(how)

    def note(self, call, held, answer, outcome, sent, returned=""):
        note(call, held, answer, outcome, sent, returned)
        if call == "complete" and outcome == "unknown" and random.random() < self.repeats:
            self.unsure.append((held, answer))

    def new_answer(self):
        self.answers += 1
        return f"{NUMBER}-{self.answers}"

    def complete(self, held, answer=None, end=None):
        answer = answer or self.new_answer()
        self.tell(completion(held, answer), [("complete", held, answer)], end)
        return answer

    def fail(self, held, answer, retry):
        self.tell(f"SELECT wf_fail_task('{held.task}', '{held.token}', '{answer}', code => 'no_luck', retry => {retry})", [("fail", held, answer)])

    def answer_together(self, tasks):
        calls, answers = [], []
        for held in sorted(tasks):
            answer = self.new_answer()
            if random.random() < 0.7:
                call, said = "complete", {"result": {"token": held.token, "answer": answer}}
            else:
                call, said = "fail", {"error": {"message": answer, "code": "no_luck"}}
            calls.append((call, held, answer))
            answers.append({"taskId": held.task, "token": held.token, **said})
        random.shuffle(answers)
        self.tell(f"SELECT CASE outcome WHEN 'Refused' THEN 'refused' ELSE outcome END FROM wf_complete_tasks('{json.dumps(answers)}') "
                  "ORDER BY task_id", calls)

    def act(self, held):
        act = random.choices(list(self.acts), list(self.acts.values()))[0]
        if act == "complete":
            self.complete(held)
        elif act == "complete in a transaction":
            self.complete(held, end="COMMIT")
        elif act == "complete twice":
            self.complete(held, self.complete(held))
        elif act == "complete differently":
            self.complete(held)
            self.complete(held)
        elif act == "complete and roll back":
            self.complete(held, end="ROLLBACK")
            if random.random() >= self.leaves:
                self.complete(held)
        elif act == "extend":
            self.extend(held)
            if random.random() >= self.leaves:
                self.complete(held)
        elif act == "fail":
            self.fail(held, self.new_answer(), "true")
        elif act == "give up":
            answer = self.new_answer()
            self.fail(held, answer, "false")
            self.fail(held, answer, "false")
        elif act == "release":
            self.tell(f"SELECT wf_release_task('{held.task}', '{held.token}')", [("release", held, "")])
        elif act == "wait":
            self.late.append((time.monotonic() + LEASE + random.random() * LEASE, held))
        elif act == "die":
            self.die(held)

    def extend(self, held):
        until = microseconds(f"wf_extend_task('{held.task}', '{held.token}', '{random.randint(50, 600)} ms', '{NUMBER}')")
        self.tell(f"SELECT coalesce('t ' || {until}, 'f')", [("extend", held, "")], random.choice([None, None, "COMMIT", "ROLLBACK"]))

    def die(self, held):
        """The client is killed: while its transaction is open, while its answer is on the way, or while it holds the task."""
        how = random.randrange(3)
        if how == 0:
            self.complete(held, end=DEATH)
        elif how == 1:
            answer = self.new_answer()
            self.note("complete", held, answer, "unknown", time.monotonic_ns())
            self.psql.send(completion(held, answer))
            time.sleep(random.random() * 0.005)
        # run() kills it.
        raise Lost


class Visitor(Worker):
    acts, pauses, stays, leaves = VISITS, 0.8, (0.5, 1.5), 0.8

    def run(self):
        eyes = Psql()
        for _ in range(int(sys.argv[5])):
            while eyes.ask(AWAKE)[0] != ["0"]:
                self.wait_a_bit()
            try:
                self.visit()
            except Lost:
                pass
            self.psql.kill()
            self.psql = Psql()
            while eyes.ask("SELECT count(*) FROM workflow.tasks WHERE status = 'Open'")[0] != ["0"]:
                self.wait_a_bit()

    def wait_a_bit(self):
        if time.monotonic() > LIMIT:
            sys.exit("the visitor gives up: a task is still open, or the workers do not sleep")
        time.sleep(0.02)

    def visit(self):
        self.query("BEGIN")
        sent = time.monotonic_ns()
        self.query("SELECT wf_start('plain', '{\"priority\": 0}')")
        task = self.query("SELECT id FROM workflow.tasks WHERE status = 'Open'")[0]
        claimed = self.ask_for("NULL", 1) if random.random() < 0.7 else []
        self.query("COMMIT")
        returned = time.monotonic_ns()
        note("start", NOTHING._replace(task=task), "", "t", sent, returned)
        for held in claimed:
            note("claim", held, held.lease, "claimed", sent, returned)
            self.act(held)


(Visitor if OVER == "visit" else Worker)().run()
