#!/usr/bin/env python3
"""usage: tests/cli/amend.py RETAIN [KILLS]

`retain correct` and `retain forget`, of classes, numbers and several numbers: what they change, that it is gone from every file,
that learning goes on exactly, and that kills leave all of it done or nothing. Prints TAP. Works in a folder of its own.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import tap
from tap import verdict

RETAIN = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SECRET, AGE = "person-4711", 1.234567642211914  # an id, and a number of its input, exact in 32 bits
KINDS = {
    "classes": (lambda x: "old" if x > 0.5 else "young", ["--method", "schedule-free+recency+parts", "--set", "model.scale=off"]),
    "numbers": (lambda x: x * 2, ["--target", "number"]),
    "several numbers": (lambda x: [x * 2, 1 - x], ["--target", "number", "--set", "model.numbers=2"]),
}


def retain(*words, **more):
    return subprocess.run([RETAIN, *words], capture_output=True, text=True, check=False, timeout=300, **more)


def stream(label, count=60, first=0, secret=20):
    chance = random.Random(first)
    for i in range(first, first + count):
        age, height = chance.randrange(400) / 400, chance.randrange(90) / 90
        mine = i == secret
        yield {"id": SECRET if mine else "k%d" % i, "input": [AGE if mine else age, height], "label": label(AGE if mine else age)}


def words_of(lines):
    return "".join(json.dumps(line) + "\n" for line in lines)


def learn(folder, lines, *wishes):
    how = ["--resume", folder] if os.path.exists(folder) else ["--out", folder]
    return retain("run", "-", "--quiet", *how, *wishes, input=words_of(lines))


def export(folder):
    return [json.loads(line) for line in retain("export", folder).stdout.splitlines()]


def found_in(folder, labels):
    """Files that have the id, or a number of the input or label, as bytes or as text."""
    numbers = [AGE, *[one for one in (labels if isinstance(labels, list) else [labels]) if not isinstance(one, str)]]
    words = [SECRET.encode(), *[struct.pack("<f", one) for one in numbers], *[("%.7g" % one).encode() for one in numbers]]
    found = set()
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                data = file.read()
            if any(word in data for word in words):
                found.add(os.path.relpath(os.path.join(path, name), folder))
    return found


def weights(folder):
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        return file.read()


def events(folder):
    with open(os.path.join(folder, "events.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def check_forget(work, kind, label, wishes):
    folder = os.path.join(work, "forget_" + kind.replace(" ", "_"))
    lines = list(stream(label))
    learn(folder, lines, *wishes)
    learn(folder, [{"id": "waits", "input": [AGE, 1]}])
    retain("version", folder, "make", "monday")
    before = found_in(folder, label(AGE))
    verdict("journal/data.mdb" in before and any(name.startswith("checkpoint/") for name in before) and
            any(name.startswith("versions/monday/") for name in before), "%s: a sample is in journal, checkpoints and versions" % kind,
            before)
    net = weights(folder)
    done = retain("forget", folder, SECRET, "waits")
    verdict(done.returncode == 0 and "forgot 1 sample, 1 input that waited, dropped 1 version" in done.stdout,
            "%s: forget says what it did" % kind, done.stdout, done.stderr)
    verdict(not found_in(folder, label(AGE)), "%s: no file has its id, its input or its label" % kind, found_in(folder, label(AGE)))
    verdict([row["id"] for row in export(folder)] == [line["id"] for line in lines if line["id"] != SECRET],
            "%s: all others are there" % kind)
    verdict(weights(folder) == net, "%s: the net's weights stay" % kind)
    last = events(folder)[-1]
    verdict(last["event"] == "forget" and last["ids"] == [20] and last["time"] > 1.7e12, "%s: an event says when" % kind, last)
    copy = folder + "_copy"
    retain("backup", folder, copy)
    verdict(not found_in(copy, label(AGE)), "%s: a backup made later has none of it" % kind, found_in(copy, label(AGE)))

    # It goes on exactly: in one piece, or killed in the middle of what comes next.
    more = list(stream(label, 40, 100))
    straight, killed = folder + "_straight", folder + "_killed"
    shutil.copytree(folder, straight)
    shutil.copytree(folder, killed)
    learn(straight, more)
    with subprocess.Popen([RETAIN, "run", "-", "--quiet", "--resume", killed], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        process.stdin.write(words_of(more[:25]))
        process.stdin.flush()
        for _ in range(50):
            process.stdout.readline()
        process.kill()
    learn(killed, more)
    verdict(weights(straight) == weights(killed), "%s: it goes on exactly after a kill" % kind)


def check_retrain(work, kind, label, wishes):
    """Learned again, it is the learner that never saw it."""
    folder, other = (os.path.join(work, name + kind.replace(" ", "_")) for name in ("again_", "never_"))
    lines = list(stream(label))
    learn(folder, lines, *wishes)
    done = retain("forget", folder, SECRET, "--retrain")
    # A copy of the nearest sample with its label stands in its place.
    near = min((line for line in enumerate(lines) if line[0] != 20 and (kind != "classes" or line[1]["label"] == "old")),
               key=lambda line: (abs(line[0] - 20), line[0] > 20))[1]
    learn(other, [dict(near, id="new") if line["id"] == SECRET else line for line in lines], *wishes)
    verdict(done.returncode == 0 and weights(folder) == weights(other) and not found_in(folder, label(AGE)),
            "%s: forgotten and learned again, the weights are those of a stream without it" % kind, done.stdout, done.stderr)
    verdict(events(folder)[-1]["event"] == "retrain" and events(folder)[-1]["why"] == "forget", "%s: an event says so" % kind,
            events(folder)[-1:])
    lines[30] = dict(lines[30], label="old" if lines[30]["label"] == "young" else label(7.25))
    wrong = [dict(line, label="young" if line["label"] == "old" else "old" if kind == "classes" else label(99)) if i == 30 else line
             for i, line in enumerate(lines)]
    folder, other = folder + "_wrong", other + "_right"
    learn(folder, wrong, *wishes)
    learn(other, lines, *wishes)
    net = weights(folder)
    done = retain("correct", folder, "k30", json.dumps(lines[30]["label"]) if kind != "classes" else lines[30]["label"])
    row = export(folder)[30]
    verdict(done.returncode == 0 and "is not undone" in done.stdout and row["label"] == lines[30]["label"] and "corrected" in row and
            weights(folder) == net and events(folder)[-1]["event"] == "correct", "%s: a label is corrected" % kind, done, row)
    done = retain("correct", folder, "k30", json.dumps(lines[30]["label"]), "--retrain")
    verdict(done.returncode == 0 and weights(folder) == weights(other),
            "%s: learned again, the weights are those of a stream with the right label" % kind, done.stdout, done.stderr)


def check_refusals(work):
    folder, label = os.path.join(work, "refused"), KINDS["classes"][0]
    learn(folder, stream(label))
    state = {path: open(os.path.join(folder, path), "rb").read() for path in ("model.safetensors", "events.jsonl")}
    rows = export(folder)
    for words, sentence in (
            (["correct", folder, "nobody", "old"], "no sample has id nobody"), (["correct", folder, "k3", "newborn"], "newborn"),
            (["correct", folder, "k3"], "LABEL"), (["forget", folder], "ID"), (["forget", folder, "k3", "#999"], "#999"),
            (["forget", os.path.join(work, "nothing"), "k3"], "is not the folder of a run")):
        done = retain(*words)
        verdict(done.returncode == 2 and sentence in done.stderr, "refused: " + sentence, done.returncode, done.stderr)
    verdict(export(folder) == rows and all(open(os.path.join(folder, path), "rb").read() == data for path, data in state.items()),
            "and nothing has changed")
    done = retain("forget", folder, "#5")
    verdict(done.returncode == 0 and [row["sample"] for row in export(folder)] == [i for i in range(60) if i != 5],
            "a sample is known by its number, too", done.stderr)
    done = retain("forget", folder, *["k%d" % i for i in range(60) if i not in (5, 20)], SECRET)
    verdict(done.returncode == 1 and "no sample left" in done.stderr and len(export(folder)) == 59, "the last one stays", done.stderr)
    done = retain("forget", folder, "k4", "k6", "k7")
    again = retain("forget", folder, "k3", "k8")
    verdict(done.returncode == again.returncode == 0 and len(export(folder)) == 54, "a sample that stands for others may go, too",
            done.stderr, again.stderr)
    retain("version", folder, "make", "now")
    retain("version", folder, "serve", "now")
    done = retain("forget", folder, "k9")
    verdict(done.returncode == 1 and "version now" in done.stderr and len(export(folder)) == 54, "not one that a version has which answers",
            done.stderr)
    bounded = os.path.join(work, "bounded")
    learn(bounded, stream(label), "--set", "replay.pool=fifo", "--set", "replay.limit=20", "--set", "run.checkpoint_every=1 steps")
    left = export(bounded)
    done = retain("forget", bounded, left[-1]["id"], "--retrain")
    verdict(len(left) < 60 and done.returncode == 2 and "samples are gone" in done.stderr, "not --retrain where samples are gone", done.stderr)
    done = retain("forget", bounded, left[-1]["id"])
    verdict(done.returncode == 0 and len(export(bounded)) == len(left) - 1, "but forget", done.stderr)


def check_working(work):
    """A process in the folder is asked."""
    folder, label = os.path.join(work, "working"), KINDS["classes"][0]
    with subprocess.Popen([RETAIN, "run", "-", "--quiet", "--out", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        process.stdin.write(words_of(stream(label, 30)))
        process.stdin.flush()
        for _ in range(60):
            process.stdout.readline()
        done = retain("correct", folder, "k3", "old")
        verdict(done.returncode == 0 and export(folder)[3]["label"] == "old", "a process that works in the folder corrects", done)
        done = retain("forget", folder, SECRET)
        verdict(done.returncode == 0 and not found_in(folder, AGE), "and forgets", done, found_in(folder, AGE))
        done = retain("forget", folder, "nobody")
        verdict(done.returncode == 2 and "nobody" in done.stderr, "or refuses", done)
        process.stdin.write(words_of(stream(label, 10, 30)))
        process.stdin.close()
        answers = process.stdout.read().splitlines()
    verdict(process.returncode == 0 and len(answers) == 20 and len(export(folder)) == 39, "and goes on", process.returncode, len(answers))


def check_kills(work):
    origin, label = os.path.join(work, "origin"), KINDS["classes"][0]
    learn(origin, stream(label))
    before = {row["id"]: row for row in export(origin)}
    begin = time.time()
    shutil.copytree(origin, origin + "_timed")
    retain("forget", origin + "_timed", SECRET)
    takes, done, wrong = time.time() - begin, {"forget": 0, "correct": 0}, []
    for i in range(2 * KILLS):
        folder, deed = os.path.join(work, "kill%d" % i), ("forget", "correct")[i % 2]
        shutil.copytree(origin, folder)
        with subprocess.Popen([RETAIN, deed, folder, SECRET, *(["young"] if i % 2 else [])], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            time.sleep(takes * ((i + 1) / (2 * KILLS)) ** 2)
            process.kill()
            said = process.stdout.read()
        start = retain("run", "-", "--quiet", "--resume", folder, input="")
        after = {row["id"]: row for row in export(folder)}
        granted = SECRET not in after if deed == "forget" else after[SECRET]["label"] == "young"
        done[deed] += granted
        others = all(after[one] == row for one, row in before.items() if one != SECRET)
        if (start.returncode or not others or len(after) < 59 or (said and not granted) or
                (deed == "forget" and granted and found_in(folder, AGE)) or (not granted and after != before)):
            wrong.append((i, deed, start.stderr[-300:], granted, said, found_in(folder, AGE)))
        shutil.rmtree(folder)
    verdict(not wrong, "%d kills leave all of it done or nothing (done: %s)" % (2 * KILLS, done), *wrong)


def main():
    work = tempfile.mkdtemp()
    try:
        for kind, (label, wishes) in KINDS.items():
            check_forget(work, kind, label, wishes)
            check_retrain(work, kind, label, wishes)
        check_refusals(work)
        check_working(work)
        check_kills(work)
    finally:
        shutil.rmtree(work)
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
