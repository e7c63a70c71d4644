"""The programs of docs/python.md run."""

import os
import re
import subprocess
import sys

import pytest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")
NEEDS = {"sklearn": "scikit-learn", "river": "River", "torch": "PyTorch", "pandas": "pandas"}


def programs():
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.M | re.S)


def test_there_are_five():
    assert len(programs()) >= 5


@pytest.mark.parametrize("number", range(len(programs())))
def test_program(number, tmp_path):
    program = programs()[number]
    for module, name in NEEDS.items():
        if re.search(rf"\b{module}\b", program):
            pytest.importorskip(module, reason=f"there is no {name}")
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
