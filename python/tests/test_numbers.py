"""Labels that are numbers: what is learned, between which bounds, and what is refused."""

import decimal
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import drifting

from pyretain import InputError, Learner, Model, StateError


def numbers(folder=None, **settings):
    return Learner(folder, model_target="number", engine_threads=1, **settings)


def taught(learner, rows, first=0, seed=1):
    """Row by row; the absolute errors of what was predicted before."""
    stream = list(drifting(rows, seed=seed))[first:]
    return np.array([abs(float(learner.learn(x, [y])[0]) - y) for x, y in stream])


def test_learns_and_says_how_well():
    learner = numbers()
    assert learner.target == "number" and learner.classes == []
    assert learner.predict([[1.0, 2.0, 3.0]]).tolist() == [0.0]
    errors = taught(learner, 600)
    now = learner.metrics()
    assert now.samples == 600 and now.mae < 0.5 * min(now.mae_last, now.mae_mean)
    assert now.mae == pytest.approx(errors[1:].mean(), rel=0.02)  # the first has no prediction
    assert now.rmse > now.mae and now.learning_efficacy > 0.5 and now.width > 0
    inputs = np.concatenate([x for x, _ in drifting(5)])
    for question in ("now", "ever"):
        values = learner.predict(inputs, for_=question)
        low, high = learner.predict_interval(inputs, for_=question).T
        assert values.dtype == np.float32 and values.shape == (5,)
        assert (low <= values).all() and (values <= high).all() and (low < high).any()
    step = learner.observe(inputs)
    assert step.intervals.shape == (5, 2) and step.labels.shape == (5,)
    learner.drop(step)


def test_classes_have_no_such_metrics(settings, stream):
    learner = Learner(**settings)
    for inputs, labels in stream(3):
        learner.learn(inputs, labels)
    assert learner.target == "class" and np.isnan(learner.metrics().mae)


@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_intervals_hold_what_was_asked(coverage):
    learner = numbers(model_coverage=coverage)
    inside = []
    for x, y in drifting(4000, seed=4):
        step = learner.observe(x)
        inside.append(step.intervals[0, 0] <= y <= step.intervals[0, 1])
        learner.reveal(step, [y])
        learner.train()
    assert np.mean(inside) == pytest.approx(coverage, abs=0.02)
    assert learner.metrics().coverage == pytest.approx(np.mean(inside), abs=0.001)


def test_labels_come_late():
    learner = numbers()
    waiting = []
    for x, y in drifting(300):
        waiting.append((learner.observe(x), y))
        if len(waiting) > 20:
            step, label = waiting.pop(7)
            learner.reveal(step, label)  # a single number will do
            learner.train()
    learner.drop(waiting[0][0])
    learner.reveal(waiting[1][0].ticket, [waiting[1][1]])
    now = learner.metrics()
    assert now.samples == 281 and now.mae < now.mae_mean


def test_outliers_pass():
    """Labels a million spreads away, one in a hundred: the others are predicted as before."""
    plain, hit = numbers(), numbers()
    errors = taught(plain, 1500)
    world = np.random.default_rng(5)
    after = []
    for i, (x, y) in enumerate(drifting(1500)):
        far = i % 100 == 50
        said = hit.learn(x, [world.choice([-1, 1]) * 1e8 if far else y])
        assert np.isfinite(said).all()
        if not far:
            after.append(abs(float(said[0]) - y))
    assert np.isfinite(hit.predict_interval(x, for_="now")).all()
    assert np.isfinite(hit.predict_interval(x, for_="ever")).all()
    assert np.median(after[300:]) < 3 * np.median(errors[300:])


def test_a_change_of_scale_is_followed():
    learner = numbers()
    errors, sizes = [], []
    for i, (x, y) in enumerate(drifting(3000)):
        y *= 1000 if i >= 1500 else 1
        said = learner.learn(x, [y])
        assert np.isfinite(said).all()
        errors.append(abs(float(said[0]) - y))
        sizes.append(y)
    assert np.mean(errors[-500:]) < 0.5 * np.std(sizes[-500:])
    assert np.isfinite(learner.predict(x)).all()


