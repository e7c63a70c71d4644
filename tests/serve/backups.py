#!/usr/bin/env python3
"""usage: tests/serve/backups.py RETAIN [TIMES]

POST /v1/backup while clients send samples: what was acknowledged before is in the copy, and a
service opens it. Prints TAP.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from service import Service, new
from tap import plan, verdict


class Reader(threading.Thread):
    """Fetches the weights, for each of which there is a file in the folder for a while."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.over = service, False

    def run(self):
        while not self.over:
            self.service.get("/v1/model.safetensors")


class Client(threading.Thread):
    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.over, self.acknowledged, self.wrong = service, False, [], []

    def run(self):
        at = 0
        while not self.over:
            lines = "".join(json.dumps({"id": "s%d" % i, "input": [i % 3, i % 7], "label": i % 3}) + "\n"
                            for i in range(at, at + 20))
            status, _, body = self.service.ask("POST", "/v1/samples", lines)
            got = [json.loads(line) for line in body.splitlines()]
            self.acknowledged += [(each["id"], each["sample"]) for each in got if "sample" in each]
            self.wrong += [each for each in got if "error" in each]
            at += 20


def whole(retain, copy, folder, acknowledged):
    """None, or what is wrong with a copy of so many samples."""
    done = subprocess.run([retain, "restore", "--quiet", copy, folder], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    service = Service(retain, os.path.join(copy, "config.ini"), "--out", folder, "--listen", "127.0.0.1:0")
    for key, sample in acknowledged[::max(1, len(acknowledged) // 50)] + acknowledged[-1:]:
        got = service.post("/v1/label", {"id": key, "label": int(key[1:]) % 3})
        if got != (200, {"id": key, "label": int(key[1:]) % 3, "sample": sample}):
            return got
    code = service.end()
    return (code, service.errors) if code else None


def main(retain, times):
    folder = tempfile.mkdtemp(prefix="retain-backups-")
    service = None
    try:
        service = new(folder, retain, "--set", "run.checkpoint_every=5 steps")
        status, got = service.post("/v1/backup", "")
        verdict(status in (200, 503) and ("error" in got or got["done"] == "backup"), "before the first input", status, got)
        client = Client(service)
        client.start()
        reader = Reader(service)
        reader.start()
        made = []
        while len(made) < times:
            before = list(client.acknowledged)
            if len(before) < 100:
                continue
            status, got = service.post("/v1/backup", "")
            made.append((status, got, before))
        verdict(all(status == 200 and got["done"] == "backup" and os.path.dirname(got["folder"]) ==
                    os.path.join(folder, "shop/backups") for status, got, _ in made),
                "%d copies under load, below the learner's folder" % times, made[0][:2])
        results = []
        pair = [threading.Thread(target=lambda: results.append(service.post("/v1/backup", "")[0])) for _ in range(6)]
        for each in pair:
            each.start()
        for each in pair:
            each.join()
        verdict(200 in results and set(results) <= {200, 503}, "one is made at a time", results)
        client.over = reader.over = True
        client.join()
        reader.join()
        verdict(not client.wrong, "no client noticed", client.wrong[:3])
        verdict(service.end() == 0, "it ends in good order", service.errors)
        service = None
        left = [name for name in os.listdir(os.path.join(folder, "shop/backups")) if name.endswith(".part")]
        verdict(not left, "nothing half-made is left", left)
        wrong = [why for i, (_, got, before) in enumerate(made)
                 for why in [whole(retain, got["folder"], os.path.join(folder, "r%d" % i), before)] if why]
        verdict(not wrong, "each is whole: what was acknowledged before it is in it", wrong[:3])
        names = []
        for _, got, _ in made:
            with open(os.path.join(got["folder"], "backup.json"), encoding="utf-8") as file:
                names += [each["name"] for each in json.load(file)["files"]]
        verdict(not any(name.startswith("backups") for name in names), "a copy holds no other copies", names)
        verdict(not any("tmp-" in name for name in names), "nor weights on their way to a client", names)
        os.makedirs(os.path.join(folder, "other"))
        service = new(os.path.join(folder, "other"), retain, "--set", "serve.backups=" + os.path.join(folder, "elsewhere"))
        service.ask("POST", "/v1/samples", '{"id": 1, "input": [1, 2], "label": 1}\n')
        status, got = service.post("/v1/backup?folder=/tmp/x", '{"folder": "/tmp/x"}')
        verdict(status == 200 and os.path.dirname(got["folder"]) == os.path.join(folder, "elsewhere"),
                "serve.backups says where; clients do not", status, got)
        verdict(service.end() == 0, "it ends in good order", service.errors)
        service = None
    finally:
        if service:
            service.end()
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4))
