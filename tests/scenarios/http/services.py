"""The services of work.sh: services.py DIRECTORY

An HTTP server and a mail server on loopback. Their ports are in DIRECTORY/http and DIRECTORY/smtp, and what they got in DIRECTORY/requests,
DIRECTORY/recipients and DIRECTORY/mail, a JSON value in each line.
"""
import json
import pathlib
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTORY = pathlib.Path(sys.argv[1])
WRITING = threading.Lock()
busy = {}


def note(name, what):
    with WRITING, open(DIRECTORY / name, "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, content=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        note("requests", {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body})
        name, _, rest = self.path.strip("/").partition("/")
        getattr(self, name)(rest)

    do_GET = do_POST = serve

    def ok(self, _):
        said = {"ok": True, "authorization": self.headers.get("Authorization")}
        self.answer(200, json.dumps(said).encode(), Content_Type="application/json", X_Echo=str(self.headers.get("Authorization")))

    def busy(self, key):
        """Fails twice."""
        busy[key] = busy.get(key, 0) + 1
        self.answer(500 if busy[key] < 3 else 200, b"busy", Content_Type="text/plain")

    def down(self, _):
        self.answer(503)

    def missing(self, _):
        self.answer(404)

    def silent(self, _):
        time.sleep(60)

    def drip(self, _):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(1000):
            self.wfile.write(b".")
            time.sleep(0.2)

    def redirect(self, rest):
        self.answer(302, Location="/" + rest)

    def nonsense(self, _):
        self.wfile.write(b"\x00\x01 this is not HTTP\r\n\r\n")
        self.close_connection = True

    def big(self, _):
        self.answer(200, b"x" * 1_000_001)

    def odd(self, _):
        """No JSON that jsonb could store, though its type says so."""
        self.answer(200, rb'{"a": "\u0000", "b": NaN}', Content_Type="application/json")

    def patient(self, _):
        """Wants to be asked again in an hour."""
        self.answer(429, Retry_After="3600")

    def huge(self, _):
        """A number that jsonb does not have."""
        self.answer(200, b'{"a": 1e999999}', Content_Type="application/json")

    def file(self, _):
        self.answer(200, b"\x00\xffa;b\n", Content_Type="text/csv", Content_Disposition='attachment; filename="prices.csv"')


class Mail(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        self.say("220 ready")
        recipients = []
        for line in self.rfile:
            word = line.decode().strip()
            verb = word.upper()
            if verb.startswith("RCPT"):
                note("recipients", word)
            if verb.startswith("RCPT") and "full@" in word:
                self.say("452 mailbox full")
            elif verb.startswith("RCPT") and "gone@" in word:
                self.say("550 there is no such mailbox")
            elif verb.startswith("DATA"):
                self.say("354 go on")
                lines = []
                while (line := self.rfile.readline().rstrip(b"\r\n")) != b".":
                    lines.append(line.decode())
                note("mail", {"to": recipients, "text": "\n".join(lines)})
                self.say("250 taken")
            elif verb.startswith("QUIT"):
                return self.say("221 bye")
            else:
                if verb.startswith("RCPT"):
                    recipients.append(word.split("<")[1].rstrip(">"))
                self.say("250 fine")


servers = {"http": ThreadingHTTPServer(("127.0.0.1", 0), Service), "smtp": socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)}
for name, server in servers.items():
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (DIRECTORY / f"{name}.new").write_text(str(server.server_address[1]))
    (DIRECTORY / f"{name}.new").rename(DIRECTORY / name)
threading.Event().wait()
