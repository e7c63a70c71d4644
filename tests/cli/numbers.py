"""usage: numbers.py RETAIN
One run, one set of numbers: what the terminal prints, --json, run.json, a comparison and
the page say of IR, FT, LE and cost is the same, at the end and late. Prints TAP.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
os.environ["LC_ALL"] = "C"
# Seven evaluations, so that a quarter of them is no quarter of the iterations.
SMALL = ["--threads", "1", "--set", "drift.steps=700", "--set", "drift.classes=20", "--set", "eval.count=7"]


def run(*words):
    return subprocess.run([retain, *words], check=True, capture_output=True, text=True).stdout


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def page_data(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S).group(1))


def late(rows, name):
    """By the book: the mean of the last quarter of evaluations that have it."""
    having = [float(row[name]) for row in rows if row[name]]
    return sum(having[-math.ceil(len(rows) / 4):]) / len(having[-math.ceil(len(rows) / 4):])


def rows_of(folder):
    with open(folder + "/metrics.csv", encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    return [dict(zip(header.split(","), line.split(","))) for line in lines]


def shares(text):
    """The percentages of each line, by its first words; "late NAME" for the line below one."""
    found, above = {}, None
    for line in text.splitlines():
        match = re.match(r"  ( *\S.*?) +([0-9.]+) %", line)
        if not match:
            continue
        name = match.group(1)
        found["late " + above if name.strip() == "mean of the last quarter" else name.strip()] = match.group(2)
        above = name
    return found


def same(name, a, b):
    tap.verdict(a == b, name, a, b)


told = json.loads(run("run", *SMALL, "--json", "--out", "a"))
printed = shares(run("run", *SMALL, "--out", "b"))
shown = shares(run("show", "b"))
facts = read_json("a/run.json")
summary = page_data("a/report.html")["runs"][0]["summary"]
rows = rows_of("a")

tap.verdict(len(rows) == 7 and not rows[-1]["ft"], "the last evaluation has no FT", rows[-1])
for key in ["late_ir", "late_ir_sgd", "late_ft", "late_ft_sgd"]:
    tap.verdict(abs(told[key] - late(rows, key[5:])) < 1e-12, key + " is what its name says", told[key])
for key in ["late_ir", "late_ir_sgd", "late_ft", "late_ft_sgd", "recent", "alarms", "cost_per_iteration"]:
    same("--json and run.json have one " + key, told[key], facts[key])
for key in ["ir", "ir_sgd", "late_ir", "late_ir_sgd", "ft", "ft_sgd", "late_ft", "late_ft_sgd", "le", "recent",
        "alarms", "blind", "same", "most", "chain", "kappa", "lr", "iteration", "samples", "cost_per_iteration"]:
    same("--json and the page have one " + key, told[key], summary[key])
for label, key in [("retention (IR)", "ir"), ("late retention (IR)", "late_ir"), ("accuracy", "le"),
        ("next (FT)", "ft"), ("late next (FT)", "late_ft"), ("of the last 1 000", "recent"), ("guess by last labels", "blind")]:
    same("run prints " + key, printed.get(label), "%.1f" % (100 * told[key]))
    same("show prints " + key, shown.get(label), "%.1f" % (100 * told[key]))
for label, key in [("same as the last", "same"), ("most frequent", "most"), ("by the order of labels", "chain")]:
    same("run prints " + key, printed.get(label), "%.1f" % (100 * told[key]))
tap.verdict(abs(told["kappa"] - (told["le"] - told["same"]) / (1 - told["same"])) < 1e-12, "kappa temporal is what it is called",
    told["kappa"])
for text in (run("run", *SMALL, "--out", "k"), run("show", "b")):
    tap.verdict(re.search(r"kappa temporal +%.2f " % told["kappa"], text), "which the terminal prints", text)

rests = page_data("a/report.html")["runs"][0]["rests"]
for key in ["ir", "ft", "late_ft"]:
    same("--json and run.json have one " + key + "_samples", told[key + "_samples"], facts[key + "_samples"])
    same("... and the page", told[key + "_samples"], rests[key])
same("--json and the page have one held_out", told["held_out"], summary["held_out"])
same("... which is of the latest window", told["held_out"], float(rows[-1]["val_acc_ma"]))

run("compare", "--methods", "ama+malr", "--seeds", "1", *SMALL[2:], "--out", "c")
values = read_json("c/compare.json")["runs"][0]["values"]
for key in ["ir", "ir_sgd", "late_ir", "late_ir_sgd", "ft", "ft_sgd", "late_ft", "late_ft_sgd", "le", "blind"]:
    same("a comparison has the same " + key, values[key], told[key])
same("... and cost", values["cost"], told["cost_per_iteration"])

table = run("demo", "--threads", "1", "--out", "d")
page = page_data("d/report.html")["runs"]
for one in page:
    line = next(line for line in table.splitlines() if line.startswith("  " + one["name"]))
    same("the demo prints what its page has of " + one["name"],
        re.findall(r"([0-9.]+) %", line) + [line.split()[-1]],
        ["%.1f" % (100 * one["summary"][key]) for key in ["le", "late_ir", "late_ft"]] +
        ["%.2f" % one["summary"]["cost_per_iteration"]])
sys.exit(tap.plan())
