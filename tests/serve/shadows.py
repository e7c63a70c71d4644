#!/usr/bin/env python3
"""usage: tests/serve/shadows.py RETAIN [KILLS]

Champion and challengers: shadows are scored on the same labels, one that is better is promoted by
rule, and nothing is lost when the service is killed, also during promotions and rollbacks. Prints TAP.
"""
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from service import Service
from tap import plan, skip, verdict

# A learner that hardly learns, and what differs in the shadow that does.
POOR = """[model]
arch = mlp:8
classes = 2
input = 2
[run]
method = sgd+clr
iterations = 1
[schedule]
rate = 1e-7
[stdin]
per_step = 4
[eval]
every = 50
"""
GOOD = "[schedule]\nrate = 0.1\n[run]\niterations = 4\n"


def sample(i):
    rng = random.Random(i)
    x = [rng.uniform(-1, 1), rng.uniform(-1, 1)]
    return x, int(x[0] + x[1] > 0)


def lines(first, count):
    return "".join(json.dumps({"id": "s%d" % i, "input": sample(i)[0], "label": sample(i)[1]}) + "\n"
                   for i in range(first, first + count))


def teach(service, first, count):
    status, _, body = service.ask("POST", "/v1/samples", lines(first, count))
    assert status == 200, body
    return [json.loads(line) for line in body.splitlines()]


def start(retain, top, *words):
    return Service(retain, os.path.join(top, "poor.ini"), "--out", os.path.join(top, "run"), "--listen", "127.0.0.1:0",
                   *words)


def with_shadows(top, rule="never", more=""):
    return ("--set", "serve.shadow=%s%s" % (os.path.join(top, "good.ini"), more), "--set", "versions.promote=" + rule)


def contenders(service, at_least=0):
    """By name, once so many labels were scored."""
    for _ in range(200):
        got = {each["name"]: each for each in json.loads(service.get("/v1/versions")[1])["contenders"]}
        if all(each["labels"] >= at_least for each in got.values()):
            break
        time.sleep(0.05)
    return got


def compares(retain, top):
    service = start(retain, top)
    teach(service, 0, 100)
    service.post("/v1/versions", {"name": "v1"})
    service.end()
    alone = os.path.join(top, "alone")
    shutil.copytree(os.path.join(top, "run"), alone)
    service = start(retain, top, *with_shadows(top, more=", v1"))
    teach(service, 100, 600)
    got = contenders(service, 600)
    verdict(sorted(got) == ["good", "live", "v1"] and all(each["labels"] == 600 for each in got.values()),
            "all are scored on the same labels", got)
    verdict(got["good"]["score"] > got["live"]["score"] + 0.1 and got["good"]["p"] < 0.01 and got["live"]["p"] is None,
            "the shadow that learns is ahead, and surely", got)
    metrics = service.get("/metrics")[1].decode()
    try:
        from prometheus_client.parser import text_string_to_metric_families
        names = {each.labels.get("contender") for family in text_string_to_metric_families(metrics)
                 for each in family.samples if each.name == "retain_contender_score"}
        verdict(names == {"good", "live", "v1"}, "Prometheus sees them side by side", names)
    except ImportError:
        skip("Prometheus sees them side by side", "prometheus_client is not here")
    weights = service.get("/v1/model.safetensors")[1]
    answers = service.post("/v1/predict", [{"input": [0.5, 0.5]}, {"input": [-0.5, -0.5]}])[1]
    service.end()
    service = Service(retain, os.path.join(top, "poor.ini"), "--out", alone, "--listen", "127.0.0.1:0")
    teach(service, 100, 600)
    verdict(service.get("/v1/model.safetensors")[1] == weights, "the learner has the bits it has without shadows")
    verdict(service.post("/v1/predict", [{"input": [0.5, 0.5]}, {"input": [-0.5, -0.5]}])[1] == answers, "and answers so")
    service.end()
    shutil.rmtree(alone)
    return got


def kept(retain, top, before):
    service = start(retain, top, *with_shadows(top, more=", v1"))
    got = contenders(service)
    verdict({name: each["labels"] for name, each in got.items()} == {name: each["labels"] for name, each in before.items()},
            "a restart keeps the scores", got, before)
    teach(service, 700, 50)
    want = contenders(service, 650)
    service.end(signal.SIGKILL)
    service = start(retain, top, *with_shadows(top, more=", v1"))
    got = contenders(service, 650)
    verdict(got == want, "and so does a kill, exactly", got, want)
    service.end()


