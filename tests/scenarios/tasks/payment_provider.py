"""The payment provider of payment.sh: payment_provider.py DIRECTORY

An HTTP server on loopback, whose port is in DIRECTORY/port. It charges once for each Idempotency-Key, which is a line "order|receipt" in
DIRECTORY/charges, and declines stolen cards. The first two calls with a key may fail: it answers 503 or closes the connection, and has charged
or not. While DIRECTORY/hold names a round, calls stay open, and DIRECTORY/held gets a line "round key" for each. These do not fail.
"""
import json
import pathlib
import random
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTORY = pathlib.Path(sys.argv[1])
WRITING = threading.Lock()
calls, receipts = Counter(), {}


def note(name, line):
    with open(DIRECTORY / name, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def current_round():
    try:
        return (DIRECTORY / "hold").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def charge(key, order):
    with WRITING:
        if key not in receipts:
            receipts[key] = f"R-{len(receipts)}"
            note("charges", f"{order}|{receipts[key]}")
        return receipts[key]


class Provider(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        key, wanted = self.headers["Idempotency-Key"], json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if wanted["card"] == "stolen":
            self.answer(402, {})
            return
        calls[key] += 1
        fate = random.choice(("charge", "fail", "hang up")) if calls[key] < 3 else "charge"
        if random.random() < 0.5:
            charge(key, wanted["order"])
        if begun := current_round():
            fate = "charge"
            note("held", f"{begun} {key}")
            while current_round() == begun:
                time.sleep(0.01)
        if fate == "fail":
            self.answer(503, {})
            return
        receipt = charge(key, wanted["order"])
        if fate == "charge":
            self.answer(200, {"receipt": receipt})

    def answer(self, status, content):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
note("port", str(server.server_port))
server.serve_forever()
