#!/usr/bin/env python3
"""usage: tests/serve/stops.py RETAIN [ROUNDS]

SIGTERM while HTTP and lines are busy, at any moment, and with few descriptors: the service ends
in good order each time, and what it acknowledged is there at the next start. In suite threads,
so that ThreadSanitizer sees a service at work. Prints TAP.
"""
import http.client
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from service import CONFIG, Service
from tap import plan, verdict


def few_descriptors(many):
    resource.setrlimit(resource.RLIMIT_NOFILE, (many, many))


class Few(Service):
    """A service that may have so many descriptors, here and for good."""

    def __init__(self, many, *words):
        popen = subprocess.Popen
        subprocess.Popen = lambda *a, **b: popen(*a, preexec_fn=lambda: few_descriptors(many), **b)
        try:
            super().__init__(*words)
        finally:
            subprocess.Popen = popen


def send_lines(service, name, acknowledged, stop):
    try:
        with socket.create_connection(("127.0.0.1", int(service.lines.rpartition(":")[2])), 30) as s:
            reader = s.makefile()
            for i in range(100000):
                if stop.is_set():
                    break
                s.sendall(b'{"id": "%s-%d", "input": [%d, 1], "label": %d}\n' % (name.encode(), i, i % 3, i % 3))
                for _ in range(2):
                    got = json.loads(reader.readline() or "{}")
                    if "sample" in got:
                        acknowledged[got["sample"]] = got["id"]
    except (OSError, ValueError):
        pass


def ask(service, name, acknowledged, stop, failures):
    i = 0
    while not stop.is_set():
        try:
            connection = service.connection(30)
            while not stop.is_set():
                i += 1
                path, body = random.choice((
                    ("/v1/predict", '{"input": [1, 2]}'), ("/v1/predict?top=3", '[{"input": [1, 2]}, {"input": [2, 2]}]'),
                    ("/v1/samples", '{"id": "%s-%d", "input": [1, 2], "label": 1}\n' % (name, i)), ("/v1/state", None),
                    ("/metrics", None), ("/v1/save", ""), ("/data.json", None), ("/v1/model.safetensors", None),
                    ("/v2/models/retain/infer", json.dumps({"inputs": [
                        {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}))))
                connection.request("GET" if body is None else "POST", path, body)
                answer = connection.getresponse()
                words = answer.read()
                if answer.status not in (200, 429, 503):
                    failures.append((path, answer.status, words[:200]))
                for line in words.splitlines() if path == "/v1/samples" and answer.status == 200 else ():
                    got = json.loads(line)
                    if "sample" in got:
                        acknowledged[got["sample"]] = got["id"]
        except (OSError, http.client.HTTPException):
            time.sleep(0.01)


def round_of(retain, folder, number, least=0):
    words = (retain, os.path.join(folder, "shop.ini"), "--out", os.path.join(folder, "shop"), "--listen", "127.0.0.1:0",
             "--set", "serve.lines=127.0.0.1:0")
    service = Service(*words)
    acknowledged, failures, stop = {}, [], threading.Event()
    crowd = [threading.Thread(target=send_lines, args=(service, "l%d-%d" % (number, i), acknowledged, stop)) for i in range(3)]
    crowd += [threading.Thread(target=ask, args=(service, "h%d-%d" % (number, i), acknowledged, stop, failures))
              for i in range(3)]
    for one in crowd:
        one.start()
    until = time.monotonic() + 60
    time.sleep(random.uniform(0.2, 1.2))
    while len(acknowledged) < least and time.monotonic() < until:
        time.sleep(0.1)
    if number % 3 == 2:
        service.post("/v1/pause", "")
        time.sleep(0.1)
    service.process.send_signal(signal.SIGTERM)
    try:
        code = service.process.wait(120)
    except subprocess.TimeoutExpired:
        code = "still there"
        service.process.kill()
    stop.set()
    for one in crowd:
        one.join(40)
    service.end()
    verdict(code == 0 and "Sanitizer" not in service.errors and not failures,
            "round %d ends in good order, %d acknowledged" % (number, len(acknowledged)), code, service.errors[-3000:],
            failures[:3])
    return acknowledged


def stops(retain, folder, rounds):
    acknowledged = {}
    for number in range(rounds):
        acknowledged.update(round_of(retain, folder, number))
    if not acknowledged:  # the machine was too busy for any of them
        acknowledged.update(round_of(retain, folder, rounds, 20))
    service = Service(retain, os.path.join(folder, "shop"), "--listen", "127.0.0.1:0")
    samples = json.loads(service.get("/v1/state")[1])["samples"]
    again = acknowledged.get(max(acknowledged))
    got = [service.post("/v1/label", {"id": again, "label": label})[1] for label in range(3)]
    verdict(max(acknowledged) in [one.get("sample") for one in got], "what was acknowledged is there", again, samples, got)
    verdict(service.end() == 0 and "Sanitizer" not in service.errors, "to its end", service.errors[-3000:])


def is_short_of_descriptors(retain, folder):
    service = Few(256, retain, "--out", os.path.join(folder, "few"), "--listen", "127.0.0.1:0", "--set",
                  "serve.lines=127.0.0.1:0")
    place = "127.0.0.1", int(service.lines.rpartition(":")[2])
    with socket.create_connection(place, 20) as s:
        s.sendall(b'{"id": 1, "input": [1, 2], "label": 1}\n')
        got = s.makefile().readline()
    verdict("prediction" in got, "lines are answered where descriptors are fewer than serve.connections", got)
    idle = [socket.create_connection(place, 20) for _ in range(300)]
    idle += [socket.create_connection(("127.0.0.1", service.port), 20) for _ in range(300)]
    time.sleep(0.5)
    ticks = lambda: sum(map(int, open("/proc/%d/stat" % service.process.pid).read().rpartition(")")[2].split()[11:13]))
    before = ticks()
    time.sleep(1)
    used = (ticks() - before) / os.sysconf("SC_CLK_TCK")
    verdict(used < 0.5, "clients beyond them do not keep it busy", "%g s in a second" % used)
    for one in idle[300:]:
        one.close()
    until, status = time.monotonic() + 60, 429
    while status == 429 and time.monotonic() < until:  # until it has seen that they are gone
        time.sleep(0.2)
        try:
            status = service.post("/v1/save", "")[0]
        except (OSError, http.client.HTTPException):  # it had no descriptor for us
            pass
    alive = [service.get("/v2/health/live")[0] for _ in range(20)]
    code = service.end()
    verdict(status == 200 and code == 0, "and a checkpoint finds one", status, code, service.errors[-500:])
    verdict(alive == 20 * [200], "none of its threads got stuck", alive)
    for one in idle[:300]:
        one.close()


def main(retain, rounds):
    folder = tempfile.mkdtemp(prefix="retain-stops-")
    with open(os.path.join(folder, "shop.ini"), "w") as file:
        file.write(CONFIG)
    try:
        stops(retain, folder, rounds)
        is_short_of_descriptors(retain, folder)
    finally:
        shutil.rmtree(folder)
    return plan()


random.seed(7)
sys.exit(main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4))
