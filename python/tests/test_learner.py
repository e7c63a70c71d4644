"""The learner: what it returns, what it refuses, and in which words."""

import enum
import gc
import inspect
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pyretain
from pyretain import InputError, Learner, StateError, command


def test_learns(settings, stream):
    with Learner(**settings) as learner:
        for inputs, labels in stream(60):
            learner.learn(inputs, labels)
        metrics = learner.metrics()
        assert metrics.steps == 60 and metrics.samples == 480
        assert metrics.learning_efficacy > 0.8
        assert (learner.predict(inputs) == labels).mean() > 0.8
        assert (learner.predict(inputs, for_="now") == labels).mean() > 0.8
        probabilities = learner.predict_proba(inputs)
        assert probabilities.shape == (8, 3)
        assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
        assert learner.shape.floats == 4


def test_labels_come_late_or_never(settings, stream):
    with Learner(**settings) as learner:
        steps = [(learner.observe(x), y) for x, y in stream(3)]
        learner.reveal(*steps[2])
        learner.drop(steps[0][0])
        learner.reveal(*steps[1])
        learner.train(5)
        assert learner.metrics().samples == 16
        assert learner.metrics().iterations == 5
        with pytest.raises(InputError, match="ticket"):
            learner.reveal(*steps[1])


def test_steps_are_of_one_learner(tmp_path, settings, stream):
    (x, y), (other, _) = stream(2)
    with Learner(**settings) as learner, Learner(**settings) as another:
        step, foreign = learner.observe(x), another.observe(other)
        with pytest.raises(InputError, match="another learner"):
            learner.reveal(foreign, y)
        with pytest.raises(InputError, match="another learner"):
            learner.drop(foreign)
        learner.reveal(step, y)
    with Learner(str(tmp_path / "run"), **settings) as learner:
        step = learner.observe(x)
    (tmp_path / "run").rename(tmp_path / "moved")
    with Learner(str(tmp_path / "moved")) as learner:
        learner.reveal(step, y)  # a folder stays the same


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    "names",
    [["a", "3", "None"], [7, -1, 10**12], [0.5, 1.5, 2.5], [(1, "x"), (2, "y"), ()], [True, False]],
)
def test_labels_of_any_kind(tmp_path, stream, names):
    for folder in (tmp_path / "run", None):
        with Learner(folder) as learner:
            assert learner.predict([1, 2, 3, 4]).tolist() == [None]
            for inputs, labels in stream(50, classes=len(names)):
                learner.learn(inputs, [names[label] for label in labels])
            predicted = learner.predict(inputs)
            right = [names[label] == made for label, made in zip(labels, predicted.tolist())]
            assert np.mean(right) > 0.7
            assert set(learner.classes) == set(names)
    with Learner(tmp_path / "run") as again:
        assert set(again.classes) == set(names)
        assert {type(label) for label in again.classes} == {type(name) for name in names}


def test_objects_are_known_by_their_repr(stream):
    learner = Learner()
    for inputs, labels in stream(20, classes=2):
        learner.learn(inputs, [list(Colour)[label] for label in labels])
    assert set(learner.predict(inputs)) <= set(Colour)
    with pytest.raises(InputError, match="same in another process"):
        learner.number(object())
    with pytest.raises(InputError, match="another kind"):
        learner.number("red")
    with pytest.raises(InputError, match="hashable"):
        learner.number([1])


def test_a_zero_byte_does_not_end_a_name():
    learner = Learner()
    with pytest.raises(InputError, match=r"label 'a\\x00b': a name cannot hold a zero byte"):
        learner.learn([[1.0, 2.0], [2.0, 1.0]], ["a\0b", "a"])
    with pytest.raises(InputError, match="zero byte"):
        Learner(model_arch="mlp:8\0,9")


def test_packed_it_goes_on_to_the_same_bits(tmp_path, stream):
    learner = Learner(run_seed=3)
    for inputs, labels in stream(20):
        learner.learn(inputs, labels)
    other = Learner.unpack(learner.pack())
    for inputs, labels in stream(20, seed=2, classes=5):
        learner.learn(inputs, labels)
        other.learn(inputs, labels)
    assert np.array_equal(other.predict_proba(inputs), learner.predict_proba(inputs))
    assert np.array_equal(other.metrics(), learner.metrics(), equal_nan=True)
    assert Learner.unpack(Learner().pack()).classes == []
    with Learner(tmp_path / "run") as kept, pytest.raises(StateError, match="in the folder"):
        kept.pack()


