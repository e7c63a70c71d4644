"""usage: late_numbers.py RETAIN
Numbers whose labels come a dozen rows late, as lines: answers keep up with the newest known value, intervals hold as many
labels as asked for, and a stream that is killed over and over gives the same answers. Prints TAP.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
ROWS, LATE = 3000, 12
dice = random.Random(1)
labels, lines, level = [], [], 0.0
for t in range(ROWS):
    level += dice.gauss(0, 1)
    labels.append(round(level, 4))
    lines.append({"id": t, "input": [round(dice.gauss(0, 1), 4), t % 24]})
    if t >= LATE:
        lines.append({"id": t - LATE, "label": labels[t - LATE]})


COMMAND = [retain, "run", "-", "--threads", "1", "--quiet"]
done = subprocess.run([*COMMAND, "--target", "number", "--out", "whole"], capture_output=True, text=True,
    input="".join(json.dumps(line) + "\n" for line in lines))
told = [json.loads(line) for line in done.stdout.splitlines()]
said = {int(one["id"]): one for one in told if one.get("prediction") is not None}
tap.verdict(done.returncode == 0, "a stream of late labels", done.stderr)
rows = [t for t in said if t > LATE]
ours = sum(abs(said[t]["prediction"] - labels[t]) for t in rows)
last = sum(abs(labels[t - LATE - 1] - labels[t]) for t in rows)
tap.verdict(len(rows) > ROWS - LATE - 3 and ours < 1.01 * last, "a walk's answers are not behind its newest value", ours / last)
inside = sum(said[t]["low"] <= labels[t] <= said[t]["high"] for t in rows) / len(rows)
tap.verdict(abs(inside - 0.9) < 0.01, "intervals hold nine of ten", inside)

# The process is killed while inputs wait, with a checkpoint long ago.
cuts = [0, 700, 1501, 2300, len(lines)]
parts = {}
for first, end in zip(cuts, cuts[1:]):
    start = ["--resume", "parts"] if first else ["--target", "number", "--out", "parts"]
    child = subprocess.Popen([*COMMAND, *start, "--set", "run.checkpoint_every=never"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    child.stdin.write("".join(json.dumps(line) + "\n" for line in lines[first:end]))
    child.stdin.flush()
    for _ in lines[first:end]:
        one = json.loads(child.stdout.readline())
        if one.get("prediction") is not None:
            parts[int(one["id"])] = one
    child.kill()
    child.wait()
apart = [t for t in rows if parts.get(t, {}).get("prediction") != said[t]["prediction"] or parts[t]["low"] != said[t]["low"]]
tap.verdict(not apart, "killed three times, it answers the same", apart[:3], len(apart))
sys.exit(tap.plan())
