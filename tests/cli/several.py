"""usage: several.py RETAIN
Two numbers at once, from lines to answers: taken by list and by name, resumed to the same bits,
answered by predict from a folder and from weights, and what cannot be is refused. One number: eval. Prints TAP.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
os.environ["LC_ALL"] = "C"
NUMBERS = ["--target", "number", "--set", "model.numbers=load,price", "--threads", "1"]
ROWS = 300


def rows():
    dice = random.Random(1)
    for t in range(ROWS):
        x = {"a": dice.random(), "b": dice.random()}
        label = {"load": 10 * x["a"] + math.sin(t / 20), "price": 1000 + 100 * x["b"] + dice.gauss(0, 1)}
        # A list or an object: they say the same.
        yield {"id": t, "input": x, "label": label if t % 2 else [label["load"], label["price"]]}


def run(*words, lines=()):
    return subprocess.run([retain, *words], input="".join(json.dumps(line) + "\n" for line in lines),
                          capture_output=True, text=True)


def read(path):
    with open(path, "rb") as file:
        return file.read()


LINES = list(rows())
straight = run("run", "-", "--out", "straight", *NUMBERS, lines=LINES)
tap.verdict(straight.returncode == 0, "lines of two numbers are learned", straight.stderr)
answers = [json.loads(line) for line in straight.stdout.splitlines()]
said = [answer for answer in answers if "prediction" in answer]
tap.verdict(len(said) == ROWS and said[0]["prediction"] == {"load": None, "price": None}, "every input is answered")
tap.verdict(all(answer["low"][name] <= answer["prediction"][name] <= answer["high"][name]
                for answer in said[1:] for name in ("load", "price")), "by name, within its interval")


def error(name):
    late = list(zip(LINES, said))[ROWS // 2:]
    names = ["load", "price"]
    true = [line["label"][name] if isinstance(line["label"], dict) else line["label"][names.index(name)]
            for line, _ in late]
    mean = sum(true) / len(true)
    return (sum(abs(y - answer["prediction"][name]) for y, (_, answer) in zip(true, late)) /
            sum(abs(y - mean) for y in true))


tap.verdict(error("load") < 0.35 and error("price") < 0.2, "both are learned", error("load"), error("price"))
sample = [answer for answer in answers if "sample" in answer][-1]
tap.verdict(abs(sample["label"]["price"] - LINES[-1]["label"]["price"]) < 1e-3, "a sample's label has both", sample)

run("run", "-", "--out", "parted", *NUMBERS, lines=LINES[:120])
again = run("run", "-", "--resume", "parted", lines=LINES[120:])
tap.verdict(again.returncode == 0 and read("parted/model.safetensors") == read("straight/model.safetensors"),
            "resumed to the same bits", again.stderr)
lost = run("run", "-", "--resume", "parted", lines=LINES[290:295])
tap.verdict(json.loads(lost.stdout.splitlines()[0])["prediction"] == said[290]["prediction"],
            "an input sent again has its first answer", lost.stdout, said[290])

for why, label in (("a list of 2 numbers", 3), ("a list of 2 numbers", [1]), ("price is missing", {"load": 1, "x": 2}),
                   ("load is not a finite number", ["a", 2])):
    refused = run("run", "-", "--resume", "parted", lines=[{"id": 1000, "input": {"a": 1, "b": 1}, "label": label}])
    tap.verdict(why in refused.stdout, "refused: " + json.dumps(label), refused.stdout, refused.stderr)
refused = run("run", "-", "--resume", "parted", "--set", "model.numbers=3", lines=[])
tap.verdict(refused.returncode != 0, "a folder keeps its numbers", refused.stderr)
refused = run("run", "-", "--out", "none", "--target", "number", "--set", "model.numbers=a,a", lines=LINES[:3])
tap.verdict(refused.returncode != 0 and "model.numbers = a,a" in refused.stderr, "names are different ones", refused.stderr)

with open("ask.ndjson", "w", encoding="utf-8") as file:
    file.write("".join(json.dumps({"id": line["id"], "input": line["input"]}) + "\n" for line in LINES[:7]))
table = run("predict", "straight", "ask.ndjson").stdout.splitlines()
tap.verdict(table[0] == "id,prediction_load,low_load,high_load,prediction_price,low_price,high_price" and len(table) == 8,
            "predict names columns", table[:1])
ever = [json.loads(line) for line in
        run("predict", "straight/model.safetensors", "ask.ndjson", "--format", "ndjson").stdout.splitlines()]
tap.verdict(len(ever) == 7 and all(900 < row["prediction"]["price"] < 1200 for row in ever), "a weights file answers", ever[:1])
run("predict", "straight", "ask.ndjson", "--for", "ever", "--out", "ever.npy")
raw = read("ever.npy")
tap.verdict(b"(7, 6)" in raw[:128] and abs(struct.unpack("<f", raw[128:132])[0] - ever[0]["prediction"]["load"]) < 1e-4,
            "as an array: samples by value, low, high", raw[:128])
for flag in (["--top", "2"], ["--probabilities"], ["--threshold", "a=0.5"]):
    refused = run("predict", "straight", "ask.ndjson", *flag)
    tap.verdict(refused.returncode != 0 and flag[0] + ": is for classes" in refused.stderr, flag[0] + " is refused", refused.stderr)

# One number, of a table.
with open("table.csv", "w", encoding="utf-8") as file:
    dice = random.Random(2)
    file.write("a,b,y\n")
    for _ in range(200):
        a, b = dice.random(), dice.random()
        file.write("%.4f,%.4f,%.4f\n" % (a, b, 3 * a - b + dice.gauss(0, 0.1)))
made = run("run", "table.csv", "--out", "one", "--threads", "1")
tap.verdict(made.returncode == 0, "a table of one number is learned", made.stderr)
said = run("eval", "one", "table.csv", "--part", "all", "--ranges", "2", "--json", "--out", "all.csv")
found = json.loads(said.stdout or "{}")
with open("all.csv", encoding="utf-8") as file:
    header, *cells = [line.strip().split(",") for line in file]
cells = [[float(cell) for cell in row] for row in cells]
label, value, low, high = (header.index(name) for name in ("label", "prediction", "low", "high"))
mae = sum(abs(row[label] - row[value]) for row in cells) / len(cells)
inside = sum(row[low] <= row[label] <= row[high] for row in cells) / len(cells)
tap.verdict(len(cells) == 200 and abs(found["mae"] - mae) < 1e-5 and abs(found["coverage"] - inside) < 1e-9 and
            0.8 < found["explained"] <= 1, "eval measures what predict says", found, mae, inside)
tap.verdict([part["samples"] for part in found["ranges"]] == [100, 100] and
            [part["samples"] for part in found["labels"]] == 5 * [40] and
            all(one["to"] <= other["from"] for one, other in zip(found["labels"], found["labels"][1:])),
            "by time range and by size of the label", found)
with open("table.csv", encoding="utf-8") as file:
    piped = subprocess.run([retain, "eval", "one", "-", "--json", "--part", "all", "--ranges", "2"], stdin=file,
                           capture_output=True, text=True)
tap.verdict(abs(json.loads(piped.stdout or '{"mae": 9}')["mae"] - mae) < 1e-5, "a pipe says the same", piped.stderr)
refused = run("eval", "one", "table.csv", "--part", "all", "--confusion", "c.csv")
tap.verdict(refused.returncode != 0 and "is for classes" in refused.stderr, "eval refuses --confusion", refused.stderr)
sys.exit(tap.plan())
