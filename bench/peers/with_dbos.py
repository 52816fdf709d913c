"""DBOS, by its library for Python."""
import multiprocessing, os, queue, time
from dbos import DBOS, SetWorkflowID
from common import COUNT, STEPS, connect, latency, main, steps

arrived = queue.SimpleQueue()


@DBOS.step()
def step(n):
    return n


@DBOS.workflow(name="steps")
def run_steps():
    for n in range(STEPS):
        step(n)


@DBOS.workflow(name="task")
def run_task():
    pass


@DBOS.workflow(name="wait")
def wait():
    DBOS.recv()
    arrived.put(time.perf_counter())


def launch():
    DBOS(config={
        "name": "bench", "application_version": "bench", "executor_id": str(os.getpid()), "console_log_level": "ERROR", "log_level": "ERROR",
        "system_database_url": f"postgresql://{os.environ['PGUSER']}@/bench_dbos?host={os.environ['PGHOST']}&port={os.environ['PGPORT']}"})
    DBOS.launch()


def time_steps():
    launch()
    return steps(run_steps, COUNT // 100)


def serve(ready, share):
    launch()
    # A process takes its share of the tasks at once: smaller ones took longer. It looks for work twenty times a second, not once.
    DBOS.register_queue("bench", polling_interval_sec=0.05, worker_concurrency=share)
    ready.wait()
    time.sleep(3600)


def tasks(clients):
    """From the first start to the last end, as its table says. All tasks are there at once, by its function for SQL."""
    db = connect("dbos")
    ready = multiprocessing.Barrier(clients + 1)
    processes = [multiprocessing.Process(target=serve, args=[ready, COUNT // clients]) for _ in range(clients)]
    for process in processes:
        process.start()
    ready.wait()
    # It looks for new queues once a second.
    time.sleep(2)
    db.execute("SELECT bench.tasks(%s)", [COUNT])
    while db.execute("SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'").fetchone()[0] < COUNT:
        time.sleep(0.1)
    for process in processes:
        process.kill()
    return float(db.execute("SELECT 1000.0 * (max(updated_at) - min(started_at_epoch_ms)) / count(*) FROM dbos.workflow_status").fetchone()[0])


def begin_waiting(count):
    launch()
    for n in range(count):
        with SetWorkflowID(f"go-{n}"):
            DBOS.start_workflow(wait)
    # Each has asked once and waits to be notified.
    time.sleep(2)
    assert arrived.empty()


def send(n):
    DBOS.send(f"go-{n}", n)


def event():
    begin_waiting(COUNT // 100)
    return latency(send, arrived, 0)


def events():
    begin_waiting(COUNT // 10)
    began = time.perf_counter()
    for n in range(COUNT // 10):
        send(n)
    for n in range(COUNT // 10):
        arrived.get(timeout=60)
    return (time.perf_counter() - began) * 1e6 / (COUNT // 10)


main({"steps": time_steps, "tasks": tasks, "event": event, "events": events})
