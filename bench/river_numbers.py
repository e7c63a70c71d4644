"""The race of bench/against-streams over labels that are numbers: mean absolute error, row by row.

What diverges is printed as it is. Microseconds are of processor time, retain's with its start and its files. The first row counts for nobody: nothing could be known before it.
"""

import csv
import gzip
import itertools
import json
import os
import resource
import tempfile
import time


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def streams(folder):
    """By name: the paths of CSV files whose last column is the label."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith((".csv", ".csv.gz")):
            found[name.split(".csv")[0]] = os.path.join(folder, name)
    return found


def read(path, most):
    """Rows as River takes them; empty cells are left out, a missing label is NaN."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        for row in itertools.islice(csv.DictReader(file), most):
            items = list(row.items())
            yield {key: number(value) for key, value in items[:-1] if value != ""}, float(items[-1][1] or "nan")


def cut(path, most, to):
    """The same rows as a CSV file, as they are."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file, open(to, "w") as out:
        out.writelines(itertools.islice(file, most + 1))


def learners():
    from river import compose, forest, linear_model, neighbors, preprocessing, rules, tree

    def with_words(numbers, model):
        return (numbers + (compose.SelectType(str) | preprocessing.OneHotEncoder())) | model

    def encoded(model):
        return with_words(compose.SelectType(float, int, bool) | preprocessing.StandardScaler(), model)

    def tree_of(model):
        """Leaves have linear models, which take no words."""
        return with_words(compose.SelectType(float, int, bool), model)

    return {"linear": lambda: encoded(linear_model.LinearRegression()),
        "HATR": lambda: tree_of(tree.HoeffdingAdaptiveTreeRegressor(seed=1)),
        "ARF(10)": lambda: tree_of(forest.ARFRegressor(n_models=10, seed=1)),
        "kNN(5)": lambda: encoded(neighbors.KNNRegressor(n_neighbors=5)),
        "AMRules": lambda: encoded(rules.AMRules())}


def blind(rows):
    """Errors of the last value and of the mean so far."""
    labels = [label for _, label in rows if label == label]
    total, errors = labels[0], [0, 0]
    for i in range(1, len(labels)):
        errors[0] += abs(labels[i] - labels[i - 1])
        errors[1] += abs(labels[i] - total / i)
        total += labels[i]
    return [error / (len(labels) - 1) for error in errors]


def race_river(make, rows):
    model, error, labels = make(), 0, 0
    start = time.process_time()
    for inputs, label in rows:
        if label != label:
            continue
        if labels:
            error += abs(model.predict_one(inputs) - label)
        try:
            model.learn_one(inputs, label)
        except ZeroDivisionError:  # AMRules of constant labels
            return float("nan"), float("nan")
        labels += 1
    return error / (labels - 1), 1e6 * (time.process_time() - start) / len(rows)


def race_retain(run, command, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as place:
        said, _ = run([os.path.abspath(command[0]), "run", path, "--json", "--target", "number", "--set", "stream.on_bad=skip",
            "--set", "stream.max_bad=1", *command[1:]], place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(said.splitlines()[-1])
    return told["mae"], 1e6 * (after.ru_utime - before.ru_utime) / told["samples"], told


def less(error, than):
    """By what share of it; where the other is never wrong, 0 or all."""
    return 1 - error / than if than else -float(error > 0)


def race(name, path, most, makers, run, command):
    """A line of the table; and what share of the best other error retain's is less, and of the better blind one."""
    rows = list(read(path, most))
    nothing = blind(rows)
    line = "%-17s %6d %8.4g %8.4g" % (name, len(rows), *nothing)
    results = [race_river(make, rows) for make in makers.values()]
    line += "".join(" %8.4g %5.0f" % result for result in results)
    if not command:
        return line, None
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, name + ".csv")
        cut(path, most, copy)
        error, micros, told = race_retain(run, command, copy)
    line += " %8.4g %5.0f %6.1f %8.4g" % (error, micros, 100 * told["inside"], told["width"])
    best = min(nothing + [other for other, _ in results if other == other])
    return line + " %+6.1f" % (100 * less(error, best)), (less(error, best), less(error, min(nothing)), micros)


def verdict(results):
    if not results:
        return
    ahead, over, micros = zip(*results)
    print("of %d streams ahead of the best other on %d, by %.1f %% at worst; of the better of last value and mean "
        "by %.1f %% at worst; %.0f us a row at most" % (len(results), sum(a > 0 for a in ahead),
        100 * min(ahead), 100 * min(over), max(micros)))


def main(args, run):
    found = streams(args.numbers)
    makers = {} if args.only == "retain" else learners()
    command = [args.retain] + [word for setting in args.set for word in ("--set", setting)]
    print("%-17s %6s %8s %8s" % ("", "rows", "last", "mean") + "".join(" %8s %5s" % (name, "us") for name in makers) +
        ("" if args.only == "river" else " %8s %5s %6s %8s %6s" % ("retain", "us", "in band", "width", "less %")))
    results = []
    for name in args.stream or found:
        line, result = race(name, found[name], args.rows or 10000, makers, run,
            None if args.only == "river" else command)
        print(line, flush=True)
        results += [result] if result else []
    verdict(results)
