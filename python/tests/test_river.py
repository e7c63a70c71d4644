"""River's own checks, and its ways to use a classifier."""

import pickle

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


def test_a_folder_wants_numbers_with_places(tmp_path):
    with pytest.raises(InputError, match="in memory"):
        RiverClassifier(folder=tmp_path / "run").learn_one({"a": 1}, True)