def promotes(retain, top):
    rule = with_shadows(top, "better by 0.5 points over 200 labels, p < 0.01")
    service = start(retain, top, *rule)
    got = json.loads(service.get("/v1/versions")[1])
    if got["serving"] == "live":
        teach(service, 750, 50)
    for _ in range(100):
        got = json.loads(service.get("/v1/versions")[1])
        if got["serving"] != "live":
            break
        time.sleep(0.05)
    verdict(got["serving"] == "good" and got["why"] == "rule", "the rule promotes it", got)
    right = service.post("/v1/predict", [{"id": "p%d" % i, "input": sample(i)[0]} for i in range(5000, 5100)])[1]
    share = sum(each["prediction"] == sample(5000 + i)[1] for i, each in enumerate(right)) / 100
    verdict(share > 0.9, "and it answers inputs with an id", share)
    asked = service.post("/v1/predict", [{"input": sample(i)[0]} for i in range(5000, 5100)])[1]
    share = sum(each["prediction"] == sample(5000 + i)[1] for i, each in enumerate(asked)) / 100
    verdict(share > 0.9, "and without", share)
    events = [json.loads(line) for line in open(os.path.join(top, "run", "events.jsonl"))]
    promoted = [each for each in events if each["event"] == "promote"]
    verdict(len(promoted) == 1 and promoted[0]["labels"] >= 200 and promoted[0]["ahead"] > 0.5 and promoted[0]["p"] < 0.01,
            "an event says by what", promoted)
    service.end(signal.SIGKILL)
    service = start(retain, top, *rule)
    again = service.post("/v1/predict", [{"id": "p%d" % i, "input": sample(i)[0]} for i in range(5000, 5100)])[1]
    verdict([each["prediction"] for each in again] == [each["prediction"] for each in right], "and after a kill", again[:3])
    status, got = service.post("/v1/rollback", "")
    verdict(status == 200 and got["serving"] == "live", "rollback lets the learner answer", got)
    status, got = service.post("/v1/versions/good/serve", "")
    verdict(status == 200 and got["serving"] == "good", "and the shadow can be promoted by hand", got)
    verdict(service.end() == 0, "it ends in good order", service.errors)
    try:
        service = start(retain, top)
        service.end()
        verdict(False, "a champion that is gone from the config is an error")
    except RuntimeError as why:
        verdict("serve.shadow does not have it any more" in str(why), "a champion that is gone from the config is an error",
                why)


def refuses(retain, top):
    for words, why in (("replay.limit=10", "no such method"), ("nobody", "nobody")):
        try:
            service = start(retain, top, "--set", "serve.shadow=" + words)
            service.end()
            verdict(False, "a shadow that cannot be: " + words)
        except RuntimeError as error:
            verdict(True, "a shadow that cannot be: " + words, error)
    try:
        service = start(retain, top, "--set", "versions.promote=whenever")
        service.end()
        verdict(False, "a rule that is none")
    except RuntimeError as error:
        verdict("better by 0.5 points" in str(error), "a rule that is none", error)


class Operator(threading.Thread):
    """Promotes and rolls back all the time; knows what was acknowledged last, and what was asked for."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.done, self.asked = service, None, None

    def run(self):
        at = 0
        try:
            while True:
                at += 1
                self.asked = ["good", "v1", "live"][at % 3] if at % 4 else None  # a rollback: to any of them
                path = "/v1/versions/%s/serve" % self.asked if self.asked else "/v1/rollback"
                status, got = self.service.post(path, "")
                if status == 200:
                    self.done = self.asked = got["serving"]
        except Exception:
            pass


class Client(threading.Thread):
    def __init__(self, service, first):
        super().__init__(daemon=True)
        self.service, self.at, self.acknowledged = service, first, []

    def run(self):
        try:
            while True:
                got = teach(self.service, self.at, 8)
                self.acknowledged += [(each["id"], each["label"], each["sample"]) for each in got if "sample" in each]
                self.at += 8
        except Exception:
            pass


def survives(retain, top, kills):
    """Kills at any moment of promotions and rollbacks under load."""
    shadow = with_shadows(top, more=", v1")
    rng = random.Random(kills)
    at, known, wrong = 100000, [], []
    service = start(retain, top, *shadow)
    for k in range(kills):
        client, operator = Client(service, at), Operator(service)
        client.start()
        operator.start()
        time.sleep(rng.uniform(0.05, 0.8))
        service.end(signal.SIGKILL)
        client.join(30)
        operator.join(30)
        at = client.at + 8
        known += client.acknowledged
        service = start(retain, top, *shadow)
        now = json.loads(service.get("/v1/versions")[1])
        if operator.done and operator.asked and now["serving"] not in (operator.done, operator.asked):
            wrong.append((k, "serves", now["serving"], operator.done, operator.asked))
        for key, label, number in rng.sample(known, min(len(known), 40)) + known[-8:]:
            got = service.post("/v1/label", {"id": key, "label": label})
            if got != (200, {"id": key, "label": label, "sample": number}):
                wrong.append((k, key, got))
    verdict(known and not wrong, "%d kills during promote and rollback: %d samples acknowledged, none lost, the last "
            "acknowledged champion answers" % (kills, len(known)), *wrong[:5])
    got = contenders(service)
    verdict(len({each["labels"] for name, each in got.items() if name != "v1"}) == 1, "and scores are of the same labels", got)
    verdict(service.end() == 0, "it ends in good order", service.errors)


def main(retain, kills):
    top = tempfile.mkdtemp(prefix="retain-shadows-")
    for name, words in (("poor", POOR), ("good", GOOD)):
        with open(os.path.join(top, name + ".ini"), "w") as file:
            file.write(words)
    try:
        before = compares(retain, top)
        kept(retain, top, before)
        promotes(retain, top)
        survives(retain, top, kills)
        refuses(retain, top)
    finally:
        shutil.rmtree(top)
    return plan()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8))
