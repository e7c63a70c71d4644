#!/usr/bin/env python3
"""usage: tests/serve/hostile_leader.py RETAIN

A follower of a leader that means no good, or dies: answers without end, in drops, cut short, with headers that make no sense, and
archives of other learners in turn while clients ask. The last copy goes on answering, and nothing grows without bounds. Prints TAP.
"""
import contextlib
import http.server
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import threading
import time

from service import Service
from tap import plan, skip, verdict

MOST = 8 << 20


class Leader(http.server.BaseHTTPRequestHandler):
    """Says what `plan` is at the moment; counts what is asked, and what was sent."""
    plan, asked, sent, tags = None, 0, 0, []
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def do_GET(self):
        Leader.asked += 1
        Leader.tags.append(self.headers.get("If-None-Match"))
        self.close_connection = True
        try:
            Leader.plan(self)
        except OSError:
            pass

    def send(self, data):
        self.wfile.write(data)
        Leader.sent += len(data)


def archive(data):
    def say(leader):
        leader.head(200, Content_Length=len(data), ETag='"%d"' % Leader.asked, Retain_Samples="9", Retain_Copy_Samples="9")
        leader.send(data)
    return say


def without_end(leader):
    """A body of which nobody said how long it is."""
    leader.head(200, Transfer_Encoding="chunked")
    while True:
        leader.send(b"100000\r\n" + bytes(1 << 20) + b"\r\n")


def too_long(leader):
    leader.head(200, Content_Length=1 << 40)
    while True:
        leader.send(bytes(1 << 20))


def in_drops(leader):
    leader.head(200, Content_Length=1 << 20)
    while True:
        leader.send(b"x")
        time.sleep(0.05)


def dies(data):
    def say(leader):
        leader.head(200, Content_Length=len(data))
        leader.send(data[:len(data) // 2])
    return say


def empty(leader):
    leader.head(200, Content_Length=0)


def odd_headers(leader):
    leader.head(200, ETag='"\\"\\\\\\n -o /nowhere' + "x" * 5000, Retain_Samples="nan", Retain_Copy_Samples="1e999", Content_Length=3)
    leader.send(b"abc")


def many_headers(leader):
    leader.send_response(200)
    for i in range(20000):
        leader.send_header("X-%d" % i, "x" * 1000)
    leader.end_headers()


def elsewhere(leader):
    leader.head(302, Location="file:///etc/passwd", Content_Length=0)


def hinted(data):
    """With an answer before the answer, as proxies may send."""
    def say(leader):
        leader.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        archive(data)(leader)
    return say


def tar_of(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def serving(retain, folder, row, label, *words):
    """What a leader of such rows gives to its followers."""
    service = Service(retain, "--out", folder, "--listen", "127.0.0.1:0", *words)
    lines = "".join(json.dumps({"id": i, "input": row(i), "label": label(i)}) + "\n" for i in range(60))
    assert service.ask("POST", "/v1/samples", lines)[0] == 200
    status, _, data = service.ask("GET", "/v1/serving.tar")
    assert status == 200 and service.end() == 0, service.errors
    return data


def health(service):
    return json.loads(service.get("/v2/health/ready")[1])


def answers(service):
    return service.post("/v1/predict", {"input": {"age": 40, "city": "Rome"}})


def asked(times, seconds=30):
    """Waits until the leader was asked so often again."""
    end, first = time.monotonic() + seconds, Leader.asked
    while Leader.asked < first + times and time.monotonic() < end:
        time.sleep(0.02)


def size_of(folder):
    """Of its files, some of which may go meanwhile."""
    size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                size += os.path.getsize(os.path.join(path, name))
    return size


def count(service, name):
    return next(float(line.split()[-1]) for line in service.get("/metrics")[1].decode().splitlines() if line.startswith(name))


def attack(follower, folder, leader, name, why):
    """The last copy answers as before, the reason is said, and the disk has no more than is allowed."""
    was, most, end, first = answers(follower), 0, time.monotonic() + 40, count(follower, "retain_follow_failures_total")
    Leader.plan = leader
    while count(follower, "retain_follow_failures_total") == first and time.monotonic() < end:
        most = max(most, size_of(folder))
        time.sleep(0.01)
    state = health(follower)
    verdict(was[0] == 200 and answers(follower) == was and not state["leader_up"] and why in state["why"] and most <= 4 * MOST,
            "%s: the last copy goes on" % name, was, state, most)


def recovers(follower, data):
    Leader.plan, end = archive(data), time.monotonic() + 90
    while not health(follower)["leader_up"] and time.monotonic() < end:
        time.sleep(0.05)
    return health(follower)["leader_up"]


def others(follower, archives):
    """Learners of other inputs and targets in turn, under questions of all kinds."""
    over, seen, odd = threading.Event(), set(), []

    def ask(row):
        while not over.is_set():
            status, got = follower.post("/v1/predict?top=2", [{"input": row}] * 5)
            seen.add((status, str(got)[:40]))
            if status not in (200, 400):
                odd.append((status, got))
            if follower.get("/v2/models/retain")[0] != 200:
                odd.append("no model")

    clients = [threading.Thread(target=ask, args=(row,)) for row in ({"age": 40, "city": "Rome"}, [1, 2], {"x": 1})]
    for client in clients:
        client.start()
    before = health(follower)
    for data in archives[1:] + archives[:1]:
        Leader.plan = archive(data)
        asked(2)
    over.set()
    for client in clients:
        client.join()
    verdict(not odd and len({status for status, _ in seen}) == 2 and follower.process.poll() is None,
            "another learner's copy is taken up between two questions", odd[:3], before, health(follower), list(seen)[:5])


def main():
    retain = os.path.abspath(sys.argv[1])
    if not shutil.which("curl"):
        skip("a hostile leader", "there is no curl")
        return plan()
    top = tempfile.mkdtemp(prefix="retain-leader-")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Leader)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    table = serving(retain, top + "/table", lambda i: {"age": i, "city": ["Rome", "Oslo"][i % 2]}, lambda i: "yes" if i > 30 else "no")
    archives = [table, serving(retain, top + "/plain", lambda i: [i, i % 3], lambda i: "abc"[i % 3]),
                serving(retain, top + "/number", lambda i: {"x": i}, lambda i: i * 1.5, "--target", "number")]
    folder = top + "/copy"
    Leader.plan = archive(table)
    follower = Service(retain, "--follow", "http://127.0.0.1:%d" % server.server_port, "--listen", "127.0.0.1:0", "--out", folder,
                       "--set", "serve.follow_most=%d" % MOST)
    evil = tar_of(("../../evil", b"x"), (top + "/evil", b"x"), ("version.json", b"{}"))
    for leader, name, why in ((without_end, "a body without end", "serve.follow_most"), (too_long, "a length beyond the limit", "file size"),
                              (dies(table), "a death midway", "curl: (18)"), (empty, "an empty body", "version.json"),
                              (odd_headers, "odd headers", "archive ends"), (many_headers, "20 MB of headers", "curl"),
                              (elsewhere, "another place", "is not the address"), (archive(evil), "members elsewhere", "version.json")):
        attack(follower, folder, leader, name, why)
    verdict(not os.path.exists(top + "/evil") and size_of(folder) <= MOST, "they leave nothing behind", os.listdir(top), os.listdir(folder))
    verdict(Leader.sent < 20 * MOST, "it did not ask for endless answers over and over", Leader.sent)
    verdict(recovers(follower, table), "a leader that is well again is followed", health(follower))
    Leader.plan = hinted(table)
    asked(2)
    verdict(health(follower)["leader_up"], "an early hint before the answer is none", health(follower))
    others(follower, archives)
    recovers(follower, table)
    Leader.plan = in_drops
    asked(1)
    began = time.monotonic()
    verdict(follower.end() == 0 and time.monotonic() - began < 10 and "runtime error" not in follower.errors,
            "it ends while answers come in drops", time.monotonic() - began, follower.errors)
    verdict(not os.path.exists(folder + "/coming.tar"), "and leaves no part of one", os.listdir(folder))
    server.shutdown()
    shutil.rmtree(top)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
