"""Kinds of labels, a row each: how the library is asked, and what labels and answers look like."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Iterable, NamedTuple

import numpy as np
import numpy.typing as npt

from pyretain import labels as naming
from pyretain._core import NULL, Floats, InputError, StateError, ffi, lib

LARGEST = float(np.finfo(np.float32).max)


class Target(NamedTuple):
    """A kind of label. ``take`` and ``read`` are given the learner or model as well."""

    word: str  # as model.target has it
    plural: str
    prediction: "np.dtype[Any]"
    predictions: Any  # cffi's types of arrays
    labels: Any
    predict: Any  # the library's functions
    observe: Any
    reveal: Any
    weigh: Any  # the same with weights
    serve: Any
    room: tuple[Any, ...]  # what predict and serve take besides, if there is no place for more
    take: Callable[[Any, Any, int], npt.NDArray[Any]]  # labels as the library has them
    read: Callable[[Any, npt.NDArray[Any]], npt.NDArray[Any]]  # predictions as labels
    width: int = 1  # of several numbers at once how many

    def needs(self, wanted: Target, call: str) -> None:
        """Refuses a call that is for labels of another kind."""
        if self.word != wanted.word:
            raise StateError(
                f"{call} is for {wanted.plural}, and labels are {self.plural} here "
                f"(model_target={wanted.word!r})"
            )


# Python or NumPy would make numbers of these.
_NO_NUMBERS = (str, bytes, np.datetime64, np.timedelta64, np.complexfloating)


def _float(label: Any) -> float:
    """A label as a number; nan if it is none."""
    if isinstance(label, _NO_NUMBERS) or label is np.ma.masked:
        return np.nan
    try:
        return float(label)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def values(labels: Any, width: int = 1) -> Floats:
    """Labels that are numbers, as the library takes them. One that is not finite is named: of several at
    once, which lie one after the other, by which of them it is, too.
    """
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        labels = (labels,)
    given: Any = naming.unmasked(labels) if isinstance(labels, np.ndarray) else list(labels)
    masked = given is not labels and any(label is np.ma.masked for label in given)
    numbers = None if masked else np.asarray(given)
    with np.errstate(over="ignore"):
        if numbers is not None and numbers.dtype.kind in "fiub":
            made = np.asarray(numbers, np.float32, order="C")
        else:
            made = np.array([_float(label) for label in given], np.float32)
    if made.ndim != 1:
        raise InputError(f"labels have the shape {made.shape}; a label is one number")
    finite = np.isfinite(made)
    if not finite.all():
        at = int(np.flatnonzero(~finite)[0])
        label = naming.plain(given[at])
        which = f"label {at // width}" + (f", number {at % width + 1} of {width}," if width > 1 else "")
        raise InputError(
            f"{which} is {label!r}: must be a finite number of at most {LARGEST:.1e} either side of 0"
        )
    return made


def _values_of(count: int, labels: Any) -> Floats:
    made = values(labels)
    if len(made) != count:
        raise InputError(f"{len(made)} labels for {count} inputs")
    return made


def rows_of_values(labels: Any, width: int) -> Floats:
    """Labels of several numbers each, a row per label."""
    given = naming.unmasked(labels) if isinstance(labels, np.ndarray) else np.asarray(labels, object)
    if given.ndim != 2 or given.shape[1] != width:
        raise InputError(f"labels have the shape {given.shape}; a label is {width} numbers (model_numbers)")
    return values(given.reshape(-1), width).reshape(-1, width)


def _rows_of(count: int, labels: Any, width: int) -> Floats:
    given = np.asarray(labels, None if isinstance(labels, np.ndarray) else object)
    made = rows_of_values(given[None] if count == 1 and given.ndim == 1 else labels, width)
    if len(made) != count:
        raise InputError(f"{len(made)} labels for {count} inputs")
    return made


CLASS = Target(
    "class",
    "classes",
    np.dtype([("label", np.int32), ("probability", np.float32)]),
    ffi.typeof("struct retain_prediction[]"),
    ffi.typeof("int32_t[]"),
    lib.retain_learner_predict_for,
    lib.retain_learner_observe,
    lib.retain_learner_reveal,
    lib.retain_learner_reveal_weighted,
    lib.retain_model_predict,
    (NULL, 0),
    lambda learner, labels, count: learner._numbered(labels, count),
    lambda owner, predicted: owner._looked_up(predicted["label"]),
)
NUMBER = Target(
    "number",
    "numbers",
    np.dtype((np.float32, (3,))),  # struct retain_number: value, low, high
    ffi.typeof("struct retain_number[]"),
    ffi.typeof("float[]"),
    lib.retain_learner_predict_numbers,
    lib.retain_learner_observe_numbers,
    lib.retain_learner_reveal_numbers,
    lib.retain_learner_reveal_numbers_weighted,
    lib.retain_model_predict_numbers,
    (),
    lambda learner, labels, count: _values_of(count, labels),
    lambda owner, predicted: predicted[:, 0].copy(),
)


@lru_cache(maxsize=None)
def target_of(numbers: int) -> Target:
    """The kind by the numbers of a struct retain_shape: 0 of a class."""
    if numbers < 2:
        return NUMBER if numbers else CLASS
    return NUMBER._replace(
        prediction=np.dtype((np.float32, (numbers, 3))),
        take=lambda learner, labels, count: _rows_of(count, labels, numbers),
        read=lambda owner, predicted: predicted[:, :, 0].copy(),
        width=numbers,
    )


def intervals(predicted: npt.NDArray[Any]) -> Floats:
    """Low and high of numbers, a row per input; of several at once a row per number of it."""
    made: Floats = predicted[..., 1:].copy()
    return made
