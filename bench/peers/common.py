"""What the clients of all sides share. Each prints microseconds."""
import multiprocessing, os, random, statistics, sys, time

import psycopg

COUNT = int(os.environ["BENCH_PEER_COUNT"])
STEPS = 100


def connect(side):
    return psycopg.connect(dbname=f"bench_{side}", autocommit=True)


def steps(run, workflows):
    """Of a step, where run() runs a workflow of STEPS. The first two do not count: they load caches and plans."""
    for _ in range(2):
        run()
    began = time.perf_counter()
    for _ in range(workflows):
        run()
    return (time.perf_counter() - began) * 1e6 / workflows / STEPS


def tasks(side, prepare, work, clients):
    """Of a task, where so many clients call work(prepare()), each in a process, until COUNT tasks are done. To prepare does not count."""
    ready = multiprocessing.Barrier(clients + 1)

    def client():
        prepared = prepare()
        ready.wait()
        work(prepared)

    processes = [multiprocessing.Process(target=client) for _ in range(clients)]
    for process in processes:
        process.start()
    ready.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    taken = time.perf_counter() - began
    assert connect(side).execute("SELECT bench.undone()").fetchone()[0] == 0
    return taken * 1e6 / COUNT


def latency(send, arrived, pause):
    """From before send(n) until a time of arrival is in the queue, the median; each after a random pause."""
    taken = []
    for n in range(COUNT // 100):
        time.sleep(0.02 + random.random() * pause)
        assert arrived.empty()
        began = time.perf_counter()
        send(n)
        taken.append(arrived.get(timeout=60) - began)
    return statistics.median(taken) * 1e6


def main(lines):
    """LINE [CLIENTS]. Threads that still wait end with the process."""
    print(lines[sys.argv[1]](*map(int, sys.argv[2:])), flush=True)
    os._exit(0)
