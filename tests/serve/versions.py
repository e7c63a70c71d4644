#!/usr/bin/env python3
"""usage: tests/serve/versions.py RETAIN

Versions over HTTP and by the command while a service has the folder: a version answers with the
bits it had when it was made, whatever was learned since; which one answers survives a kill; nothing
that was acknowledged is lost. Prints TAP.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from service import Service
from tap import plan, skip, verdict

ROWS = [{"age": 20 + 7 * i, "city": city} for i, city in enumerate(["Rome", "Oslo", "Lima", "Rome", "Oslo"])]
SETTINGS = ["--set", "versions.every=400 samples", "--set", "versions.keep=2"]


class Shares(list):
    """Probabilities, which JSON has to six digits."""
    def __eq__(self, other):
        return len(self) == len(other) and all(abs(a - b) < 2e-6 for a, b in zip(self, other))

    def __ne__(self, other):
        return not self == other


def start(retain, folder, *words):
    return Service(retain, "--out", folder, "--listen", "127.0.0.1:0", *SETTINGS, *words)


def teach(service, first, count, turned=False, extra=False):
    """Samples of a rule that may turn round; answers how many were acknowledged."""
    rng = random.Random(first)
    lines = []
    for i in range(first, first + count):
        row = {"age": rng.randrange(20, 70), "city": rng.choice(["Rome", "Oslo", "Lima"])}
        if extra:
            row["coupon"] = rng.randrange(5)
        yes = (row["age"] > 45) != turned
        lines.append(json.dumps({"id": "s%d" % i, "input": row, "label": "yes" if yes else "no"}))
    status, _, body = service.ask("POST", "/v1/samples", "\n".join(lines) + "\n")
    assert status == 200, body
    return sum("sample" in json.loads(line) for line in body.splitlines())


def answers(service):
    status, got = service.post("/v1/predict?top=2", [{"input": row} for row in ROWS])
    assert status == 200, got
    return got


def infer(service, version):
    body = {"inputs": [{"name": "age", "shape": [5], "datatype": "FP32", "data": [row["age"] for row in ROWS]},
                       {"name": "city", "shape": [5], "datatype": "BYTES", "data": [row["city"] for row in ROWS]}]}
    part = "/versions/%s" % version if version else ""
    status, got = service.post("/v2/models/retain%s/infer" % part, body)
    if status != 200:
        return status, got
    values = {each["name"]: each["data"] for each in got["outputs"]}
    return status, Shares(max(values["probabilities"][2 * i:2 * i + 2]) for i in range(5))


def settle(service, name):
    """Makes a version, and waits until the copy that answers is as new; both must agree."""
    made = service.post("/v1/versions", {"name": name})
    want = infer(service, name)[1]
    for _ in range(200):
        now = answers(service)
        if sure(now) == want:
            break
        time.sleep(0.05)
    return made, now


def sure(got):
    return Shares(each["probability"] for each in got)


def by_triton(service, want):
    try:
        import numpy
        import tritonclient.http as triton
    except ImportError:
        skip("tritonclient asks a version", "tritonclient is not installed")
        return
    client = triton.InferenceServerClient("127.0.0.1:%d" % service.port)
    age, city = triton.InferInput("age", [5], "FP32"), triton.InferInput("city", [5], "BYTES")
    age.set_data_from_numpy(numpy.array([row["age"] for row in ROWS], dtype=numpy.float32))
    city.set_data_from_numpy(numpy.array([row["city"].encode() for row in ROWS], dtype=object))
    got = client.infer("retain", [age, city], model_version="monday").as_numpy("probabilities").max(axis=1)
    verdict(numpy.allclose(got, want, atol=1e-5), "tritonclient: infer with model_version", got, want)
    verdict(client.is_model_ready("retain", model_version="monday"), "is_model_ready with model_version")
    about = client.get_model_metadata("retain", model_version="monday")
    verdict("monday" in about["versions"] and "live" in about["versions"], "metadata lists versions", about)
    client.close()


def makes(service):
    status, got = service.post("/v1/versions", {"name": "early"})
    verdict(status == 409 and "no learner" in got["error"],
            "no version before anything was learned", status, got)
    teach(service, 0, 500)
    (status, made), was = settle(service, "monday")
    verdict(infer(service, "monday") == (200, sure(was)), "a version answers as the learner it was made of", was)
    verdict(status == 200 and made["samples"] == 500 and made["classes"] == 2, "a version is made", status, made)
    status, got = service.get("/v1/versions/monday?from=at-400")
    got = json.loads(got)
    verdict(status == 200 and got["samples"] == 100 and got["moved"] > 0, "what changed between two", got)
    verdict(service.post("/v1/versions", {"name": "monday"})[0] == 400, "a name is taken once")
    for name in "live", "", "a/b", ".x", "x" * 65, 7, "lock", "serving.json", "shadows", "a\0b":
        status, got = service.post("/v1/versions", {"name": name})
        verdict(status == 400 and "error" in got, "not a name: %r" % name, status, got)
    return was


def answers_by_versions(service, was):
    """What was learned since does not change a version."""
    teach(service, 1000, 800, turned=True, extra=True)
    now = settle(service, "now")[1]
    verdict(now != was, "the learner has learned since", now)
    verdict(infer(service, "monday") == (200, sure(was)), "a version answers as it did", infer(service, "monday"), was)
    verdict(infer(service, "live") == (200, sure(now)), "and live is the learner", infer(service, "live"), now)
    verdict(infer(service, None) == (200, sure(now)), "which answers by default")
    verdict(infer(service, "tuesday")[0] == 404, "no such version", infer(service, "tuesday"))
    by_triton(service, sure(was))


def serves(service, was):
    status, got = service.post("/v1/versions/monday/serve", "")
    verdict(status == 200 and got["serving"] == "monday" and got["before"] == ["live"], "a version serves", status, got)
    verdict(answers(service) == was, "and answers what is not kept", answers(service), was)
    status, got = service.post("/v1/predict?top=2", [dict(id="k%d" % i, input=row) for i, row in enumerate(ROWS)])
    verdict(sure(got) == sure(was), "and what is", got, was)
    verdict(service.ask("DELETE", "/v1/versions/monday")[0] == 409, "what serves is not dropped")
    verdict(teach(service, 2000, 200, turned=True, extra=True) == 200, "the learner goes on learning")
    verdict(answers(service) == was, "and does not answer", answers(service), was)


def after_a_kill(retain, folder, was):
    service = start(retain, folder)
    verdict(answers(service) == was, "after a kill the same version answers", answers(service), was)
    got = service.post("/v1/label", {"id": "s2199", "label": "yes"})[1]
    verdict("sample" in got or "labelled" in got.get("error", ""), "no label is lost", got)
    status, got = service.post("/v1/rollback", "")
    verdict(status == 200 and got["serving"] == "live", "rollback: the learner answers again", got)
    verdict(infer(service, None) == infer(service, "live"), "with all that it learned since")
    verdict(answers(service) != was, "which is more than the version knows")
    verdict(service.post("/v1/rollback", "")[0] == 409, "nothing is before that")
    return service


def by_command(retain, service, folder):
    def command(*words):
        return subprocess.run([retain, "version", folder, *words], capture_output=True, text=True, timeout=60)

    done = command("make", "tuesday")
    verdict(done.returncode == 0 and "1500 samples" in done.stdout, "the command makes one while a service works", done)
    verdict(command("make", "tuesday").returncode == 2, "and not twice")
    done = command("serve", "tuesday")
    for _ in range(100):
        if json.loads(service.get("/v1/state")[1])["serving"] == "tuesday":
            break
        time.sleep(0.05)
    verdict(done.returncode == 0 and infer(service, None) == infer(service, "tuesday"), "the service takes up its choice",
            done, service.get("/v1/state"))
    verdict(command("rollback").stdout.startswith("live answers"), "the command goes back")
    done = json.loads(command("list", "--json").stdout)
    automatic = [each["name"] for each in done["versions"] if each["by"] == "every"]
    verdict(automatic == ["at-800", "at-1200"], "automatic ones, the latest two",
            automatic)
    time.sleep(0.5)
    verdict(service.ask("DELETE", "/v1/versions/monday")[0] == 200, "one is dropped")
    verdict(command("show", "monday").returncode == 2 and infer(service, "monday")[0] == 404, "and is gone")
    verdict(service.ask("GET", "/v1/rollback")[0] == 405 and
            service.ask("PUT", "/v1/versions/x")[1]["Allow"] == "GET, DELETE", "methods of a path")
    events = [json.loads(line) for line in open(os.path.join(folder, "events.jsonl"))]
    changes = [(each["serving"], each["why"]) for each in events if each["event"] == "serve"]
    verdict(changes == [("monday", "serve"), ("live", "rollback"), ("tuesday", "serve"), ("live", "rollback")],
            "every change is an event", changes)


def made_again(service):
    """A name may be used again once its version is dropped; what was asked of the former is forgotten."""
    service.post("/v1/versions", {"name": "again"})
    first = infer(service, "again")[1]
    service.ask("DELETE", "/v1/versions/again")
    teach(service, 3000, 600)
    now = settle(service, "again")[1]
    verdict(infer(service, "again")[1] == sure(now) != first, "a version that is dropped and made again",
            first, infer(service, "again"), now)
    for name in "again", "tuesday", "other":
        service.post("/v1/versions", {"name": name})
        service.post("/v1/versions/%s/serve" % name, "")
    verdict(service.ask("DELETE", "/v1/versions/again")[0] == 200, "what answered long ago is dropped")
    back = [service.post("/v1/rollback", "")[1].get("serving") for _ in range(2)]
    verdict(back == ["tuesday", "live"], "rollback passes over it", back)


def damage(folder, name, file, words, at=0):
    with open(os.path.join(folder, "versions", name, file), "r+b") as file:
        file.seek(at)
        file.write(words)


def damaged(retain, service, folder):
    """Nothing that lies in a version can keep the folder from being opened."""
    def command(*words):
        return subprocess.run([retain, "version", folder, *words], capture_output=True, text=True, timeout=60)

    for name in "tuesday", "other":
        service.post("/v1/versions/%s/serve" % name, "")
    damage(folder, "tuesday", "checkpoint/000000.state", b"damage", 1000)
    status, got = service.post("/v1/rollback", "")
    done = command("serve", "tuesday")
    verdict(status == 409 and "damaged" in got["error"] and done.returncode and "damaged" in done.stderr,
            "nobody goes back to a damaged version", status, got, done)
    os.mkdir(os.path.join(folder, "versions", ".wish-x.part"))
    damage(folder, "last", "version.json", b'{"by": "hand", "made": "2026-01-01", "samples": -9223372036854775808, "classes": 9e9}')
    time.sleep(0.3)
    verdict(service.get("/v1/versions/other?from=last")[0] in (200, 503) and command("diff", "last", "other").returncode in (0, 1)
            and not os.path.exists(os.path.join(folder, "versions", "x.part")), "what version.json claims is not trusted")
    damage(folder, "last", "version.json", b"}")
    service.end(signal.SIGKILL)
    service = start(retain, folder)
    verdict(json.loads(service.get("/v1/state")[1])["serving"] == "other", "a folder with damaged versions opens")
    status, words = service.get("/v1/versions")
    rows = {row["name"]: row for row in json.loads(words)["versions"]} if status == 200 else {}
    done = command()
    verdict("last/version.json" in rows.get("last", {}).get("damaged", "") and "samples" in rows.get("other", {}) and
            not done.returncode and "last/version.json" in done.stdout and "other" in done.stdout,
            "a damaged one is named in lists, and the others are there", status, words, done)
    status, words = service.get("/v2/models/retain")
    verdict(status == 200 and "other" in json.loads(words)["versions"] and "last" not in json.loads(words)["versions"],
            "and clients of /v2 are offered the others", words)
    verdict(service.ask("DELETE", "/v1/versions/last")[0] == 200 and b'"last"' not in service.get("/v1/versions")[1],
            "it can be dropped")
    verdict(service.end() == 0 and "runtime error" not in service.errors, "it ends in good order", service.errors)


def closed(retain, folder):
    before = subprocess.run([retain, "version", folder, "make", "last"], capture_output=True, text=True)
    shown = json.loads(subprocess.run([retain, "version", folder, "show", "last"], capture_output=True, text=True).stdout)
    verdict(before.returncode == 0 and 0 < shown["le"] <= 1 and 0 < shown["recent"] <= 1, "of a folder that nobody works in", before, shown)
    done = subprocess.run([retain, "version", folder, "serve", "nothing"], capture_output=True, text=True)
    verdict(done.returncode == 2 and "has no version nothing" in done.stderr, "an unknown one", done)
    damaged = os.path.join(folder, "versions", "tuesday", "checkpoint", "000000.state")
    with open(damaged, "r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    service = start(retain, folder)
    status, got = service.post("/v1/versions/tuesday/serve", "")
    verdict(status == 503 or status == 409, "a damaged version does not serve", status, got)
    verdict(infer(service, None) == infer(service, "live"), "and changes nothing")
    verdict(infer(service, "last")[0] == 200, "others do", infer(service, "last"))
    service.ask("DELETE", "/v1/versions/tuesday")
    return service


def main(retain):
    top = tempfile.mkdtemp(prefix="retain-versions-")
    folder = os.path.join(top, "shop")
    service = start(retain, folder)
    try:
        was = makes(service)
        answers_by_versions(service, was)
        serves(service, was)
        service.end(signal.SIGKILL)
        service = after_a_kill(retain, folder, was)
        by_command(retain, service, folder)
        verdict(service.end() == 0, "it ends in good order", service.errors)
        service = closed(retain, folder)
        made_again(service)
        damaged(retain, service, folder)
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGKILL)
        shutil.rmtree(top)
    return plan()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
