#!/usr/bin/env python3
"""usage: tests/cli/said.py RETAIN GOLDEN

`retain export`: what was sent, what was answered before the label, and when, of classes, numbers and several numbers.
Prints TAP. Works in a folder of its own.
"""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import tap
from tap import verdict

RETAIN, GOLDEN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SMALL = ["--set", "model.arch=mlp:16", "--set", "stdin.per_step=4", "--set", "eval.every=3"]


def retain(*words, **more):
    return subprocess.run([RETAIN, *words], capture_output=True, text=True, check=False, timeout=200, **more)


def samples(count, label):
    """Rows with a number, a category and a time."""
    chance = random.Random(7)
    for i in range(count):
        row = {"age": chance.randrange(90) / 4, "city": chance.choice(["Rome", "Oslo"]),
               "at": "2024-02-%02dT12:%02d:59Z" % (i % 28 + 1, i % 60)}
        yield {"id": i if i % 2 else "k%d" % i, "input": row, "label": label(row)}


KINDS = {
    "classes": (lambda row: "old" if row["age"] > 11 else "young", []),
    "numbers": (lambda row: row["age"] * 2, ["--target", "number"]),
    "several numbers": (lambda row: [row["age"] * 2, 1 - row["age"]],
                        ["--target", "number", "--set", "model.numbers=2"]),
}


def words_of(lines):
    return "".join(json.dumps(line) + "\n" for line in lines)


def learn(folder, lines, wishes):
    """What was answered."""
    done = retain("run", "-", "--quiet", "--out", folder, *SMALL, *wishes, input=words_of(lines))
    return [json.loads(line) for line in done.stdout.splitlines()]


