"""absurd, by its SDK for Python, with the settings that are its defaults."""
import queue, threading, time
from absurd_sdk import Absurd
from common import COUNT, STEPS, connect, latency, main, steps, tasks

arrived = queue.SimpleQueue()


def client():
    app = Absurd(connect("absurd"), queue_name="bench")

    @app.register_task(name="steps")
    def run_steps(params, ctx):
        for step in range(STEPS):
            ctx.step(f"step{step}", lambda: step)
        arrived.put(None)

    @app.register_task(name="task")
    def run_task(params, ctx):
        arrived.put(None)

    @app.register_task(name="wait")
    def wait(params, ctx):
        ctx.await_event(f"go-{params}")
        arrived.put(time.perf_counter())

    return app


app = client()


def run():
    app.spawn("steps", None)
    app.work_batch()
    arrived.get_nowait()


def work(own):
    """Ten at a time, until there are none."""
    while True:
        own.work_batch(batch_size=10)
        if arrived.empty():
            return
        while not arrived.empty():
            arrived.get()


def event():
    db = connect("absurd")
    db.execute("SELECT bench.tasks(%s, 'wait')", [COUNT // 100])
    threading.Thread(target=client().start_worker, daemon=True).start()
    while db.execute("SELECT count(*) FROM absurd.w_bench").fetchone()[0] < COUNT // 100:
        time.sleep(0.05)
    return latency(lambda n: app.emit_event(f"go-{n + 1}", n), arrived, 0.25)


main({
    "steps": lambda: steps(run, COUNT // 100),
    "tasks": lambda clients: tasks("absurd", client, work, clients),
    "event": event,
})
