"""The package's types hold under mypy --strict."""

import os
import subprocess
import sys

import pytest

import pyretain


def test_mypy_finds_nothing(tmp_path):
    pytest.importorskip("mypy", reason="there is no mypy")
    package = os.path.dirname(pyretain.__file__)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, package],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout
