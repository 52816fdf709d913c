"""This extension, by psycopg."""
import queue, threading, time
from psycopg.types.json import Jsonb
from common import COUNT, STEPS, connect, latency, main, steps, tasks

db = connect("workflow")


def row(query, *values):
    return db.execute(query, values).fetchone()


def burst():
    assert row("SELECT sub_status FROM wf_run('steps')")[0] == "Finished"


def resumes():
    """Each step is a call, and durable before the next one begins."""
    bookmark = row("SELECT (bookmarks #>> '{0,id}')::uuid FROM wf_run('waits')")[0]
    for step in range(STEPS):
        state, bookmark = row("SELECT sub_status, (bookmarks #>> '{0,id}')::uuid FROM wf_resume(%s, %s)", bookmark, Jsonb(step))
    assert state == "Finished"


def work(own):
    """Ten at a time, until there are none."""
    while claimed := own.execute("SELECT task_id, token FROM wf_claim_tasks('{job}', max => 10)").fetchall():
        own.execute("SELECT * FROM wf_complete_tasks(%s)", [Jsonb([{"taskId": str(task), "token": str(token)} for task, token in claimed])])


def publish(n):
    assert len(row("SELECT resumed FROM wf_publish_event('Go', %s, %s)", Jsonb(n), f"go-{n + 1}")[0]) == 1


def event():
    """The workflow goes on in the call."""
    arrived = queue.SimpleQueue()
    return latency(lambda n: publish(n) or arrived.put(time.perf_counter()), arrived, 0)


def events():
    began = time.perf_counter()
    for n in range(COUNT // 10):
        publish(n)
    return (time.perf_counter() - began) * 1e6 / (COUNT // 10)


def message():
    arrived = queue.SimpleQueue()

    def worker():
        own = connect("workflow")
        while True:
            own.execute("CALL wf_wait_tasks('{job}')")
            if claimed := own.execute("SELECT task_id, token, payload FROM wf_claim_tasks('{job}')").fetchone():
                arrived.put(time.perf_counter())
                own.execute("SELECT wf_complete_task(%s, token => %s)", claimed[:2])

    threading.Thread(target=worker, daemon=True).start()
    return latency(lambda n: row("SELECT wf_start('job')"), arrived, 0.1)


main({
    "burst": lambda: steps(burst, COUNT // 10),
    "resumes": lambda: steps(resumes, COUNT // 100),
    "tasks": lambda clients: tasks("workflow", lambda: connect("workflow"), work, clients),
    "event": event,
    "events": events,
    "message": message,
})
