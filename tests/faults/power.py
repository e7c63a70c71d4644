#!/usr/bin/env python3
"""usage: tests/faults/power.py RETAIN LEARNER [COUNT [SEED]]

Power cuts, full and broken disks, and kills at any system call: COUNT of each (6) for a run over a
file, a stream of lines, a service and a C program (LEARNER). Nothing that was acknowledged is lost,
each folder opens again, and what goes on comes to the bits of a run that nothing happened to. Needs
strace. Prints TAP.
"""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "serve")]

import tap  # noqa: E402
from disk import Disk, record  # noqa: E402
from producer import RETAIN, Producer, command, file_of, lines_of, rows_of  # noqa: E402
from service import Service  # noqa: E402

LEARNER = os.path.abspath(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 6
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
MODES = "none", "some", "all", "some"
FAULTS = [("full", "ENOSPC", "+"), ("broken", "EIO", "+"), ("killed", None, "")]
TOUCHED = "write", "pwrite64", "pwritev", "ftruncate", "fsync", "fdatasync", "renameat", "mkdir"


class Way:
    """A way to learn. `begin` learns in a folder `run` from the first sample on, `go_on` in one that
    somebody left; both return an exit code. `check` says what is wrong with where it came to."""

    never = ()  # calls that do not fail

    def __init__(self):
        os.makedirs("straight")
        os.chdir("straight")
        self.note(b"")
        code = self.begin([])
        os.chdir("..")
        tap.verdict(code == 0, "%s: the straight run" % self.name, code, self.said)

    def note(self, output):
        """What was acknowledged so far."""

    def is_there(self):
        return os.path.exists("run/config.ini")

    def may_begin(self):
        """Nothing was acknowledged, so that nothing need be there."""
        return True

    def same(self, *names):
        return ["%s is another" % name for name in names
                if not os.path.exists(name) or file_of(name) != file_of("../straight", name)]

    def came_to(self):
        """Goes on where somebody was stopped; what is wrong with that."""
        if not self.is_there():
            if not self.may_begin():
                return ["what was acknowledged is gone"]
            shutil.rmtree("run", ignore_errors=True)
            code = self.begin([])
        else:
            code = self.go_on([])
        if code:
            return ["it does not go on: %s" % code, self.said[-500:]]
        left = [path for path in glob.glob("run/**", recursive=True) if ".tmp-" in path]
        return self.check() + (["temporary files: %s" % left] if left else [])

    def strike(self, kind, error, on):
        """Calls fail from some call on, or one kills."""
        call = random.choice([call for call in TOUCHED if not error or call not in self.never])
        what = "error=" + error if error else "signal=KILL"
        words = record("/dev/null", ["trace=" + call, "inject=%s:%s:when=%d%s" % (
            call, what, random.randint(1, max(1, self.calls.get(call, 1))), on)])
        turns = ["%s, %s of %s" % (kind, words[-1], self.name)]
        code = self.go_on(words) if self.is_there() else self.begin(words)
        if code not in (0, 1) + ((-9,) if kind == "killed" else ()):
            return turns + ["ends with %s" % code, self.said[-500:]]
        return turns


class Lines(Way):
    name = "lines"
    settings = ["replay.pool=reservoir", "replay.limit=100"]

    def __init__(self):
        self.lines = lines_of(240, 20, both=0.5)
        super().__init__()

    def note(self, output):
        self.producer = Producer(self.lines)
        self.producer.read_answers(type("", (), {"stdout": bytes(output).splitlines(True)}))

    def may_begin(self):
        return not self.producer.answers

    def _send(self, words):
        code = self.producer.send(words)
        self.said = self.producer.said
        return code

    def begin(self, before):
        return self._send(before + command("run", False, self.settings, True))

    def go_on(self, before):
        return self._send(before + command("run", True))

    def check(self):
        wrong = self.same("run/model.safetensors", "run/events.jsonl")
        if rows_of("run") != rows_of("../straight/run"):
            wrong.append("other metrics")
        if self.producer.twice or self.producer.errors:
            wrong.append("%s" % (self.producer.twice + self.producer.errors)[:3])
        return wrong


class Table(Way):
    """A file has nothing to acknowledge but its end."""
    name = "a file"

    def __init__(self):
        draws = random.Random(5)
        with open("rows.csv", "w", encoding="utf-8") as file:
            file.write("a,b,city,class\n")
            for _ in range(900):
                label = draws.randrange(3)
                file.write("%.3f,%.3f,%s,%s\n" % (draws.gauss(label, 1), draws.gauss(0, 1), "xyz"[draws.randrange(3)],
                                                 "ABC"[label]))
        super().__init__()

    def note(self, output):
        self.output = output

    def may_begin(self):
        return b"report.html" not in self.output

    def _run(self, words):
        done = subprocess.run(words, capture_output=True, check=False)
        self.said = done.stderr.decode()
        return done.returncode

    def begin(self, before):
        return self._run(before + [RETAIN, "run", "../rows.csv", "--out", "run", "--force", "--set", "engine.threads=1",
                                   "--set", "run.checkpoint_every=90 steps"])

    def go_on(self, before):
        return self._run(before + [RETAIN, "run", "--resume", "run"])

    def check(self):
        return self.same("run/model.safetensors", "run/events.jsonl", "run/matrix.csv")


class Program(Way):
    name = "a C program"
    count = 150

    def note(self, output):
        self.told = int((bytes(output).rpartition(b"\n")[0].split() or [b"0"])[-1])
        self.lost = None

    def may_begin(self):
        return not self.told

    def _run(self, words):
        done = subprocess.run(words + [LEARNER, "run", str(self.count)], capture_output=True, check=False)
        self.said = done.stderr.decode()
        told = [int(line) for line in done.stdout.rpartition(b"\n")[0].split()]
        if told and told[0] < self.told:
            self.lost = "%d were told, %d are there" % (self.told, told[0])
        self.told = max([self.told] + told)
        return done.returncode

    begin = go_on = _run

    def check(self):
        return self.same("run.safetensors") + ([self.lost] if self.lost else [])


class Served(Way):
    """A client that sends one thing after the other, and sends again what was not answered."""
    name = "a service"
    count = 70
    never = ("write",)  # libmicrohttpd wakes its threads by it, and ends the process if it cannot

    def note(self, output):
        self.samples, self.guesses, self.lost = {}, {}, []
        for line in re.findall(rb'\{"id": "k.*?\}', bytes(output)):
            self._take(json.loads(line))

    def may_begin(self):
        return not self.samples and not self.guesses

    def _take(self, answer):
        known = self.samples if "sample" in answer else self.guesses
        value = answer["sample"] if "sample" in answer else (answer["prediction"], answer["probability"])
        if known.setdefault(answer["id"], value) != value:
            self.lost.append("%s was %s, and is %s" % (answer["id"], known[answer["id"]], value))

    def _ask(self, service, i):
        key, row = "k%d" % i, {"a": i % 7, "city": "xyz"[i % 3]}
        if i > 25:  # fields that the first row lacks: inputs grow
            row["late"] = i % 3
        if i > 40:
            row["sky"] = "uvw"[i % 2]
        for path, value in (("/v1/predict", {"id": key, "input": row}),
                            ("/v1/label", {"id": key, "label": "ABC"[i % 3]})):
            status, body = service.post(path, value)
            if status == 200:
                self._take(body)
            else:
                raise OSError(body)

    def _learn(self, words):
        retain = RETAIN
        if words:
            retain = os.path.abspath("traced")
            with open(retain, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexec %s %s \"$@\"\n" % (" ".join(words), RETAIN))
            os.chmod(retain, 0o755)
        try:
            service = Service(retain, "--out", "run", "--listen", "127.0.0.1:0", "--set", "engine.threads=1", "--set",
                              "run.checkpoint_every=20 steps")
        except (RuntimeError, OSError, ValueError) as error:
            self.said = str(error)
            return 1
        broken = ""
        try:
            for i in range(self.count):
                self._ask(service, i)
        except (OSError, ValueError, KeyError) as error:
            broken = str(error)
        except Exception as error:  # http.client has many
            broken = repr(error)
        code = service.end()
        self.said = service.errors + broken
        return code if code or not broken else 1

    begin = go_on = _learn

    def check(self):
        wrong = self.lost + self.same("run/model.safetensors")
        if sorted(self.samples.values()) != list(range(self.count)):
            wrong.append("samples %s" % sorted(self.samples.values()))
        return wrong


def output_of(way, disk):
    """What it said: on standard output or, of a service, to clients."""
    said = disk.output()
    said.pop(2, None)
    return b"\n".join(said[fd] for fd in sorted(said)) if isinstance(way, Served) else said.get(1, b"")


def cuts(way):
    """The power goes after any call."""
    os.makedirs("recorded")
    os.chdir("recorded")
    way.note(b"")
    code = way.begin(record(os.path.abspath("../log")))
    time.sleep(0.5)  # until the log is whole
    os.chdir("..")
    tap.verdict(code == 0, "%s: recorded" % way.name, code, way.said)
    disk = Disk("log", "recorded")
    way.calls = {}
    for name, *_ in disk.calls:
        way.calls[name] = way.calls.get(name, 0) + 1
    wrong, acknowledged = [], 0
    first = next(i for i, call in enumerate(disk.calls) if call[0] == "mkdir")
    for turn, at in enumerate(sorted(random.choices(range(first, len(disk) + 1), k=COUNT - 1)) + [len(disk)]):
        mode = MODES[turn % len(MODES)]
        disk.until(at)
        disk.lay_out("cut", mode, SEED + turn)
        way.note(output_of(way, disk))
        acknowledged += not way.may_begin()
        os.chdir("cut")
        found = way.came_to()
        os.chdir("..")
        if found:
            wrong.append(["after call %d of %d, %s of what was not synced is there" % (at, len(disk), mode)] + found)
        shutil.rmtree("cut")
    tap.verdict(not wrong, "%s: %d power cuts, %d of them after something was acknowledged" % (way.name, COUNT, acknowledged),
                *wrong[:5])
    os.remove("log")


def faults(way, kind, error, on):
    """Disks that fail, or kills; one or two in a row, then all is well."""
    wrong, struck = [], 0
    for _ in range(COUNT):
        os.makedirs("struck")
        os.chdir("struck")
        way.note(b"")
        story = []
        for _ in range(random.choice((1, 2))):
            story += way.strike(kind, error, on)
        found = story[2:] if any(word.startswith("ends with") for word in story) else []
        found = found or way.came_to()
        os.chdir("..")
        if found:
            wrong.append(story + found)
        shutil.rmtree("struck")
    tap.verdict(not wrong, "%s: %d %s" % (way.name, COUNT, {"full": "full disks", "broken": "broken disks",
                                                         "killed": "kills"}[kind]), *wrong[:5])


def main():
    random.seed(SEED)
    top = tempfile.mkdtemp(prefix="retain-power-")
    try:
        for kind in Table, Lines, Served, Program:
            os.makedirs(os.path.join(top, kind.__name__))
            os.chdir(os.path.join(top, kind.__name__))
            way = kind()
            cuts(way)
            for fault in FAULTS:
                faults(way, *fault)
    finally:
        os.chdir("/")
        shutil.rmtree(top)
    return tap.plan()


if subprocess.run(["strace", "-D", "-f", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode \
        if shutil.which("strace") else 1:
    tap.skip("power cuts", "strace is not here, or may not trace")
    sys.exit(tap.plan())
sys.exit(main())