def export(folder, *words):
    done = retain("export", folder, *words)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def iso(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + "Z"


def check_kind(work, kind, label, wishes):
    folder = os.path.join(work, kind.replace(" ", "_"))
    sent = [*samples(30, label), {"id": "waits", "input": {"age": 3.5, "city": "Rome"}}]
    before = time.time()
    answers = learn(folder, sent, wishes)
    code, rows, errors = export(folder)
    verdict(code == 0 and [{"id": row["id"], "input": row["input"], **({"label": row["label"]} if "label" in row else {})}
                           for row in rows] == sent, "%s: inputs, ids and labels are those that were sent" % kind,
            rows[:2], errors)
    keys = ["prediction", "probability"] if kind == "classes" else ["prediction", "low", "high"]
    said = {json.dumps(one["id"]): {key: one[key] for key in keys} for one in answers if "prediction" in one}
    verdict([{key: row[key] for key in keys} for row in rows] == [said[json.dumps(row["id"])] for row in rows],
            "%s: predictions are those that were answered" % kind, rows[:2])
    verdict([row["sample"] for row in rows[:30]] == list(range(30)) and "sample" not in rows[30] and
            "30 samples, and 1 input" in errors, "%s: in their order, and what waits last" % kind, errors)
    verdict(all(iso(before - 1) <= row["asked"] <= row["labelled"] <= iso(time.time() + 1) for row in rows[:30]),
            "%s: with the times of input and label" % kind, rows[0])
    again = learn(folder + "2", rows, wishes)
    verdict(again == answers, "%s: an export that is learned comes to the same answers" % kind, again[:2], answers[:2])
    return folder, rows


def check_weights(work):
    """Weights and times that came with the samples come back, and teach the same again."""
    sent = [dict(line, weight=i % 3 / 2, when=1700000000 + i) for i, line in enumerate(samples(30, KINDS["classes"][0]))]
    sent[1]["when"] = "2023-11-14T22:13:21Z"
    folder = os.path.join(work, "weights")
    answers = learn(folder, sent, [])
    code, rows, errors = export(folder)
    verdict(code == 0 and [row.get("weight", 1) for row in rows] == [line["weight"] for line in sent] and
            [row["asked"] for row in rows] == [iso(1700000000 + i)[:-1] + ".000Z" for i in range(30)],
            "weights and times are those that were sent", rows[:3], errors)
    table = list(csv.DictReader(io.StringIO(retain("export", folder, "--format", "csv").stdout)))
    verdict([float(row["weight"]) for row in table] == [line["weight"] for line in sent], "in CSV, too", table[:2])
    verdict(learn(folder + "2", rows, []) == answers, "and a weighted stream is learned again from its export")
    bad = learn(folder + "3", [dict(sent[0], when="yesterday"), dict(sent[1], when=-5)], [])
    verdict(len(bad) == 2 and all("when: is neither a date" in one["error"] for one in bad), "a time that is none is refused", bad)


def check_csv(kind, folder, rows):
    table = list(csv.DictReader(io.StringIO(retain("export", folder, "--format", "csv").stdout)))
    label, guess = ("label_1", "prediction_1") if kind == "several numbers" else ("label", "prediction")

    def first(value):
        return value[0] if isinstance(value, list) else value

    good = len(table) == len(rows)
    for got, row in zip(table, rows):
        good &= json.loads(got["id"]) == row["id"] and got["city"] == row["input"]["city"]
        wanted = first(row.get("label", ""))
        good &= got[label] == (wanted if isinstance(wanted, str) else "%g" % wanted)
        good &= (got[guess] == "") == (first(row["prediction"]) is None) and got["asked"] == row["asked"]
    verdict(good, "%s: CSV has the same" % kind, table[:2], rows[:2])


# In a process of its own: a file here is called as a module that NumPy needs.
ARRAYS = """import json, numpy, sys
with numpy.load(sys.argv[1]) as z:
    def say(value):
        return value.decode() if isinstance(value, bytes) else value
    print(json.dumps({name: [say(one) for one in (z[name].astype(str) if z[name].dtype.kind == "M" else z[name]).tolist()]
                      for name in z.files}))"""


def check_npz(work, kind, folder, rows):
    path = os.path.join(work, "rows.npz")
    done = retain("export", folder, "--out", path)
    read = subprocess.run([sys.executable, "-c", ARRAYS, path], capture_output=True, text=True, cwd=work, check=False)
    if "No module named 'numpy'" in read.stderr:
        tap.skip("%s: NumPy's arrays have the same" % kind, "no numpy")
        return
    z = json.loads(read.stdout or "{}")
    names, labels = z.get("classes"), z.get("label", [])[:30]
    labels = [names[i] for i in labels] if names else labels
    verdict(done.returncode == 0 and labels == [row["label"] for row in rows[:30]] and
            [json.loads(one) for one in z["id"]] == [row["id"] for row in rows] and
            [one[0] for one in z["X"]] == [row["input"]["age"] for row in rows] and
            z["asked"][0] + "Z" == rows[0]["asked"] and z["labelled"][30] == "NaT" and z["sample"] == [*range(30), -1],
            "%s: NumPy's arrays have the same" % kind, done.stderr, read.stderr, {name: z[name][:2] for name in z})


def check_times(folder):
    code, rows, _ = export(folder, "--since", "2000-01-01", "--until", "2200-01-01T12:30Z")
    verdict(code == 0 and len(rows) == 31, "--since and --until are dates", len(rows))
    code, rows, _ = export(folder, "--until", str(int(time.time()) - 86400))
    verdict(code == 0 and not rows, "or seconds since 1970", rows[:1])
    for words in (["--since", "2020"], ["--until", "soon"], ["--format", "xml"], ["--out", folder + "/x.xml"]):
        done = retain("export", folder, *words)
        verdict(done.returncode == 2 and words[1] in done.stderr, " ".join(words[:1]) + ": another is refused by name",
                done.stderr)


def check_log_times(folder, begin):
    """times.csv says when the lines of the logs were written."""
    with open(os.path.join(folder, "times.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name in ("metrics.csv", "events.jsonl"):
        with open(os.path.join(folder, name), "rb") as file:
            ends, at = set(), 0
            for line in file:
                at += len(line)
                ends.add(at)
        mine = [row for row in rows if row["file"] == name]
        verdict({int(row["bytes"]) for row in mine} == ends - ({min(ends)} if name == "metrics.csv" else set()) and
                all(iso(begin - 1) <= row["time"] <= iso(time.time() + 1) for row in mine),
                "times.csv has the time of each line of %s" % name, mine[:2], sorted(ends)[:3])


def check_working(work):
    """While a process has the folder."""
    folder = os.path.join(work, "working")
    lines = list(samples(40, KINDS["classes"][0]))
    with subprocess.Popen([RETAIN, "run", "-", "--quiet", "--out", folder, *SMALL], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        for done in (20, 40):
            process.stdin.write(words_of(lines[done - 20:done]))
            process.stdin.flush()
            for _ in range(40):
                process.stdout.readline()
            code, rows, errors = export(folder)
            verdict(code == 0 and [row["id"] for row in rows] == [line["id"] for line in lines[:done]],
                    "a folder in which a process works: %d samples that were answered are there" % done, errors)
        process.stdin.close()
    verdict(process.returncode == 0, "and the process went on", process.returncode)


def check_others(work):
    folder = os.path.join(work, "old")
    shutil.copytree(os.path.join(GOLDEN, "old/live-0.2/run"), folder)
    code, rows, errors = export(folder)
    verdict(code == 0 and rows and rows[0]["labelled"] is None and rows[0]["id"] is not None and
            "before times were kept" in errors, "a journal of before exports what it has, and says what is missing",
            errors, rows[:1])
    code, rows, errors = export(folder, "--since", "2020-01-01")
    verdict(code == 0 and not rows and "left out" in errors, "asked for a time, those without one are left out", errors)
    path = os.path.join(work, "table.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("x,label\n" + "".join("%d,%s\n" % (i, "ab"[i % 2]) for i in range(40)))
    done = retain("run", path, "--quiet", "--out", os.path.join(work, "stored"))
    code, rows, errors = export(os.path.join(work, "stored"))
    verdict(done.returncode == 0 and code == 2 and "has no journal" in errors and "retain predict" in errors,
            "a run over a file says that it has none, and what to do", code, errors)
    code, rows, errors = export(os.path.join(work, "nothing"))
    verdict(code == 2 and "is not the folder of a run" in errors, "so does a folder without a run", errors)


def main():
    work, begin = tempfile.mkdtemp(), time.time()
    try:
        for kind, (label, wishes) in KINDS.items():
            folder, rows = check_kind(work, kind, label, wishes)
            check_csv(kind, folder, rows)
            check_npz(work, kind, folder, rows)
        check_times(folder)
        check_weights(work)
        check_working(work)
        check_log_times(os.path.join(work, "working"), begin)
        check_others(work)
    finally:
        shutil.rmtree(work)
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
