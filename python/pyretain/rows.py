"""Rows of named values, which the library takes as JSON."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np

from pyretain._core import FLOATS, Floats, InputError, check, ffi, here

Row = Mapping[Any, Any]
Rows = Union[Row, Sequence[Row], Any]
_WHOLE = 2**63


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
    if hasattr(rows, "itertuples"):
        columns = [str(column) for column in rows.columns]
        return [dict(zip(columns, row)) for row in rows.itertuples(index=False, name=None)]
    made = list(rows)
    if not all(isinstance(row, Mapping) for row in made):
        raise InputError("rows of named values are dicts, or a frame")
    return made


def encoded(
    encode: Callable[..., int],
    it: Any,
    rows: Sequence[Row],
    floats: int,
    wider: Callable[[], int] = lambda: 0,
) -> Floats:
    """Rows as inputs, by a function of the library and its learner or model.

    A row may bring fields for which inputs become longer: `wider` says how long.
    """
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
    return made
