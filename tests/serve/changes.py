#!/usr/bin/env python3
"""usage: tests/serve/changes.py RETAIN [SECONDS]

Operators and clients at once: versions are made, served, rolled back, compared and dropped, shadows promoted, labels corrected,
samples forgotten, everything exported, backed up and followed, while others predict, label and send packed samples. Every request
is answered, nothing acknowledged is lost, and the service ends in good order. In suite threads, so that ThreadSanitizer sees
it. Prints TAP.
"""
import gzip
import http.client
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

from service import Service
from tap import plan, verdict

CONFIG = """[model]
arch = mlp:8
classes = 3
input = 2
[stdin]
per_step = 4
[run]
iterations = 2
"""
SHADOW = "[schedule]\nrate = 0.1\n"
GZIP = {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"}


class Crowd:
    """Clients of one service, and what it has acknowledged."""

    def __init__(self, service, seed):
        self.service, self.rng, self.lock = service, random.Random(seed), threading.Lock()
        self.known, self.forgotten, self.odd, self.counts = set(), set(), [], {}
        self.over, self.at = threading.Event(), 0

    def name(self):
        with self.lock:
            self.at += 1
            return "s%d" % self.at

    def some(self):
        with self.lock:
            return self.rng.choice(sorted(self.known)) if self.known else "s1"

    def acknowledge(self, words):
        got = [json.loads(line) for line in words.splitlines()]
        with self.lock:
            self.known |= {line["id"] for one in got for line in (one if isinstance(one, list) else [one]) if "sample" in line}

    def samples(self, ask):
        lines = "".join(json.dumps({"id": self.name(), "input": [i % 3, 1], "label": i % 3, "weight": 1 + i % 2}) + "\n" for i in range(20))
        status, words = ask("POST", "/v1/samples", gzip.compress(lines.encode()), GZIP)
        if status == 200:
            self.acknowledge(words)

    def label(self, ask):
        name = self.name()
        if ask("POST", "/v1/predict", json.dumps({"id": name, "input": [1, 2]}))[0] == 200:
            status, words = ask("POST", "/v1/label", json.dumps({"id": name, "label": 1}))
            if status == 200:
                self.acknowledge(words)

    def predict(self, ask):
        ask("POST", "/v1/predict?top=2", json.dumps([{"input": [i, 2]} for i in range(40)]))
        ask("POST", "/v2/models/retain/infer",
            json.dumps({"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}))

    def read(self, ask):
        for path in "/v1/versions", "/v1/state", "/metrics", "/data.json", "/v2/models/retain", "/v1/serving.tar", "/v1/export", "/v1/export?format=npz":
            ask("GET", path)

    def version(self, ask):
        name = "v%d" % self.rng.randrange(4)
        for method, path, body in (("POST", "/v1/versions", json.dumps({"name": name})), ("POST", "/v1/versions/%s/serve" % name, ""),
                                   ("GET", "/v1/versions/%s" % name, None), ("GET", "/v1/versions/v0?from=v1", None),
                                   ("POST", "/v2/models/retain/versions/%s/infer" % name,
                                    json.dumps({"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]})),
                                   ("POST", "/v1/rollback", ""), ("POST", "/v1/versions/other/serve", ""),
                                   ("POST", "/v1/versions/live/serve", ""), ("DELETE", "/v1/versions/%s" % name, None)):
            ask(method, path, body, may=(400, 404, 409))

    def save(self, ask):
        ask("POST", "/v1/save", "")
        ask("POST", "/v1/backup", "", may=(409,))

    def correct(self, ask):
        ask("PUT", "/v1/label", json.dumps({"id": self.some(), "label": self.rng.randrange(3)}), may=(400,))

    def forget(self, ask):
        """Who is forgotten is known to be gone once it is said; if the answer is lost it may be."""
        name = self.some()
        with self.lock:
            self.forgotten.add(name)
        ask("DELETE", "/v1/samples/" + name, may=(404, 409))

    def run(self, deed):
        connection = self.service.connection(100)

        def ask(method, path, body=None, headers=None, may=()):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            words = answer.read()
            if answer.getheader("Content-Encoding") == "gzip":
                words = gzip.decompress(words)
            with self.lock:
                self.counts[answer.status] = self.counts.get(answer.status, 0) + 1
                if answer.status not in (200, 503, *may):
                    self.odd.append((method, path, answer.status, words[:200]))
            return answer.status, words

        while not self.over.is_set():
            try:
                deed(ask)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if not self.over.is_set():
                    self.odd.append((deed.__name__, repr(error)))
                    return


def at_once(retain, folder, seconds, deeds, *words):
    """Everything at the same time, until SIGTERM in the midst of it; then what was acknowledged is there."""
    start = (retain, folder + ".ini", "--out", folder, "--listen", "127.0.0.1:0", "--set", "serve.access_log=%s.log" % folder, *words)
    service = Service(*start)
    crowd = Crowd(service, 1)
    crowd.samples(lambda *a: service.ask(*a)[::2])
    follower = Service(retain, "--follow", "http://127.0.0.1:%d" % service.port, "--listen", "127.0.0.1:0") if shutil.which("curl") else None
    clients = [threading.Thread(target=crowd.run, args=(getattr(crowd, deed),)) for deed in deeds]
    for client in clients:
        client.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end and service.process.poll() is None:
        if follower:
            follower.post("/v1/predict", {"input": [1, 2]})
        time.sleep(0.02)
    crowd.over.set()
    code = service.end()
    for client in clients:
        client.join()
    verdict(code == 0 and "Sanitizer" not in service.errors and not crowd.odd and len(crowd.known) > 20,
            "%s at once: %s" % (", ".join(deeds), crowd.counts), code, service.errors[-6000:], crowd.odd[:5])
    if follower:
        verdict(follower.end() == 0 and "Sanitizer" not in follower.errors, "and a follower", follower.errors[-6000:])
    again = Service(*start)
    there = {row["id"] for row in map(json.loads, again.get("/v1/export")[1].splitlines())}
    missing = crowd.known - crowd.forgotten - there
    verdict(not missing and again.end() == 0, "%d were acknowledged, and are there" % len(crowd.known), sorted(missing)[:9], again.errors[-3000:])


def main():
    retain, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 3
    top = tempfile.mkdtemp(prefix="retain-changes-")
    for name, words in ("one.ini", CONFIG), ("two.ini", CONFIG), ("other.ini", SHADOW):
        with open(os.path.join(top, name), "w", encoding="utf-8") as file:
            file.write(words)
    usual = ("samples", "label", "predict", "read", "save")
    at_once(retain, top + "/one", seconds, (*usual, "version", "version"), "--set", "serve.shadow=%s/other.ini,sgd+clr" % top, "--set",
            "versions.promote=better by 0 points over 50 labels, p < 0.9", "--set", "versions.every=100 samples", "--set", "versions.keep=2")
    at_once(retain, top + "/two", seconds, (*usual, "version", "correct", "forget"))
    shutil.rmtree(top)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
