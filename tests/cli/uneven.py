#!/usr/bin/env python3
"""usage: tests/cli/uneven.py RETAIN

Two classes, one of them rare: that metrics.csv, the terminal, --json, the page and `retain eval` have balanced accuracy,
F1, AUC and recall at a budget as worked out here from every answer, the same after a resume; and that even classes have
none of them. Prints TAP. Works in a folder of its own.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import tap
from producer import RETAIN
from tap import verdict

ROWS = 900
NAMES = ["balanced", "f1", "f1_rare", "auc", "alert_recall", "alert_share"]


def rows_of(count, share, seed=1):
    draws = random.Random(seed)
    labels = ["yes" if draws.random() < share else "no" for _ in range(count)]
    return [([round(draws.gauss(2 * (label == "yes"), 1), 3), round(draws.gauss(0, 1), 3)], label) for label in labels]


def lines_of(rows, first=0):
    for i, (row, label) in enumerate(rows):
        yield json.dumps({"id": str(first + i), "input": row})
        yield json.dumps({"id": str(first + i), "label": label})


def run(lines, *words):
    done = subprocess.run([RETAIN, *words], input="\n".join(lines).encode(), capture_output=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(" ".join(words) + ": " + done.stderr.decode())
    return done


def answers_of(done):
    answers = map(json.loads, done.stdout.decode().splitlines())
    return {int(a["id"]): (a["prediction"], a["probability"]) for a in answers if "prediction" in a}


def last_row(folder):
    with open(folder + "/metrics.csv", encoding="utf-8") as file:
        row = list(csv.DictReader(file))[-1]
    return {name: float(row[name] or "nan") for name in NAMES}


def close(got, want):
    """Log-odds are rounded to a bin: a sample at the edge of the budget may be inside or outside."""
    return all(abs(got[name] - want[name]) < (0.03 if name == "alert_recall" else 1e-3) for name in NAMES)


def f1_of(pairs, label):
    right = sum(said == true == label for said, true in pairs)
    return 2 * right / (sum(said == label for said, _ in pairs) + sum(true == label for _, true in pairs))


def measured(pairs, scored, alerts=0.0):
    """pairs: (said, true); scored: (probability of yes, true)."""
    recall = {c: sum(s == t == c for s, t in pairs) / sum(t == c for _, t in pairs) for c in ("yes", "no")}
    order = sorted(scored, key=lambda one: -one[0])
    high, low = ([p for p, t in scored if t == c] for c in ("yes", "no"))
    alerts = alerts or len(high) / len(scored)
    return {
        "balanced": sum(recall.values()) / 2,
        "f1": (f1_of(pairs, "yes") + f1_of(pairs, "no")) / 2,
        "f1_rare": f1_of(pairs, "yes"),
        "auc": sum((a > b) + (a == b) / 2 for a in high for b in low) / len(high) / len(low),
        "alert_recall": sum(t == "yes" for _, t in order[: round(alerts * len(order))]) / len(high),
        "alert_share": alerts,
    }


def of_answers(rows, answers):
    pairs, scored = [], []
    for i, (_, true) in enumerate(rows):
        said, probability = answers.get(i, (None, 0))
        pairs.append((said, true))
        if len({label for _, label in rows[:i]}) == 2:
            scored.append((probability if said == "yes" else 1 - probability, true))
    return measured(pairs, scored)


def before_labels():
    rows = rows_of(ROWS, 0.08)
    done = run(lines_of(rows), "run", "-", "--out", "live")
    want, got = of_answers(rows, answers_of(done)), last_row("live")
    verdict(0.6 < want["auc"] < 1 and close(got, want), "lines: metrics.csv has what the answers give", want, got)
    told = done.stderr.decode()
    verdict("balanced accuracy" in told and "%.3f\n" % got["auc"] in told and max(len(line) for line in told.split("\n") if line.startswith("  ")) <= 80,
            "the terminal says it, in 80 columns", told)
    verdict("%.3g %% are alarms" % (100 * got["alert_share"]) in told, "... and the budget", told)
    run(lines_of(rows[:400]), "run", "-", "--quiet", "--out", "parts")
    run(lines_of(rows[400:], 400), "run", "-", "--quiet", "--resume", "parts")
    verdict(last_row("parts") == got, "stopped and resumed: the same numbers", last_row("parts"), got)
    run(lines_of(rows_of(300, 0.45)), "run", "-", "--quiet", "--out", "even")
    row = last_row("even")
    verdict(all(value != value for value in row.values()), "even classes have none", row)


def write_table(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        csv.writer(file).writerows([["a", "b", "bought"]] + [row + [label] for row, label in rows])


def files():
    write_table("shop.csv", rows_of(ROWS, 0.08))
    write_table("later.csv", rows_of(500, 0.1, seed=2))
    told = json.loads(run([], "run", "shop.csv", "--quiet", "--json", "--out", "shop", "--set", "eval.alerts=0.05").stdout)
    row = last_row("shop")
    verdict(all(abs(told[name] - row[name]) < 1e-12 for name in NAMES) and row["alert_share"] == 0.05,
            "a file: --json has them, at the budget set", told, row)
    with open("shop/report.html", encoding="utf-8") as file:
        verdict('"balanced":%s' % repr(row["balanced"])[:7] in file.read(), "the page has them")
    done = run([], "eval", "shop", "later.csv", "--quiet", "--json", "--alerts", "0.2", "--out", "said.csv", "--probabilities")
    with open("said.csv", encoding="utf-8") as file:
        said = list(csv.DictReader(file))
    want = measured([(one["prediction"], one["label"]) for one in said],
                    [(float(one["yes"]), one["label"]) for one in said], 0.2)
    got = json.loads(done.stdout)
    verdict(len(said) == 500 and close(got, want), "retain eval has them of all samples", want, done.stdout)
    words = run([], "eval", "shop", "later.csv", "--quiet").stdout.decode()
    verdict("classes are uneven: balanced accuracy %.2f %%" % (100 * got["balanced"]) in words, "... and says them", words)


def chance_of_yes(answer):
    return answer[1] if answer[0] == "yes" else 1 - answer[1]


def weighed(plain, yes, no):
    return plain * yes / (plain * yes + (1 - plain) * no)


def balanced_answers(rows, plain, said):
    """Whether answers are the plain ones, each class divided by how often it came before."""
    seen = {"yes": 0, "no": 0}
    gaps = []
    for i, (_, label) in enumerate(rows):
        if min(seen.values()):
            want = weighed(chance_of_yes(plain[i]), seen["yes"] ** -0.9, seen["no"] ** -0.9)
            gaps.append(abs(want - chance_of_yes(said[i])))
        seen[label] += 1
    return len(gaps) > 800 and max(gaps) < 1e-4


def predicted(model, data, *words):
    said = run([], "predict", model, data, "--probabilities", "--quiet", *words).stdout.decode().splitlines()
    return [float(row["yes"]) for row in csv.DictReader(said)]


def thresholds():
    said = run([], "predict", "plain", "later.csv", "--probabilities", "--quiet", "--threshold", "yes=0.03").stdout.decode()
    rows = list(csv.DictReader(said.splitlines()))
    verdict(all((row["prediction"] == "yes") == (float(row["yes"]) >= 0.03) for row in rows) and
            0 < sum(row["prediction"] == "yes" and float(row["yes"]) < 0.5 for row in rows),
            "predict --threshold says a class from there on, with its own probability", said[:300])
    told = json.loads(run([], "eval", "plain", "later.csv", "--quiet", "--json", "--threshold", "yes=0.999999").stdout)
    counts = {one["class"]: one["said"] for one in told["classes"]}
    verdict(counts["yes"] == 0 and counts["no"] == 300, "eval --threshold says a class only from there on", counts)
    for words, why in (("yes", "must be NAME=SHARE"), ("yes=2", "must be NAME=SHARE"), ("maybe=0.3", "no class maybe")):
        done = subprocess.run([RETAIN, "predict", "plain", "later.csv", "--quiet", "--threshold", words],
                              capture_output=True, timeout=100, check=False)
        verdict(done.returncode == 2 and why in done.stderr.decode(), "--threshold %s is refused" % words, done)


def weights_in_answers():
    rows = rows_of(ROWS, 0.08)
    plain = answers_of(run(lines_of(rows), "run", "-", "--quiet", "--out", "plain"))
    said = answers_of(run(lines_of(rows), "run", "-", "--quiet", "--out", "weighed", "--weigh", "balanced"))
    verdict(balanced_answers(rows, plain, said), "--weigh balanced divides by how often classes came, to the power 0.9")
    verdict(last_row("weighed")["balanced"] > last_row("plain")["balanced"] + 0.1, "balanced accuracy is higher by it",
            last_row("weighed"), last_row("plain"))
    first = answers_of(run(lines_of(rows[:400]), "run", "-", "--quiet", "--out", "turns", "--weigh", "balanced"))
    first.update(answers_of(run(lines_of(rows[400:], 400), "run", "-", "--quiet", "--resume", "turns")))
    verdict(first == said, "stopped and resumed: the same answers")
    costs = answers_of(run(lines_of(rows), "run", "-", "--quiet", "--out", "costs", "--weigh", "yes=9,no=0.5"))
    gaps = [abs(weighed(chance_of_yes(plain[i]), 9, 0.5) - chance_of_yes(costs[i])) for i in range(200, ROWS)]
    verdict(max(gaps) < 1e-4, "--weigh yes=9,no=0.5 multiplies by these", max(gaps))
    write_table("later.csv", rows_of(300, 0.1, seed=2))
    for question in ("now", "ever"):
        pairs = zip(predicted("plain", "later.csv", "--for", question), predicted("costs", "later.csv", "--for", question))
        gaps = [abs(weighed(a, 9, 0.5) - b) for a, b in pairs]
        verdict(len(gaps) == 300 and max(gaps) < 1e-4, "predict --for %s weighs them, too" % question, max(gaps))
    thresholds()
    for costs, why in (("yes", "must be off, balanced, or a list"), ("yes=0", "must be off, balanced"), ("yess=2", "did you mean yes")):
        done = subprocess.run([RETAIN, "run", "shop.csv", "--quiet", "--out", "refused", "--weigh", costs],
                              capture_output=True, timeout=100, check=False)
        verdict(done.returncode == 2 and why in done.stderr.decode(), "--weigh %s is refused" % costs, done)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        before_labels()
        files()
        weights_in_answers()
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
