"""scikit-learn's own checks, and what else its users do."""

import pickle
import shutil

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="there is no scikit-learn")

from conftest import drifting  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import SGDRegressor  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from pyretain import InputError, Learner, RetainClassifier, RetainRegressor, StateError  # noqa: E402


# A table is a stream here: a row that comes twice is not one of twice the weight, and one of weight 0 takes its turn.
AS_A_STREAM = {
    name: "rows are a stream"
    for name in (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
}


@parametrize_with_checks(
    [RetainClassifier(), RetainRegressor()], expected_failed_checks=lambda _: AS_A_STREAM
)
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


# Numbers


def batches(rows, count=20, seed=1):
    X, y = zip(*drifting(rows, seed))
    X, y = np.concatenate(X), np.array(y)
    return [(X[at : at + count], y[at : at + count]) for at in range(0, rows, count)]


def test_diabetes():
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(RetainRegressor(), X, y, cv=3).mean() > 0.4
    model = RetainRegressor(coverage=0.8).fit(X, y)
    low, high = model.predict_interval(X).T
    assert 0.65 < ((low <= y) & (y <= high)).mean() < 0.95


def test_drift_is_followed_better_than_by_sgd():
    """Both as they come; the other's inputs are scaled, and its labels by what comes later."""
    parts = batches(2000)
    mean, spread = np.mean([y for _, y in parts]), np.std([y for _, y in parts])
    model, other, scaler = RetainRegressor(for_="now"), SGDRegressor(random_state=1), StandardScaler()
    ours, theirs = [], []
    for at, (X, y) in enumerate(parts):
        if at:
            ours.append(np.abs(model.predict(X) - y).mean())
            said = other.predict(scaler.transform(X)) * spread + mean
            theirs.append(np.abs(said - y).mean())
        model.partial_fit(X, y)
        other.partial_fit(scaler.partial_fit(X).transform(X), (y - mean) / spread)
    assert np.mean(ours) < 0.5 * np.mean(theirs)


def test_a_pickled_regressor_goes_on_to_the_same_bits():
    model = RetainRegressor(coverage=0.7, random_state=3)
    parts = batches(600)
    for X, y in parts[:15]:
        model.partial_fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    for X, y in parts[15:]:
        model.partial_fit(X, y)
        other.partial_fit(X, y)
    assert np.array_equal(model.predict(X), other.predict(X))
    assert np.array_equal(model.predict_interval(X), other.predict_interval(X))
    assert clone(model).get_params() == model.get_params()


def test_a_folder_of_numbers_goes_on(tmp_path):
    parts = batches(400)
    whole, parted = (RetainRegressor(tmp_path / name, coverage=0.7) for name in ("whole", "parted"))
    for X, y in parts:
        whole.partial_fit(X, y)
        parted.partial_fit(X, y)
        parted.close()
        parted = RetainRegressor(tmp_path / "parted")  # with the coverage that it has
    assert parted.setting("model_coverage") == "0.7"
    assert np.array_equal(parted.predict_interval(X), whole.predict_interval(X))
    with pytest.raises(StateError, match="fit would begin anew"):
        parted.fit(X, y)
    parted.close()
    with pytest.raises(StateError, match="parted: labels are of the kind number, not class"):
        RetainClassifier(tmp_path / "parted").predict(X)


def test_numbers_of_frames_with_words_and_gaps():
    frame, labels = frame_of_words()
    numbers = np.where(labels == "north", 250.0, 100.0) + 20 * frame["size"].fillna(0)
    model = RetainRegressor().fit(frame[:300], numbers[:300])
    assert model.score(frame[300:], numbers[300:]) > 0.9
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"city": "town"}))


def test_bad_numbers_change_nothing():
    frame, _ = frame_of_words()
    numbers = np.arange(400.0)
    models = [RetainRegressor().partial_fit(frame[:50], numbers[:50]) for _ in range(2)]
    for at, bad in ((3, np.nan), (9, -np.inf), (0, "much"), (2, None), (1, 1e300)):
        labels = numbers[50:60].astype(object)
        labels[at] = bad
        with pytest.raises(InputError, match=f"label {at} is {bad!r}".replace("+", r"\+")):
            models[0].partial_fit(frame[50:60].assign(new="column"), labels)
    with pytest.raises(ValueError, match="must be as many"):
        models[0].partial_fit(frame[:2], [1.0])
    with pytest.raises(InputError, match="a label is one number"):
        models[0].partial_fit(frame[:2], [[1.0, 2.0], [3.0, 4.0]])
    for model in models:
        model.partial_fit(frame[60:90], numbers[60:90])
    assert np.array_equal(models[0].predict(frame), models[1].predict(frame))
    with pytest.raises(StateError, match="settings: labels are of the kind class"):
        RetainRegressor(settings={"model_target": "class"}).partial_fit([[1.0]], [1.0])


def rare(count, seed):
    draws = np.random.default_rng(seed)
    labels = (draws.random(count) < 0.08).astype(int)
    return draws.normal(size=(count, 2)) + 1.5 * labels[:, None], labels


