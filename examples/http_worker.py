#!/usr/bin/env python3
"""A worker for SendHttpRequest, FlowSendHttpRequest, DownloadHttpFile and SendEmail: Python's standard library and psycopg, which finds its
database by PGHOST, PGDATABASE, ….

    examples/http_worker.py [SETTINGS.json]

The settings, with their defaults:

    {"names": ["Elsa.SendHttpRequest", "Elsa.FlowSendHttpRequest", "Elsa.DownloadHttpFile", "Elsa.SendEmail"],
     "timeout": 30, "maxSize": 10000000, "redirects": 5,
     "secrets": {"bank": {"value": "Bearer …", "origins": ["https://bank.example"], "owners": ["app"]}},
     "smtp": {"host": "localhost", "port": 25, "from": "workflow@localhost", "startTls": false, "user": "…", "password": "…"}}

A secret goes to its origins only, for workflows of its owners, and never along a redirect. Any program that can start workflows as one of
these owners can so have it sent there; the file is for the worker alone to read. What a service sends back of it is replaced.
"""
import base64
import http.client
import json
import re
import signal
import smtplib
import socket
import sys
import time
from email.message import EmailMessage
from urllib.parse import urljoin, urlsplit

import psycopg
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb

DEFAULTS = {"names": ["Elsa.SendHttpRequest", "Elsa.FlowSendHttpRequest", "Elsa.DownloadHttpFile", "Elsa.SendEmail"],
            "timeout": 30, "maxSize": 10_000_000, "redirects": 5, "secrets": {}, "smtp": {}}
SETTINGS = DEFAULTS | (json.load(open(sys.argv[1])) if len(sys.argv) > 1 else {})
# The lease is longer than the request, so that no other worker starts while this one waits.
LEASE = f"{SETTINGS['timeout'] + 30} s"
WORKER = f"http_worker@{socket.gethostname()}"
GONE = (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.UndefinedObject)  # 55000, 42704: another has the task, or it is closed
REPEAT = ("08", "40", "57P")
is_stopping = False


class Refused(Exception):
    """Another attempt would be refused as well."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def transact(work, **options):
    """Does work in a transaction of its own. Does it again if the connection broke, even in COMMIT: the token makes it count once."""
    for pause in (0.1, 1, 10, None):
        try:
            with psycopg.connect(row_factory=namedtuple_row, **options) as db:
                return work(db)
        except psycopg.OperationalError as error:
            if pause is None or not (error.sqlstate or "08").startswith(REPEAT):
                raise
            time.sleep(pause)


def origin(url):
    """Scheme, host and port."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (KeyError, ValueError):
        raise Refused("invalid_request", f"the address is not one of http or https: {url!r}") from None
    if not parts.hostname or parts.username is not None:
        raise Refused("invalid_request", f"the address has no host, or names a user: {url!r}")
    return parts.scheme, parts.hostname, port


class Secrets:
    """The secrets of one task, and what was used of them."""

    def __init__(self, task):
        self.owner, self.used = task.owner, {}

    def value(self, given, url):
        """A header's value: as it is, or the secret that it names."""
        if not (isinstance(given, dict) and "secret" in given):
            return given if isinstance(given, str) else json.dumps(given)
        name = given["secret"]
        secret = SETTINGS["secrets"].get(name) if isinstance(name, str) else None
        if (secret is None or origin(url) not in [origin(known) for known in secret["origins"]]
                or self.owner not in secret.get("owners", [self.owner])):
            raise Refused("secret_denied", f"secret {name!r} is not for {urlsplit(url).hostname} and workflows of {self.owner}")
        self.used[name] = secret["value"]
        return secret["value"]

    def hide(self, text):
        """A text without the values of secrets, encoded ones included. jsonb has no character U+0000."""
        for name, value in self.used.items():
            for form in (value, value.split(" ", 1)[-1]):
                for shown in (form, json.dumps(form)[1:-1], base64.b64encode(form.encode()).decode()):
                    text = text.replace(shown, f"***{name}***")
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def send(request, url, headers, body, until):
    """One request. Returns status, headers and content; TimeoutError when the time is over, however slowly the service answers."""
    scheme, host, port = origin(url)
    parts = urlsplit(url)
    connect = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    connection = connect(host, port, timeout=left(until))
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(request, path, body, headers)
        connection.sock.settimeout(left(until))
        response = connection.getresponse()
        content = bytearray()
        while chunk := response.read1(65536):
            content += chunk
            if len(content) > SETTINGS["maxSize"]:
                raise Refused("too_large", f"the response is larger than {SETTINGS['maxSize']} bytes")
            if connection.sock:
                connection.sock.settimeout(left(until))
        return response.status, response.headers, bytes(content)
    finally:
        connection.close()


def left(until):
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError(f"no response within {SETTINGS['timeout']} s")
    return seconds


def headers_of(task, url, secrets):
    payload = task.payload
    headers = {}
    for name, value in (payload.get("RequestHeaders") or {}).items():
        values = value if isinstance(value, list) else [value]
        headers[name] = ", ".join(secrets.value(one, url) for one in values)
    if payload.get("Authorization"):
        headers["Authorization"] = secrets.value(payload["Authorization"], url)
    if payload.get("Content") is not None and payload.get("ContentType"):
        headers["Content-Type"] = payload["ContentType"]
    if payload.get("Method", "GET") not in ("GET", "HEAD", "OPTIONS"):
        # The service does the work once for all attempts.
        if not any(name.lower() == "idempotency-key" for name in headers):
            headers["Idempotency-Key"] = str(task.task_id)
    return headers


