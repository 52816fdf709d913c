"""A psql that answers one statement after the other, for the processes of leases_crash.sh."""

import subprocess


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
