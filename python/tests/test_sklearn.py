"""scikit-learn's own checks, and what else its users do."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="there is no scikit-learn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from pyretain import InputError, RetainClassifier, StateError  # noqa: E402


@parametrize_with_checks([RetainClassifier()])
def test_check(estimator, check):
    check(estimator)


def test_iris():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(RetainClassifier(), X, y, cv=3).mean() > 0.9


def test_classes_come_later(stream):
    model = RetainClassifier()
    names = np.array(["cat", "ant", "bee"])
    for step, (inputs, labels) in enumerate(stream(60)):
        model.partial_fit(inputs, names[labels % 2 if step < 20 else labels])
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert model.score(inputs, names[labels]) > 0.8
    assert np.allclose(model.predict_proba(inputs).sum(axis=1), 1)
    best = model.classes_[model.predict_proba(inputs).argmax(axis=1)]
    assert (best == model.predict(inputs)).all()


def test_pickled_it_goes_on_to_the_same_bits(stream):
    model = RetainClassifier(method="ama+malr")
    for inputs, labels in stream(20):
        model.partial_fit(inputs, labels)
    other = pickle.loads(pickle.dumps(model))
    for inputs, labels in stream(20, seed=2):
        model.partial_fit(inputs, labels)
        other.partial_fit(inputs, labels)
    assert np.array_equal(model.predict_proba(inputs), other.predict_proba(inputs))
    assert clone(model).get_params() == model.get_params()


def test_a_folder_goes_on(tmp_path, stream):
    folder = tmp_path / "run"
    with pytest.raises(NotFittedError):
        RetainClassifier(folder).predict([[1, 2, 3, 4]])
    model = RetainClassifier(folder)
    for inputs, labels in stream(30):
        model.partial_fit(inputs, labels * 10)
    expected = model.predict_proba(inputs)
    model.close()
    again = RetainClassifier(folder)
    assert np.array_equal(again.predict_proba(inputs), expected)
    assert again.classes_.tolist() == [0, 10, 20]
    with pytest.raises(StateError, match="fit would begin anew"):
        again.fit(inputs, labels)
    again.partial_fit(inputs, labels * 10)
    assert again.learner_.metrics().steps == 31


def frame_of_words():
    pd = pytest.importorskip("pandas", reason="there is no pandas")
    world = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "city": pd.Categorical(world.choice(["Rome", "Oslo", "Lima"], 400)),
            "size": np.where(world.random(400) < 0.2, np.nan, world.normal(size=400)),
            "kind": world.choice(["x", None], 400),
        }
    )
    return frame, np.where(frame["city"] == "Oslo", "north", "south")


def test_frames_with_words_and_gaps():
    frame, labels = frame_of_words()
    model = RetainClassifier().fit(frame[:300], labels[:300])
    assert model.score(frame[300:], labels[300:]) > 0.9
    assert model.feature_names_in_.tolist() == ["city", "size", "kind"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"city": "town"}))
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict_proba(frame), model.predict_proba(frame))


def test_a_folder_keeps_the_words(tmp_path):
    frame, labels = frame_of_words()
    whole, parted = RetainClassifier(tmp_path / "whole"), RetainClassifier(tmp_path / "parted")
    for at in range(0, 400, 20):
        rows = slice(at, at + 20)
        whole.partial_fit(frame[rows], labels[rows])
        parted.partial_fit(frame[rows], labels[rows])
        parted.close()
        parted = RetainClassifier(tmp_path / "parted")
    assert parted.score(frame, labels) > 0.9
    assert np.array_equal(parted.predict_proba(frame), whole.predict_proba(frame))


def test_masked_arrays(stream):
    inputs, labels = next(iter(stream(1)))
    gaps = np.zeros(inputs.shape, bool)
    gaps[0, 0] = True
    whole = np.where(gaps, np.nan, inputs)
    made = [RetainClassifier(random_state=1).partial_fit(X, labels) for X in (whole, np.ma.MaskedArray(inputs, gaps))]
    one, other = (each.predict_proba(np.ma.MaskedArray(inputs, gaps)) for each in made)
    assert np.array_equal(one, other)
    assert np.array_equal(one, made[0].predict_proba(whole))
    with pytest.raises(ValueError, match="masked"):
        RetainClassifier().fit(inputs, np.ma.MaskedArray(labels, gaps[:, 0]))


def test_refuses():
    with pytest.raises(InputError, match="another kind"):
        model = RetainClassifier().partial_fit([[1.0], [2.0]], [0, 1])
        model.partial_fit([[1.0]], ["a"])
    with pytest.raises(ValueError, match="must be as many"):
        RetainClassifier().partial_fit([[1.0], [2.0]], [0])
