"""A worker of leases_crash.sh: leases_worker.py NUMBER SECONDS LOG

It claims tasks through a psql of its own, and does with each of them one of the things that workers do. It ends when no task is open.
LOG gets a line for each task that it claims, and for each call that names a task:

    worker|sent|returned|call|task|token|attempt|answer|outcome

`sent` and `returned` are nanoseconds of the machine's monotonic clock. The outcome is "unknown", without `returned`, if the connection was
lost before the reply came, and "undone" if the transaction was rolled back. It is a SQLSTATE if the server raised what no worker expects.
"""

import json
import random
import subprocess
import sys
import time
from collections import namedtuple

NUMBER, LIMIT = sys.argv[1], time.monotonic() + float(sys.argv[2])
LOG = open(sys.argv[3], "w", buffering=1)
LEASE = 0.3
# What a worker does with a task, and how often.
ACTS = {"complete": 34, "complete twice": 6, "complete differently": 4, "complete and roll back": 6, "extend": 8, "fail": 12, "give up": 3,
        "release": 10, "wait": 12, "forget": 8, "die": 3}

Held = namedtuple("Held", "task token name attempt")
NOTHING = Held("", "", "", "")


class Lost(Exception):
    """The connection has ended."""


class Psql:
    def __init__(self):
        self.process = subprocess.Popen(["stdbuf", "-oL", "psql", "-X", "-q", "-At"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, statement):
        try:
            self.process.stdin.write(f"{statement};\n\\echo = :SQLSTATE\n")
            self.process.stdin.flush()
        except OSError:
            raise Lost from None

    def receive(self):
        """The rows of the statement, and its SQLSTATE."""
        rows = []
        for line in self.process.stdout:
            if line.startswith("= "):
                # psql has no SQLSTATE for a connection that breaks.
                if not line[2:].strip():
                    raise Lost
                return rows, line[2:].strip()
            rows.append(line.rstrip("\n"))
        raise Lost

    def ask(self, statement):
        self.send(statement)
        return self.receive()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except OSError:
            pass


def note(call, held, answer, outcome, sent, returned=""):
    print(NUMBER, sent, returned, call, held.task, held.token, held.attempt, answer, outcome, sep="|", file=LOG)


def completion(held, answer):
    result = json.dumps({"token": held.token, "answer": answer})
    return f"SELECT 'Completed' FROM wf_complete_task('{held.task}', '{result}', token => '{held.token}')"


class Worker:
    def __init__(self):
        self.psql = Psql()
        self.answers = 0
        # Tasks to be answered late: when, and which.
        self.late = []
        self.is_over = False

    def run(self):
        while not self.is_over or self.late:
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
        for entry in [entry for entry in self.late if self.is_over or entry[0] < time.monotonic()]:
            self.late.remove(entry)
            self.act(entry[1])
        claimed = self.claim()
        # No worker answers these. Each of their leases ends.
        held = [held for held in claimed if held.name != "Doomed"]
        if len(held) > 1 and random.random() < 0.15:
            self.answer_together(held)
        else:
            for one in held:
                self.act(one)
        if not claimed:
            if random.random() < 0.2:
                self.query("SELECT wf_run_due()")
            self.is_over = self.query("SELECT count(*) FROM workflow.tasks WHERE status = 'Open'") == ["0"]
            time.sleep(0.02)

    def query(self, statement):
        """The rows of a statement that must not fail."""
        sent = time.monotonic_ns()
        rows, state = self.psql.ask(statement)
        if state != "00000":
            note("other", NOTHING, "", state, sent, time.monotonic_ns())
        return rows

    def claim(self):
        is_undone = random.random() < 0.05
        names = random.choice(["NULL", "'{Work,Doomed}'"])
        if is_undone:
            self.query("BEGIN")
        sent = time.monotonic_ns()
        rows = self.query("SELECT task_id, token, name, attempt "
                          f"FROM wf_claim_tasks({names}, 'worker {NUMBER}', {random.randint(1, 5)}, '{LEASE} s')")
        returned = time.monotonic_ns()
        if is_undone:
            self.query("ROLLBACK")
        claimed = [Held(*row.split("|")) for row in rows]
        for held in claimed:
            note("claim", held, "", "undone" if is_undone else "claimed", sent, returned)
        if not is_undone:
            return claimed
        # These tokens prove nothing: the worker answers with them all the same.
        self.late += [(0, held) for held in claimed]
        return []

    def tell(self, statement, calls, is_undone=False):
        """Runs a statement that makes these calls (name, task, answer). It returns a row for each, in their order."""
        sent, returned = time.monotonic_ns(), ""
        outcomes = ["undone" if is_undone else "unknown"] * len(calls)
        try:
            rows, state = self.psql.ask(statement)
            returned = time.monotonic_ns()
            if state == "55000":
                outcomes = ["refused"] * len(calls)
            elif state != "00000" or len(rows) != len(calls):
                outcomes = [f"{state}, {len(rows)} rows"] * len(calls)
            elif not is_undone:
                outcomes = rows
        finally:
            for (call, held, answer), outcome in zip(calls, outcomes):
                note(call, held, answer, outcome, sent, returned)

    def new_answer(self):
        self.answers += 1
        return f"{NUMBER}-{self.answers}"

    def complete(self, held, answer=None, is_undone=False):
        answer = answer or self.new_answer()
        self.tell(completion(held, answer), [("complete", held, answer)], is_undone)
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
        act = random.choices(list(ACTS), list(ACTS.values()))[0]
        if act == "complete":
            self.complete(held)
        elif act == "complete twice":
            self.complete(held, self.complete(held))
        elif act == "complete differently":
            self.complete(held)
            self.complete(held)
        elif act == "complete and roll back":
            self.query("BEGIN")
            self.complete(held, is_undone=True)
            self.query("ROLLBACK")
            if random.random() < 0.5:
                self.complete(held)
        elif act == "extend":
            self.tell(f"SELECT wf_extend_task('{held.task}', '{held.token}', '{random.randint(50, 600)} ms', '{NUMBER}') IS NOT NULL",
                      [("extend", held, "")])
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

    def die(self, held):
        """The client is killed: while its transaction is open, while its answer is on the way, or while it holds the task."""
        how = random.randrange(3)
        if how == 0:
            self.query("BEGIN")
            self.complete(held, is_undone=True)
        elif how == 1:
            answer = self.new_answer()
            note("complete", held, answer, "unknown", time.monotonic_ns())
            self.psql.send(completion(held, answer))
            time.sleep(random.random() * 0.005)
        # run() kills it.
        raise Lost


Worker().run()