def test_constant_labels():
    learner = numbers()
    world = np.random.default_rng(1)
    for _ in range(200):
        said = learner.learn(world.normal(size=(1, 3)), [7.5])
    for question in ("now", "ever"):
        assert learner.predict([[1.0, 2.0, 3.0]], question) == pytest.approx(7.5, abs=1e-3)
    assert said == pytest.approx(7.5, abs=1e-3)
    assert np.isfinite(learner.predict_interval([[1.0, 2.0, 3.0]])).all()


def test_missing_inputs():
    learner = numbers()
    world = np.random.default_rng(2)
    for x, y in drifting(800):
        x = np.where(world.random(x.shape) < 0.2, np.nan, x)
        assert np.isfinite(learner.learn(x, [y])).all()
    learner.learn([[np.nan, np.inf, np.nan]], [y])
    assert np.isfinite(learner.predict([[np.nan] * 3])).all()
    now = learner.metrics()
    assert now.mae < 0.9 * min(now.mae_last, now.mae_mean)


BAD = [
    ([1.0, float("nan")], "label 1 is nan"),
    ([float("-inf"), 1.0], "label 0 is -inf"),
    (np.array([1.0, np.nan]), "label 1 is nan"),
    ([1.0, "2.0"], "label 1 is '2.0'"),
    (np.array(["a", "b"]), "label 0 is 'a'"),
    ([None, 1.0], "label 0 is None"),
    ([1.0, 1e39], r"label 1 is 1e\+39: must be a finite number of at most 3.4e\+38"),
    ([1.0, 10**400], "label 1 is 1000"),
    ([1 + 2j, 1.0], r"label 0 is \(1\+2j\)"),
    (np.array(["2020-01-01"] * 2, "datetime64[ns]"), "label 0 is "),
    (np.ma.MaskedArray([1.0, 2.0], [0, 1]), "label 1 is masked"),
    ([1.0, np.ma.masked], "label 1 is masked"),
    ([1.0], "1 labels for 2 inputs"),
    ([[1.0, 2.0], [3.0, 4.0]], r"shape \(2, 2\)"),
]


def test_bad_labels_are_named_and_change_nothing():
    learner, other = numbers(), numbers()
    for one in (learner, other):
        taught(one, 100)
    inputs = np.concatenate([x for x, _ in drifting(2)])
    for labels, words in BAD:
        with pytest.raises(InputError, match=words):
            learner.learn(inputs, labels)
        step = learner.observe(inputs)
        with pytest.raises(InputError, match=words):
            learner.reveal(step, labels)
        learner.drop(step)
    assert np.array_equal(learner.metrics(), other.metrics(), equal_nan=True)
    learner.learn(inputs, [1, decimal.Decimal("2.5")])
    other.learn(inputs, np.array([1.0, 2.5]))
    assert np.array_equal(learner.predict(inputs), other.predict(inputs))


def test_calls_of_the_other_kind_are_refused(settings, tmp_path):
    learner, classes = numbers(), Learner(**settings)
    inputs = np.zeros((1, 4), np.float32)
    for call in (learner.predict_proba, learner.numbers, learner.number):
        with pytest.raises(StateError, match=f"{call.__name__} is for classes, and labels are numbers"):
            call(inputs)
    with pytest.raises(StateError, match="predict_interval is for numbers, and labels are classes"):
        classes.predict_interval(inputs)
    step, other = learner.observe(inputs), classes.observe(inputs)
    with pytest.raises(StateError, match="probabilities is for classes"):
        step.probabilities
    with pytest.raises(StateError, match="intervals is for numbers"):
        other.intervals
    with numbers(tmp_path / "run") as kept:
        taught(kept, 20)
    with pytest.raises(InputError, match="model.target"):
        Learner(tmp_path / "run", model_target="class")
    with pytest.raises(InputError, match="model.coverage"):
        numbers(model_coverage=2)


def test_packed_it_goes_on_to_the_same_bits():
    learner = numbers(run_seed=3)
    taught(learner, 150)
    other = Learner.unpack(learner.pack())
    assert other.target == "number"
    assert np.array_equal(taught(learner, 300, 150), taught(other, 300, 150))
    assert np.array_equal(learner.metrics(), other.metrics(), equal_nan=True)


