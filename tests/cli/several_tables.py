"""usage: several_tables.py RETAIN
Several numbers as columns of a table (--label load,price): a file and a pipe learn the same, a folder goes on with
either, predict and eval know each number, and what cannot be is refused and leaves nothing. Prints TAP.
"""
import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
os.environ["LC_ALL"] = "C"
ROWS = 400
dice = random.Random(1)
HEAD = ["hour", "load", "temp", "price"]
TABLE = []
for t in range(ROWS):
    temp = dice.gauss(10, 5)
    TABLE.append([t % 24, round(800 + 5 * temp + 50 * math.sin(t / 4) + dice.gauss(0, 2), 3), round(temp, 3),
                  round(30 + t % 24 / 4 + dice.gauss(0, 0.2), 3)])


def put(name, rows, head=HEAD):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(([head] if head else []) + rows)


def run(*words, text=None):
    return subprocess.run([retain, *words], input=text, capture_output=True, text=True)


def learn(*words, text=None):
    done = run("run", *words, "--threads", "1", "--quiet", text=text)
    tap.verdict(done.returncode == 0, "retain run " + " ".join(words), done.stderr)
    return done


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def latest(folder):
    return [row for row in csv.DictReader(io.StringIO(read(folder + "/predictions.csv")))]


put("grid.csv", TABLE)
put("more.csv", TABLE[:50])
learn("grid.csv", "--label", "load,price", "--out", "file")
learn("-", "--label", "load,price", "--out", "pipe", text=read("grid.csv"))
rows = latest("file")
tap.verdict(len(rows) == 2 * ROWS - 2 or len(rows) == 2 * ROWS, "a prediction for each number of each row", len(rows))
late = rows[-ROWS:]
for name, column, most in (("load", 1, 12), ("price", 3, 0.8)):
    mine = [row for row in late if row["number"] == name]
    error = sum(abs(float(row["label"]) - float(row["prediction"])) for row in mine) / len(mine)
    tap.verdict(error < most and abs(float(mine[-1]["label"]) - TABLE[-1][column]) < 1e-2, name + " is learned", error)
piped = latest("pipe")
tap.verdict(all(abs(float(a["prediction"]) - float(b["prediction"])) < 0.2 * abs(float(a["high"]) - float(a["low"]))
                for a, b in zip(rows[-100:], piped[-100:])), "the pipe comes to much the same", rows[-1], piped[-1])

# Predict and eval, of a file, of a pipe, and of lines.
said = list(csv.DictReader(io.StringIO(run("predict", "file", "more.csv").stdout)))
tap.verdict(len(said) == 50 and list(said[0])[1:4] == ["prediction_load", "low_load", "high_load"], "predict takes a table", said[:1])
asked = run("eval", "file", "more.csv", "--part", "all", "--json", "--ranges", "2", "--out", "all.csv")
found = json.loads(asked.stdout or '{"numbers": []}')["numbers"]
tap.verdict([one["name"] for one in found] == ["load", "price"], "eval has both numbers", asked.stderr)
kept = list(csv.DictReader(io.StringIO(read("all.csv"))))
for one in found:
    name = one["name"]
    errors = [abs(float(row["label_" + name]) - float(row["prediction_" + name])) for row in kept]
    inside = [float(row["low_" + name]) <= float(row["label_" + name]) <= float(row["high_" + name]) for row in kept]
    tap.verdict(abs(one["mae"] - sum(errors) / 50) < 1e-3 and abs(one["coverage"] - sum(inside) / 50) < 1e-9 and
                [part["samples"] for part in one["ranges"]] == [25, 25] and [part["samples"] for part in one["labels"]] == 5 * [10],
                "error by range and size, coverage: " + name, one)
lines = "".join(json.dumps({"input": {"hour": row[0], "temp": row[2]}, "label": [row[1], row[3]]}) + "\n" for row in TABLE[:50])
with open("more.ndjson", "w", encoding="utf-8") as file:
    file.write(lines)
