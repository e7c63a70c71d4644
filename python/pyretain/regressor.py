"""scikit-learn's interface, for numbers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin  # type: ignore[import-untyped]

from pyretain._core import InputError
from pyretain.learner import Question
from pyretain.tables import TableEstimator
from pyretain.targets import NUMBER, rows_of_values, values

if TYPE_CHECKING:
    from typing_extensions import Self


class RetainRegressor(MultiOutputMixin, RegressorMixin, TableEstimator):  # type: ignore[misc]
    """A regressor for streams: ``partial_fit`` learns and retains.

    Parameters
    ----------
    folder : path or None
        Its folder, new or existing. None: in memory.
    method : str or None
        A method of the library (``retain methods``); None: the default.
    random_state : int or None
        The seed; None: the library's.
    epochs : float
        Minimum number of passes of ``fit`` over the data.
    batch_size : int
        Rows that ``fit`` reveals at a time; ``partial_fit`` reveals all its rows at once.
    for_ : "ever" or "now"
        What ``predict`` asks: what is this of everything seen so far, or among the newest?
    coverage : float or None
        Share of true numbers that ``predict_interval`` should hold; None: the library's default, 0.9.
    settings : dict or None
        Other settings of the library, as ``{"model_arch": "mlp:128"}``.

    Missing numbers are nan. Frames may have columns of words; columns are then matched by name.
    Labels are stored as float32 and standardised on the fly; ``score`` is R². With y of shape (n, k) it learns
    k numbers at once, up to 64, and predictions have as many columns.
    """

    _target = NUMBER

    def __init__(
        self,
        folder: Union[str, "os.PathLike[str]", None] = None,
        *,
        method: Optional[str] = None,
        random_state: Optional[int] = None,
        epochs: float = 20,
        batch_size: int = 32,
        for_: Question = "ever",
        coverage: Optional[float] = None,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(
            folder,
            method=method,
            random_state=random_state,
            epochs=epochs,
            batch_size=batch_size,
            for_=for_,
            settings=settings,
        )
        self.coverage = coverage

    def _said(self) -> dict[str, Any]:
        several = self._numbers if self._numbers > 1 else None
        return {**super()._said(), "model_coverage": self.coverage, "model_numbers": several}

    def _checked(self, labels: npt.NDArray[Any], anew: bool) -> npt.NDArray[Any]:
        if labels.dtype.kind == "c":
            raise InputError("Complex data not supported: labels are complex")  # scikit-learn's words
        if labels.ndim == 1:
            return values(labels)
        return rows_of_values(labels, labels.shape[1])

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """A time step: predicts these rows, reveals their labels, and trains for a while."""
        return self._step(X, y, None, sample_weight)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The number of each row, or numbers."""
        learner, rows = self._asked(X)
        return learner.predict(rows, self.for_).astype(np.float64)

    def predict_interval(self, X: Any) -> npt.NDArray[np.float64]:
        """The interval of each row's number, low and high, with coverage ``coverage``.

        For k numbers at once it has the shape (n, k, 2).
        """
        learner, rows = self._asked(X)
        return learner.predict_interval(rows, self.for_).astype(np.float64)