def request(task, secrets):
    """Sends the request of a task, and follows redirects. Returns the answer."""
    payload, until = task.payload, time.monotonic() + SETTINGS["timeout"]
    method, url = payload.get("Method") or "GET", payload.get("Url") or ""
    content = payload.get("Content") if payload.get("ContentType") else None
    body = None if content is None else (content if isinstance(content, str) else json.dumps(content)).encode()
    headers = headers_of(task, url, secrets)
    for _ in range(SETTINGS["redirects"] + 1):
        status, received, data = send(method, url, headers, body, until)
        target = received.get("Location")
        if status not in (301, 302, 303, 307, 308) or not target:
            return {"statusCode": status, "headers": told(received, secrets), "content": parsed(task.name, received, data, secrets)}
        before, url = origin(url), urljoin(url, target)
        if before[0] == "https" and origin(url)[0] == "http":
            raise Refused("insecure_redirect", f"the service redirects from https to {urlsplit(url).hostname} without it")
        if secrets.used or origin(url) != before:
            headers = {name: value for name, value in headers.items() if name.lower() in ("content-type", "idempotency-key")}
        if status == 303 or status in (301, 302) and method == "POST":
            method, body = ("HEAD" if method == "HEAD" else "GET"), None
    raise Refused("too_many_redirects", f"the service redirects more than {SETTINGS['redirects']} times")


def told(received, secrets):
    """The headers of a response: names with a value each, or a list of values."""
    headers = {name: [secrets.hide(value) for value in received.get_all(name)] for name in received}
    return {name: values[0] if len(values) == 1 else values for name, values in headers.items()}


def parsed(name, received, data, secrets):
    """The content: Base64 for a file, JSON as a value, anything else as text."""
    if name == "Elsa.DownloadHttpFile":
        return base64.b64encode(data).decode()
    text = secrets.hide(data.decode(received.get_content_charset() or "utf-8", "replace"))
    if not data:
        return None
    if received.get_content_type() == "application/json" and r"\u0000" not in text:
        try:
            return json.loads(text, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            pass
    return text


def refuse_constant(name):
    """Python reads NaN and Infinity, which are no JSON."""
    raise ValueError(name)


def call(task, secrets):
    """The answer to a task that is an HTTP request."""
    try:
        return request(task, secrets)
    except TimeoutError as error:
        return {"error": "timeout", "message": str(error)}
    except (ValueError, LookupError) as error:  # a header or a method with control characters, an unknown charset
        raise Refused("invalid_request", str(error)) from None
    except (OSError, http.client.HTTPException) as error:
        return {"error": "connect", "message": secrets.hide(f"{type(error).__name__}: {error}")}


def mail(task):
    """The answer to a task that is a message."""
    payload, smtp = task.payload, SETTINGS["smtp"]
    message = EmailMessage()
    try:
        message["From"] = payload.get("From") or smtp.get("from", "workflow@localhost")
        for field in ("To", "Cc", "Bcc"):
            addresses = payload.get(field) or []
            if addresses:
                message[field] = ", ".join(addresses if isinstance(addresses, list) else [addresses])
        message["Subject"] = payload.get("Subject") or ""
        # The same for all attempts.
        message["Message-ID"] = f"<{task.task_id}@workflow>"
        message.set_content(payload.get("Body") or "", subtype="html")
        files = payload.get("Attachments") or []
        for file in files if isinstance(files, list) else [files]:
            kind, _, subkind = (file.get("contentType") or "application/octet-stream").partition("/")
            message.add_attachment(base64.b64decode(file["content"], validate=True), maintype=kind, subtype=subkind or "octet-stream",
                                   filename=file.get("fileName") or "file")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Refused("invalid_message", f"this is no message: {error}") from None
    try:
        with smtplib.SMTP(smtp.get("host", "localhost"), smtp.get("port", 25), timeout=SETTINGS["timeout"]) as server:
            if smtp.get("startTls"):
                server.starttls()
            if smtp.get("user"):
                server.login(smtp["user"], smtp["password"])
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        return {"error": "send", "message": f"{type(error).__name__}: {error}"}
    return None


def process(task):
    secrets = Secrets(task)
    try:
        answer = mail(task) if task.name == "Elsa.SendEmail" else call(task, secrets)
        try:
            transact(lambda db: db.execute("SELECT FROM wf_complete_task(%s, %s, token => %s, on_fault => 'store')",
                                           [task.task_id, None if answer is None else Jsonb(answer), task.token]))
        except (psycopg.DataError, UnicodeError) as error:  # a number or a character that jsonb does not have
            raise Refused("invalid_response", f"the response cannot be stored: {error}") from None
    except Refused as refused:
        transact(lambda db: db.execute("SELECT wf_fail_task(%s, %s, %s, code => %s, retry => false, on_fault => 'store')",
                                       [task.task_id, task.token, secrets.hide(str(refused)), refused.code]))


def serve():
    claim = "SELECT * FROM wf_claim_tasks(%s, worker => %s, lease => %s::interval)"
    while not is_stopping:
        task = transact(lambda db: db.execute(claim, [SETTINGS["names"], WORKER, LEASE]).fetchone())
        try:
            if task:
                process(task)
            else:
                transact(lambda db: db.execute("CALL wf_wait_tasks(%s, '5 s')", [SETTINGS["names"]]), autocommit=True)
        except GONE as error:
            print(f"this worker does not hold the task any more: {re.sub(chr(10), ' ', str(error))}", flush=True)


def stop(*_):
    global is_stopping
    is_stopping = True


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    serve()
