#!/usr/bin/env python3
"""usage: tests/cli/turns.py RETAIN

Labels that follow a pattern, beside inputs that say nothing of them. The label just before helps where it is known when
a row is predicted. Where labels come late, or a file is predicted at once, it is not: then answers are no worse than
without it, and a stream that is killed has the bits of one that is not. Prints TAP. Works in a folder of its own.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import tap
from producer import RETAIN, file_of
from tap import verdict

ROWS, LATE = 900, 3
HEADS = ["fast.heads=labels, windows, hidden", "fast.mix_by=pool", "fast.last=true", "fast.guard=true", "run.checkpoint_every=50 steps"]


def rows_of(count):
    """The pattern has a period of two; a tenth of the labels break it."""
    draws = random.Random(3)
    return [([round(draws.gauss(0, 1), 3) for _ in range(3)], (i + (draws.random() < 0.1)) % 2) for i in range(count)]


def lines_of(rows, late, first=0):
    """Inputs, and labels that come `late` inputs later."""
    for i, (row, _) in enumerate(rows):
        yield {"id": str(first + i), "input": row}
        if i >= late:
            yield {"id": str(first + i - late), "label": rows[i - late][1]}


def run(lines, *words):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([RETAIN, *words], input=text.encode(), capture_output=True, timeout=300, check=False)
    return done, [json.loads(line) for line in done.stdout.decode().splitlines()] if not done.returncode else []


def settings():
    return [word for setting in HEADS for word in ("--set", setting)]


def right(answers, rows, first=0):
    said = {int(a["id"]): a["prediction"] for a in answers if "prediction" in a}
    half = range(len(rows) // 2, len(rows))
    return sum(said[first + i] == rows[i][1] for i in half) / len(half)


def stream(folder, late):
    done, answers = run(lines_of(rows_of(ROWS), late), "run", "-", "--quiet", "--out", folder, *settings())
    if done.returncode:
        sys.exit("run: " + done.stderr.decode())
    return answers


def answers_are_honest():
    rows = rows_of(ROWS)
    in_turn = right(stream("turn", 0), rows)
    verdict(in_turn > 0.75, "in turn, the label just before is used", in_turn)
    late = right(stream("late", LATE), rows)
    verdict(0.4 < late < 0.65, "late, it is not", late)
    lines = [{"id": str(i), "input": row} for i, (row, _) in enumerate(rows)]
    with open("rows.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    done, answers = run([], "predict", "turn", "rows.ndjson", "--format", "ndjson")
    share = sum(a["prediction"] for a in answers) / max(1, len(answers))
    sure = sum(a["probability"] for a in answers) / max(1, len(answers))
    verdict(len(answers) == ROWS and sure < 0.62, "rows predicted at once are not all like the next one", share, sure,
            done.stderr, answers[:2])


def killed(lines, folder):
    """A run that ends without a word once it has answered all lines."""
    words = [RETAIN, "run", "-", "--quiet", "--out", folder, *settings()]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        child.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        child.stdin.flush()
        answers = [json.loads(child.stdout.readline()) for _ in lines]
        child.kill()
    return answers


def same_bits_after_a_kill(late):
    lines = list(lines_of(rows_of(ROWS), late))
    _, whole = run(lines, "run", "-", "--quiet", "--out", "whole%d" % late, *settings())
    for cut in (701, 702):
        folder = "cut%d-%d" % (late, cut)
        before = killed(lines[:cut], folder)
        again, after = run(lines[cut:], "run", "-", "--quiet", "--resume", folder)
        said, parts = ([(a["id"], a["prediction"], a["probability"]) for a in answers if "prediction" in a]
                       for answers in (whole, before + after))
        verdict(said == parts and
                file_of(folder, "model.safetensors") == file_of("whole%d" % late, "model.safetensors"),
                "labels %d late, killed after line %d: the same bits" % (late, cut), again.stderr,
                [(a, b) for a, b in zip(said, parts) if a != b][:2])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        answers_are_honest()
        same_bits_after_a_kill(0)
        same_bits_after_a_kill(LATE)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
