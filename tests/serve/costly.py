#!/usr/bin/env python3
"""usage: tests/serve/costly.py RETAIN

Requests that cost much more than their bytes show: others, health above all, must not wait for
them, and what is out of all proportion is refused. Prints TAP.
"""
import json
import os
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time

from service import CONFIG, new
from tap import plan, verdict

CLASSES = 5000


def lists(service):
    """Predictions of many inputs among many classes."""
    body = json.dumps([{"input": [i, 1]} for i in range(600)])
    return service.ask("POST", "/v1/predict?top=100", body)[0]


def tensors(service):
    shape = [600, 2]
    question = {"inputs": [{"name": "x", "shape": shape, "datatype": "FP32", "data": [1] * 1200}],
                "outputs": [{"name": "probabilities", "parameters": {"binary_data": True}}]}
    return service.ask("POST", "/v2/models/retain/infer", json.dumps(question))[0]


def pages(service):
    return service.ask("GET", "/data.json")[0]


def events(service):
    connection = service.connection(60)
    connection.request("GET", "/v1/events")
    answer = connection.getresponse()
    answer.readline()
    connection.close()
    return answer.status


def health(service, stop, took):
    connection = service.connection(60)
    while not stop.is_set():
        begun = time.monotonic()
        try:
            connection.request("GET", "/v2/health/live")
            connection.getresponse().read()
        finally:
            took.append(time.monotonic() - begun)
        time.sleep(0.005)
    connection.close()


def models(service):
    return service.ask("GET", "/v2/models/retain")[0]


def versions(service):
    return service.ask("GET", "/v1/versions")[0]


def keeps_health(service, asks, what, most=2):
    stop, took, statuses = threading.Event(), [], []
    threads = [threading.Thread(target=lambda ask=ask: statuses.append(ask(service))) for ask in asks]
    watch = threading.Thread(target=health, args=(service, stop, took))
    watch.start()
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    stop.set()
    watch.join(60)
    verdict(len(statuses) == len(asks) and set(statuses) <= {200, 503} and 200 in statuses, "%s are answered" % what, statuses)
    # The bound is for a machine that is free; this one may have others at work.
    verdict(statistics.median(took) < 0.1 and max(took) < most, "and health meanwhile, at once",
            "median %.4f s, most %.3f s of %d" % (statistics.median(took), max(took), len(took)))


def many_versions(service, folder):
    """Thousands of versions are listed by those who ask for them, not by who asks for health."""
    status = service.post("/v1/versions", {"name": "first"})[0]
    above = os.path.join(folder, "shop", "versions")
    for i in range(6000):
        os.mkdir(os.path.join(above, "v%d" % i))
        os.link(os.path.join(above, "first", "version.json"), os.path.join(above, "v%d" % i, "version.json"))
    count = len(json.loads(service.get("/v1/versions")[1])["versions"])
    verdict(status == 200 and count == 6001, "thousands of versions are listed", status, count)
    keeps_health(service, (models,) * 16 + (versions,) * 4, "lists of thousands of versions", 1)


def bounds_outputs(service):
    question = {"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}],
                "outputs": [{"name": "probabilities"}] * 60}
    status, got = service.post("/v2/models/retain/infer", question)
    verdict(status == 400 and "twice" in got["error"], "an output is said once", status)
    begun = time.monotonic()
    question["outputs"] = [{"name": "probabilities"}, {"name": "label"}]
    status, got = service.post("/v2/models/retain/infer", question)
    total = sum(got["outputs"][0]["data"])
    verdict(status == 200 and abs(total - 1) < 1e-3 and len(got["outputs"][0]["data"]) == CLASSES and
            time.monotonic() - begun < 2, "probabilities of all classes, in time that grows with their number", total)


def takes_bytes_in_chunks(service):
    """A long line that comes a byte a chunk costs as much as its bytes."""
    size = 300000
    line = b'{"id": "c", "input": [1, 2]' + b" " * (size - 28) + b"}"
    with socket.create_connection(("127.0.0.1", service.port), 60) as s:
        s.sendall(b"POST /v1/samples HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n" % service.port)
        begun = ticks(service)
        s.sendall(b"".join(b"1\r\n%c\r\n" % byte for byte in line) + b"0\r\n\r\n")
        got = s.makefile("rb").read()
    spent = (ticks(service) - begun) / os.sysconf("SC_CLK_TCK")
    verdict(b"prediction" in got and spent < 3, "a long line, a byte a chunk", "%g s" % spent, got[-300:])


def bounds_memory(retain, folder):
    """Bodies that are announced and never end take what serve.memory allows, and no more."""
    os.makedirs(os.path.join(folder, "memory"))
    service = new(os.path.join(folder, "memory"), retain, "--set", "serve.memory=67108864")
    before = most_memory(service)
    crowd, refused = [], 0
    for _ in range(30):
        one = socket.create_connection(("127.0.0.1", service.port), 20)
        one.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 16000000\r\n\r\n" % service.port +
                    b" " * 15000000)
        crowd.append(one)
    time.sleep(0.5)
    more = most_memory(service) - before
    verdict(more < 160 << 10, "450 MB of unfinished bodies do not take them", "%d kB" % more)
    status = service.get("/v2/health/live")[0]
    for one in crowd:
        one.sendall(b" " * 1000000)
    statuses = [int(one.recv(20).split()[1]) for one in crowd]
    for one in crowd:
        one.close()
    verdict(status == 200 and set(statuses) == {400, 503}, "who is too much gets 503", status, statuses)
    time.sleep(0.3)
    metrics = service.get("/metrics")[1].decode()
    held = [int(line.split()[1]) for line in metrics.splitlines() if line.startswith("retain_memory_bytes ")]
    verdict(held and held[0] < 100000, "and all of it comes back", held)
    verdict(service.end() == 0, "it ends in good order", service.errors)


def most_memory(service):
    """kB, the most that it has taken so far."""
    with open("/proc/%d/status" % service.process.pid, encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def ticks(service):
    with open("/proc/%d/stat" % service.process.pid) as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))


def long_run(folder):
    """As if it had gone on for a year."""
    for name, line in (("metrics.csv", None), ("events.jsonl", '{"event": "window", "iteration": %d, "rate": 0.5}\n')):
        path = os.path.join(folder, "shop", name)
        with open(path) as file:
            rows = file.readlines()
        with open(path, "a") as file:
            file.writelines(line % (i + 1) if line else rows[1] for i in range(600000))


def thins_charts(service, folder):
    long_run(folder)
    begun = time.monotonic()
    status, _, body = service.ask("GET", "/data.json")
    verdict(status == 200 and len(body) < 4 << 20, "the data of a long run are as many as a page can draw",
            status, len(body), body[:200], "%g s" % (time.monotonic() - begun))


def main(retain):
    folder = tempfile.mkdtemp(prefix="retain-costly-")
    try:
        service = new(folder, retain, config=CONFIG.replace("classes = 3", "classes = %d" % CLASSES))
        service.ask("POST", "/v1/samples", "".join('{"id": %d, "input": [%d, %d], "label": %d}\n' % (i, i % 3, i % 5, i % 3)
                                                   for i in range(400)))
        bounds_memory(retain, folder)
        bounds_outputs(service)
        keeps_health(service, (lists, tensors, pages, events) * 3, "costly requests")
        takes_bytes_in_chunks(service)
        thins_charts(service, folder)
        keeps_health(service, (lists, tensors, pages, events) * 3, "those of a long run")
        many_versions(service, folder)
        service.end()
    finally:
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1])))
