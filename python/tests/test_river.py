"""River's own checks, and its ways to use classifiers and regressors."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import drifting

pytest.importorskip("river", reason="there is no River")

from river import (  # noqa: E402
    checks,
    compose,
    datasets,
    evaluate,
    linear_model,
    metrics,
    preprocessing,
)

from pyretain import InputError, RiverClassifier, RiverRegressor  # noqa: E402


def all_checks(kind):
    skipped = kind._unit_test_skips()
    return [c for c in checks.yield_checks(kind()) if c.__name__ not in skipped]


@pytest.mark.parametrize(
    "kind, number",
    [(kind, i) for kind in (RiverClassifier, RiverRegressor) for i in range(len(all_checks(kind)))],
)
def test_check(kind, number):
    all_checks(kind)[number](kind())


def test_learns_in_a_pipeline():
    model = compose.Discard("age_of_domain") | preprocessing.StandardScaler() | RiverClassifier()
    score = evaluate.progressive_val_score(datasets.Phishing().take(600), model, metrics.Accuracy())
    assert score.get() > 0.8


def test_words_gaps_and_new_keys():
    model = RiverClassifier()
    for i in range(300):
        row = {"city": ("Rome", "Oslo", "Lima")[i % 3], "age": i % 7 if i % 5 else None}
        if i > 100:
            row["later"] = i % 3 == 0
        model.learn_one(row, ("south", "north", "south")[i % 3])
    assert model.predict_one({"city": "Oslo"}) == "north"
    assert model.predict_one({"city": "Rome", "age": 3, "unheard": 4}) == "south"
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba_one({"age": 2}) == model.predict_proba_one({"age": 2})


ROWS = [
    ({"city": ("Rome", "Oslo", "Lima")[i % 3], "age": i % 7 if i % 5 else None}, i % 3 == 1)
    for i in range(200)
]
KILLED = """
import os, sys
sys.path.insert(0, sys.argv[2])
from test_river import ROWS
from pyretain import RiverClassifier
model = RiverClassifier(sys.argv[1])
for row, label in ROWS[:100]:
    model.learn_one(row, label)
os._exit(9)
"""


def test_rows_with_no_field_that_is_known():
    model = RiverClassifier()
    for row, label in ROWS[:50]:
        model.learn_one(row, label)
        model.learn_one({}, label)
        model.learn_one({"new": 1}, label)
    assert set(model.predict_proba_one({})) == {True, False}


def test_a_folder_keeps_the_fields(tmp_path):
    """Two lives, the first of which is killed or closed, come to the bits of one."""
    whole = RiverClassifier(tmp_path / "whole")
    closed = RiverClassifier(tmp_path / "closed")
    command = [sys.executable, "-c", KILLED, tmp_path / "killed", os.path.dirname(__file__)]
    assert subprocess.run(command).returncode == 9
    killed = RiverClassifier(tmp_path / "killed")
    for i, (row, label) in enumerate(ROWS):
        if i == 100:
            closed.close()
            closed = pickle.loads(pickle.dumps(closed))
        for model in (whole, closed) if i < 100 else (whole, closed, killed):
            model.learn_one(row, label)
    for row, label in ROWS[:10]:
        expected = whole.predict_proba_one(row)
        assert whole.predict_one(row) == label
        assert closed.predict_proba_one(row) == expected
        assert killed.predict_proba_one(row) == expected


def test_what_is_only_predicted_teaches_nothing():
    def learned(asks):
        model = RiverClassifier(seed=1)
        for number in range(30):
            model.learn_one({"a": number % 7, "city": "Rome" if number % 2 else "Oslo"}, number % 2)
            if asks:
                model.predict_proba_one({"a": number, "city": f"town {number}", "new": 1.0})
        return model.predict_proba_one({"a": 3, "city": "Rome"})

    assert learned(True) == learned(False)


def test_a_word_among_numbers_is_named():
    model = RiverClassifier()
    model.learn_one({"age": 3}, True)
    with pytest.raises(InputError, match="age: old is not a number"):
        model.learn_one({"age": "old"}, True)


# Numbers


def rows_of_numbers(count, seed=1):
    return [(dict(zip("abc", x[0].tolist())), y) for x, y in drifting(count, seed)]


def test_drift_is_followed_better_than_by_a_linear_model():
    """Both as they come; the other's inputs and labels are scaled."""
    rows = rows_of_numbers(3000)
    linear = preprocessing.TargetStandardScaler(linear_model.LinearRegression())
    models = RiverRegressor(), preprocessing.StandardScaler() | linear
    ours, theirs = (
        evaluate.progressive_val_score(rows, model, metrics.MAE()).get() for model in models
    )
    assert ours < theirs


