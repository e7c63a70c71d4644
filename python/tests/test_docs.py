"""The programs of docs/guide/python.md and torch.md run, and the reference is what the docstrings say."""

import os
import re
import subprocess
import sys

import pytest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGES = [os.path.join(TOP, "docs", "guide", name) for name in ("python.md", "torch.md")]
NEEDS = {"sklearn": "scikit-learn", "river": "River", "torch": "PyTorch", "PIL": "Pillow", "pandas": "pandas", "onnx": "ONNX"}


def programs():
    found = []
    for page in PAGES:
        with open(page, encoding="utf-8") as file:
            found += re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.M | re.S)
    return found


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


def test_the_reference_is_of_these_sources():
    made = subprocess.run(
        [sys.executable, os.path.join(TOP, "python", "make_reference.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    with open(os.path.join(TOP, "docs", "reference", "python-api.md"), encoding="utf-8") as file:
        assert file.read() == made.stdout, "make it anew: python/make_reference.py > docs/reference/python-api.md"
