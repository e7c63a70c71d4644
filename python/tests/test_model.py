"""Weights that only predict."""

import numpy as np
import pytest

from pyretain import FileError, InputError, Learner, Model, StateError


@pytest.fixture
def folder(tmp_path, stream):
    """A learner that was closed, and what it says."""
    with Learner(tmp_path / "run", run_method="sgd+clr") as learner:
        for inputs, labels in stream(30):
            learner.learn(inputs, np.array(["ant", "bee", "cat"])[labels])
        said = inputs, learner.predict(inputs), learner.predict_proba(inputs), learner.classes
        learner.save_weights(tmp_path / "weights.safetensors")
    return tmp_path, said


def test_says_what_its_learner_said(folder):
    path, (inputs, labels, shares, classes) = folder
    for place in (path / "run", path / "weights.safetensors"):
        with Model(place) as model:
            assert model.classes == classes
            assert model.shape[3:] == (3, 4)
            assert model.predict(inputs).tolist() == labels.tolist()
            assert model.predict(inputs[0]).tolist() == labels[:1].tolist()
            assert np.array_equal(model.predict_proba(inputs), shares)
        assert model.closed and "closed" in repr(model)
        with pytest.raises(StateError, match="closed"):
            model.predict(inputs)


def test_knows_fields(tmp_path):
    rows = [{"city": ("Rome", "Oslo", "Lima")[i % 3], "age": i % 7} for i in range(90)]
    learner = Learner()
    for row in rows:
        learner.learn(learner.encode(row), [row["city"] == "Oslo"])
    learner.save_weights(tmp_path / "weights.safetensors")
    model = Model(tmp_path / "weights.safetensors")
    assert np.array_equal(model.encode(rows), learner.encode(rows), equal_nan=True)
    assert model.predict(model.encode({"city": "Oslo", "age": None})).tolist() == [True]
    with pytest.raises(InputError, match="old is not a number"):
        model.encode({"age": "old"})
    with pytest.raises(InputError, match="dicts, or a frame"):
        model.encode([1, 2])


def test_refuses(folder, tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        Model(tmp_path / "nowhere")
    model = Model(folder[0] / "run")
    with pytest.raises(StateError, match="names"):
        model.encode({"a": 1})
    with pytest.raises(InputError, match="an input is 4 numbers"):
        model.predict([[1.0, 2.0]])
