#!/usr/bin/env python3
"""usage: tests/cli/explain.py RETAIN

retain explain finds the column that decides the label, also where another one takes over midway, of classes, numbers and
categories; it changes nothing about the run; the page shows it. Prints TAP.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from tap import plan, verdict

ROWS = 2400


def rows(label, heading="a,b,c,kind,label"):
    """Three numbers and a category; the label is a function of them and of the row's place."""
    rng = random.Random(7)
    out = [heading]
    for i in range(ROWS):
        row = [rng.random(), rng.random(), rng.random(), rng.choice(["red", "green", "blue"])]
        out.append(",".join(str(cell) for cell in row) + ",%s" % label(row, i))
    return "\n".join(out) + "\n"


STREAMS = {
    "turn": lambda row, i: "yes" if row[0 if i < ROWS / 2 else 1] > 0.5 else "no",
    "kind": lambda row, i: "yes" if row[3] == "red" else "no",
    "numbers": lambda row, i: "%.4f" % (100 + 20 * row[2] + 0.1 * row[0]),
}


def main():
    retain = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="retain-explain-")

    def run(*words):
        return subprocess.run([retain, *words], cwd=folder, capture_output=True, text=True)

    for name, label in STREAMS.items():
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as file:
            file.write(rows(label))

    done = run("explain", "turn.csv", "--json", "--ranges", "4")
    got = {one["name"]: one for one in json.loads(done.stdout)["columns"]}
    verdict(got["a"]["ranges"][1] > 0.3 and abs(got["a"]["now"]) < 0.1, "a column mattered, and does no more", got["a"])
    verdict(got["b"]["ranges"][1] < 0.1 and got["b"]["now"] > 0.3 and got["b"]["now"] > 5 * got["b"]["now_error"],
            "another one took over", got["b"])
    verdict(all(abs(got[name]["all"]) < 0.05 for name in ("c", "kind")), "others never mattered", got)
    verdict(list(got)[0] == "b" and list(got["b"])[:3] == ["name", "now", "now_error"], "the worthiest now comes first", list(got))
    verdict(done.stdout == run("explain", "turn.csv", "--json").stdout, "twice it is the same")

    done = run("explain", "kind.csv", "--json")
    first = json.loads(done.stdout)["columns"][0]
    verdict(first["name"] == "kind" and first["now"] > 0.25, "a category is one column", first)

    done = run("explain", "numbers.csv", "--json")
    said = json.loads(done.stdout)
    verdict(said["target"] == "number" and said["columns"][0]["name"] == "c" and 4 < said["columns"][0]["now"] < 8 and
            said["loss_by_range"][-1] < 2, "of numbers it is the rise of the error, in their unit", said)

    first = json.loads(run("run", "turn.csv", "--json").stdout)
    with open(os.path.join(folder, "runs/turn/metrics.csv"), encoding="utf-8") as file:
        before = file.read()
    done = run("explain", "runs/turn", "--quiet")
    verdict(done.returncode == 0 and re.search(r"\n  b +\d+\.\d ±\d\.\d", done.stdout) and max(map(len, done.stdout.split("\n"))) <= 80,
            "a run's folder, as a table of 80 columns", done)
    shown = re.search(r"accuracy, % +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", done.stdout)
    verdict(abs(sum(map(float, shown.groups())) / 400 - first["le"]) < 0.03, "its accuracy is the run's", shown, first["le"])
    with open(os.path.join(folder, "runs/turn/metrics.csv"), encoding="utf-8") as file:
        verdict(file.read() == before, "the run is as it was")
    with open(os.path.join(folder, "runs/turn/report.html"), encoding="utf-8") as file:
        page = file.read()
    verdict('"explained":{' in page and os.path.exists(os.path.join(folder, "runs/turn/explain.json")), "the page has it")

    with open(os.path.join(folder, "kind.csv"), encoding="utf-8") as file:
        run_lines = subprocess.run([retain, "run", "-", "--out", "live"], cwd=folder, stdin=file, capture_output=True, text=True)
    done = run("explain", "live", "--json")
    said = json.loads(done.stdout or '{"columns":[]}')
    verdict(run_lines.returncode == 0 and [one["name"] for one in said["columns"]][:1] == ["kind"] and
            {one["name"] for one in said["columns"]} == {"a", "b", "c", "kind"},
            "lines are explained from the folder's journal", done)
    verdict(json.loads(run("explain", "turn.csv", "--json", "--rows", "20").stdout)["rows"] == 80, "as many rows as were asked for")

    for words, what in ((["nowhere.csv"], "nowhere.csv"), ([], "FOLDER"), (["turn.csv", "--ranges", "99"], "ranges")):
        done = run("explain", *words)
        verdict(done.returncode == 2 and what in done.stderr, "refused: " + " ".join(words), done)
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
