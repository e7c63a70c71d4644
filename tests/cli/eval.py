#!/usr/bin/env python3
"""usage: tests/cli/eval.py RETAIN

`retain eval`: what it says of a model agrees with the predictions that it writes, and with what the run
measured when the snapshot was made. Prints TAP. Works in a folder of its own.
"""
import csv
import json
import math
import os
import sys
import tempfile

import sources
import tap
from sources import retain, settings_of
from tap import verdict

SMALL = ["model.arch=mlp:8", "run.batch=8", "stream.per_step=5", "run.iterations=3", "eval.count=4", "eval.bins=2",
         "engine.threads=1", "run.snapshots=all", "average.every=1", "schedule.validation_batch=4"]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def near(a, b):
    return abs(a - b) < 1e-5


def whole(source):
    code, said, why = retain("eval", "run", source, "--json", "--ranges", "3", "--out", "p.csv", "--probabilities",
                             "--confusion", "c.csv")
    verdict(code == 0, "it evaluates", code, said, why)
    told, rows = json.loads(said), rows_of("p.csv")
    right = sum(row["label"] == row["prediction"] for row in rows)
    verdict(told["samples"] == len(rows) == sources.N // 4, "the evaluation part is what it goes over", said)
    verdict(near(told["accuracy"], right / len(rows)), "accuracy", said)
    verdict(near(told["loss"], sum(-math.log(float(row[row["label"]])) for row in rows) / len(rows)), "loss", said)
    bins = {}
    for row in rows:
        bins.setdefault(min(14, math.ceil(float(row["probability"]) * 15) - 1), []).append(row)
    error = sum(abs(sum(float(row["probability"]) for row in part) -
                    sum(row["label"] == row["prediction"] for row in part)) for part in bins.values()) / len(rows)
    verdict(abs(told["calibration_error"] - error) < 1e-4, "calibration error", said, error)
    verdict(sum(part["samples"] for part in told["ranges"]) == len(rows) and len(told["ranges"]) == 3 and
            near(sum(part["samples"] * part["accuracy"] for part in told["ranges"]), right), "time ranges", said)
    with open("c.csv", newline="", encoding="utf-8") as file:
        matrix = list(csv.reader(file))
    classes = matrix[0][1:]
    verdict(all(int(matrix[i + 1][j + 1]) == sum(row["label"] == a and row["prediction"] == b for row in rows)
                for i, a in enumerate(classes) for j, b in enumerate(classes)), "the confusion matrix", matrix)
    for each in told["classes"]:
        verdict(each["recognised"] == sum(row["label"] == row["prediction"] == each["class"] for row in rows),
                "class " + each["class"], said)
    code, said, why = retain("eval", "run", source, "--part", "stream")
    verdict(code == 0 and "%d samples with labels" % sources.N in said and "was taken for" in said
            or "100.00 %" in said, "the other part, in words", code, said, why)


def snapshots(source):
    """A snapshot, evaluated afterwards, is as good as the run said."""
    for row in rows_of("run/metrics.csv"):
        for ending, column in (("", "ir"), ("-plain", "ir_sgd")):
            code, said, why = retain("eval", "run/snapshots/%s%s.safetensors" % (row["iteration"], ending), source,
                                     "--json")
            if row is rows_of("run/metrics.csv")[-1] or row["step"] == "12":
                verdict(code == 0 and near(json.loads(said)["accuracy"], float(row[column])),
                        "snapshot %s%s has the run's %s" % (row["iteration"], ending, column), said, why, row)
            else:
                verdict(code == 0, "snapshot %s%s is a model" % (row["iteration"], ending), said, why)


def refused(source):
    for words, complaint in (([source], "a MODEL and DATA"), (["nowhere", source], "nowhere"),
                             (["run", source, "--part", "odd"], "odd: no part"),
                             (["run", source, "--part", "prepare"], "has no part prepare")):
        code, said, why = retain("eval", *words)
        verdict(code in (1, 2) and complaint in why, "refused: " + " ".join(words), code, said, why)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        source = sources.make_idx("digits")[0]
        code, said, why = retain("run", "--quiet", "--out", "run", *settings_of(SMALL, ["stream.source=" + source]))
        verdict(code == 0, "a run", code, said, why)
        whole(source)
        snapshots(source)
        refused(source)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
