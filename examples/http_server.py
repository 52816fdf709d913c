#!/usr/bin/env python3
"""A web server for workflows: Python's standard library and psql, which finds its database by PGHOST, PGDATABASE, ….

    /workflows/…                   whatever HttpEndpoint waits for it           wf_http_request
    POST /bookmarks/{id}/resume    go on at a bookmark; the body is the input   wf_resume
    POST /tasks/{id}/complete      complete a task; the body is the result      wf_complete_task
    POST /events/{name}            publish an event; the body is the payload    wf_publish_event, ?correlationId=…

    examples/http_server.py [PORT]
"""
import json
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

CALLS = [  # path, statement; {body} is the body as jsonb
    (r"/bookmarks/([^/]+)/resume", "SELECT to_jsonb(r) FROM wf_resume({0}::uuid, {body}) AS r"),
    (r"/tasks/([^/]+)/complete", "SELECT to_jsonb(r) FROM wf_complete_task({0}::uuid, {body}) AS r"),
    (r"/events/([^/]+)", "SELECT to_jsonb(d) FROM wf_publish_event({0}, {body}, correlation_id => nullif({correlation_id}, '')) AS d"),
]
REQUEST = """SELECT jsonb_build_object('status', status, 'headers', headers, 'body', encode(body, 'hex'))
    FROM wf_http_request({method}, {path}, {headers}::jsonb, body => {body})"""
STATUS = {"22P02": 400, "22023": 400, "22004": 400, "42501": 403, "42704": 404, "55000": 409, "55006": 409, "40001": 503, "40P01": 503}


class Failed(Exception):
    pass


def quoted(value):
    """A SQL literal. Hexadecimal digits need no escaping."""
    if isinstance(value, bytes):
        return rf"'\x{value.hex()}'::bytea"
    return f"convert_from({quoted(value.encode())}, 'UTF8')"


def query(statement):
    """The one value of a statement, which is JSON."""
    command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=sqlstate"]
    done = subprocess.run(command, input=statement.encode(), capture_output=True, check=False)
    if done.returncode:
        raise Failed(re.findall(r"ERROR:  (\w{5})", done.stderr.decode()) or ["XX000"])
    return json.loads(done.stdout)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        if "Transfer-Encoding" in self.headers:
            self.close_connection = True
            return self.answer(411)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        try:
            if url.path.startswith("/workflows/"):
                headers = {name: self.headers.get_all(name) for name in self.headers.keys()}
                answer = query(REQUEST.format(method=quoted(self.command), path=quoted(self.path.removeprefix("/workflows")),
                                              headers=quoted(json.dumps(headers)), body=quoted(body)))
                return self.answer(answer["status"], answer["headers"], bytes.fromhex(answer["body"]))
            for pattern, statement in CALLS:
                found = re.fullmatch(pattern, url.path)
                if found and self.command == "POST":
                    given = {"body": quoted(body.decode()) + "::jsonb" if body else "NULL",
                             "correlation_id": quoted(parse_qs(url.query).get("correlationId", [""])[0])}
                    answer = query(statement.format(quoted(unquote(found[1])), **given))
                    return self.answer(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())
            return self.answer(404)
        except Failed as failed:
            return self.answer(STATUS.get(failed.args[0][0], 500))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = serve

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in dict(headers).items():
            for one in value if isinstance(value, list) else [value]:
                self.send_header(name, one)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler)
    print(f"http://127.0.0.1:{server.server_port}/workflows/", flush=True)
    server.serve_forever()
