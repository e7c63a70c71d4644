#!/usr/bin/env python3
"""usage: tests/serve/alarms.py RETAIN

Alarms reach people: a stream whose rule turns round raises a drift alarm and a fall of the accuracy, which a
command and a web hook get as JSON; an address that refuses them costs no answer. Prints TAP.
"""
import http.server
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from service import Service
from tap import plan, skip, verdict


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.tries += 1
        well = self.server.tries > self.server.refused
        if well:
            self.server.got.append((self.headers["Content-Type"], json.loads(body)))
        self.send_response(204 if well else 500)
        self.end_headers()

    def log_message(self, *_):
        pass


def listen(refused=0):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.got, server.tries, server.refused = [], 0, refused
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def teach(service, first, count, turned):
    rng = random.Random(first)
    lines = []
    for i in range(first, first + count):
        x = rng.random()
        lines.append(json.dumps({"id": i, "input": [x, rng.random()], "label": int((x > 0.5) != turned)}))
    status, _, body = service.ask("POST", "/v1/samples", "\n".join(lines) + "\n")
    return status == 200 and body.count(b'"sample"') == count


def until(found, seconds=60):
    end = time.monotonic() + seconds
    while not found() and time.monotonic() < end:
        time.sleep(0.05)
    return found()


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def metric(service, result):
    for line in service.get("/metrics")[1].decode().splitlines():
        if line.startswith("retain_alarms_delivered_total{") and f'result="{result}"' in line:
            return float(line.split()[-1])
    return None


def running(word):
    """Whether a process has this argument."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += word.encode() in file.read().split(b"\0")
        except OSError:
            pass
    return found > 0


def main():
    retain = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="retain-alarms-")
    heard = os.path.join(folder, "heard")
    hook = listen(refused=1)
    service = Service(retain, "--out", os.path.join(folder, "shop"), "--listen", "127.0.0.1:0",
                      "--set", f"alarm.exec=cat >> {heard}", "--set", "alarm.fall=0.01",
                      "--set", f"alarm.webhook=http://127.0.0.1:{hook.server_port}/alarms")
    verdict(teach(service, 0, 3000, False) and not lines_of(heard), "a steady stream raises no alarm")
    teach(service, 3000, 700, True)
    kinds = lambda: {line["alarm"] for line in lines_of(heard)}
    verdict(until(lambda: kinds() >= {"drift", "fall"}), "a rule that turns round raises drift and fall", str(kinds()))
    first = lines_of(heard)[0] if lines_of(heard) else {}
    verdict(first.get("learner") == "retain" and first.get("message") and first.get("samples", 0) > 3000 and
            first.get("time", "").endswith("Z"), "an alarm says what happened, where and when", str(first))
    if shutil.which("curl"):
        verdict(until(lambda: {body["alarm"] for _, body in hook.got} >= {"drift", "fall"}) and
                all(kind == "application/json" for kind, _ in hook.got),
                "the web hook gets them, although it refused the first", str(hook.got))
    else:
        skip("the web hook gets them", "there is no curl")
    verdict(until(lambda: (metric(service, "sent") or 0) >= 2), "deliveries are counted", str(metric(service, "sent")))
    service.end()
    hook.shutdown()

    # Nobody listens on port 9 here, and the command does not end: learning goes on, and the service ends
    # without waiting for all attempts, and leaves nothing of the command behind.
    marker = "7%d" % os.getpid()
    service = Service(retain, os.path.join(folder, "shop"), "--listen", "127.0.0.1:0", "--set",
                      f"alarm.exec=echo >&2 one; echo >&2 two; sleep {marker} | cat",
                      "--set", "alarm.webhook=http://127.0.0.1:9/")
    well = all(teach(service, first, 1500, turned) for first, turned in ((4000, False), (5500, True), (7000, False)))
    verdict(well and until(lambda: running(marker)), "a command that hangs costs no answer")
    begin = time.monotonic()
    code = service.end()
    took = time.monotonic() - begin
    verdict(code == 0 and took < 15, "nor does an address that refuses, and the service ends soon", code, took)
    verdict(not running(marker) and "took too long" in service.errors, "nothing of the command is left", service.errors)
    verdict(all(line.startswith("retain: ") for line in service.errors.splitlines()), "a warning is a line", service.errors)
    done = subprocess.run([retain, "serve", os.path.join(folder, "shop"), "--listen", "127.0.0.1:0", "--set",
                           "alarm.webhook=ftp://x"], capture_output=True, text=True)
    verdict(done.returncode == 2 and "alarm.webhook = ftp://x" in done.stderr, "an address of another kind is refused",
            done.stderr)
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
