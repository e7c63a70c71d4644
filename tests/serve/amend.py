#!/usr/bin/env python3
"""usage: tests/serve/amend.py RETAIN [KILLS]

GET /v1/export, PUT /v1/label and DELETE /v1/samples of a service under load, and kills in the midst of them: what was
acknowledged holds, and a deed is done as a whole or not at all. Prints TAP.
"""
import http.client
import json
import os
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time

from service import CONFIG, Service, new
from tap import plan, verdict

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
RARE = 1.2345677614212036  # exact in 32 bits
CONFIG = CONFIG.replace("limit = 2000", "limit = 200000")


class Load(threading.Thread):
    """A client that sends samples until the service ends."""

    def __init__(self, service, first):
        super().__init__(daemon=True)
        self.service, self.at, self.acknowledged, self.over = service, first, [], False

    def run(self):
        while not self.over:
            lines = "".join(json.dumps({"id": i, "input": [i % 3, i % 7], "label": i % 3}) + "\n"
                            for i in range(self.at, self.at + 10))
            try:
                got = [json.loads(line) for line in self.service.ask("POST", "/v1/samples", lines)[2].splitlines()]
            except (OSError, http.client.HTTPException, ValueError):
                return
            self.acknowledged += [one["id"] for one in got if "sample" in one]
            self.at += 10


def export(service):
    status, body = service.get("/v1/export")
    return {row["id"]: row for row in map(json.loads, body.splitlines())} if status == 200 else status