def test_a_backup_goes_on_to_the_same_bits(tmp_path, stream):
    with Learner(tmp_path / "run") as learner:
        for inputs, labels in stream(20):
            learner.learn(inputs, labels)
        learner.backup(tmp_path / "copy")
        with pytest.raises(InputError, match="is there already"):
            learner.backup(tmp_path / "copy")
        expected = learner.predict_proba(inputs)
    with Learner(tmp_path / "copy") as copy:
        assert np.array_equal(copy.predict_proba(inputs), expected)
    with pytest.raises(StateError, match="has no folder"):
        Learner().backup(tmp_path / "none")


def test_a_version_answers_and_the_learner_goes_on(tmp_path, stream):
    with Learner(tmp_path / "run") as learner:
        with pytest.raises(StateError, match="nothing was learned"):
            learner.make_version("early")
        for inputs, labels in stream(20):
            learner.learn(inputs, labels)
        expected = learner.predict_proba(inputs, "now")
        learner.make_version("monday")
        with pytest.raises(InputError, match="versions do not change"):
            learner.make_version("monday")
        for others, labels in stream(20, seed=2):
            learner.learn(others, labels)
        latest = learner.predict_proba(inputs, "now")
        assert not np.array_equal(latest, expected)
        learner.serve_version("monday")
        assert learner.serving == "monday"
        assert np.array_equal(learner.predict_proba(inputs, "now"), expected)
        assert np.array_equal(learner.observe(inputs).labels, [learner.classes[k] for k in expected.argmax(axis=1)])
        samples = learner.metrics().samples
        with pytest.raises(StateError, match="answers, or would"):
            pyretain.drop_version(tmp_path / "run", "monday")
    with Learner(tmp_path / "run") as learner:  # opened again, the same answers
        assert np.array_equal(learner.predict_proba(inputs, "now"), expected)
        assert learner.metrics().samples == samples
        learner.serve_version(None)
        assert learner.serving == "live"
        assert np.array_equal(learner.predict_proba(inputs, "now"), latest)
    (version,) = pyretain.versions(tmp_path / "run")
    assert version.name == "monday" and version.samples < samples and version.by == "hand"
    pyretain.drop_version(tmp_path / "run", "monday")
    assert pyretain.versions(tmp_path / "run") == []


