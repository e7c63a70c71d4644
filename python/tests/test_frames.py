"""Frames of pandas, polars and pyarrow, sparse matrices, and files of Parquet and Arrow."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pyretain import Learner

sklearn = pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

from pyretain import InputError, RetainClassifier, RetainRegressor, frames  # noqa: E402

WORLD = np.random.default_rng(5)
ROWS = 300
NUMBERS = {
    "a": WORLD.normal(size=ROWS),
    "b": WORLD.normal(size=ROWS).astype(np.float32),
    "c": WORLD.integers(0, 9, ROWS),
    "d": WORLD.random(ROWS) > 0.5,
}
WORDS = {**NUMBERS, "kind": np.array(["red", "green", "blue"])[WORLD.integers(0, 3, ROWS)]}
LABELS = np.where(NUMBERS["a"] + NUMBERS["c"] > 4, "yes", "no")
MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": lambda cells: pa.table({k: pa.array(v) for k, v in cells.items()})}


def classifier():
    return RetainClassifier(random_state=1, for_="now")


@pytest.mark.parametrize("cells", [NUMBERS, WORDS], ids=["numbers", "words"])
def test_frames_of_any_package_teach_the_same(cells):
    """Three packages' frames of the same cells give the same bits."""
    told = {}
    for name, make in MAKE.items():
        frame = make(cells)
        model = classifier().partial_fit(frame, LABELS)
        model.partial_fit(frame, LABELS)
        told[name] = model.predict_proba(frame)
        assert list(model.feature_names_in_) == list(cells) and (model.predict(frame) == LABELS).mean() > 0.9
    assert (told["pandas"] == told["polars"]).all() and (told["pandas"] == told["pyarrow"]).all()


@pytest.mark.parametrize("name", MAKE)
def test_what_is_missing_is_nan(name):
    """Nulls of a column of numbers; and labels of the package's own."""
    cells = {"a": [1.0, None, 3.0], "b": [1, 2, None]}
    frame = pd.DataFrame(cells) if name == "pandas" else MAKE[name](cells)
    made = frames.numbers(frame, frames.kind_of(frame))
    assert np.isnan(made[1, 0]) and np.isnan(made[2, 1]) and made[2, 0] == 3
    labels = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": pa.array}[name]([1.5, 2.5, 3.5])
    RetainRegressor(random_state=1).partial_fit(frame, labels)


@pytest.mark.parametrize("name", MAKE)
def test_a_learner_encodes_them(name):
    frame = MAKE[name](WORDS)
    learner, other = Learner(run_seed=1), Learner(run_seed=1)
    assert (learner.encode(frame) == other.encode(MAKE["pandas"](WORDS))).all()
    assert frames.kind_of(frame["a"] if name != "pyarrow" else frame.column("a")) is None


def test_other_columns_than_fitted():
    model = classifier().partial_fit(pl.DataFrame(NUMBERS), LABELS)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pl.DataFrame(NUMBERS).rename({"a": "other"}))


def test_sparse_matrices():
    """They teach what the same numbers teach."""
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.round(np.maximum(WORLD.normal(size=(ROWS, 20)), 0), 3).astype(np.float32)
    labels = dense[:, 0] > dense[:, 1]
    told = [classifier().partial_fit(X, labels).predict_proba(X) for X in (dense, sparse.csr_matrix(dense), sparse.coo_array(dense))]
    assert (told[0] == told[1]).all() and (told[0] == told[2]).all()


# Files


def command(folder, *words):
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run([sys.executable, "-m", "pyretain", *words], cwd=folder, capture_output=True, text=True, env=env)


WRITE = {
    "rows.parquet": lambda table, path: __import__("pyarrow.parquet").parquet.write_table(table, path, row_group_size=100),
    "rows.feather": lambda table, path: __import__("pyarrow.feather").feather.write_feather(table, path),
    "rows.arrow": lambda table, path: pa.ipc.new_stream(path, table.schema).write_table(table),
    "rows.ipc": lambda table, path: pl.from_arrow(table).write_ipc(path),  # its text is string_view
}


@pytest.mark.parametrize("name", WRITE)
def test_files_are_tables(tmp_path, name):
    """A run on the file is a run on its CSV."""
    times = pa.array(range(1_700_000_000, 1_700_000_000 + ROWS), pa.timestamp("s"))
    table = MAKE["pyarrow"](WORDS).append_column("when", times).append_column("label", pa.array(LABELS).dictionary_encode())
    WRITE[name](table, str(tmp_path / name))
    pd.DataFrame({**WORDS, "when": times.to_numpy(), "label": LABELS}).to_csv(tmp_path / "same.csv", index=False)
    first, other = command(tmp_path, "run", name, "--json"), command(tmp_path, "run", "same.csv", "--json")
    assert first.returncode == 0, first.stderr
    numbers = '"le": '
    assert first.stdout.split(numbers)[1].split(",")[0] == other.stdout.split(numbers)[1].split(",")[0]
    assert (tmp_path / "runs" / "rows" / "report.html").exists() and "read as" in first.stderr
    assert "read as" not in command(tmp_path, "data", "info", name).stderr  # it is there by now


def test_files_that_cannot_be(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    __import__("pyarrow.parquet").parquet.write_table(pa.table({"a": [[1], [2]], "label": [0, 1]}), tmp_path / "nested.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    for name, why in (("nested.parquet", "column a is list"), ("broken.parquet", "broken.parquet: ")):
        done = command(tmp_path, "run", name)
        assert done.returncode == 1 and why in done.stderr and not (tmp_path / "runs").exists(), done.stderr
        with pytest.raises(InputError, match=name):
            frames.as_csv(str(tmp_path / name))
