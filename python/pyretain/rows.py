"""Rows of named values, which the library takes as JSON."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from pyretain._core import FLOATS, Floats, InputError, check, ffi, here
from pyretain.frames import kind_of

Row = Mapping[Any, Any]
Rows = Union[Row, Sequence[Row], Any]
_WHOLE = 2**63
_PLACES = 256  # inputs, beyond which asking takes too long
_MOST = float(np.finfo(np.float32).max)


def _value(value: Any) -> Any:
    """A value as JSON has it: a number, a word, or None for what is missing."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is int and -_WHOLE < value < _WHOLE:
        return value
    if isinstance(value, np.generic):
        return _value(value.item())
    if kind.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return None
    if hasattr(value, "__float__"):
        try:
            return _value(float(value))
        except OverflowError:
            return None
    return str(value)


def written(row: Row) -> bytes:
    """A row as JSON. Its fields are sorted, so that the order of keys means nothing."""
    said = {str(key): _value(value) for key, value in row.items()}
    return json.dumps(said, sort_keys=True).encode()


def listed(rows: Any) -> Sequence[Row]:
    """A row, several, or a frame as a list of rows."""
    if isinstance(rows, Mapping):
        return [rows]
    kind = kind_of(rows)
    if kind is not None:
        return kind.rows(rows)
    made = list(rows)
    if not all(isinstance(row, Mapping) for row in made):
        raise InputError("rows of named values are dicts, or a frame")
    return made


class Places:
    """Where fields that are numbers stand in an input, so that rows of numbers need not be told as JSON.

    The library is asked once for each: a number's input is the only one that differs from that of an
    empty row, and has its value. It never moves.
    """

    def __init__(self, known: Callable[..., int]) -> None:
        self._known = known
        self._at: dict[Any, int] = {}
        self._others: set[Any] = set()
        self._blank: list[float] = []

    def input(self, row: Row, floats: int) -> Optional[list[float]]:
        """The input of a row of numbers; None: the library has to make it."""
        if len(self._blank) != floats:
            return None
        made, places = self._blank[:], self._at
        for key, value in row.items():
            at, kind = places.get(key), type(value)
            if at is None or (kind is not float and kind is not int) or not -_MOST <= value <= _MOST:
                return None
            made[at] = value
        return made

    def meet(self, it: Any, row: Row, floats: int) -> None:
        """A row that the library has encoded."""
        if floats > _PLACES or len(self._others) > _PLACES:
            return
        if len(self._blank) != floats:
            self._blank = self._ask(it, {}, floats)
            self._others.clear()
        for key in row:
            if key in self._at or key in self._others:
                continue
            one, other = (self._ask(it, {key: value}, floats) for value in (1.5, -2.5))
            moved = [i for i, (a, b) in enumerate(zip(one, other)) if a != b and not (a != a and b != b)]
            if len(moved) == 1 and (one[moved[0]], other[moved[0]]) == (1.5, -2.5):
                self._at[key] = moved[0]
            else:
                self._others.add(key)

    def _ask(self, it: Any, row: Row, floats: int) -> list[float]:
        line, made = written(row), ffi.new("float[]", floats)
        code = self._known(it, line, len(line), made, floats, here.err)
        return [] if code else list(made)


def encoded(
    encode: Callable[..., int],
    it: Any,
    rows: Sequence[Row],
    floats: int,
    wider: Callable[[], int] = lambda: 0,
    places: Optional[Places] = None,
) -> Floats:
    """Rows as inputs, by a function of the library and its learner or model.

    A row may bring fields for which inputs become longer: `wider` says how long.
    """
    if places is not None and len(rows) == 1:
        quick = places.input(rows[0], floats)
        if quick is not None:
            return np.array((quick,), np.float32)
    made = np.empty((len(rows), floats), np.float32)
    number = 0
    while number < len(rows) and made.size:
        line = written(rows[number])
        at = ffi.from_buffer(FLOATS, made) + number * floats
        code = encode(it, line, len(line), at, floats, here.err)
        more = wider() if code else 0
        if more > floats:
            rest = np.full((len(rows), more - floats), np.nan, np.float32)
            made, floats = np.hstack((made, rest)), more
            continue
        check(code)
        number += 1
    if places is not None and len(rows) == 1:
        places.meet(it, rows[0], floats)
    return made
