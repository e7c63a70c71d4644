"""Streams of bench/against-streams: by name, functions that give (inputs by name, label) row by row.

CHOSEN are those that defaults were chosen or checked by; ASIDE those by which none was. STRANGE are made after what
strangers' tables have: codes, dates in several forms, junk, many classes, concepts that come and go. FRESH came last.
"""

import csv
import datetime
import gzip
import itertools
import random

MADE_ROWS = 10000


def from_river(name):
    def rows():
        from river import datasets
        return getattr(datasets, name)()
    return rows


def synthetic(make):
    def rows():
        from river.datasets import synth
        return make(synth).take(MADE_ROWS)
    return rows


def from_sklearn(name):
    """In an order drawn at random: these sets have no time."""
    def rows():
        from sklearn import datasets
        data = getattr(datasets, "load_" + name)()
        order = list(range(len(data.target)))
        random.Random(1).shuffle(order)
        for i in order:
            yield {"x%d" % j: float(v) for j, v in enumerate(data.data[i])}, int(data.target[i])
    return rows


def wandering():
    """Clusters in 20 dimensions; half-way the labels of half of them change places."""
    from sklearn.datasets import make_classification
    inputs, labels = make_classification(n_samples=MADE_ROWS, n_features=20, n_informative=8,
        n_classes=4, n_clusters_per_class=2, shift=None, scale=None, random_state=3)
    for i, (row, label) in enumerate(zip(inputs, labels)):
        if i >= MADE_ROWS // 2:
            label = {0: 1, 1: 0}.get(label, label)
        yield {"x%d" % j: float(v) for j, v in enumerate(row)}, int(label)


def lasting(stays, distance, classes, likely=None):
    """Labels that stay as they are with this probability, and inputs that say little about them."""
    draw, label = random.Random(1), 0
    for _ in range(MADE_ROWS):
        if likely:
            label = int(draw.random() > likely)
        elif draw.random() > stays:
            label = draw.choice([other for other in range(classes) if other != label])
        yield {"a": draw.gauss(distance * label, 1), "b": draw.gauss(-distance * label, 1),
            "c": draw.gauss(0, 1)}, label


def from_maker(name, **settings):
    def rows():
        from sklearn import datasets
        inputs, labels = getattr(datasets, name)(**settings)
        for row, label in zip(inputs, labels):
            yield {"x%d" % j: float(v) for j, v in enumerate(row)}, int(label)
    return rows


def concepts(synth, before, after):
    return synth.ConceptDriftStream(stream=before, drift_stream=after, position=MADE_ROWS // 2,
        width=500, seed=1)


def one_label(name, label):
    """Of a data set whose rows have several."""
    def rows():
        from river import datasets
        for inputs, labels in getattr(datasets, name)():
            yield inputs, labels[label]
    return rows


CHOSEN = {
    "phishing": from_river("Phishing"),
    "segments": from_river("ImageSegments"),
    "bananas": from_river("Bananas"),
    "shuttle": from_river("Shuttle"),
    "digits": from_sklearn("digits"),
    "cancer": from_sklearn("breast_cancer"),
    "wine": from_sklearn("wine"),
    "swapped": wandering,
    "agrawal": synthetic(lambda s: s.Agrawal(classification_function=2, seed=1,
        perturbation=0.05)),
    "agrawal drift": synthetic(lambda s: concepts(s,
        s.Agrawal(classification_function=0, seed=1), s.Agrawal(classification_function=3, seed=2))),
    "led drift": synthetic(lambda s: s.LEDDrift(seed=1, noise_percentage=0.1,
        irrelevant_features=True, n_drift_features=4)),
    "rbf drift": synthetic(lambda s: s.RandomRBFDrift(seed_model=1, seed_sample=1, n_classes=4,
        n_features=10, n_centroids=20, change_speed=0.5, n_drift_centroids=10)),
    "hyperplane": synthetic(lambda s: s.Hyperplane(seed=1, n_features=10, n_drift_features=5,
        mag_change=0.01, noise_percentage=0.05)),
    "stagger drift": synthetic(lambda s: concepts(s,
        s.STAGGER(classification_function=0, seed=1), s.STAGGER(classification_function=2, seed=2))),
    "random tree": synthetic(lambda s: s.RandomTree(seed_tree=1, seed_sample=1, n_classes=2)),
    "waveform": synthetic(lambda s: s.Waveform(seed=1)),
    "sine drift": synthetic(lambda s: concepts(s, s.Sine(classification_function=0, seed=1),
        s.Sine(classification_function=2, seed=2))),
    "mixed drift": synthetic(lambda s: concepts(s, s.Mixed(classification_function=0, seed=1),
        s.Mixed(classification_function=1, seed=2))),
    "agrawal 5 to 8": synthetic(lambda s: concepts(s,
        s.Agrawal(classification_function=5, seed=3, perturbation=0.1),
        s.Agrawal(classification_function=8, seed=4, perturbation=0.1))),
    "solar flares": one_label("SolarFlare", "c-class-flares"),
    "yeast": one_label("Yeast", "Class1"),
    "iris": from_sklearn("iris"),
    "lasting labels": lambda: lasting(0.7, 0.8, 3),
    "lasting, unclear": lambda: lasting(0.9, 0.5, 2),
    "nothing to learn": lambda: lasting(0.5, 0, 2, likely=0.7),
}

ASIDE = {
    "SEA, swapped": synthetic(lambda s: concepts(s, s.SEA(variant=0, seed=1, noise=0.1),
        s.SEA(variant=3, seed=2, noise=0.1))),
    "RBF": synthetic(lambda s: s.RandomRBF(seed_model=3, seed_sample=3, n_classes=5,
        n_features=8, n_centroids=25)),
    "LED": synthetic(lambda s: s.LED(seed=2, noise_percentage=0.1)),
    "odd sines": synthetic(lambda s: s.AnomalySine(seed=1, n_samples=MADE_ROWS,
        n_anomalies=MADE_ROWS // 10)),
    "noisy waveform": synthetic(lambda s: s.Waveform(seed=5, has_noise=True)),
    "slow hyperplane": synthetic(lambda s: s.Hyperplane(seed=6, n_features=20, n_drift_features=2,
        mag_change=0.001, noise_percentage=0.1)),
    "hastie": from_maker("make_hastie_10_2", n_samples=MADE_ROWS, random_state=4),
    "quantiles": from_maker("make_gaussian_quantiles", n_samples=MADE_ROWS, n_features=6,
        n_classes=5, random_state=4),
}


def in_turn(makers, each):
    """One concept after the other."""
    def rows():
        from river.datasets import synth
        return itertools.chain.from_iterable(maker(synth).take(each) for maker in makers)
    return rows


def codes(values, classes, numeric):
    """A code decides the class, in no order, but for one row in twenty."""
    def rows():
        draw = random.Random(values)
        of = [draw.randrange(classes) for _ in range(values)]
        for _ in range(MADE_ROWS):
            code = draw.randrange(values)
            label = of[code] if draw.random() < 0.95 else draw.randrange(classes)
            yield {"code": 10000.0 + 37 * code if numeric else "%06dx" % (code * 7919 % 100003), "noise": draw.gauss(0, 1)}, label
    return rows


def dated(form):
    """Busy on working days, from eight to six; nothing else says so."""
    def rows():
        draw = random.Random(11)
        for i in range(MADE_ROWS):
            when = datetime.datetime(2019, 3, 1) + datetime.timedelta(minutes=47 * i)
            busy = 8 <= when.hour < 18 and when.weekday() < 5
            yield {"when": when.strftime(form), "x": draw.gauss(0, 1)}, int(draw.random() < (0.92 if busy else 0.08))
    return rows


def clusters(classes, dimensions, spread):
    def rows():
        draw = random.Random(classes)
        centres = [[draw.gauss(0, spread) for _ in range(dimensions)] for _ in range(classes)]
        for _ in range(MADE_ROWS):
            label = draw.randrange(classes)
            yield {"x%d" % j: draw.gauss(c, 1) for j, c in enumerate(centres[label])}, label
    return rows


def many_classes(classes, dimensions):
    """Centres that drift; the class of rank r comes as often as 1 / (r + 20)."""
    def rows():
        draw, often = random.Random(3), list(itertools.accumulate(1 / (rank + 20) for rank in range(classes)))
        centres, paths = ([[draw.gauss(0, 1) for _ in range(dimensions)] for _ in range(classes)] for _ in range(2))
        for t in range(2 * MADE_ROWS):
            label = draw.choices(range(classes), cum_weights=often)[0]
            yield {"x%d" % j: round(draw.gauss(c + v * t / (2 * MADE_ROWS), 0.15), 3)
                for j, (c, v) in enumerate(zip(centres[label], paths[label]))}, "c%d" % label
    return rows


def wide(columns, matter, count):
    """Three classes by a weighted sum of the columns that matter; half-way its weights change."""
    def rows():
        draw = random.Random(3)
        chosen = draw.sample(range(columns), matter)
        weights = [draw.gauss(0, 1) for _ in chosen]
        for t in range(count):
            if t == count // 2:
                weights = [0.3 * w + draw.gauss(0, 1) for w in weights]
            row = [round(draw.gauss(0, 1), 2) for _ in range(columns)]
            total = sum(w * row[j] for w, j in zip(weights, chosen))
            yield {"x%d" % j: x for j, x in enumerate(row)}, "a" if total > 2 else "b" if total > -2 else "c"
    return rows


def junk(make):
    """Ids, row numbers, constants, notes, noise and a category of nothing beside a stream's own columns."""
    def rows():
        draw = random.Random(3)
        for i, (inputs, label) in enumerate(make()):
            yield dict(inputs, id="%015x" % draw.getrandbits(60), row=float(100000 + i), const="v1",
                note=" ".join(draw.choices(["lorem", "ipsum", "dolor", "sit", "amet", "elit"], k=8)),
                junk="j%d" % draw.randrange(500), **{"noise%d" % k: draw.gauss(0, 1) for k in range(5)}), label
    return rows


def turning_moons():
    """Two moons that turn once around."""
    import math
    from sklearn.datasets import make_moons
    inputs, labels = make_moons(n_samples=FRESH_ROWS, noise=0.2, random_state=8)
    for i, ((x, y), label) in enumerate(zip(inputs - inputs.mean(axis=0), labels)):
        c, s = (f(2 * math.pi * i / FRESH_ROWS) for f in (math.cos, math.sin))
        yield {"x": c * x - s * y, "y": s * x + c * y}, int(label)


def rare_moves():
    """One row in fifty is of a cluster that jumps twice."""
    draw = random.Random(21)
    for i in range(FRESH_ROWS):
        label = int(draw.random() < 0.02)
        where = [(2, 2, 0), (-2, 0, 2), (0, -2, -2)][3 * i // FRESH_ROWS] if label else (0, 0, 0)
        yield {"x%d" % j: draw.gauss(c, 0.7 if label else 1) for j, c in enumerate(where + (0, 0))}, label


def gaps():
    """Clusters of which three numbers in ten are missing."""
    draw = random.Random(22)
    for inputs, label in clusters(6, 8, 2)():
        yield {k: "" if draw.random() < 0.3 else v for k, v in inputs.items()}, label


def shops():
    """The class by a pair of categories of 60 and 12 values; half-way a third of the pairs change."""
    draw = random.Random(23)
    of = {(a, b): draw.randrange(3) for a in range(60) for b in range(12)}
    for i in range(FRESH_ROWS):
        if i == FRESH_ROWS // 2:
            of = {pair: draw.randrange(3) if draw.random() < 1 / 3 else c for pair, c in of.items()}
        pair = min(59, int(draw.expovariate(0.1))), draw.randrange(12)
        yield {"shop": "s%d" % pair[0], "kind": "k%d" % pair[1], "x": draw.gauss(0, 1)}, of[pair] if draw.random() < 0.9 else draw.randrange(3)


# Made when the defaults were as they are, to check them.
FRESH_ROWS = 4000
FRESH = {
    "turning moons": turning_moons,
    "rare, moves": rare_moves,
    "gaps": lambda: itertools.islice(gaps(), FRESH_ROWS),
    "shops": shops,
}

STRANGE = {
    "codes": codes(400, 6, False),
    "codes, numbers": codes(200, 4, True),
    "dates, ISO": dated("%Y-%m-%d %H:%M:%S"),
    "dates, slashes": dated("%m/%d/%Y %H:%M"),
    "dates, words": dated("%d-%b-%Y %H:%M"),
    "60 classes": clusters(60, 8, 2),
    "300 classes": clusters(300, 12, 2.2),
    "5000 classes": many_classes(5000, 8),
    "2000 columns": wide(2000, 20, 6000),
    "phishing, junk": junk(from_river("Phishing")),
    "segments, junk": junk(from_river("ImageSegments")),
    "agrawal returns": in_turn([lambda s, i=i, k=k: s.Agrawal(classification_function=i, seed=30 + k, perturbation=0.05)
        for k, i in enumerate([1, 6, 1, 6, 1])], 2000),
    "SEA returns": in_turn([lambda s, i=i, k=k: s.SEA(variant=i, seed=50 + k, noise=0.1)
        for k, i in enumerate([0, 3, 0, 3, 1])], 2000),
    "sines": in_turn([lambda s, i=i, k=k: s.Sine(classification_function=i, seed=70 + k, has_noise=True)
        for k, i in enumerate([0, 1, 2, 3, 0])], 2000),
    "fast hyperplane": synthetic(lambda s: s.Hyperplane(seed=9, n_features=12, n_drift_features=12, mag_change=0.05,
        noise_percentage=0.05)),
    "tree of categories": synthetic(lambda s: s.RandomTree(seed_tree=7, seed_sample=7, n_classes=5, n_num_features=5,
        n_cat_features=5, n_categories_per_feature=5)),
}


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def from_file(path):
    def rows():
        opened = gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")
        with opened as file:
            for row in csv.DictReader(file):
                items = list(row.items())
                yield {k or "1": number(v) for k, v in items[:-1]}, items[-1][1]
    return rows
