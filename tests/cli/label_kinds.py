"""usage: label_kinds.py RETAIN
Which kind of target a label column is taken for, and what is said about it: fractions, ids, codes, ratings,
units, words and missing values among numbers, and more digits than 32 bits keep. Prints TAP.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
os.environ["LC_ALL"] = "C"
ROWS, ODD = 300, 200
dice = random.Random(3)


def run(*words):
    return subprocess.run([retain, *words], capture_output=True, text=True, check=False)


def write(name, label):
    with open(name, "w", encoding="utf-8") as out:
        out.write("a,y\n" + "".join("%.3f,%s\n" % (dice.gauss(0, 1), label(t)) for t in range(ROWS)))
    return name


def among(words):
    """Numbers, but for one."""
    return lambda t: words if t == ODD else "%.3f" % dice.random()


zips = ["%05d" % dice.randrange(501, 99950) for _ in range(200)] + ["00501"]

# Name, labels, the kind, and what the first lines have to say.
KINDS = [
    ("fractions", lambda t: "%.3f" % dice.random(), "number", ["some with a fraction", "--target class learns classes"]),
    ("half_stars", lambda t: 0.5 * dice.randrange(1, 11), "number", ["10 different values", "--target class"]),
    ("powers", lambda t: "%.3e" % dice.uniform(0, 1000), "number", ["--target class"]),
    ("counts", lambda t: int(dice.expovariate(0.02)), "number", ["--target class"]),
    ("ratings", lambda t: dice.randrange(1, 6), "class", ["(5 classes; --target number learns quantities)"]),
    ("thirds", lambda t: dice.randrange(3), "class", ["; --target number learns quantities)"]),
    ("yes", lambda t: dice.randrange(2), "class", ['label "y" (']),
    ("ids", lambda t: 10000 + t, "class", ["looks like a quantity", "--target number learns it"]),
    ("zips", lambda t: dice.choice(zips), "class", ["--target number learns it"]),
    ("years", lambda t: dice.randrange(1980, 2005), "class", ["taken as names", "--target number learns them"]),
    ("percent", lambda t: "%.1f%%" % dice.uniform(0, 100), "number", []),
    ("money", lambda t: '"$%s"' % format(dice.uniform(0, 1e5), ",.2f"), "number", []),
    ("commas", lambda t: '"%d,%02d"' % (dice.randrange(90), dice.randrange(100)), "number", []),
    ("words", lambda t: "oops" if t % 14 == 0 else "%.3f" % dice.random(), "class",
        ["words in 22 of 300 rows (oops)", "--target number --set stream.on_bad=skip"]),
    ("grades", lambda t: "oops" if t == ODD else dice.randrange(1, 6), "class", ["words in 1 of 300 rows"]),
    ("far", lambda t: 1700000000 + t // 10 + dice.random(), "number",
        ["kept in 32 bits, near 1.7e+09 to the nearest 128", "subtract 1700000000 from all"]),
]
for name, label, kind, wanted in KINDS:
    path = write(name + ".csv", label)
    done = run("run", path, "--out", name, "--set", "eval.count=1")
    with open(name + "/run.json", encoding="utf-8") as file:
        took = json.load(file)["target"]
    said = done.stderr + done.stdout.split("\nmlp")[0]
    tap.verdict(done.returncode == 0 and took == kind and all(words in said for words in wanted),
        "%s are of kind %s, which is said" % (name, kind), took, said)
tap.verdict("32 bits" not in run("run", "fractions.csv", "--out", "again").stderr, "nothing is said where 32 bits are enough")

# One label of many that is missing, or no number: an error that names it, or left out. Nothing is written before.
for words, asked in [("NaN", []), ("NA", []), ("inf", []), ("oops", []), ('"1,5"', []), ("oops", ["--target", "number"]), ("", ["--target", "number"])]:
    path = write("hole.csv", among(words))
    refused = run("run", path, "--out", "hole", *asked)
    tap.verdict(refused.returncode in (1, 2) and "row 202, column y" in refused.stderr and "stream.on_bad=skip" in refused.stderr and
        '"%s"' % words.strip('"') in refused.stderr.replace("is empty", '""') and not os.path.exists("hole"),
        '"%s" among numbers is named, and what leaves it out' % words, refused)
    skipped = run("run", path, "--out", "skipped", "--set", "stream.on_bad=skip", "--json", *asked)
    told = json.loads(skipped.stdout.splitlines()[-1]) if skipped.returncode == 0 else {}
    tap.verdict(told.get("target") == "number" and told["samples"] == ROWS - 1 and told["mae"] < 1 and
        "row 202: has no label; left out" in skipped.stderr, "... which learns the others", skipped)
    subprocess.run(["rm", "-r", "skipped"], check=True)
named = run("run", write("few.csv", among("oops")), "--target", "class", "--out", "named", "--set", "eval.count=1")
tap.verdict(named.returncode == 0 and "classes" in named.stdout, "--target class takes numbers and words as classes", named)

# Rows through a pipe are learned as they come: whole numbers are classes, and that they look like quantities is said.
for name, label, told in [("piped", lambda: dice.randrange(1000, 9000), True), ("codes", lambda: dice.randrange(60), False)]:
    rows = "".join("%.3f,%d\n" % (dice.gauss(0, 1), label()) for t in range(210))
    done = subprocess.run([retain, "run", "-", "--label", "y", "--out", name], input="a,y\n" + rows, capture_output=True,
        text=True, check=False)
    tap.verdict(done.returncode == 0 and (("different whole numbers in the first 200" in done.stderr and
        "--target number" in done.stderr) == told), "%s that look%s like quantities" % (name, "" if told else " not"), done.stderr)


def pipe(rows, out, *asked):
    return subprocess.run([retain, "run", "-", "--label", "y", "--out", out, *asked], input=rows, capture_output=True, text=True, check=False)


def bits(folder):
    with open(folder + "/model.safetensors", "rb") as file:
        return file.read()


# A first label with a fraction is a number; one behind whole numbers ends the run at once, and what does it right is said.
table = "a,y\n" + "".join("%.3f,%.3f\n" % (dice.gauss(0, 1), dice.random()) for t in range(120))
objects = "".join('{"id": %d, "input": {"a": %d}, "label": %d.5}\n' % (t, t % 7, t % 5) for t in range(40))
for name, rows in [("table", table), ("objects", objects)]:
    plain, asked = pipe(rows, name), pipe(rows, name + "_asked", "--target", "number")
    tap.verdict(plain.returncode == 0 and plain.stdout == asked.stdout and "--target class" in plain.stderr and
        bits(name) == bits(name + "_asked"), "%s whose first label has a fraction are learned as by --target number" % name, plain)
named = pipe(table, "named_pipe", "--target", "class")
tap.verdict(named.returncode == 0 and '"prediction": "0.' in named.stdout, "--target class takes them as names", named)
late = pipe("a,y\n1,4\n2,5\n" + table.split("\n", 1)[1], "late")
tap.verdict(late.returncode == 1 and "line 4" in late.stderr and "begin anew (--force) with --target number" in late.stderr and
    len(late.stdout.splitlines()) == 4, "one behind whole numbers ends the run", late)
again = pipe("a,y\n1,4\n2,5\n" + table.split("\n", 1)[1], "late", "--target", "number", "--force")
tap.verdict(again.returncode == 0, "... and what is advised learns them", again)
mixed = pipe("a,y\n" + "".join("%d,%s\n" % (t, ("no", "1.5", "4")[t % 3]) for t in range(60)), "mixed")
tap.verdict(mixed.returncode == 0 and "0 of them bad" in mixed.stderr, "among words they are names", mixed)
none = run("run", write("words.csv", lambda t: "ab"[t % 2]), "--target", "number", "--set", "stream.on_bad=skip", "--out", "none")
tap.verdict(none.returncode == 2 and "row 2" in none.stderr and not os.path.exists("none"), "words alone are refused in any case", none)
sys.exit(tap.plan())