def bytes_of(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                yield name, file.read()


def has(folder, word):
    return [name for name, data in bytes_of(folder) if word in data]


def ask(service, method, path, body=None):
    try:
        status, _, got = service.ask(method, path, body)
        return status, json.loads(got)
    except (OSError, http.client.HTTPException, ValueError):
        return None, None


def deeds(service, folder):
    service.ask("POST", "/v1/samples", "".join(json.dumps(
        {"id": "p%d" % i, "input": [RARE if i == 5 else 1, i], "label": i % 3}) + "\n" for i in range(30)))
    load = Load(service, 1000)
    load.start()
    status, got = ask(service, "PUT", "/v1/label", json.dumps({"id": "p4", "label": 2}))
    verdict(status == 200 and got["samples"] == 1 and export(service)["p4"]["label"] == 2, "a label is corrected under load", got)
    verdict(service.post("/v1/label", {"id": "p4", "label": 2})[0] == 200 and
            "error" in service.post("/v1/label", {"id": "p4", "label": 1})[1], "and is what the id's label is from then on")
    word = struct.pack("<f", RARE)
    before = has(folder, word)
    status, got = ask(service, "DELETE", "/v1/samples/p5")
    verdict(status == 200 and got["samples"] == 1 and before and not has(folder, word) and "p5" not in export(service),
            "a sample is forgotten under load, in every file", got, before, has(folder, word))
    for method, path, body, wanted in (
            ("DELETE", "/v1/samples/p5", None, 404), ("PUT", "/v1/label", {"id": "p5", "label": 1}, 400),
            ("PUT", "/v1/label", {"id": "p4", "label": 99}, 400), ("PUT", "/v1/label", {"id": "p4"}, 400),
            ("PUT", "/v1/label", {"id": "p4", "label": 1, "deed": "forget"}, 400),
            ("PUT", "/v1/label", {"id": "p4", "label": 1, "word": "p3"}, 400), ("DELETE", "/v1/samples/%c3%28", None, 400)):
        status, got = ask(service, method, path, json.dumps(body) if body else None)
        verdict(status == wanted and "error" in got, "refused with %d: %s" % (wanted, got and got.get("error")), status)
    load.over = True
    load.join()
    rows = export(service)
    verdict(load.acknowledged and set(load.acknowledged) <= set(rows), "and no acknowledged sample is missing", len(rows))


def kills(retain, work):
    wrong, done = [], 0
    for i in range(KILLS):
        folder = os.path.join(work, "kill%d" % i)
        os.mkdir(folder)
        service = new(folder, retain, config=CONFIG)
        service.ask("POST", "/v1/samples", "".join(json.dumps(
            {"id": "p%d" % k, "input": [RARE if k == 5 else 1, k], "label": k % 3}) + "\n" for k in range(40)))
        load = Load(service, 1000)
        load.start()
        answer = []
        deed = threading.Thread(target=lambda: answer.append(ask(service, "DELETE", "/v1/samples/p5")))
        deed.start()
        time.sleep(0.004 * (i + 1) ** 2 / KILLS)
        service.end(signal.SIGKILL)
        deed.join()
        load.join()
        again = Service(retain, os.path.join(folder, "shop.ini"), "--out", os.path.join(folder, "shop"), "--listen", "127.0.0.1:0")
        rows = export(again)
        gone, left = "p5" not in rows, has(os.path.join(folder, "shop"), struct.pack("<f", RARE))
        code = again.end()
        done += gone
        if (code or (answer[0][0] == 200 and not gone) or gone == bool(left) or not set(load.acknowledged) <= set(rows) or
                not {"p%d" % k for k in range(40) if k != 5} <= set(rows)):
            wrong.append((i, code, answer, gone, left))
    verdict(not wrong, "%d kills: done as a whole or not at all (%d done)" % (KILLS, done), *wrong)


def retrained(retain, folder, service):
    status, got = ask(service, "DELETE", "/v1/samples/p7?retrain=1")
    verdict(status == 200 and got["retrain_at_next_start"], "?retrain=1 is for the next start", status, got)
    service.end()
    again = Service(retain, os.path.join(folder, "shop.ini"), "--out", os.path.join(folder, "shop"), "--listen", "127.0.0.1:0")
    with open(os.path.join(folder, "shop/events.jsonl"), encoding="utf-8") as file:
        last = [json.loads(line) for line in file if '"retrain"' in line]
    verdict(last and last[-1]["why"] == "forget" and "p7" not in export(again), "which learns all others again, and says so", last)
    verdict(again.end() == 0, "it ends in good order")


def small_steps(retain, work):
    """What is refused ends no time step; what is not may be of one that is incomplete."""
    os.mkdir(os.path.join(work, "steps"))
    service = new(os.path.join(work, "steps"), retain, config=CONFIG)

    def send(first, count, weight):
        return service.ask("POST", "/v1/samples", "".join(json.dumps(
            {"id": "p%d" % i, "input": [1, i], "label": i % 3, "weight": weight}) + "\n" for i in range(first, first + count)))[0]

    def state():
        for _ in range(200):
            got = json.loads(service.get("/v1/state")[1])
            if got["samples"] >= 8 and got["step"]:
                break
            time.sleep(0.02)
        return got["samples"], got["step"]

    send(0, 4, 0)
    refused = [ask(service, *wish)[0] for wish in (("DELETE", "/v1/samples/none"), ("DELETE", "/v1/samples/%234"),
                                                   ("PUT", "/v1/label", '{"id": "p1", "label": 7}'))]
    send(4, 4, 0)
    verdict(refused == [404, 404, 400] and state() == (8, 1), "what is refused ends no time step", refused, state())
    got = [ask(service, "DELETE", "/v1/samples/p3"), send(8, 3, 1), ask(service, "DELETE", "/v1/samples/%2310"),
           ask(service, "PUT", "/v1/label", '{"id": "p9", "label": 1}')]
    verdict([one if isinstance(one, int) else one[0] for one in got] == [200] * 4 and export(service)["p9"]["label"] == 1 and
            not {"p3", "p10"} & set(export(service)), "samples of no weight, and of an incomplete time step, are forgotten", got)
    verdict(service.end() == 0, "it ends in good order", service.errors)


def main():
    retain, work = os.path.abspath(sys.argv[1]), tempfile.mkdtemp()
    try:
        service = new(work, retain, config=CONFIG)
        verdict(export(service) == {}, "nothing is exported where nothing came", export(service))
        deeds(service, os.path.join(work, "shop"))
        retrained(retain, work, service)
        small_steps(retain, work)
        kills(retain, work)
    finally:
        shutil.rmtree(work)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
