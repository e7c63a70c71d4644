"""Other libraries' learners for bench/against-streams: each learner is a function of the rows and a limit of seconds.

River's get rows as they are. CapyMOA's get a schema in advance, with all values of categories: more than the others know.
"""

import time

MISSING = ("", "NA", "?")


def river():
    from river import compose, forest, linear_model, multiclass, preprocessing, tree

    def logistic():
        numbers = compose.SelectType(float, int, bool) | preprocessing.StandardScaler()
        words = compose.SelectType(str) | preprocessing.OneHotEncoder()
        return (numbers + words) | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())

    makers = {"LR": logistic, "HT": tree.HoeffdingTreeClassifier,
        "HAT": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        "ARF": lambda: forest.ARFClassifier(n_models=10, seed=1)}
    return {name: lambda rows, limit, make=make: race_river(make(), rows, limit) for name, make in makers.items()}


def race_river(model, rows, limit):
    hits, start = 0, time.process_time()
    for inputs, label in rows:
        inputs = {k: v for k, v in inputs.items() if v not in MISSING}
        hits += model.predict_one(inputs) == label
        model.learn_one(inputs, label)
        if time.process_time() - start > limit:
            return None
    return 100 * hits / len(rows), 1e6 * (time.process_time() - start) / len(rows)


def capymoa():
    import capymoa.classifier as c

    makers = {"ARF (C)": lambda s: c.AdaptiveRandomForestClassifier(s, ensemble_size=10),
        "SRP (C)": lambda s: c.StreamingRandomPatches(s, ensemble_size=10),
        "kNN (C)": c.KNN, "SAM (C)": c.SAMkNN}
    return {name: lambda rows, limit, make=make: race_capymoa(make, rows, limit) for name, make in makers.items()}


def encode(rows):
    """A schema, and arrays: places of values for categories, NaN for what is missing."""
    import numpy
    from capymoa.stream import Schema
    names = list(rows[0][0])
    words = [n for n in names if any(isinstance(r[n], str) and r[n] not in MISSING for r, _ in rows)]
    values = {n: {v: i for i, v in enumerate(sorted({str(r[n]) for r, _ in rows}))} for n in words}
    labels = {v: i for i, v in enumerate(sorted({str(label) for _, label in rows}))}
    schema = Schema.from_custom(features=[str(n) for n in names] + ["the label"], target="the label",
        categories={**{str(n): ["v%d" % i for i in range(len(v))] for n, v in values.items()},
            "the label": ["c%d" % i for i in range(len(labels))]})
    inputs = numpy.full((len(rows), len(names)), numpy.nan)
    for i, (row, _) in enumerate(rows):
        for j, n in enumerate(names):
            if row[n] not in MISSING:
                inputs[i, j] = values[n][str(row[n])] if n in values else float(row[n])
    return schema, inputs, [labels[str(label)] for _, label in rows]


def race_capymoa(make, rows, limit):
    from capymoa.core import LabeledInstance
    schema, inputs, labels = encode(rows)
    model, hits, start = make(schema), 0, time.process_time()
    for row, label in zip(inputs, labels):
        instance = LabeledInstance.from_array(schema, row, label)
        hits += model.predict(instance) == label
        model.train(instance)
        if time.process_time() - start > limit:
            return None
    return 100 * hits / len(rows), 1e6 * (time.process_time() - start) / len(rows)


def all_of(only):
    """The learners of the libraries that can be imported, and the names of those that cannot."""
    found, missing = {}, []
    for name, make in (("river", river), ("capymoa", capymoa)):
        if only in (None, name):
            try:
                found.update(make())
            except ImportError as error:
                missing.append("%s (%s)" % (name, error))
    return found, missing
