"""River's own checks, and its ways to use a classifier."""

import os
import pickle
import subprocess
import sys

import pytest

pytest.importorskip("river", reason="there is no River")

from river import checks, compose, datasets, evaluate, metrics, preprocessing  # noqa: E402

from pyretain import InputError, RiverClassifier  # noqa: E402

SKIPPED = RiverClassifier._unit_test_skips()


def all_checks():
    model = RiverClassifier()
    return [c for c in checks.yield_checks(model) if c.__name__ not in SKIPPED]


@pytest.mark.parametrize("number", range(len(all_checks())))
def test_check(number):
    all_checks()[number](RiverClassifier())


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
