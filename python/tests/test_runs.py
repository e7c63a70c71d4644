"""Run folders as frames, plots, pages and TensorBoard's files."""

import os

import pytest

import pyretain
from pyretain import Learner, runs


@pytest.fixture
def folder(tmp_path, settings, stream):
    settings.update(
        run_method="ama+malr",
        eval_every=5,
        schedule_window=40,
        schedule_validate_every=20,
        run_tensorboard=tmp_path / "board",
    )
    for part in (stream(20), stream(10, seed=2)):
        with Learner(tmp_path / "run", **settings) as learner:
            for inputs, labels in part:
                learner.learn(inputs, labels)
    return tmp_path


def test_frames(folder):
    pytest.importorskip("pandas", reason="there is no pandas")
    run = runs.Run(folder / "run")
    assert list(run.metrics.index) == [5, 10, 15, 20, 25, 30]
    assert run.metrics["le"].between(0, 1).all()
    assert set(run.events["event"]) <= {"window", "cut", "drift", "lead", "part"}
    assert run.config["run.method"] == "ama+malr"
    assert run.summary["ledger"]["iterations"] > 0
    assert [found.folder for found in runs.find(folder)] == [str(folder / "run")]
    with pytest.raises(pyretain.FileError, match="matrix.csv: is not there"):
        run.matrix
    with pytest.raises(pyretain.FileError, match="holds no run"):
        runs.Run(folder)


def test_plot(folder):
    pytest.importorskip("pandas", reason="there is no pandas")
    matplotlib = pytest.importorskip("matplotlib", reason="there is no matplotlib")
    matplotlib.use("Agg")
    axes = runs.Run(folder / "run").plot()
    assert "learning efficacy" in [panel.get_title(loc="left") for panel in axes]


def test_report(folder):
    with Learner(folder / "run") as learner:
        page = learner.report()
    assert page.html.lstrip().startswith("<!doctype html>")
    assert page._repr_html_().startswith("<iframe srcdoc=")
    with pytest.raises(pyretain.StateError, match="in memory"):
        Learner(model_classes=2, model_input=2).report()


def test_tensorboard_reads_it(folder):
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="there is no tensorboard"
    )
    assert len(os.listdir(folder / "board")) == 2  # a file for each process that wrote
    accumulator = reader.EventAccumulator(str(folder / "board"))
    accumulator.Reload()
    values = accumulator.Scalars("retain/le")
    assert [value.step for value in values] == [5, 10, 15, 20, 25, 30]
    with open(folder / "run" / "metrics.csv", encoding="utf-8") as file:
        column = file.readline().strip().split(",").index("le")
        rows = [float(line.split(",")[column]) for line in file]
    assert [value.value for value in values] == pytest.approx(rows)