def late_row(i):
    """The label is the field ``coupon``, which the first row lacks."""
    return {"a": (i * 7 % 11) / 5, **({"coupon": float(i // 3 % 2)} if i else {})}


def test_fields_that_come_late_are_learned(tmp_path):
    with Learner(tmp_path / "late") as learner:
        first = learner.encode(late_row(0))
        assert first.shape == (1, 1)
        step = learner.observe(first)  # and is labelled when inputs have become longer
        right = 0
        for i in range(1, 300):
            rows = learner.encode(late_row(i))
            now = learner.observe(rows)
            right += int(now.labels[0] == i // 3 % 2)
            learner.reveal(now, [i // 3 % 2])
            learner.train(1)
        learner.reveal(step, [0])
        assert learner.shape.floats == 2 and right > 270
        assert learner.predict(first).shape == (1,)
        assert list(learner.predict(learner.encode([late_row(9), late_row(12)]))) == [1, 0]
        expected = learner.predict_proba(learner.encode(late_row(4), learn=False))
    with Learner(tmp_path / "late") as again:
        assert np.array_equal(again.predict_proba(again.encode(late_row(4), learn=False)), expected)


def test_rows_of_one_call_may_bring_fields():
    learner = Learner()
    rows = learner.encode([{"a": 1}, {"a": 2, "b": 3}, {"a": 4, "b": 5, "c": 6}, {"a": 7}])
    assert np.array_equal(
        rows,
        [[1, np.nan, np.nan], [2, 3, np.nan], [4, 5, 6], [7, np.nan, np.nan]],
        equal_nan=True,
    )
    learner.learn(rows, [0, 1, 0, 1])
    packed = Learner.unpack(learner.pack())
    assert np.array_equal(packed.predict_proba(rows), learner.predict_proba(rows))


def test_fields_without_an_input_are_told():
    learner = Learner(schema_grow=1)
    with pytest.warns(UserWarning, match="field coupon: is ignored"):
        for i in range(5):
            late = {name: 1.0 for name in ("late", "coupon")[:i]}
            learner.learn(learner.encode({"a": i, **late}), [i % 2])


def test_arrays_are_not_copied():
    from pyretain._core import rows_of

    inputs = np.zeros((5, 4), np.float32)
    assert rows_of(inputs, 4)[0] is inputs
    assert rows_of(inputs[::2], 4)[0].flags.c_contiguous
    assert rows_of([1, 2, 3, 4], 4)[0].dtype == np.float32


@pytest.mark.parametrize(
    "inputs, words",
    [
        (np.zeros((2, 5), np.float32), r"\(2, 5\).*4 numbers"),
        (np.zeros((0, 4), np.float32), "there is none"),
        (np.float32(1), r"shape \(\)"),
        (np.array([["a", "b", "c", "d"]]), "<U1, and numbers are needed"),
        (np.array([[None] * 4]), "object, and numbers"),
    ],
)
def test_refuses_inputs(settings, inputs, words):
    with Learner(**settings) as learner:
        with pytest.raises(InputError, match=words):
            learner.observe(inputs)
        with pytest.raises(InputError, match=words):
            learner.predict(inputs)


def test_refuses_what_is_not_finite(settings):
    with Learner(model_scale="off", **settings) as learner:
        with pytest.raises(InputError, match="nan"):
            learner.predict([1, 2, 3, float("nan")])


@pytest.mark.parametrize("labels, words", [([0], "1 labels for 2"), ([0, float("nan")], "label nan")])
def test_refuses_labels(settings, labels, words):
    with Learner(**settings) as learner:
        step = learner.observe(np.zeros((2, 4), np.float32))
        with pytest.raises(InputError, match=words):
            learner.reveal(step, labels)
        learner.reveal(step, [0, 1])


def test_refuses_other_mistakes(settings):
    with pytest.raises(InputError, match="did you mean model.classes"):
        Learner(model_clases=3)
    with pytest.raises(InputError, match="run.batch = -1"):
        Learner(run_batch=-1)
    learner = Learner(**settings)
    with pytest.raises(InputError, match="'now' or 'ever'"):
        learner.predict(np.zeros(4), for_="then")
    with pytest.raises(InputError, match="must be one of serving"):
        learner.save_weights("x", which="best")
    with pytest.raises(InputError, match="iterations = -3"):
        learner.train(-3)
    learner.close()
    learner.close()
    with pytest.raises(StateError, match="closed"):
        learner.predict(np.zeros(4))


def test_masked_numbers_are_missing(settings, stream):
    told = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], np.float32)
    gaps = [[False, True, False, False], [False] * 4]
    whole = np.where(gaps, np.float32(np.nan), told)
    masked = np.ma.MaskedArray(told, gaps)
    with Learner(**settings, model_scale="running") as learner:
        for inputs, labels in stream(20):
            learner.learn(inputs, labels)
        want = learner.predict_proba(whole)
        assert not np.array_equal(want, learner.predict_proba(told))
        for given in masked, masked.astype(int), list(masked), masked.copy(order="F"):
            assert np.array_equal(want, learner.predict_proba(given))
        assert np.array_equal(learner.predict_proba(told), learner.predict_proba(np.ma.MaskedArray(told)))


def test_masked_values_of_rows_are_missing():
    with Learner() as learner:
        learner.encode([{"a": 1.5, "b": "x"}, {"a": 2, "b": "y"}])
        want = learner.encode({"a": None, "b": None}, learn=False)
        got = learner.encode({"a": np.ma.masked, "b": np.ma.masked}, learn=False)
        assert np.array_equal(want, got, equal_nan=True)


def test_refuses_masked_labels(settings):
    with Learner(**settings) as learner:
        for labels in (np.ma.MaskedArray([0, 1], [0, 1]), [0, np.ma.masked]):
            with pytest.raises(InputError, match="masked"):
                learner.learn(np.zeros((2, 4), np.float32), labels)
        assert learner.metrics().samples == 0


def test_errors_are_pythons_too():
    assert issubclass(InputError, ValueError)
    assert issubclass(pyretain.FileError, OSError)
    assert issubclass(pyretain.OutOfMemoryError, MemoryError)
    assert InputError.code == -2


def test_settings_are_in_the_signature():
    assert "run_method" in inspect.signature(Learner).parameters
    assert "schedule_rate" in Learner.__doc__
    assert pyretain.SETTINGS["run_batch"].key == "run.batch"


def test_a_folder_goes_on(tmp_path, settings, stream):
    folder = tmp_path / "run"
    whole = Learner(**settings)
    for inputs, labels in stream(40):
        whole.learn(inputs, labels)
    with Learner(folder, **settings) as learner:
        for inputs, labels in list(stream(40))[:25]:
            learner.learn(inputs, labels)
    with Learner(folder) as learner:  # with the settings that it has
        assert learner.metrics().steps == 25
        for inputs, labels in list(stream(40))[25:]:
            learner.learn(inputs, labels)
        assert np.array_equal(learner.predict_proba(inputs), whole.predict_proba(inputs))
    with pytest.raises(InputError, match="run.batch"):
        Learner(folder, run_batch=32)


def test_a_folder_has_one_process(tmp_path, settings):
    with Learner(tmp_path / "run", **settings):
        code = f"import pyretain; pyretain.Learner({str(tmp_path / 'run')!r})"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert other.returncode == 1
        assert "FileError" in other.stderr and "run" in other.stderr


CRASH = """
import os, sys, signal
sys.path.insert(0, {tests!r})
from conftest import SETTINGS, blobs
from pyretain import Learner
learner = Learner({folder!r}, **SETTINGS)
done = learner.metrics().steps
for step, (inputs, labels) in enumerate(blobs(40)):
    if step < done:
        continue
    if step == {kill}:
        os.kill(os.getpid(), signal.SIGKILL)
    learner.learn(inputs, labels)
learner.close()
"""


def test_killed_it_comes_to_the_same_bits(tmp_path, settings, stream):
    here = os.path.dirname(os.path.abspath(__file__))
    for kill, code in ((11, -signal.SIGKILL), (29, -signal.SIGKILL), (-1, 0)):
        program = CRASH.format(tests=here, folder=str(tmp_path / "run"), kill=kill)
        assert subprocess.run([sys.executable, "-c", program]).returncode == code
    whole = Learner(**settings)
    for inputs, labels in stream(40):
        whole.learn(inputs, labels)
    with Learner(tmp_path / "run") as learner:
        assert learner.metrics()[:4] == whole.metrics()[:4]
        assert np.array_equal(learner.predict_proba(inputs), whole.predict_proba(inputs))


def _in_child(learner, queue):
    try:
        learner.predict(np.zeros(4, np.float32))
    except StateError as error:
        queue.put(str(error))


def test_a_child_is_refused(settings):
    learner = Learner(**settings)
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    child = fork.Process(target=_in_child, args=(learner, queue))
    child.start()
    assert "cannot be used after fork" in queue.get(timeout=60)
    child.join()
    with pytest.raises(TypeError, match="cannot be pickled"):
        multiprocessing.get_context("spawn").Process(target=print, args=(learner,)).start()


def test_threads_predict_while_one_trains(settings, stream):
    learner = Learner(**settings)
    for inputs, labels in stream(10):
        learner.learn(inputs, labels)
    done, failures, counts = threading.Event(), [], [0, 0]

    def predict(index):
        try:
            while not done.is_set():
                learner.predict(inputs, for_=("now", "ever")[index])
                counts[index] += 1
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=predict, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    learner.train(2000)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures and all(counts)


def test_close_waits_for_calls(settings, stream):
    learner = Learner(**settings)
    for inputs, labels in stream(3):
        learner.learn(inputs, labels)
    thread = threading.Thread(target=learner.train, args=(20000,))
    thread.start()
    time.sleep(0.05)
    learner.close()
    thread.join()
    assert learner.closed


def test_an_interrupt_saves_and_raises(tmp_path, settings, stream):
    learner = Learner(tmp_path / "run", **settings)
    for inputs, labels in stream(3):
        learner.learn(inputs, labels)
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        learner.train(2**31 - 1)
    made = learner.metrics().iterations
    assert list((tmp_path / "run" / "checkpoint").iterdir())
    learner.train(1)
    assert learner.metrics().iterations == made + 1


def test_progress_is_told_and_may_stop(settings, stream):
    told = []

    def progress(now):
        told.append(now)
        return len(told) == 2

    learner = Learner(progress=progress, **settings)
    for inputs, labels in stream(3):
        learner.learn(inputs, labels)
    with pytest.raises(pyretain.StoppedError):
        learner.train(2**31 - 1)
    assert told[1].done > told[0].done and told[1].total == 2**31 - 1
    learner._watch.progress = lambda now: 1 / 0
    with pytest.raises(ZeroDivisionError):
        learner.train(2**31 - 1)


def test_many_learners_leave_nothing(settings):
    def some(count):
        for _ in range(count):
            Learner(**settings).predict(np.zeros(4, np.float32))
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = some(2000)
    assert some(8000) < before + 8192  # KiB


def test_weights_travel(tmp_path, settings, stream):
    learner, other = Learner(**settings), Learner(run_seed=2, **settings)
    for inputs, labels in stream(20):
        learner.learn(inputs, labels)
    learner.save_weights(tmp_path / "weights.safetensors", which="plain")
    other.load_weights(tmp_path / "weights.safetensors")
    assert np.allclose(other.predict_proba(inputs), learner.predict_proba(inputs), atol=1e-6)
    with pytest.raises(pyretain.FileError, match="missing"):
        other.load_weights(tmp_path / "missing.safetensors")


def test_the_command_comes_along():
    said = subprocess.run(
        [sys.executable, "-m", "pyretain", "--help"], capture_output=True, text=True
    )
    assert said.returncode == 0 and said.stdout.startswith("usage: retain")


def test_samples_of_a_program_are_forgotten(tmp_path):
    """By the command, and learned again by the program's next start."""
    folder, rng = tmp_path / "mine", np.random.default_rng(1)
    rows = rng.normal(size=(40, 3)).astype(np.float32)
    rows[3, 0] = np.float32(1.2345677)
    for again in range(2):
        learner = pyretain.RetainClassifier(folder=folder)
        for at in range(0, 40 * (not again), 10):
            learner.partial_fit(rows[at : at + 10], rows[at : at + 10, 1] > 0, classes=[False, True])
        learner.predict(rows[:1])
        del learner
        if not again:
            done = subprocess.run(
                [sys.executable, "-m", "pyretain", "forget", str(folder), "#3", "--retrain"], capture_output=True, text=True
            )
            assert done.returncode == 0 and "when it starts next" in done.stdout, done
    assert rows[3, 0].tobytes() not in (folder / "journal" / "data.mdb").read_bytes()
    assert '"retrain"' in (folder / "events.jsonl").read_text()


def test_lines_go_on_where_a_learner_was_killed(tmp_path, stream):
    """Before its first checkpoint: all that it learned is in the journal."""
    learner = Learner(tmp_path / "run", run_checkpoint_every="never")
    for inputs, labels in stream(5):
        learner.learn(inputs, labels)
    shutil.copytree(tmp_path / "run", tmp_path / "killed")
    line = json.dumps({"id": 1, "input": inputs[0].tolist(), "label": str(labels[0])})
    done = subprocess.run(
        [sys.executable, "-m", "pyretain", "run", "-", "--quiet", "--resume", str(tmp_path / "killed")],
        input=line,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2, done.stderr


def test_metrics_are_those_of_the_library():
    """Every number that retain.h has, under its name; recent accuracy and alarms follow a rule that is lost."""
    from pyretain._core import ffi

    fields = [name for name, _ in ffi.typeof("struct retain_metrics").fields if name not in ("reserved", "struct_size")]
    assert sorted(pyretain.Metrics._fields) == sorted(fields)
    learner, world = Learner(run_seed=1), np.random.default_rng(2)
    for number in range(3000):
        inputs = world.normal(size=(1, 3)).astype(np.float32)
        learner.learn(inputs, [bool(inputs[0, 0] > 0 if number < 2000 else world.random() > 0.5)])
        if number == 1999:
            before = learner.metrics()
    after = learner.metrics()
    assert all(0.4 < share < 0.6 for share in (after.same, after.most, after.chain))
    assert abs(after.kappa - (after.learning_efficacy - after.same) / (1 - after.same)) < 1e-12
    assert before.drift_alarms == 0 and before.accuracy_recent > before.learning_efficacy > 0.9
    assert after.drift_alarms >= 1 and after.accuracy_recent < before.accuracy_recent


def test_goes_on_with_the_folder_of_a_file(tmp_path):
    """The rows of a table, 200 as a file and 100 from a program, come to the weights of a file with all of them."""
    draws = np.random.default_rng(3)
    labels = draws.integers(0, 3, 300)
    rows = np.stack([labels + draws.normal(0, 0.4, 300), draws.normal(0, 1, 300)], 1).round(3)

    def run(name, count):
        path = tmp_path / f"{name}.csv"
        path.write_text("x,y,class\n" + "".join(f"{x},{y},{c}\n" for (x, y), c in zip(rows[:count], labels)))
        words = [os.path.join(command.FOLDER, "retain"), "run", path, "--out", tmp_path / name, "--quiet"]
        subprocess.run(words, check=True, capture_output=True)
        return tmp_path / name

    whole, begun = run("whole", 300), run("begun", 200)
    with Learner(begun) as learner:
        assert learner.metrics().samples == 200
        for (x, y), label in zip(rows[200:], labels[200:]):
            learner.learn(learner.encode({"x": x, "y": y}), [label])
        learner.save_weights(begun / "now.safetensors")
    assert (begun / "now.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()

    gone = run("gone", 100)
    (tmp_path / "gone.csv").unlink()
    with pytest.raises(InputError, match="gone.csv"):
        Learner(gone)