def test_a_model_says_what_its_learner_said(tmp_path, stream):
    inputs = np.concatenate([x for x, _ in drifting(5)])
    with numbers(tmp_path / "run") as learner:
        taught(learner, 200)
        learner.save_weights(tmp_path / "weights.safetensors")
        values, bounds = learner.predict(inputs), learner.predict_interval(inputs)
    for place in (tmp_path / "run", tmp_path / "weights.safetensors"):
        with Model(place) as model:
            assert model.target == "number" and model.classes == []
            assert np.array_equal(model.predict(inputs), values)
            assert np.array_equal(model.predict_interval(inputs), bounds)
            with pytest.raises(StateError, match="predict_proba is for classes"):
                model.predict_proba(inputs)


def pairs(rows, seed=1):
    """Two numbers for each input of drifting: the label, and another of another size."""
    for x, y in drifting(rows, seed=seed):
        yield x, np.array([[y, 1000 - 40 * y + 3 * float(x[0, 0])]])


def test_several_numbers_at_once(tmp_path):
    inputs = np.concatenate([x for x, _ in drifting(5)])
    with numbers(tmp_path / "run", model_numbers="a,b", run_seed=2) as learner:
        assert learner.target == "number" and learner.predict(inputs).shape == (5, 2)
        errors = np.array([np.abs(learner.learn(x, y) - y)[0] for x, y in pairs(600)])
        true = np.array([y[0] for _, y in pairs(600)])
        spread = np.abs(true[300:] - true[300:].mean(axis=0)).mean(axis=0)
        assert (errors[300:].mean(axis=0) < 0.5 * spread).all()
        step = learner.observe(inputs)
        assert step.labels.shape == (5, 2) and step.intervals.shape == (5, 2, 2)
        assert (step.intervals[..., 0] <= step.labels).all() and (step.labels <= step.intervals[..., 1]).all()
        learner.reveal(step, np.zeros((5, 2)))
        learner.reveal(learner.observe(inputs[:1]), [1, 2])  # a single label will do
        now, bounds = learner.predict(inputs), learner.predict_interval(inputs)
    with Learner(tmp_path / "run") as again, Model(tmp_path / "run") as model:
        assert np.array_equal(again.predict(inputs), now) and np.array_equal(model.predict(inputs), now)
        assert np.array_equal(model.predict_interval(inputs), bounds)
        before = again.metrics()
        for labels, words in (
            ([1.0, 2.0, 3.0], r"shape \(3,\); a label is 2 numbers"),
            (np.zeros((5, 3)), r"shape \(5, 3\)"),
            (np.zeros((4, 2)), "4 labels for 5 inputs"),
            (np.array([[1, 2]] * 3 + [[1, np.nan]] * 2), "label 3, number 2 of 2, is nan"),
            ([[1, 2]] * 4 + [["x", 1]], "label 4, number 1 of 2, is"),
        ):
            with pytest.raises(InputError, match=words):
                again.learn(inputs, labels)
        assert np.array_equal(before, again.metrics(), equal_nan=True)


CRASH = """
import os, sys, signal
sys.path.insert(0, {tests!r})
from test_numbers import drifting, numbers
learner = numbers({folder!r})
done = learner.metrics().steps
for step, (x, y) in enumerate(drifting(120)):
    if step < done:
        continue
    if step == {kill}:
        os.kill(os.getpid(), signal.SIGKILL)
    learner.learn(x, [y])
learner.close()
"""


def test_killed_it_comes_to_the_same_bits(tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    for kill, code in ((31, -signal.SIGKILL), (90, -signal.SIGKILL), (-1, 0)):
        program = CRASH.format(tests=here, folder=str(tmp_path / "run"), kill=kill)
        assert subprocess.run([sys.executable, "-c", program]).returncode == code
    whole = numbers()
    taught(whole, 120)
    inputs = np.concatenate([x for x, _ in drifting(5)])
    with Learner(tmp_path / "run") as learner:  # with the settings that it has
        assert learner.metrics()[:4] == whole.metrics()[:4]
        for question in ("now", "ever"):
            assert np.array_equal(learner.predict(inputs, question), whole.predict(inputs, question))
            assert np.array_equal(
                learner.predict_interval(inputs, question), whole.predict_interval(inputs, question)
            )
