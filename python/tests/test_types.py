"""The package's types hold under mypy --strict."""

import os
import subprocess
import sys

import pytest

import pyretain


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """What mypy says of a path, in a folder whose cache all tests share."""
    pytest.importorskip("mypy", reason="there is no mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def check(path, folder):
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, path],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(pyretain.__file__))},
        )

    return check


def test_mypy_finds_nothing(mypy, tmp_path):
    checked = mypy(os.path.dirname(pyretain.__file__), tmp_path)
    assert checked.returncode == 0, checked.stdout


USE = """
import numpy as np
import pyretain
from pyretain import RetainClassifier, RetainRegressor, RiverClassifier, RiverRegressor

x, y = np.zeros((4, 2)), ["a", "b", "a", "b"]
classifier = RetainClassifier("runs/shop", random_state=1).partial_fit(x, y, sample_weight=np.ones(4))
words: str = classifier.predict(x)  # wrong
classifier.predict(x, 1)  # wrong
share: float = pyretain.RetainClassifier().fit(x, y).score(x, y)
low, high = RetainRegressor().fit(x, [1.0, 2.0, 3.0, 4.0]).predict_interval(x)
RetainRegressor(folders="x")  # wrong
RiverClassifier().learn_one({"a": 1}, "b")
RiverRegressor().predict_one({"a": 1}).upper()  # wrong
pyretain.RetainClasifier()  # wrong
"""


def test_what_a_program_does_has_types(mypy, tmp_path):
    (tmp_path / "use.py").write_text(USE)
    said = mypy("use.py", tmp_path).stdout
    wrong = [int(line.split(":")[1]) for line in said.splitlines() if "error:" in line]
    assert wrong == [i for i, line in enumerate(USE.splitlines(), 1) if line.endswith("# wrong")], said
