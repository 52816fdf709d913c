"""pgmq as a queue that a reader waits at, by psycopg."""
import queue, threading, time
from common import connect, latency, main

db = connect("pgmq")
own = connect("pgmq")
arrived = queue.SimpleQueue()


def measure(receive):
    def reader():
        while True:
            for message in receive():
                arrived.put(time.perf_counter())
                own.execute("SELECT pgmq.archive('bench', %s::bigint)", [message[0]])

    threading.Thread(target=reader, daemon=True).start()
    return latency(lambda n: db.execute("SELECT pgmq.send('bench', '{}'::jsonb)"), arrived, 0.1)


def poll():
    """With the interval that is the default, 100 ms."""
    return measure(lambda: own.execute("SELECT * FROM pgmq.read_with_poll('bench', 60, 1)").fetchall())


def notify():
    """Not throttled."""
    db.execute("SELECT pgmq.enable_notify_insert('bench', 0)")
    listener = connect("pgmq")
    listener.execute('LISTEN "pgmq.q_bench.INSERT"')

    def receive():
        for _ in listener.notifies(stop_after=1):
            pass
        return own.execute("SELECT * FROM pgmq.read('bench', 60, 1)").fetchall()

    return measure(receive)


main({"poll": poll, "notify": notify})
