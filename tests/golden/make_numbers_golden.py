#!/usr/bin/env python3
"""usage: tests/golden/make_numbers_golden.py RETAIN FILE.tar.xz

Makes a live run whose labels are numbers and that was killed, for tests of later versions: run/, the lines that it was
sent, and those that come next. old/numbers-S.tar.xz were made by builds whose checkpoints had the state version S.
"""
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile

from make_live_golden import tidy

SETTINGS = ["model.target=number", "run.checkpoint_every=64 steps", "engine.threads=1"]
SENT, NEXT = 100, 20


def lines():
    """A sum of two inputs, which some dozens of rows tell."""
    draws = random.Random(7)
    for i in range(SENT + NEXT):
        x = round(draws.gauss(0, 1), 3)
        y = 50 - 3 * (i % 24) + 5 * x + draws.gauss(0, 0.2)
        yield {"id": i, "input": {"hour": i % 24, "x": x}, "label": round(y, 3)}


def main(retain, file):
    words = [retain, "run", "-", "--quiet", "--out", "run"]
    for setting in SETTINGS:
        words += ["--set", setting]
    with tempfile.TemporaryDirectory() as place:
        sent = list(lines())
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place) as process:
            for line in sent[:SENT]:
                process.stdin.write(json.dumps(line).encode() + b"\n")
                process.stdin.flush()
                for _ in range(2):
                    process.stdout.readline()
            process.kill()
        for name, some in ("sent", sent[:SENT]), ("next", sent[SENT:]):
            with open(f"{place}/{name}.ndjson", "w", encoding="utf-8") as out:
                out.writelines(json.dumps(line) + "\n" for line in some)
        tidy(f"{place}/run")
        with tarfile.open(file, "w:xz", preset=9) as tar:
            for name in "run", "sent.ndjson", "next.ndjson":
                tar.add(f"{place}/{name}", name, filter=plain)


def plain(member):
    """Of nobody, and of no time."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:]))