def test_class_weight():
    """The same net; its answers weigh as asked, and uneven classes have their measures."""
    inputs, labels = rare(600, 1)
    other, _ = rare(100, 2)
    models = {}
    for weights in (None, "balanced", {1: 9.0, 0: 0.5}):
        model = RetainClassifier(class_weight=weights, random_state=1)
        for at in range(0, 600, 20):
            model.partial_fit(inputs[at : at + 20], labels[at : at + 20])
        models[str(weights)] = model
    odds = {how: model.predict_proba(other)[:, 1] / model.predict_proba(other)[:, 0] for how, model in models.items()}
    assert np.allclose(odds["{1: 9.0, 0: 0.5}"], 18 * odds["None"], rtol=1e-3)
    ratio = ((labels == 0).sum() / (labels == 1).sum()) ** 0.9
    assert np.allclose(odds["balanced"], ratio * odds["None"], rtol=1e-3)
    metrics = models["balanced"].learner_.metrics()
    assert metrics.balanced_accuracy > models["None"].learner_.metrics().balanced_accuracy
    assert 0.7 < metrics.auc < 1 and 0 < metrics.f1_rare < 1
    assert models["None"].setting("learn_weigh") == "off"


def test_class_weight_needs_costs():
    with pytest.raises(InputError, match="costs from 1e-6"):
        RetainClassifier(class_weight={1: -2}).partial_fit(*rare(50, 1))
    with pytest.raises(InputError, match="comma"):
        RetainClassifier(class_weight={"a,b": 2}).partial_fit(*rare(50, 1))


def test_several_numbers_at_once(tmp_path):
    world = np.random.default_rng(5)
    X = world.normal(size=(500, 4)).astype(np.float32)
    Y = np.stack([X[:, 0] - X[:, 1], 100 + 10 * X[:, 2], 5 * X[:, 3] + X[:, 0]], axis=1)
    assert cross_val_score(RetainRegressor(), X, Y, cv=3).mean() > 0.9
    model = RetainRegressor(coverage=0.8, random_state=1).fit(X[:400], Y[:400])
    low, high = np.moveaxis(model.predict_interval(X), 2, 0)
    assert model.predict(X).shape == low.shape == (500, 3) and (low <= high).all()
    assert ((low <= Y)[400:] & (Y <= high)[400:]).mean() > 0.6
    assert model.score(X[400:], Y[400:]) > 0.9 and model.setting("model_numbers") == "3"
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))
    for bad in (Y[:3, :2], Y[:3, 0], [[1, 2, np.nan]] * 3):
        with pytest.raises((InputError, ValueError)):
            model.partial_fit(X[:3], bad)
    assert np.array_equal(copy.predict(X), model.predict(X))
    kept = RetainRegressor(tmp_path / "run").partial_fit(X[:50], Y[:50].tolist())  # lists will do
    kept.close()
    assert RetainRegressor(tmp_path / "run").partial_fit(X[50:60], Y[50:60]).predict(X[:2]).shape == (2, 3)
    assert RetainRegressor().partial_fit(X[:50], Y[:50, :1].ravel()).predict(X[:2]).shape == (2,)


def test_sample_weight(stream):
    """Half of all labels are wrong: with weights that say so, they do no harm."""
    world = np.random.default_rng(5)
    models = {weigh: RetainClassifier(random_state=1, method="sgd+clr") for weigh in (0.0, 0.001, 1.0)}
    tests = []
    for inputs, labels in stream(60):
        wrong = world.random(len(labels)) < 0.5
        told = np.where(wrong, (labels + 1) % 3, labels)
        for weigh, model in models.items():
            model.partial_fit(inputs, told, sample_weight=np.where(wrong, weigh, 1.0))
        tests.append((inputs, labels))
    right = {
        weigh: np.mean([model.score(*test) for test in tests]) for weigh, model in models.items()
    }
    assert min(right[0.0], right[0.001]) > right[1.0] + 0.2, right
    same = RetainClassifier(random_state=1, method="sgd+clr")
    twice = RetainClassifier(random_state=1, method="sgd+clr")
    for inputs, labels in tests[:20]:
        same.partial_fit(inputs, labels)
        twice.partial_fit(inputs, labels, sample_weight=np.full(len(labels), 2.0))
    assert np.array_equal(same.predict_proba(inputs), twice.predict_proba(inputs))
    for bad in (-1, np.nan, np.inf, 1e9):
        with pytest.raises(ValueError, match="weight|NaN|infinity"):
            same.partial_fit(inputs, labels, sample_weight=np.full(len(labels), bad))
    with pytest.raises(ValueError, match="sample_weight"):
        same.partial_fit(inputs, labels, sample_weight=[1.0])


def test_weights_survive_a_crash(tmp_path, stream):
    """A learner that was never closed comes to the bits of one that went on."""
    def weights(step, labels):
        return np.where(np.arange(len(labels)) % 3 == step % 3, 5.0, 0.5)

    steps = list(stream(20))
    straight = Learner(run_method="ama+malr")
    for step, (inputs, labels) in enumerate(steps):
        straight.learn(inputs, labels, weights(step, labels))
    folder = tmp_path / "run"
    for first in (0, 7, 14):
        learner = Learner(folder, run_method="ama+malr", run_checkpoint_every="never")
        for step in range(first, min(first + 7, 20)):
            learner.learn(*steps[step], weights(step, steps[step][1]))
        copy = tmp_path / f"copy-{first}"  # what a crash would leave
        shutil.copytree(folder, copy)
        folder = copy
    again = Learner(folder)
    assert np.array_equal(again.predict_proba(inputs), straight.predict_proba(inputs))
