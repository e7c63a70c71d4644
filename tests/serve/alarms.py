#!/usr/bin/env python3
"""usage: tests/serve/alarms.py RETAIN

Alarms reach people: a stream whose rule turns round raises a drift alarm and a fall of the accuracy, which a
command and a web hook get as JSON; an address that refuses them costs no answer. So do a full queue and a checkpoint that
cannot be written. Prints TAP.
"""
import http.server
import json
import os
import random
import resource
import shutil
import socket
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


def waiting(service):
    return json.loads(service.get("/v1/state")[1])["queue"]


def samples(service):
    return json.loads(service.get("/v1/state")[1])["samples"]


def full_queue(retain, folder, heard):
    """Two lines wait at a paused learner whose queue has room for two; alarm once, and anew once it was empty."""
    service = Service(retain, "--out", os.path.join(folder, "queue"), "--listen", "127.0.0.1:0", "--set", "serve.queue=2",
                      "--set", "serve.lines=127.0.0.1:0", "--set", f"alarm.exec=cat >> {heard}")
    teach(service, 0, 50, False)
    for turn in 1, 2:
        service.post("/v1/pause", "")
        waits = []
        while waiting(service) < 2 and len(waits) < 9:  # one may be taken yet
            waits.append(socket.create_connection(("127.0.0.1", int(service.lines.rpartition(":")[2])), 20))
            waits[-1].sendall(b'{"id": %d, "input": [0.1, 0.2], "label": 0}\n' % (100 * turn + len(waits)))
            until(lambda: waiting(service) >= min(len(waits), 2), 1)
        got = until(lambda turn=turn: len(lines_of(heard)) >= turn, 20)
        time.sleep(0.6)  # two looks of the bell
        last = lines_of(heard)[-1:]
        verdict(got and len(lines_of(heard)) == turn and last[0]["alarm"] == "queue" and "2 requests wait" in last[0]["message"],
                "a full queue is an alarm, once (%d)" % turn, lines_of(heard))
        service.post("/v1/resume", "")
        for one in waits:
            one.makefile().readline()
            one.close()
        until(lambda: not waiting(service))
        time.sleep(0.6)
    verdict(service.end() == 0, "and the service goes on")


def failed_learner(retain, folder, heard):
    """Files may not grow any more, as on a full disk: the next sync fails, and all that learns is refused."""
    service = Service(retain, "--out", os.path.join(folder, "failure"), "--listen", "127.0.0.1:0", "--set",
                      f"alarm.exec=cat >> {heard}")
    teach(service, 0, 200, False)
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
    saved = service.post("/v1/save", "")
    time.sleep(0.6)
    verdict(saved[0] == 503 and not lines_of(heard), "a save that a client asked for and that fails is the client's to know", saved)
    try:
        taught = teach(service, 200, 400, False)
    except OSError:
        taught = False
    code = service.process.wait(30)
    got = lines_of(heard)
    service.end()
    verdict(not taught and [one["alarm"] for one in got] == ["failure"] and "the learner failed: " in got[0]["message"] and
            "File too large" in got[0]["message"], "a learner that cannot write is an alarm, with the reason", taught, got)
    verdict(code == 1 and "File too large" in service.errors, "and the service ends", code, service.errors)


def failed_checkpoint(retain, folder, heard):
    """A checkpoint that cannot be written, alone: what was acknowledged is in the journal all the same."""
    out = os.path.join(folder, "checkpoint")
    common = ["--out", out, "--listen", "127.0.0.1:0", "--set", "run.checkpoint_every=20 steps"]
    service = Service(retain, *common, "--set", f"alarm.exec=cat >> {heard}")
    teach(service, 0, 60, False)
    away = os.path.join(out, "checkpoint")
    os.rename(away, away + "-away")
    open(away, "w").close()
    told = 60
    try:
        while told < 400 and teach(service, told, 1, False):
            told += 1
    except OSError:
        pass
    code = service.process.wait(30)
    got = lines_of(heard)
    service.end()
    verdict(code == 1 and told < 400 and [one["alarm"] for one in got] == ["failure"] and away in got[0]["message"],
            "a checkpoint that fails is an alarm that names it", code, told, got)
    os.remove(away)
    os.rename(away + "-away", away)
    service = Service(retain, *common)
    until(lambda: samples(service) >= told)
    verdict(samples(service) in (told, told + 1) and service.end() == 0, "and nothing acknowledged is lost", told)


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
    well = True
    for turn in range(20):  # until the bell, which looks four times a second, has seen the accuracy low
        if running(marker):
            break
        well = teach(service, 4000 + 300 * turn, 300, turn % 2 == 0) and well
        time.sleep(0.3)
    well = teach(service, 20000, 1500, False) and well
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
    full_queue(retain, folder, os.path.join(folder, "heard-queue"))
    failed_learner(retain, folder, os.path.join(folder, "heard-failure"))
    failed_checkpoint(retain, folder, os.path.join(folder, "heard-checkpoint"))
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
