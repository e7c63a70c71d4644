#!/usr/bin/env python3
"""usage: tests/golden/make_live_golden.py RETAIN FOLDER

Makes a live run that was killed, as small as one gets, for tests of later versions: FOLDER/run, the
lines that it was sent, and its answers. It has samples that the pool has forgotten, samples that it
holds, labels that do not fill a time step, and inputs that wait. old/live-0.1 was made by the last
build whose journals were of version 3.
"""
import json
import os
import random
import struct
import subprocess
import sys

SETTINGS = ["stream.source=stdin", "model.classes=3", "model.input=2", "model.arch=linear",
            "stdin.per_step=4", "replay.pool=fifo", "replay.limit=8", "schedule.window=40",
            "run.checkpoint_every=2 steps", "engine.threads=1"]
SAMPLES, WAITING = 30, 3  # seven time steps, two labels more, and inputs without labels


def lines():
    draws = random.Random(7)
    for i in range(SAMPLES + WAITING):
        label = draws.randrange(3)
        x, y = label + draws.random(), draws.random() - label
        line = {"id": i, "input": [round(x, 3), round(y, 3)]}
        yield dict(line, label=label) if i < SAMPLES else line


def tidy(folder):
    """A run's folder without locks, and its journal without the room to spare at its end, which LMDB makes again."""
    for name in "lock", "journal/lock.mdb":
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
    with open(f"{folder}/journal/data.mdb", "r+b") as file:
        page, last = 4096, 0
        for meta in 0, 1:  # the number of the last page is the last but one field
            file.seek(meta * page + 16 + 24 + 2 * 48)
            last = max(last, struct.unpack("<Q", file.read(8))[0])
        file.truncate((last + 1) * page)


def main(retain, folder):
    os.makedirs(folder)
    words = [retain, "run", "--quiet", "--out", folder + "/run"]
    for setting in SETTINGS:
        words += ["--set", setting]
    sent, answers = list(lines()), []
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line in sent:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            for _ in range(2 if "label" in line else 1):
                answers.append(process.stdout.readline().decode())
        process.kill()
    with open(folder + "/lines.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in sent)
    with open(folder + "/answers.ndjson", "w", encoding="utf-8") as file:
        file.writelines(answers)
    tidy(folder + "/run")


if __name__ == "__main__":
    main(*sys.argv[1:])
