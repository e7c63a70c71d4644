"""scikit-learn's interface."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import column_or_1d, validate_data  # type: ignore[import-untyped]

from pyretain import estimator
from pyretain import labels as naming
from pyretain._core import Floats, InputError, StateError, filled
from pyretain.learner import Learner, Question

LEAST = 300  # iterations that fit makes


def _has_words(X: Any) -> bool:
    """Whether a frame has columns that are no numbers."""
    return hasattr(X, "columns") and any(getattr(t, "kind", "O") not in "fiub" for t in X.dtypes)


class RetainClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for streams: ``partial_fit`` learns, and keeps what it learned.

    Parameters
    ----------
    folder : path or None
        Where it lives: a new one, or the one that is there. None: in memory.
    method : str or None
        A method of the library (``retain methods``); None: the default.
    random_state : int or None
        The seed; None: the library's.
    epochs : float
        How often ``fit`` goes over the data, at least.
    batch_size : int
        Rows that ``fit`` reveals at a time; ``partial_fit`` reveals all it is given.
    for_ : "ever" or "now"
        What ``predict`` answers: what is this of all that ever was, or among the newest?
    settings : dict or None
        Other settings of the library, as ``{"model_arch": "mlp:128"}``.

    Missing numbers are nan. Frames may have columns of words; their names then count.
    Classes may come in any call; ``classes_`` is in their order of sorting.
    """

    def __init__(
        self,
        folder: Union[str, "os.PathLike[str]", None] = None,
        *,
        method: Optional[str] = None,
        random_state: Optional[int] = None,
        epochs: float = 20,
        batch_size: int = 32,
        for_: Question = "ever",
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.folder = folder
        self.method = method
        self.random_state = random_state
        self.epochs = epochs
        self.batch_size = batch_size
        self.for_ = for_
        self.settings = settings

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._found() is not None

    # The learner

    def _make(self) -> Learner:
        seed = self.random_state
        if seed is not None and not isinstance(seed, (int, np.integer)):
            seed = int(np.random.RandomState.randint(seed, 2**31 - 1))
        return estimator.make(self.folder, self.method, seed, self.settings)

    def _found(self) -> Optional[Learner]:
        """The learner, if there is one: also one that a former process left in the folder."""
        if "_learner" not in self.__dict__ and estimator.in_folder(self.folder):
            self._learner = self._make()
            self._sort()
        learner: Optional[Learner] = self.__dict__.get("_learner")
        return learner

    def _fitted(self) -> Learner:
        learner = self._found()
        if learner is None:
            raise NotFittedError(
                "This RetainClassifier instance is not fitted yet: call fit or partial_fit first"
            )
        return learner

    @property
    def learner_(self) -> Learner:
        """The learner behind it, with its metrics."""
        return self._fitted()

    def close(self) -> None:
        """Saves and closes the learner of a folder."""
        learner = self._found()
        if learner is not None:
            learner.close()
            del self._learner

    def _sort(self) -> None:
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

    # Rows and labels

    def _rows(self, learner: Learner, X: Any, reset: bool, learn: bool = True) -> Floats:
        width = self.__dict__.get("n_features_in_")
        reset = reset or width is None  # a former process left the learner in its folder
        if (
            type(X) is np.ndarray
            and X.dtype == np.float32
            and X.ndim == 2
            and X.shape[1] == width
            and len(X)
            and "feature_names_in_" not in self.__dict__
        ):
            return X
        if _has_words(X) or (not reset and "_named" in self.__dict__):
            validate_data(self, X, reset=reset, skip_check_array=True)
            self._named = True
            return learner.encode(X, learn)
        made: Floats = validate_data(
            self, filled(X), reset=reset, dtype=np.float32, order="C", ensure_all_finite="allow-nan"
        )
        return made

    @staticmethod
    def _labels(y: Any, count: int) -> npt.NDArray[Any]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels: npt.NDArray[Any] = column_or_1d(naming.unmasked(y), warn=True)
        if len(labels) != count:
            raise ValueError(f"X has {count} rows and y has {len(labels)}: they must be as many")
        return labels

    def _meet(self, classes: npt.NDArray[Any]) -> None:
        check_classification_targets(classes)
        for label in classes.tolist():
            self._learner.number(label)
        if "classes_" not in self.__dict__:
            self.classes_ = classes[:0]

    # Learning

    def fit(self, X: Any, y: Any) -> RetainClassifier:
        """Forgets what was, and learns a table: in its order, then over and over."""
        if estimator.in_folder(self.folder):
            raise StateError(
                f"{self.folder}: holds a learner, and fit would begin anew: use partial_fit to "
                "go on, or another folder"
            )
        for name in ("_learner", "_named", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        learner = self._make()
        rows = self._rows(learner, X, True)
        labels = self._labels(y, len(rows))
        check_classification_targets(labels)
        self._learner = learner
        self._meet(np.unique(labels))
        for at in range(0, len(rows), self.batch_size):
            learner.learn(rows[at : at + self.batch_size], labels[at : at + self.batch_size])
        batch = int(self.setting("run_batch"))
        rest = max(LEAST, int(self.epochs * len(rows) / batch)) - learner.metrics().iterations
        learner.train(max(rest, 0))
        self.classes_ = np.unique(labels)[:0]
        self._sort()
        return self

    def setting(self, word: str) -> str:
        """The value that a setting has in the learner."""
        return self._fitted().setting(word)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> RetainClassifier:
        """A time step: predicts these rows, is told their labels, and trains for a while."""
        first = self._found() is None
        learner = self._make() if first else self._learner
        rows = self._rows(learner, X, first)
        labels = y
        if type(y) is not np.ndarray or y.ndim != 1 or len(y) != len(rows) or first:
            labels = self._labels(y, len(rows))
            check_classification_targets(labels)
        self._learner = learner
        if classes is not None:
            named = np.unique(naming.unmasked(classes))
            if not first and not set(named.tolist()) <= set(learner.classes):
                raise InputError(f"classes = {classes!r}: is not what the first call said")
            if first:
                self._meet(named)
        elif first:
            self._meet(np.unique(labels))
        learner.learn(rows, labels)
        self._sort()
        return self

    # Predicting

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        learner = self._fitted()
        numbers = learner.numbers(self._rows(learner, X, False, False), self.for_)
        made: npt.NDArray[Any] = self.classes_[self._place[numbers]]
        return made

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """How probable each of ``classes_`` is, a row per row of X."""
        learner = self._fitted()
        made = learner.predict_proba(self._rows(learner, X, False, False), self.for_)
        shares: npt.NDArray[np.float64] = made[:, self._order].astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return estimator.packed(state, self.folder)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(estimator.unpacked(state))
