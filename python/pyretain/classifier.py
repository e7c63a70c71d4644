"""scikit-learn's interface, for classes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]

from pyretain import labels as naming
from pyretain._core import InputError
from pyretain.learner import Question
from pyretain.tables import TableEstimator
from pyretain.targets import CLASS

if TYPE_CHECKING:
    from typing_extensions import Self


class RetainClassifier(ClassifierMixin, TableEstimator):  # type: ignore[misc]
    """A classifier for streams: ``partial_fit`` learns and retains.

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
    class_weight : "balanced", dict or None
        Weights of classes in answers: by rarity, or costs by label, as ``{"yes": 20}``.
    settings : dict or None
        Other settings of the library, as ``{"model_arch": "mlp:128"}``.

    Missing numbers are nan. Frames may have columns of words; columns are then matched by name.
    Any call may bring new classes; ``classes_`` is sorted.
    """

    _target = CLASS

    def __init__(
        self,
        folder: Union[str, "os.PathLike[str]", None] = None,
        *,
        method: Optional[str] = None,
        random_state: Optional[int] = None,
        epochs: float = 20,
        batch_size: int = 32,
        for_: Question = "ever",
        class_weight: Union[str, Mapping[Any, float], None] = None,
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
        self.class_weight = class_weight

    def _said(self) -> dict[str, Any]:
        return {**super()._said(), "learn_weigh": naming.weighed(self.class_weight)}

    def _checked(self, labels: npt.NDArray[Any], anew: bool) -> npt.NDArray[Any]:
        if anew:
            check_classification_targets(labels)
        return labels

    def _meet(self, labels: npt.NDArray[Any]) -> None:
        classes = np.unique(labels)
        check_classification_targets(classes)
        for label in classes.tolist():
            self._learner.number(label)
        if "classes_" not in self.__dict__:
            self.classes_ = classes[:0]

    def _met(self) -> None:
        """classes_ is sorted, as scikit-learn has it; the learner knows them as they came."""
        labels = self._learner.classes
        known = self.__dict__.get("classes_", ())
        if len(labels) == len(known):
            return
        try:
            order = sorted(range(len(labels)), key=lambda number: labels[number])  # type: ignore[arg-type,return-value]
        except TypeError:
            order = list(range(len(labels)))
        self._order = np.array(order, dtype=np.intp)  # class -> number
        self._place = np.argsort(self._order)  # number -> class
        made = self._learner._table[self._order]
        kind = getattr(known, "dtype", None)
        self.classes_ = made if kind is None or kind.kind != made.dtype.kind else made.astype(
            np.promote_types(kind, made.dtype)
        )

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """A time step: predicts these rows, reveals their labels, and trains for a while."""
        if classes is None:
            return self._step(X, y, None, sample_weight)
        coming = np.unique(naming.unmasked(classes))
        learner = self._found()
        if learner is not None and not set(coming.tolist()) <= set(learner.classes):
            raise InputError(f"classes = {classes!r}: is not what the first call said")
        return self._step(X, y, coming, sample_weight)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        learner, rows = self._asked(X)
        made: npt.NDArray[Any] = self.classes_[self._place[learner.numbers(rows, self.for_)]]
        return made

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of ``classes_``, a row per row of X."""
        learner, rows = self._asked(X)
        made = learner.predict_proba(rows, self.for_)
        shares: npt.NDArray[np.float64] = made[:, self._order].astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares
