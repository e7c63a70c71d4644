#!/usr/bin/env python3
"""usage: tests/serve/follow.py RETAIN

Followers (retain serve --follow): three of them answer as their leader does, by what it learns and by the version it
serves; refuse what would teach; go on when the leader is killed, start without it, and catch up when it is back. Prints TAP.
"""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from service import Service
from tap import plan, skip, verdict

ROWS = [{"age": 20 + 7 * i, "city": city} for i, city in enumerate(["Rome", "Oslo", "Lima", "Rome", "Oslo"])]
READ = {"Authorization": "Bearer " + "r" * 20}
FULL = {"Authorization": "Bearer " + "f" * 20}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(found, seconds=30):
    end = time.monotonic() + seconds
    while not (got := found()) and time.monotonic() < end:
        time.sleep(0.05)
    return got


class Leader:
    """On one port, with tokens, killed and started again."""
    def __init__(self, retain, top, *words):
        self.port, self.top = free_port(), top
        for name, token in ("full", "f" * 20), ("read", "r" * 20):
            with open(os.path.join(top, name), "w", encoding="utf-8") as file:
                file.write(token + "\n")
        self.words = [retain, "--out", os.path.join(top, "lead"), "--listen", "127.0.0.1:%d" % self.port, "--set",
                      "serve.token_file=" + os.path.join(top, "full"), "--set",
                      "serve.read_token_file=" + os.path.join(top, "read"), *words]
        self.url = "http://127.0.0.1:%d" % self.port
        self.start()

    def start(self):
        self.service = Service(*self.words)

    def ask(self, method, path, body=None):
        return self.service.ask(method, path, body if body is None or isinstance(body, str) else json.dumps(body), FULL)

    def samples(self):
        return json.loads(self.ask("GET", "/v1/state")[2])["samples"]

    def teach(self, first, count, turned=False, number=False):
        rng = random.Random(first)
        lines = []
        for i in range(first, first + count):
            row = {"age": rng.randrange(20, 70), "city": rng.choice(["Rome", "Oslo", "Lima"])}
            label = row["age"] * 2.5 if number else "yes" if (row["age"] > 45) != turned else "no"
            lines.append(json.dumps({"id": "s%d" % i, "input": row, "label": label}))
        status, _, body = self.ask("POST", "/v1/samples", "\n".join(lines) + "\n")
        assert status == 200, body


def follow(retain, leader, *words):
    return Service(retain, "--follow", leader.url, "--listen", "127.0.0.1:0", "--set",
                   "serve.token_file=" + os.path.join(leader.top, "read"), *words)


def answers(service, question="now"):
    status, _, body = service.ask("POST", "/v1/predict?for=" + question, json.dumps([{"input": row} for row in ROWS]), READ)
    return (status, json.loads(body)) if status == 200 else (status, body)


def infer(service):
    body = {"inputs": [{"name": "age", "shape": [5], "datatype": "FP32", "data": [row["age"] for row in ROWS]},
                       {"name": "city", "shape": [5], "datatype": "BYTES", "data": [row["city"] for row in ROWS]}]}
    status, _, got = service.ask("POST", "/v2/models/retain/infer", json.dumps(body), READ)
    return status, json.loads(got).get("outputs")


def metric(service, name):
    for line in service.ask("GET", "/metrics", headers=READ)[2].decode().splitlines():
        if line.startswith(name):
            return float(line.split()[-1])
    return None


def health(service):
    return json.loads(service.get("/v2/health/ready")[1])


def equal(leader, followers):
    """Once all of them have all that the leader has learned."""
    return until(lambda: all(metric(f, "retain_follow_samples") == leader.samples() and
                             metric(f, "retain_follow_lag_samples") == 0 for f in followers) and
                 all(ask(f) == ask(leader.service) and ask(f)[0] == 200 for f in followers
                     for ask in (answers, lambda s: answers(s, "ever"), infer)))


def refuses(follower, leader):
    asked = [("POST", "/v1/label", {"id": "s1", "label": "no"}), ("POST", "/v1/samples", {"id": "x", "input": ROWS[0]}),
             ("POST", "/v1/predict", {"id": "x", "input": ROWS[0]}), ("POST", "/v1/versions", {"name": "x"}),
             ("POST", "/v1/rollback", None), ("POST", "/v1/save", None), ("GET", "/v1/serving.tar", None)]
    got = [follower.ask(method, path, body and json.dumps(body), READ) for method, path, body in asked]
    verdict(all(status == 403 and leader.url in json.loads(words)["error"] for status, _, words in got),
            "labels and changes are refused, and the leader named", got)
    status, _, page = follower.ask("GET", "/", headers=READ)
    verdict(status == 200 and leader.url.encode() in page, "the page names the leader", status)
    state = json.loads(follower.get("/v1/state", **READ)[1])
    verdict(state["state"] == "follows" and state["samples"] == leader.samples(), "/v1/state says whom it follows", state)


def costs_little(followers, leader):
    """Who has the newest copy downloads nothing, however often it asks."""
    before = [metric(f, "retain_follow_copies_total") for f in followers]
    asked = metric(leader.service, 'retain_requests_total{route="/v1/serving.tar",status="3xx"}') or 0
    time.sleep(1.5)
    after = [metric(f, "retain_follow_copies_total") for f in followers]
    more = (metric(leader.service, 'retain_requests_total{route="/v1/serving.tar",status="3xx"}') or 0) - asked
    verdict(before == after and more > 2, "an unchanged copy is not fetched again", before, after, more)


def by_version(leader, followers):
    leader.ask("POST", "/v1/versions", {"name": "monday"})
    was = answers(leader.service)
    leader.teach(1000, 300, turned=True)
    verdict(equal(leader, followers) and answers(followers[0]) != was, "what the leader learns comes to all")
    leader.ask("POST", "/v1/versions/monday/serve")
    verdict(until(lambda: all(answers(f) == was for f in followers)), "a version that serves answers here, too",
            [answers(f) for f in followers], was)
    verdict(until(lambda: all(metric(f, "retain_follow_lag_samples") == 0 for f in followers)), "and is no lag")
    leader.ask("POST", "/v1/rollback")
    verdict(equal(leader, followers), "and the learner after a rollback")


def while_dead(retain, leader, followers, folder):
    was = answers(followers[0])
    leader.service.end(signal.SIGKILL)
    verdict(until(lambda: all(health(f)["leader_up"] is False for f in followers)), "the leader's death is in the health")
    lag = metric(followers[0], "retain_follow_lag_seconds")
    time.sleep(0.5)
    verdict(all(metric(f, "retain_follow_up") == 0 for f in followers) and
            metric(followers[0], "retain_follow_lag_seconds") > lag + 0.4, "and in /metrics, with a lag that grows")
    verdict(all(answers(f) == was for f in followers), "the last copy goes on answering")
    verdict(followers[0].end() == 0 and "goes on answering" in followers[0].errors, "it was said once",
            followers[0].errors)
    followers[0] = follow(retain, leader, "--out", folder)
    verdict(answers(followers[0]) == was, "one that starts meanwhile answers by what it had", answers(followers[0]), was)


def without_copy(retain, leader):
    words = [retain, "serve", "--follow", leader.url, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        service = Service.__new__(Service)
        service.process, service.path = process, None
        service.port = int(re.search(r":(\d+)", process.stdout.readline())[1])
        ready, asked = service.get("/v2/health/ready"), service.post("/v1/predict", {"input": ROWS[0]})
        verdict(ready[0] == 503 and asked[0] == 503 and leader.url in asked[1]["error"], "one without a copy is not ready",
                ready, asked)
        process.terminate()


def wrong(retain, leader, top):
    bad = os.path.join(top, "bad")
    with open(bad, "w", encoding="utf-8") as file:
        file.write("x" * 20)
    follower = follow(retain, leader, "--out", os.path.join(top, "one"), "--set", "serve.token_file=" + bad)
    verdict(until(lambda: "401" in health(follower).get("why", "")), "a token that is refused is said", health(follower))
    follower.end()
    for words, why in ((["--follow", "ftp://x"], "serve.follow = ftp://x"),
                       (["--follow", leader.url, "--out", os.path.join(top, "lead")], "holds a learner")):
        done = subprocess.run([retain, "serve", "--listen", "127.0.0.1:0", *words], capture_output=True, text=True,
                              timeout=60)
        verdict(done.returncode == 2 and why in done.stderr, "refused: " + why, done)
    with open(os.path.join(top, "one", "serving.tar"), "r+b") as file:
        file.seek(20000)
        file.write(b"damage")
    follower = follow(retain, leader, "--out", os.path.join(top, "one"))
    verdict(equal(leader, [follower]), "a damaged archive is fetched anew")
    verdict(follower.end() == 0 and "warning" in follower.errors, "and said", follower.errors)


def by_shadow(retain, top):
    leader = Leader(retain, top, "--set", "serve.shadow=sgd+clr")
    leader.teach(0, 300)
    status, _, got = leader.ask("POST", "/v1/versions/sgd-clr/serve")
    follower = follow(retain, leader)
    verdict(status == 200 and equal(leader, [follower]), "a shadow that learns and answers is followed", status, got,
            answers(follower), answers(leader.service))
    follower.end()
    leader.service.end()


def by_number(retain, top):
    leader = Leader(retain, top, "--target", "number")
    leader.teach(0, 300, number=True)
    follower = follow(retain, leader)
    verdict(equal(leader, [follower]) and "high" in answers(follower)[1][0], "numbers are followed",
            answers(follower), answers(leader.service))
    follower.end()
    leader.service.end()


def main():
    retain = os.path.abspath(sys.argv[1])
    if not shutil.which("curl"):
        skip("a follower answers as its leader", "there is no curl")
        return plan()
    top = tempfile.mkdtemp(prefix="retain-follow-")
    for name in "main", "shadow", "number":
        os.mkdir(os.path.join(top, name))
    own = os.path.join(top, "main")
    leader = Leader(retain, own)
    leader.teach(0, 500)
    followers = [follow(retain, leader, "--out", os.path.join(own, name)) for name in ("one", "two")]
    followers.append(follow(retain, leader))
    verdict(equal(leader, followers), "three followers answer as their leader", [answers(f) for f in followers])
    refuses(followers[0], leader)
    costs_little(followers, leader)
    by_version(leader, followers)
    while_dead(retain, leader, followers, os.path.join(own, "one"))
    without_copy(retain, leader)
    leader.start()
    leader.teach(2000, 300, turned=True)
    verdict(equal(leader, followers), "when it is back they catch up", [health(f) for f in followers])
    verdict(all(f.end() == 0 for f in followers), "they end in good order")
    wrong(retain, leader, own)
    leader.service.end()
    by_shadow(retain, os.path.join(top, "shadow"))
    by_number(retain, os.path.join(top, "number"))
    shutil.rmtree(top)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
