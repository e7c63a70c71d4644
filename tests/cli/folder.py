#!/usr/bin/env python3
"""usage: tests/cli/folder.py RETAIN

A folder is a learner, whatever feeds it: a file, another file, lines. What cannot go on is refused and stays as it was.
Prints TAP. Works in a folder of its own.
"""
import filecmp
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import tap
from producer import PATIENCE, RETAIN, file_of
from tap import verdict

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from service import Service  # noqa: E402


def write_table(path, count, seed, classes=("UP", "DOWN", "flat")):
    draws = random.Random(seed)
    cities = ["Rome", "Oslo", "Lima", "Tokyo"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("x,y,city,class\n")
        for _ in range(count):
            label = draws.randrange(len(classes))
            file.write("%.3f,%.3f,%s,%s\n" % (label * 2 + draws.gauss(0, 0.5), draws.gauss(-label, 0.5),
                                              cities[(label + draws.randrange(2)) % 4], classes[label]))


def run(*words, text=""):
    done = subprocess.run([RETAIN, "run", "--quiet", *words], input=text.encode(), capture_output=True, timeout=PATIENCE,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def samples(folder):
    return sum(json.loads(file_of(folder, "run.json"))["kept"].values())


def same(one, other):
    """Whether two folders hold the same files."""
    both = filecmp.dircmp(one, other, ignore=["times.csv"])
    return not (both.left_only or both.right_only or both.diff_files or
                any(part.left_only or part.right_only or part.diff_files for part in both.subdirs.values()))


def goes_on():
    """Files and lines in turn, with a class and a category that the first did not have."""
    code, _, said = run("monday.csv", "--out", "shop")
    verdict(code == 0 and samples("shop") == 600, "a file begins a folder", said)
    for again in "monday.csv", "table:monday.csv", os.path.abspath("monday.csv"):
        code, _, said = run(again, "--resume", "shop")
        verdict(code == 0 and "shop: is finished" in said and samples("shop") == 600, f"{again} is not learned again", code, said)
    code, _, said = run("tuesday.csv", "--resume", "shop")
    verdict(code == 0 and samples("shop") == 1000 and "keeps its samples in a journal" in said,
            "another file goes on with it", said)
    names = {row["name"]: row["seen"] for row in json.loads(file_of("shop", "classes.json"))["classes"]}
    verdict(sum(names.values()) == 1000 and names.get("new", 0) > 50, "with a class that is new", names)
    with open("wednesday.csv", encoding="utf-8") as file:
        code, answers, said = run("-", "--resume", "shop", text=file.read())
    answers = [json.loads(line) for line in answers.splitlines()]
    right = sum(a["prediction"] == b["label"] for a, b in zip(answers[::2], answers[1::2]))
    verdict(code == 0 and samples("shop") == 1200 and right > 170, "and so do lines", said, right)
    shutil.copytree("shop", "twice")
    run("tuesday.csv", "--resume", "twice")
    with open("tuesday.csv", encoding="utf-8") as file:
        run("-", "--resume", "shop", text=file.read())
    verdict(file_of("shop", "model.safetensors") == file_of("twice", "model.safetensors"),
            "the same rows as a file and as lines come to the same bits")


def numbered():
    """Labels that are class numbers, as most tables have them: two files in turn, and lines, come to the bits of one file."""
    draws = random.Random(11)
    labels = [draws.randrange(3) for _ in range(500)]
    rows = ["%.3f,%.3f,%d\n" % (label + draws.gauss(0, 0.4), draws.gauss(0, 1), label) for label in labels]

    def write(name, part):
        with open(name, "w", encoding="utf-8") as file:
            file.write("x,y,class\n" + "".join(part))

    write("all.csv", rows)
    write("first.csv", rows[:300])
    write("second.csv", rows[300:])
    write("words.csv", ["0.1,0.2,good\n", "1.1,0.2,bad\n"])
    run("all.csv", "--out", "one")
    run("first.csv", "--out", "two")
    code, _, said = run("second.csv", "--resume", "two")
    verdict(code == 0 and samples("two") == 500, "a second file of numbered classes goes on", said)
    verdict(file_of("two", "model.safetensors") == file_of("one", "model.safetensors"), "to the bits of one file with all rows")
    with open("all.csv", encoding="utf-8") as file:
        code, _, said = run("-", "--out", "piped", "--set", "model.classes=3", text=file.read())
    verdict(code == 0 and file_of("piped", "model.safetensors") == file_of("one", "model.safetensors"),
            "and so do lines that are told how many classes there are", said)
    code, _, said = run("words.csv", "--resume", "two")
    verdict(code == 1 and '"good" is a name, and the labels before it are numbers' in said and
            "no line could be taken" in said and samples("two") == 500,
            "a file of which no line can be taken is an error", code, said)


def served():
    """A file begins a folder that HTTP goes on with."""
    run("monday.csv", "--out", "served")
    service = Service(RETAIN, "--out", "served", "--listen", "127.0.0.1:0")
    asked = service.post("/v1/predict", {"id": "q", "input": {"x": 4.0, "y": -2.0, "city": "Paris"}})
    told = service.post("/v1/label", {"id": "q", "label": "sideways"})
    service.end()
    verdict(asked[1].get("prediction") == "flat" and told[1] == {"id": "q", "label": "sideways", "sample": 600},
            "HTTP goes on with a file's folder", asked, told)
    code, _, said = run("tuesday.csv", "--resume", "served")
    verdict(code == 0 and samples("served") == 1001, "and then another file", said)
    service = Service(RETAIN, "--out", "served", "--listen", "127.0.0.1:0")
    service.post("/v1/predict", {"id": "r", "input": {"x": 4.0, "y": -2.0, "city": "Rome"}})
    service.post("/v1/label", {"id": "r", "label": "flat"})
    service.end()
    code, _, said = run("wednesday.csv", "--resume", "served")
    verdict(code == 0 and samples("served") == 1202, "rows are numbered on after a request with another id", said)


def ways_in():
    """The same events as lines, over HTTP, and as the two in turn, come to one model."""
    draws = random.Random(7)
    events = []
    for i in range(120):
        label = draws.randrange(3)
        events.append({"id": i, "input": [round(label + draws.gauss(0, 0.5), 3) for _ in range(4)], "label": label})
    text = "".join(json.dumps(event) + "\n" for event in events)
    code, answers, said = run("-", "--out", "lines", text=text)
    verdict(code == 0, "lines", said)
    service = Service(RETAIN, "--out", "http", "--listen", "127.0.0.1:0")
    status, _, body = service.ask("POST", "/v1/samples", text)
    service.end()
    verdict(status == 200 and body.decode() == answers, "HTTP answers as lines do", status)
    verdict(file_of("http", "model.safetensors") == file_of("lines", "model.safetensors"), "and comes to the same bits")
    half = "".join(text.splitlines(True)[:64])
    run("-", "--out", "turns", text=half)
    service = Service(RETAIN, "--out", "turns", "--listen", "127.0.0.1:0")
    for event in events[64:]:
        service.post("/v1/predict", {"id": event["id"], "input": event["input"]})
        service.post("/v1/label", {"id": event["id"], "label": event["label"]})
    service.end()
    verdict(file_of("turns", "model.safetensors") == file_of("lines", "model.safetensors"),
            "lines and then requests, too: inputs first, labels later")


def refused():
    """Data that is gone or changed, and a run that kept no checkpoint."""
    run("monday.csv", "--out", "kept")
    shutil.copytree("kept", "before")
    os.rename("monday.csv", "elsewhere.csv")
    code, _, said = run("tuesday.csv", "--resume", "kept")
    verdict(code == 2 and "monday.csv" in said and same("kept", "before"), "data that is gone is refused", said)
    with open("elsewhere.csv", encoding="utf-8") as file:
        lines = file.readlines()
    lines[7] = "9,9,Rome,UP\n"
    with open("monday.csv", "w", encoding="utf-8") as file:
        file.writelines(lines)
    code, _, said = run("tuesday.csv", "--resume", "kept")
    verdict(code == 2 and "has changed since" in said and same("kept", "before"), "and so is data that has changed", said)
    os.rename("elsewhere.csv", "monday.csv")
    run("monday.csv", "--out", "none", "--set", "run.checkpoint_every=never")
    shutil.copytree("none", "none before")
    code, _, said = run("tuesday.csv", "--resume", "none")
    verdict(code == 2 and "has no checkpoint" in said and same("none", "none before"), "a run without a checkpoint, too", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_table("monday.csv", 600, 1)
        write_table("tuesday.csv", 400, 2, ("UP", "DOWN", "flat", "new"))
        write_table("wednesday.csv", 200, 3, ("UP", "DOWN", "flat", "new"))
        goes_on()
        numbered()
        served()
        ways_in()
        refused()
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
