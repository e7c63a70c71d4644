"""What RetainClassifier and RiverClassifier share: making, pickling, rows with names."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from pyretain._core import Floats, InputError
from pyretain.learner import Learner

Folder = Union[str, "os.PathLike[str]", None]


def make(
    folder: Folder, method: Optional[str], seed: Optional[int], settings: Optional[Mapping[str, Any]]
) -> Learner:
    """The learner that an estimator's parameters ask for."""
    said: dict[str, Any] = dict(settings or {})
    if method is not None:
        said["run_method"] = method
    if seed is not None:
        said["run_seed"] = seed
    return Learner(folder, **said)


def in_folder(folder: Folder) -> bool:
    """Whether a learner is in this folder."""
    return folder is not None and os.path.exists(os.path.join(folder, "config.ini"))


class Fields:
    """Rows of named values as inputs of a fixed width.

    A number has an input of its own, a word one for each of its values. Inputs are given out
    in the order of first appearance, and some are spare for fields and words that come later;
    when they are used up, what is new is left out. What is missing is nan, a word that is
    another one 0.
    """

    LEAST_SPARE = 32

    def __init__(self, row: Mapping[Any, Any]) -> None:
        self.places: dict[tuple[str, Optional[str]], int] = {}
        self.words: dict[str, list[int]] = {}  # inputs of a field with words
        self.width = 2**31
        self.learn(row)
        self.width = len(self.places) + max(self.LEAST_SPARE, len(self.places))

    @staticmethod
    def _parts(row: Mapping[Any, Any]) -> Iterator[tuple[str, Optional[str], float]]:
        for key in sorted(row, key=str):
            value = row[key]
            if value is None or type(value).__name__ in ("NAType", "NaTType"):
                continue
            if isinstance(value, (bool, int, float, np.number, np.bool_)):
                yield str(key), None, float(value)
            else:
                yield str(key), str(value), 1.0

    def learn(self, row: Mapping[Any, Any]) -> None:
        """Takes down what is new about a row."""
        for key, word, _ in self._parts(row):
            if (key, word) not in self.places and len(self.places) < self.width:
                place = self.places[key, word] = len(self.places)
                if word is not None:
                    self.words.setdefault(key, []).append(place)

    def encode(self, row: Mapping[Any, Any]) -> Floats:
        """The input that a row is."""
        made = np.full(self.width, np.nan, np.float32)
        for key, word, value in self._parts(row):
            if word is not None:
                made[self.words.get(key, [])] = 0
            place = self.places.get((key, word))
            if place is not None:
                made[place] = value
        return made


def records(frame: Any) -> list[dict[str, Any]]:
    """A frame's rows as dicts."""
    columns = [str(column) for column in frame.columns]
    return [dict(zip(columns, row)) for row in frame.itertuples(index=False, name=None)]


def encoded(fields: Fields, rows: Sequence[Mapping[Any, Any]], learn: bool) -> Floats:
    """Rows as inputs; those that are learned may bring new fields."""
    if learn:
        for row in rows:
            fields.learn(row)
    return np.stack([fields.encode(row) for row in rows])


def begun(row: Mapping[Any, Any], folder: Folder) -> Fields:
    """The fields of a first row."""
    if folder is not None:
        raise InputError(
            f"{os.fspath(folder)}: a learner in a folder takes numbers only from Python, since the "
            "names of fields would be lost with the process; encode them, or keep it in memory"
        )
    return Fields(row)


def packed(state: dict[str, Any], folder: Folder) -> dict[str, Any]:
    """An estimator's state with its learner as bytes; one in a folder stays there."""
    state = dict(state)
    learner = state.pop("_learner", None)
    if learner is not None and folder is None:
        state["_packed"] = learner.pack()
    return state


def unpacked(state: dict[str, Any]) -> dict[str, Any]:
    """The same back."""
    state = dict(state)
    if "_packed" in state:
        state["_learner"] = Learner.unpack(state.pop("_packed"))
    return state
