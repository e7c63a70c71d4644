"""Labels of any hashable kind, as names of classes.

The library knows classes by text. A label becomes text in one way only, so that a
learner in a folder knows it again years later: a word is itself, everything else that
Python can write down (numbers, tuples, a word that looks like a number) is written as
Python writes it. Objects of other kinds are known by their ``repr``; when they were not
met in this process, predictions give that text.
"""

from __future__ import annotations

import ast
import math
from typing import Any, Hashable, Iterable

import numpy as np
import numpy.typing as npt

from pyretain._core import InputError

_WRITTEN = (str, bytes, bool, int, float, complex, tuple, frozenset, type(None))


def read(name: str) -> Hashable:
    """The label that a class name stands for."""
    try:
        value = ast.literal_eval(name)
        hash(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return name
    # Only what is written as name_of would write it: " 3" and "0x3" are words.
    return value if repr(value) == name else name


def plain(label: Any) -> Hashable:
    """A scalar of NumPy's or PyTorch's as what it holds; other labels, NumPy's masked one too, as they are."""
    scalar = getattr(label, "ndim", None) == 0 and hasattr(label, "item") and label is not np.ma.masked
    held: Hashable = label.item() if scalar else label
    return held


def unmasked(labels: Any) -> Any:
    """Labels, none of which may be masked: what lies behind a mask is no label."""
    if np.ma.is_masked(labels):
        at = int(np.flatnonzero(np.ma.getmaskarray(labels))[0])
        raise InputError(f"label {at} is masked: a label must be known; leave its row out")
    return labels


def name_of(label: Hashable) -> str:
    """The class name of a label."""
    unmasked(label)
    if isinstance(label, str) and type(label) is str:
        if "\0" in label:
            raise InputError(f"label {label!r}: a name cannot hold a zero byte")
        return label if read(label) is label else repr(label)
    try:
        hash(label)
    except TypeError:
        raise InputError(f"label {label!r}: labels must be hashable") from None
    unknown = isinstance(label, float) and math.isnan(label)
    if unknown or type(label).__name__ in ("NAType", "NaTType"):
        raise InputError(f"label {label}: a label must be known; drop the step if it never comes")
    name = repr(label)
    if type(label) not in _WRITTEN and " at 0x" in name:
        raise InputError(f"label {name}: has no text that is the same in another process")
    return name


def weighed(weights: Any) -> Any:
    """``class_weight`` as ``learn.weigh``: None, "balanced" or a dict of labels and costs."""
    if weights is None or isinstance(weights, str):
        return weights
    names = {name_of(plain(label)): float(cost) for label, cost in weights.items()}
    for name in names:
        if "," in name:
            raise InputError(f"class_weight: {name!r}: a name with a comma cannot be weighed")
    return ",".join(f"{name}={cost!r}" for name, cost in names.items()) or "off"


def kind_of(label: Hashable) -> str:
    """Labels of one learner are of one kind; all numbers are one."""
    if isinstance(label, bool):
        return "bool"
    return "number" if isinstance(label, (int, float)) else type(label).__name__


def table(labels: Iterable[Hashable]) -> npt.NDArray[Any]:
    """Labels as an array to be looked up in: of numbers or words, or else of objects."""
    listed = list(labels)
    if listed and len({type(label) for label in listed}) == 1:
        if isinstance(listed[0], (bool, int, float, str)) and not hasattr(listed[0], "_value_"):
            return np.array(listed)
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return made