def test_numbers_of_a_stream_of_rivers():
    rows = datasets.TrumpApproval().take(600)
    ours = evaluate.progressive_val_score(rows, RiverRegressor(), metrics.MAE()).get()
    assert ours < 0.5


def test_numbers_of_words_gaps_and_new_keys():
    model = RiverRegressor(coverage=0.8)
    assert model.predict_one({"city": "Rome"}) == 0 and model.predict_interval_one({}) == (0, 0)
    numbers = {"Rome": 100.0, "Oslo": 250.0, "Lima": 100.0}
    world = np.random.default_rng(1)
    for i in range(400):
        row = {"city": str(world.choice(list(numbers))), "age": i % 7 if i % 5 else None}
        if i > 100:
            row["later"] = i % 3 == 0
        model.learn_one(row, numbers[row["city"]] + world.normal())
    assert model.learner.setting("model_coverage") == "0.8"
    row = {"city": "Oslo", "age": 3, "later": False}
    low, high = model.predict_interval_one(row)
    assert model.predict_one(row) == pytest.approx(250, abs=15)
    assert low <= model.predict_one(row) <= high
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_one({"age": 2}) == model.predict_one({"age": 2})


def test_frames_of_numbers():
    pd = pytest.importorskip("pandas", reason="there is no pandas")
    rows = rows_of_numbers(1000)
    frame, labels = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    model = RiverRegressor()
    assert (model.predict_many(frame[:3]) == 0).all()
    errors = []
    for at in range(0, 1000, 10):
        part = frame[at : at + 10]
        errors.append((model.predict_many(part) - labels[at : at + 10]).abs().mean())
        model.learn_many(part, labels[at : at + 10])
    assert np.mean(errors[50:]) < 0.5 * labels.std()
    assert model.predict_many(part).index.equals(part.index)


def test_a_bad_number_is_named_and_changes_nothing(tmp_path):
    rows = rows_of_numbers(60)
    models = [RiverRegressor(), RiverRegressor(tmp_path / "run")]
    for i, (row, label) in enumerate(rows):
        for model in models:
            model.learn_one(row, label)
        for bad in (float("nan"), float("inf"), "much", None):
            with pytest.raises(InputError, match=f"label 0 is {bad!r}: must be a finite number"):
                models[i % 2].learn_one({**row, f"new {i}": "word"}, bad)
    assert models[0].predict_one(rows[0][0]) == models[1].predict_one(rows[0][0])
    models[1].close()
    assert models[0].predict_one(rows[0][0]) == models[1].predict_one(rows[0][0])


def test_class_weight():
    """Costs multiply the odds of a label; the rest is the same net."""
    models = [RiverClassifier(seed=1), RiverClassifier(seed=1, class_weight={True: 4})]
    for i in range(60):
        for model in models:
            model.learn_one({"a": (i % 5) / 5, "b": i % 3}, i % 5 == 0)
    plain, weighed = (model.predict_proba_one({"a": 0.4, "b": 1}) for model in models)
    assert weighed[True] / weighed[False] == pytest.approx(4 * plain[True] / plain[False], rel=1e-3)
