"""A service under test: starts `retain serve`, asks it, ends it."""
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

# Last, because it has a file that is called as one of Python's own modules.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

CONFIG = """[model]
arch = mlp:16
classes = 3
input = 2
[replay]
pool = reservoir
limit = 2000
[stdin]
per_step = 8
[run]
iterations = 2
[eval]
every = 20
"""


class Service:
    def __init__(self, retain, *words):
        self.process = subprocess.Popen([retain, "serve", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.first = self.process.stdout.readline()
        found = re.search(r"http://[^ ]*:(\d+)|unix:([^ \n]+)", self.first)
        if not found:
            raise RuntimeError("does not start: %s" % self.process.stderr.read())
        self.port, self.path = found[1] and int(found[1]), found[2]
        self.lines = None
        if any("serve.lines" in word for word in words):
            self.lines = self.process.stdout.readline().split()[-1]
        self.wait_ready()

    def wait_ready(self):
        """Until it is where it was, if it was killed."""
        while self.process.poll() is None and (self.get("/v2/health/ready")[0] != 200 or self.opens()):
            time.sleep(0.02)

    def opens(self):
        status, words = self.get("/v1/state")
        return status == 200 and json.loads(words)["state"] == "opens"

    def connection(self, timeout=200):
        if self.port:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        made = http.client.HTTPConnection("localhost", timeout=timeout)
        made.sock = socket.socket(socket.AF_UNIX)
        made.sock.connect(self.path)
        return made

    def ask(self, method, path, body=None, headers=None):
        """Status, headers, body."""
        connection = self.connection()
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        got = answer.status, answer.headers, answer.read()
        connection.close()
        return got

    def get(self, path, **headers):
        status, _, body = self.ask("GET", path, headers=headers)
        return status, body

    def post(self, path, value, **headers):
        """Status, and the JSON of the answer."""
        status, _, body = self.ask("POST", path, json.dumps(value) if not isinstance(value, (str, bytes)) else value,
                                   headers)
        return status, json.loads(body)

    def raw(self, words, seconds=10):
        """All that comes back until the other side closes, or nothing comes for so long."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as s:
            got = b""
            try:
                s.sendall(words)
                while True:
                    part = s.recv(1 << 20)
                    if not part:
                        break
                    got += part
            except (ConnectionError, socket.timeout):
                pass
            return got

    def end(self, how=signal.SIGTERM):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(60)
        if self.process.stdout.closed:
            return code
        self.process.stdout.close()
        self.errors = self.process.stderr.read()
        self.process.stderr.close()
        return code


def new(folder, retain, *words, config=CONFIG, listen="127.0.0.1:0"):
    """A service of its own in a folder below."""
    path = os.path.join(folder, "shop.ini")
    with open(path, "w") as file:
        file.write(config)
    return Service(retain, path, "--out", os.path.join(folder, "shop"), "--listen", listen, *words)