for words, text in ((["-"], read("more.csv")), (["more.ndjson"], None)):
    other = run("eval", "file", *words, "--part", "all", "--json", "--ranges", "2", text=text)
    tap.verdict(json.loads(other.stdout or "{}").get("numbers") == found, "eval of %s says the same" % words[0], other.stderr)
shown = run("eval", "file", "more.csv", "--part", "all", "--ranges", "1").stdout
tap.verdict("load\n" in shown and "\nprice\n" in shown and shown.count("within") == 6, "and prints both", shown)
info = run("data", "info", "grid.csv", "--label", "load,price").stdout
tap.verdict("2 numbers" in info, "data info counts them", info)

# A folder goes on, whatever it began with.
put("turned.csv", [row[::-1] for row in TABLE[50:100]], HEAD[::-1])
for folder in ("file", "pipe"):
    learn("turned.csv", "--resume", folder)
    tap.verdict(float(latest(folder)[-1]["label"]) == TABLE[99][3], "labels are found by name in " + folder, latest(folder)[-1])
learn("-", "--target", "number", "--set", "model.numbers=load,price", "--out", "lines", text="".join(
    '{"id": "%d", %s\n' % (i, line[1:]) for i, line in enumerate(lines.splitlines())))
learn("more.csv", "--resume", "lines")
tap.verdict(latest("lines")[-1]["number"] == "price" and len(latest("lines")) > 150, "lines go on with a table", len(latest("lines")))
plain = [row[1:] for row in TABLE]
put("plain.csv", plain, None)
learn("plain.csv", "--label", "1,3", "--out", "plain")
tap.verdict("\nnumbers = 1,3\n" in read("plain/config.ini"), "columns without names go by their numbers")
same = run("verify-resume", "grid.csv", "--set", "table.label=load,price")
tap.verdict(same.returncode == 0, "a run that was stopped ends with the same bytes", same.stdout, same.stderr)

# What cannot be is named.
put("word.csv", TABLE[:5] + [[1, 2, 3, "cheap"]])
put("far.csv", TABLE[:5] + [[1, "inf", 3, 4]])
put("empty.csv", TABLE[:5] + [[1, "", 3, 4]])
for words, why in (
        (["grid.csv", "--label", "load,prise"], "has no column prise, which table.label (--label) names; did you mean price?"),
        (["grid.csv", "--label", "load,load"], "names a column twice"),
        (["grid.csv", "--label", "load,price", "--target", "class"], "model.target = class"),
        (["grid.csv", "--label", "load,price", "--set", "model.numbers=3"], "model.numbers = 3"),
        (["grid.csv", "--label", "load", "--set", "model.numbers=3", "--target", "number"], "1 column of labels"),
        (["word.csv", "--label", "load,price"], "word.csv, row 7, column price: cheap is not a finite number"),
        (["far.csv", "--label", "load,price"], "far.csv, row 7, column load: inf is not a finite number"),
        (["empty.csv", "--label", "load,price"], "empty.csv, row 7, column load")):
    refused = run("run", *words, "--out", "none")
    tap.verdict(refused.returncode != 0 and why in refused.stderr and not os.path.exists("none"), "refused: " + why, refused.stderr)
bad = run("run", "-", "--resume", "pipe", text="hour,load,temp,price\n1,2,3,cheap\n1,,3,4\n")
tap.verdict('"cheap\\" is not a number' in bad.stdout.replace('\\"cheap', '"cheap') and "has 1 of 2 numbers" in bad.stdout,
            "lines that lack a number are refused", bad.stdout)
narrow = run("eval", "file", "grid.csv", "--label", "load")
tap.verdict(narrow.returncode != 0 and "predicts 2 numbers" in narrow.stderr, "eval of one column is refused", narrow.stderr)
sys.exit(tap.plan())
