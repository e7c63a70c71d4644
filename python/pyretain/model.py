"""A model: weights that only predict."""

from __future__ import annotations

import os
from typing import Any, Hashable, Optional, Union, cast

import numpy as np
import numpy.typing as npt

from pyretain import labels as naming
from pyretain import rows as named
from pyretain._core import (
    FLOATS,
    NULL,
    Floats,
    StateError,
    check,
    ffi,
    here,
    lib,
    rows_of,
    text,
)
from pyretain.learner import Shape
from pyretain.targets import CLASS, NUMBER, intervals, target_of


class Model:
    """A fixed model: from a file that ``save_weights`` wrote, or from the folder of a learner
    that was closed. Any thread may use it; once it is open the file may be deleted.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._it: Any = None
        self.path = os.fspath(path)
        made = ffi.new("struct retain_model **")
        check(lib.retain_model_open(made, os.fsencode(path), here.err))
        # Whoever drops the last reference ends it: close, or the last call that is under way.
        self._it = ffi.gc(made[0], lib.retain_model_close)
        shape = ffi.new("struct retain_shape *")
        check(lib.retain_model_shape(self._it, shape, here.err))
        self.shape = Shape(shape.channels, shape.height, shape.width, shape.classes, shape.floats)
        self._target = target_of(shape.numbers)
        self.classes: list[Hashable] = [self._class(i) for i in range(shape.classes)]
        self._table = naming.table(self.classes)

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Model of {self.path!r}{', closed' if self.closed else ''}>"

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._it is None

    @property
    def target(self) -> str:
        """The kind of labels: "class" or "number"."""
        return self._target.word

    def close(self) -> None:
        """Closes it, after running calls in other threads."""
        self._it = None

    def _alive(self) -> Any:
        if self._it is None:
            raise StateError("the model is closed")
        return self._it

    def _class(self, number: int) -> Hashable:
        """The label of a class; one without a name is its number."""
        name = ffi.new("const char **")
        check(lib.retain_model_class_name(self._it, number, name, here.err))
        return number if name[0] == NULL else naming.read(text(name[0]))

    def encode(self, rows: named.Rows) -> Floats:
        """Encodes rows of named values, a dict, several or a frame, as its learner did."""
        return named.encoded(
            lib.retain_model_encode, self._alive(), named.listed(rows), self.shape.floats
        )

    def _answer(
        self, rows: Floats, count: int, shares: Optional[Floats] = None
    ) -> npt.NDArray[Any]:
        target = self._target
        predicted = np.empty(count, target.prediction)
        room = target.room
        if shares is not None:
            room = ffi.from_buffer(FLOATS, shares), shares.size
        check(
            target.serve(
                self._alive(),
                ffi.from_buffer(FLOATS, rows),
                rows.size,
                ffi.from_buffer(target.predictions, predicted),
                count * target.width,
                *room,
                here.err,
            )
        )
        return predicted

    def _looked_up(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return cast("npt.NDArray[Any]", self._table[numbers])

    def predict(self, inputs: npt.ArrayLike) -> npt.NDArray[Any]:
        """The labels of inputs."""
        return self._target.read(self, self._answer(*rows_of(inputs, self.shape.floats)))

    def predict_proba(self, inputs: npt.ArrayLike) -> Floats:
        """Probabilities of ``classes``, a row per input."""
        self._target.needs(CLASS, "predict_proba")
        rows, count = rows_of(inputs, self.shape.floats)
        shares = np.empty((count, self.shape.classes), np.float32)
        self._answer(rows, count, shares)
        return shares

    def predict_interval(self, inputs: npt.ArrayLike) -> Floats:
        """Intervals, low and high, with the coverage that its learner was set to."""
        self._target.needs(NUMBER, "predict_interval")
        return intervals(self._answer(*rows_of(inputs, self.shape.floats)))
