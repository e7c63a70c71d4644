#!/usr/bin/env python3
"""usage: tests/cli/live_faults.py RETAIN GOLDEN

What the world does to `retain run` on a live stream, from outside: kills, a disk that is full, a
folder of an earlier version (in GOLDEN/old). Prints TAP. Works in a folder of its own.
"""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap
from producer import RETAIN, Producer, command, file_of, lines_of, printed, rows_of, straight
from tap import verdict

GOLDEN = os.path.abspath(sys.argv[2])
KILLS = 10
BOUNDED = ["replay.pool=reservoir", "replay.limit=100"]
NAMED = ["model.classes=auto", "model.input=auto"]


def labels_of(lines):
    return {line["id"] for line in lines if "label" in line}


def with_names(lines):
    """Fields and classes by name, of which some come late."""
    names = ["yes", "no", "n\u00f6", "3", "maybe"]
    for at, line in enumerate(lines):
        more = dict(line)
        if "input" in line:
            more["input"] = dict(zip("abcd", line["input"]), city="city %d" % (at % (1 + at // 40)))
        if "label" in line:
            more["label"] = names[line["label"]] if at < 200 else names[line["label"]] * (1 + at // 200)
        yield more


def agree(name, folder, producer, answers):
    """The run has come to what a straight run comes to, and the producer to its answers."""
    labelled = labels_of(producer.lines)
    verdict(not producer.twice and producer.samples.keys() == labelled
            and sorted(producer.samples.values()) == list(range(len(labelled))),
            name + ": every label was acknowledged, as one sample", producer.twice[:3],
            len(producer.samples), len(labelled))
    found = int(rows_of(folder)[-1].split(b",")[2])
    verdict(found == len(producer.samples), name + ": as many samples as were acknowledged",
            found, len(producer.samples))
    verdict(producer.errors == [], name + ": sending again is no mistake", producer.errors[:3])
    for part in "model.safetensors", "events.jsonl":
        verdict(file_of(folder, part) == file_of(name + "-straight", part),
                "%s: %s is that of the straight run" % (name, part))
    verdict(rows_of(folder) == rows_of(name + "-straight"), name + ": so are the metrics",
            rows_of(folder)[-2:], rows_of(name + "-straight")[-2:])
    expected, got = printed(answers), printed(producer.answers)
    wrong = [(key, once, got.get(key)) for key, once in expected.items() if once != got.get(key)]
    verdict(not wrong and len(got) == len(expected),
            name + ": so is every prediction that was printed, however often", len(wrong),
            wrong[:3])


def kills(lines, settings, name):
    """Killed at random moments, each time further on or soon after its start, and resumed. The
    producer sends again what was not answered, and some of what was."""
    begun = time.monotonic()
    code, answers, said = straight(name + "-straight", lines, settings)
    took = time.monotonic() - begun
    verdict(code == 0, name + ": the straight run", code, said)

    def soon(process):
        time.sleep(random.uniform(0, took / 30))
        process.kill()

    producer, folder, codes = Producer(lines), name + "-killed", []
    for turn in range(1, KILLS + 1):
        # So that every kill finds work, however fast the process is.
        producer.lines = lines[:len(lines) * turn // (KILLS + 1)]
        begun = os.path.exists(folder + "/config.ini")
        words = command(folder, begun, settings, not begun)
        again, done = random.choice([0, 40]), len(producer.samples)
        left = len(labels_of(producer.lines)) - done
        if turn % 3 and left:
            codes.append(producer.send(words, done + (left + 3) // 4, soon, again=again,
                                       ends=False))
        else:
            codes.append(producer.send(words, after=random.uniform(0, took / 3), again=again,
                                       ends=False))
    verdict(codes == [-signal.SIGKILL] * KILLS, "%s: %d kills" % (name, KILLS), codes)
    verdict(producer.samples, name + ": some came while it was learning")
    producer.lines = lines
    code = producer.send(command(folder, True))
    verdict(code == 0, name + ": it goes on", code, producer.said)
    agree(name, folder, producer, answers)


class SmallDisk:
    """A file system in memory that another file fills."""
    name = "a full disk"
    folder = "disk"

    def fill(self, process=None):
        try:
            with open("disk/ballast", "ab", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass

    def free(self):
        if os.path.exists("disk/ballast"):
            os.remove("disk/ballast")


class Limit:
    """No file of the process may grow, nor be written to at all."""
    name = "no room for any file"
    folder = "."

    def fill(self, process=None):
        if process and process.poll() is None:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def free(self):
        pass


def full(disk):
    """The disk is full from random moments on, before the start or amid; then there is room."""
    # So many that their answers do not fit in a pipe: it cannot end before it is noticed.
    lines = lines_of(960, 30, both=0.5)
    code, answers, said = straight(disk.name + "-straight", lines, BOUNDED)
    verdict(code == 0, disk.name + ": the straight run", code, said)
    producer = Producer(lines)
    labelled = labels_of(lines)
    folder, mute, codes = disk.folder + "/full", [], []
    for turn in range(8):
        begun = os.path.exists(folder + "/config.ini")
        if turn % 4 == 3:
            disk.fill()
        done = len(producer.samples)
        code = producer.send(command(folder, begun, BOUNDED, not begun),
                             done + 1 + (len(labelled) - done) // 8, disk.fill)
        codes.append(code)
        if code not in (0, 1) or code and not any(why in producer.said for why in (
                "No space left", "disk may be full", "File too large")):
            mute.append((turn, code, producer.said))
        disk.free()
    verdict(not mute, disk.name + ": the run ends with a sentence, or without harm", mute)
    verdict(1 in codes, disk.name + ": it did end for that", codes)
    code = producer.send(command(folder, True))
    verdict(code == 0, disk.name + ": it goes on when there is room", code, producer.said)
    agree(disk.name, folder, producer, answers)


def mounting():
    """The words before a command that may mount, seen by none but itself; none where no one may."""
    for words in ["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]:
        try:
            subprocess.run(words + ["mount", "-t", "tmpfs", "none", "/tmp"], check=True,
                           capture_output=True)
            return words
        except (OSError, subprocess.CalledProcessError):
            pass
    return []


def small_disk():
    """In a process of its own, since that may mount."""
    words = mounting()
    if not words:
        tap.skip(SmallDisk.name, "no file system can be mounted here")
        return
    os.mkdir("disk")
    done = subprocess.run(words + [sys.executable, os.path.abspath(__file__), RETAIN,
                                   GOLDEN, "--disk"], capture_output=True, check=False)
    for line in done.stdout.decode().splitlines():
        good, _, name = line.partition(" - ")
        if name:
            verdict(good.startswith("ok"), name)
        elif line.startswith("#"):
            print(line)
    verdict(done.returncode == 0, SmallDisk.name + ": all of it was tried", done.returncode,
            done.stderr.decode())


def old_folder():
    """A run that version 0.1 left, whose journal kept no probabilities, goes on."""
    shutil.copytree(GOLDEN + "/old/live-0.1", "old")
    with open("old/lines.ndjson", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    with open("old/answers.ndjson", encoding="utf-8") as file:
        before = [json.loads(line) for line in file]
    first = {answer["id"]: answer["prediction"] for answer in before if "prediction" in answer}
    more = [{"id": 32, "label": 1}, {"id": "new", "input": [1, 0], "label": 0}]
    other = dict(lines[28], input=[9, 9])
    code, answers, said = straight("old/run", lines + more + [other], resume=True)
    verdict(code == 0, "a folder of version 0.1 goes on", code, said)
    samples = [answer for answer in answers if "sample" in answer]
    verdict([answer for answer in samples if answer["id"] in range(30)] ==
            [answer for answer in before if "sample" in answer], "it knows its samples", samples)
    verdict([answer["sample"] for answer in samples[30:]] == [30, 31], "and takes more",
            samples[30:])
    known = printed(answers)
    new = known.pop("new")
    verdict(all(guess in ({(first[key], None)}, {(None, None)}) for key, guess in known.items())
            and all(known[key] == {(first[key], None)} for key in range(22, 33)),
            "it repeats predictions of which it has no probability", known)
    verdict(all(0 < probability < 1 for _, probability in new), "new ones have theirs", new)
    errors = [answer["error"] for answer in answers if "error" in answer]
    verdict(len(errors) == 1 and "id 28 is that of another input" in errors[0],
            "it knows inputs that it holds", errors)
    code, answers, said = straight("old/run", [dict(more[1])], resume=True)
    verdict(code == 0 and printed(answers) == {"new": new}, "and goes on as of this version",
            code, said, answers)


def main():
    if sys.argv[3:] == ["--disk"]:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", "disk"], check=True)
        full(SmallDisk())
        return tap.plan()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kills(lines_of(480, 0), [], "in one line")
        kills(lines_of(480, 30), BOUNDED, "late labels")
        kills(lines_of(480, 30, both=0.5), BOUNDED, "some late, some not")
        kills(list(with_names(lines_of(480, 30, both=0.5))), BOUNDED + NAMED, "names")
        full(Limit())
        small_disk()
        old_folder()
        os.chdir("/")
    return tap.plan()


sys.exit(main())
