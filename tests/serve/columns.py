#!/usr/bin/env python3
"""usage: tests/serve/columns.py RETAIN [KILLS]

Fields that the first row lacks, by every way in: as lines, over HTTP, as rows of a table and as files of
other columns. Inputs grow with them, to the same bits whatever happens meanwhile. Prints TAP. Works in a
folder of its own.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from service import Service
import tap
from tap import verdict

RETAIN = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
PATIENCE = 120
HEADS = ["--set", "fast.heads=ridge, knn, linear, newton, hidden, labels, windows, forest, young, values, sparse",
         "--set", "model.classes_most=8"]


def rows(count, seed=1):
    """Numbers, words and texts that come later, each of which tells the label."""
    draw = random.Random(seed)
    for i in range(count):
        label = draw.randrange(3)
        row = {"a": round(draw.gauss(label / 4, 1), 4), "b": round(draw.gauss(0, 1), 4)}
        if i > 60:
            row["coupon"] = label if draw.random() < 0.9 else None
        if i > 150 and i % 3:
            row["city"] = ("Rome", "Oslo", "Bern")[label]
        if i > 250 and i % 2:
            row["note"] = "it says word%d among a few others" % label
        yield {"id": i, "input": row, "label": "abc"[label]}


def lines_of(events):
    return "".join(json.dumps(event) + "\n" for event in events)


def file_of(folder, name="model.safetensors"):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def run(words, text, wait=None):
    """Exit code, and what it said; after `wait` seconds it is killed."""
    with subprocess.Popen([RETAIN, "run", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        if wait is None:
            said = process.communicate(text.encode(), timeout=PATIENCE)[1]
            return process.returncode, said.decode()
        with open("lines", "w", encoding="utf-8") as file:
            file.write(text)
        with subprocess.Popen(["cat", "lines"], stdout=process.stdin) as feed:
            process.stdin.close()
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
            feed.wait(PATIENCE)
        return process.returncode, ""


def as_lines():
    text = lines_of(rows(400))
    code, said = run(["-", "--out", "lines-whole"], text)
    verdict(code == 0 and all("field %s: is new" % name in said for name in ("coupon", "city", "note")),
            "new fields are said", code, said)
    verdict("\n  accuracy" in said and float(said.split("\n  accuracy")[1].split()[0]) > 75,
            "and learned", said)
    columns = json.loads(file_of("lines-whole", "schema.json"))["columns"]
    verdict([(column["name"], column.get("late", False)) for column in columns]
            == [("a", False), ("b", False), ("coupon", True), ("city", True), ("note", True)],
            "they are behind all others", columns)
    for at in 61, 200:
        events = list(rows(400))
        run(["-", "--quiet", "--out", "lines-%d" % at], lines_of(events[:at]))
        run(["--quiet", "--resume", "lines-%d" % at], lines_of(events[at:]))
        verdict(file_of("lines-%d" % at) == file_of("lines-whole"), "after a stop at row %d the bits are the same" % at)
    events = list(rows(400))
    batches = "".join(json.dumps(events[i:i + 50]) + "\n" for i in range(0, 400, 50))
    run(["-", "--quiet", "--out", "lines-lists"], batches)
    verdict(file_of("lines-lists") == file_of("lines-whole"), "so they are where lines are lists")
    late = [{"id": e["id"], "input": e["input"]} for e in events], [{"id": e["id"], "label": e["label"]} for e in events]
    code, said = run(["-", "--quiet", "--out", "lines-late"], lines_of(late[0] + late[1]))
    again = run(["--quiet", "--resume", "lines-late"], lines_of(late[0] + late[1]))
    verdict(code == 0 and again[0] == 0 and " 0 of them bad" in said and " 0 of them bad" in again[1],
            "inputs may wait for their labels while others grow, and be sent again", said, again)


def killed(heads, name):
    draw = random.Random(3)
    text = lines_of(rows(400))
    run(["-", "--quiet", "--out", name, *heads], text)
    folder = name + "-killed"
    for turn in range(KILLS + 1):
        first = not os.path.exists(os.path.join(folder, "config.ini"))  # on a busy machine none was reached yet
        code, said = run(["-", "--quiet", "--force", "--out", folder, *heads] if first else ["--quiet", "--resume", folder], text,
                         0.05 + draw.random() / 3 if turn < KILLS else None)
    verdict(code == 0 and file_of(name) == file_of(folder), "%d kills change no bit of %s" % (KILLS, name), code, said)


def over_http():
    service = Service(RETAIN, "--out", "http", "--listen", "127.0.0.1:0")
    right = 0
    for event in rows(400):
        status, said = service.post("/v1/predict", {"id": event["id"], "input": event["input"]})
        right += status == 200 and said["prediction"] == event["label"]
        service.post("/v1/label", {"id": event["id"], "label": event["label"]})
    verdict(right > 290, "over HTTP fields that come late are learned", right)
    answers = [service.post("/v1/predict", {"input": {"a": 0, "b": 0, "city": city, "else": 1}})[1]["prediction"]
               for city in ("Rome", "Oslo", "Bern")]
    verdict(answers == ["a", "b", "c"], "questions that are not kept know them, too", answers)
    status, body = service.get("/metrics")
    verdict(status == 200 and b'retain_fields_ignored_total{learner="retain"} 0' in body, "none was ignored",
            [line for line in body.splitlines() if b"ignored" in line])
    service.end()
    verdict(file_of("http") == file_of("lines-whole"), "the bits are those of lines")


def table(path, names, count, seed):
    draw = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(names + ["class"]) + "\n")
        for _ in range(count):
            label = draw.randrange(2)
            value = {"a": draw.gauss(0, 1), "b": draw.gauss(0, 1), "coupon": label, "city": ("Rome", "Oslo")[label]}
            file.write(",".join([str(value[name]) for name in names] + ["no yes".split()[label]]) + "\n")


def as_files():
    table("monday.csv", ["a", "b"], 300, 1)
    table("tuesday.csv", ["coupon", "b", "a"], 300, 2)
    table("wednesday.csv", ["a", "city"], 300, 3)
    table("thursday.csv", ["a", "b"], 100, 4)
    code, said = run(["monday.csv", "--out", "shop"], "")
    verdict(code == 0, "a table of Monday", said)
    code, said = run(["tuesday.csv", "--resume", "shop"], "")
    verdict(code == 0 and "field coupon: is new, a number" in said and " 0 of them bad" in said,
            "Tuesday's has one more column, which is said", code, said)
    verdict(float(said.split("\n  accuracy")[1].split()[0]) > 60, "and learned", said)
    code, said = run(["wednesday.csv", "--resume", "shop"], "")
    verdict(code == 0 and "the heading has no column b: missing" in said and "field city: is new, a category" in said
            and " 0 of them bad" in said, "Wednesday's lacks one and has another", code, said)
    code, said = run(["thursday.csv", "--resume", "shop"], "")
    verdict(code == 0 and "is new" not in said and "has no column" not in said, "Thursday's is Monday's again", said)
    text = "p,q,class\n1,2,yes\n"
    code, said = run(["--resume", "shop"], text)
    verdict("bad" in said and " 0 of them bad" not in said, "a table of other columns is refused", code, said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        as_lines()
        killed([], "plain")
        killed(HEADS, "all heads")
        over_http()
        as_files()
        os.chdir("/")
    return tap.plan()


sys.exit(main())
