"""usage: quantities.py RETAIN
Labels that are numbers, as people see them: the terminal's words, --json, run.json, show, data info,
predictions.csv and the page's data agree with what can be computed by hand. Prints TAP.
"""
import csv
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
os.environ["LC_ALL"] = "C"
ROWS = 1500


def run(*words, check=True):
    return subprocess.run([retain, *words], check=check, capture_output=True, text=True)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def page_data(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S).group(1))


def predictions(folder):
    with open(folder + "/predictions.csv", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def near(a, b, share=1e-4):
    return abs(a - b) <= share * max(abs(a), abs(b))


# A load that follows the hour and the temperature, and doubles at two thirds.
draw, labels = random.Random(1), []
with open("load.csv", "w", encoding="utf-8") as out:
    out.write("hour,temperature,load\n")
    for i in range(ROWS):
        hour, temperature = i % 24, 15 + 8 * math.sin(i / 100) + draw.gauss(0, 1)
        labels.append(round((1 + (i >= 1000)) * (1000 + 40 * hour + 20 * temperature) + draw.gauss(0, 15), 2))
        out.write("%d,%.2f,%.2f\n" % (hour, temperature, labels[-1]))

told = json.loads(run("run", "load.csv", "--json", "--out", "a").stdout)
said = run("run", "load.csv", "--out", "b").stdout
last = sum(abs(a - b) for a, b in zip(labels[1:], labels)) / (ROWS - 1)
mean = sum(abs(y - sum(labels[:i]) / i) for i, y in enumerate(labels) if i) / (ROWS - 1)
tap.verdict(told["target"] == "number", "--json says what it learns", told.get("target"))
tap.verdict(near(told["mae_last"], last), "mae_last is the error of the last value", told["mae_last"], last)
tap.verdict(near(told["mae_mean"], mean), "mae_mean is that of the mean so far", told["mae_mean"], mean)
tap.verdict(0 < told["mae"] < told["mae_mean"] and told["rmse"] >= told["mae"], "errors are measured", told["mae"])
tap.verdict(0 < told["inside"] <= 1 and told["width"] > 0, "so are bands", told["inside"], told["width"])


def quantity(number):
    """As the terminal writes it."""
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", "%.0f" % number) if number >= 999.95 else "%#.4g" % number


tap.verdict(re.search(r"error \(MAE\) +%s +\(last value %s, mean %s\)" % (quantity(told["mae"]),
    quantity(last), quantity(mean)), said), "the summary begins with the error, beside what needs no learning", said)
tap.verdict(re.search(r"variance explained \(R2\) +%.1f %%" % (100 * told["le"]), said), "then what is explained", said)
tap.verdict(re.search(r"within the band +%.1f %%" % (100 * told["inside"]), said), "and the bands", said)
tap.verdict("accuracy" not in said and "right" not in said and "class " in said, "no word of accuracy", said)
tap.verdict("a number, " in said and "different values" in said and "--target class" in said,
    "the first line says why it is a number, and how to say otherwise", said)
shown = run("show", "b").stdout
tap.verdict("error (MAE)" in shown and "class, the worst first" not in shown, "show says the same", shown)

facts = read_json("a/run.json")
tap.verdict(facts["target"] == "number" and "classes" not in facts["data"], "run.json has no classes", facts["data"])
tap.verdict(not os.path.exists("a/classes.json"), "nor is there a file of them")
pairs = predictions("a")
tap.verdict(len(pairs) == 1000 and pairs[-1]["sample"] == ROWS and
    all(near(pair["label"], labels[int(pair["sample"]) - 1], 1e-6) for pair in pairs),
    "predictions.csv has the latest labels, each its own", pairs[0])
tap.verdict(all(pair["low"] <= pair["prediction"] <= pair["high"] for pair in pairs), "within their bands")

# The page draws from one evaluation to the next what metrics.csv has from the first row on.
page = page_data("a/report.html")["runs"][0]
columns = page["columns"]
with open("a/metrics.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
step = ROWS // len(rows)
recent = [abs(pair["label"] - pair["prediction"]) for pair in pairs[-step:]]
tap.verdict(near(columns["error"][-1], sum(recent) / step, 1e-3), "the page's last error is of the last rows",
    columns["error"][-1], sum(recent) / step)
tap.verdict(len(columns["error"]) == len(rows) and near(sum(columns["error"]) / len(rows), told["mae"], 1e-3),
    "its errors make up the whole", told["mae"])
tap.verdict(page["target"] == "number" and page["summary"]["mae"] == told["mae"], "the page has the same MAE")
tap.verdict(len(page["pairs"]) == 1 and len(page["pairs"][0]["label"]) == 1000, "and the pairs", page["pairs"])

about = run("data", "info", "load.csv").stdout
tap.verdict(re.search(r"load +label .*a number, from %g to %g, [\d ]+ values" % (min(labels), max(labels)), about) and
    "classes" not in about, "data info says its range", about)
tap.verdict(run("data", "show", "load.csv").returncode == 0, "data show labels its samples by numbers")

# Whole numbers without gaps: a number where they move little from row to row, classes where they jump.
with open("count.csv", "w", encoding="utf-8") as out:
    out.write("a,n\n" + "".join("%d,%d\n" % (i % 5, 150 + 100 * math.sin(i / 3) + i % 300 / 6) for i in range(2500)))
with open("codes.csv", "w", encoding="utf-8") as out:
    out.write("a,n\n" + "".join("%d,%d\n" % (i % 5, draw.randrange(250)) for i in range(2500)))
kinds = [json.loads(run("data", "info", name, "--json").stdout)["target"] for name in ("count.csv", "codes.csv")]
tap.verdict(kinds == ["number", "class"], "what moves little is a number, what jumps is a class", kinds)

# Stopped and resumed, a run says the same to the last byte.
resumed = run("verify-resume", "load.csv", check=False)
tap.verdict(resumed.returncode == 0, "a resumed run has the same predictions", resumed.stdout, resumed.stderr)

# What goes by classes.
for settings in (["--set", "replay.pool=balanced"], ["--method", "gdumb"]):
    refused = run("run", "load.csv", "--out", "c", *settings, check=False)
    tap.verdict(refused.returncode == 2 and "replay.pool = balanced: keeps the same number of each class" in refused.stderr,
        " ".join(settings) + " is refused", refused.stderr)

# Numbers and classes have no page in common.
with open("odd.csv", "w", encoding="utf-8") as out:
    out.write("a,y\n" + "".join("%d,%s\n" % (i % 7, "odd" if i % 7 % 2 else "even") for i in range(200)))
run("run", "odd.csv", "--out", "d", "--quiet")
both = run("report", "a", "d", "--out", "both.html", check=False)
tap.verdict(both.returncode == 2 and "a: predicts numbers" in both.stderr and "d: predicts classes" in both.stderr,
    "a report on numbers and classes together is refused by name", both.stderr)

# A folder keeps its kind of labels: what asks for the other is refused before anything changes.
def contents(folder):
    return {path: open(path, "rb").read() for place, _, names in os.walk(folder) for path in (os.path.join(place, name) for name in names)}


for folder, other, words in [("d", "number", "has learned a class"), ("a", "class", "has learned a number")]:
    before = contents(folder)
    for command in (["run", "load.csv", "--resume", folder], ["run", "-", "--resume", folder], ["serve", "--out", folder]):
        refused = run(*command, "--target", other, check=False)
        tap.verdict(refused.returncode == 2 and words in refused.stderr and contents(folder) == before,
            "%s --target %s: it %s" % (" ".join(command), other, words), refused)
compared = run("compare", "load.csv", "--methods", "sgd+clr,ama+malr", "--seeds", "1", "--out", "e", "--quiet").stdout
values = read_json("e/compare.json")["runs"][0]["values"]
tap.verdict("MAE" in compared and values["mae"] > 0 and near(values["mae_last"], last), "compare shows errors", compared)
sys.exit(tap.plan())
