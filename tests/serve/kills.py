#!/usr/bin/env python3
"""usage: tests/serve/kills.py RETAIN [KILLS]

SIGKILL at random moments while clients send inputs and labels at the same time, in single
requests, in batches and as lines. What was acknowledged must be found, and found once.
Prints TAP.
"""
import http.client
import json
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

from service import Service, new
from tap import plan, verdict

CLIENTS = 6


class Client(threading.Thread):
    """Sends samples until told to stop; sends again what was not acknowledged."""

    def __init__(self, name, world):
        super().__init__(daemon=True)
        self.name, self.world, self.acknowledged, self.predicted, self.count = name, world, {}, {}, 0
        self.open = []  # sent, not acknowledged
        self.wrong = []

    def note(self, answer):
        key = answer.get("id")
        if "prediction" in answer:
            was = self.predicted.setdefault(key, (answer["prediction"], answer["probability"]))
            if was != (answer["prediction"], answer["probability"]):
                self.wrong.append((key, was, answer))
        if "sample" in answer:
            was = self.acknowledged.setdefault(key, answer["sample"])
            if was != answer["sample"]:
                self.wrong.append((key, was, answer))
        if "error" in answer:
            self.wrong.append(answer)

    def more(self):
        while len(self.open) < self.batch:
            self.open.append((self.name + str(self.count), self.count % 3))
            self.count += 1

    def settle(self):
        self.open = [one for one in self.open if one[0] not in self.acknowledged]

    def line(self, key, label):
        return json.dumps({"id": key, "input": self.world.input(key, label), "label": self.world.label(label)}) + "\n"

    def run(self):
        while not self.world.over:
            self.more()
            try:
                self.send()
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.02)
            self.settle()

    def answers(self, method, path, body):
        connection = self.world.service.connection(20)
        connection.request(method, path, body)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status == 503:
            raise OSError("not now")
        return body.splitlines()


class Single(Client):
    batch = 1

    def send(self):
        key, label = self.open[0]
        for line in self.answers("POST", "/v1/predict", json.dumps({"id": key, "input": self.world.input(key, label)})):
            self.note(json.loads(line))
        for line in self.answers("POST", "/v1/label", json.dumps({"id": key, "label": self.world.label(label)})):
            self.note(json.loads(line))


class Batch(Client):
    batch = 20

    def send(self):
        for line in self.answers("POST", "/v1/samples", "".join(self.line(*one) for one in self.open)):
            self.note(json.loads(line))


class Lines(Client):
    batch = 10

    def send(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(self.world.socket)
            reader = s.makefile()
            while not self.world.over:
                self.more()
                s.sendall("".join(self.line(*one) for one in self.open).encode())
                for _ in range(2 * len(self.open)):
                    line = reader.readline()
                    if not line.endswith("\n"):
                        raise OSError("cut off")
                    self.note(json.loads(line))
                self.settle()


class World:
    """Told what inputs and classes are; or named: told nothing, and both have names."""

    def __init__(self, retain, folder, named):
        self.over, self.socket, self.retain, self.folder = False, os.path.join(folder, "lines"), retain, folder
        self.named = named
        self.start()

    def start(self):
        more = ["--set", "serve.lines=unix:" + self.socket, "--set", "run.checkpoint_every=40 steps"]
        if self.named:
            self.service = Service(self.retain, "--out", os.path.join(self.folder, "shop"), "--listen", "127.0.0.1:0", *more)
        else:
            self.service = new(self.folder, self.retain, *more)

    def input(self, key, label):
        return {"size": len(key), "city": "city %d" % label} if self.named else [label + 0.5, len(key)]

    def label(self, label):
        return ["yes", "no", "n\u00f6"][label] if self.named else label


def try_kills(retain, kills, named):
    folder = tempfile.mkdtemp(prefix="retain-kills-")
    try:
        world = World(retain, folder, named)
        clients = [(Single, Batch, Lines)[i % 3]("abcdefgh"[i], world) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        for _ in range(kills):
            time.sleep(random.uniform(0.05, 0.6))
            world.service.end(signal.SIGKILL)
            world.start()
        time.sleep(0.5)
        world.over = True
        for client in clients:
            client.join(60)
        code = world.service.end()
        verdict(code == 0, "it ends in good order after %d kills%s" % (kills, ", nothing told" * named), world.service.errors)
        acknowledged = {key: sample for client in clients for key, sample in client.acknowledged.items()}
        verdict(not any(client.wrong for client in clients), "no answer contradicts an earlier one",
                [client.wrong[:3] for client in clients])

        world.start()
        found, lost = dict(acknowledged), []
        for client in clients:
            for i in range(client.count):
                key = client.name + str(i)
                body = world.service.post("/v1/label", {"id": key, "label": world.label(i % 3)})[1]
                if "sample" in body:
                    found.setdefault(key, body["sample"])
                if key in acknowledged and body.get("sample") != acknowledged[key]:
                    lost.append((key, acknowledged[key], body))
        verdict(not lost, "%d were acknowledged, and all are found" % len(acknowledged), lost[:5])
        verdict(sorted(found.values()) == list(range(len(found))), "each once, none else", len(found))
        world.service.end()
    finally:
        shutil.rmtree(folder)


def main(retain, kills):
    random.seed(7)
    for named in False, True:
        try_kills(retain, kills, named)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5))
