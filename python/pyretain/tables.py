"""What scikit-learn's estimators share, whatever their labels are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse  # type: ignore[import-untyped,unused-ignore]
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    _check_sample_weight,
    column_or_1d,
    validate_data,
)

from pyretain import estimator, frames
from pyretain import labels as naming
from pyretain._core import Floats, StateError, filled
from pyretain.learner import Learner, Question
from pyretain.targets import Target

if TYPE_CHECKING:
    from typing_extensions import Self

LEAST = 300  # iterations that fit makes


def _weights(sample_weight: Any, rows: Floats) -> Optional[Floats]:
    """Weights as the library takes them."""
    if sample_weight is None:
        return None
    made: Floats = _check_sample_weight(sample_weight, rows, dtype=np.float32)
    return made


class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """Rows in, a learner behind. Kinds of labels say what these are, by the methods below."""

    _target: Target
    _numbers = 1  # in a label

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
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._found() is not None

    # By kind of labels

    def _said(self) -> dict[str, Any]:
        """Settings that are parameters; None leaves them open."""
        seed = self.random_state
        if seed is not None and not isinstance(seed, (int, np.integer)):
            seed = int(np.random.RandomState.randint(seed, 2**31 - 1))
        return {"run_method": self.method, "run_seed": seed}

    def _checked(self, labels: npt.NDArray[Any], anew: bool) -> npt.NDArray[Any]:
        """Labels that can be learned, or an error. Anew: nothing like them was checked before."""
        raise NotImplementedError

    def _meet(self, labels: npt.NDArray[Any]) -> None:
        """Before the first labels are learned."""

    def _met(self) -> None:
        """After labels were learned, or a learner was found in its folder."""

    # The learner

    def _make(self) -> Learner:
        return estimator.make(self._target, self.folder, self.settings, **self._said())

    def _found(self) -> Optional[Learner]:
        """The learner, if there is one: also one that a former process left in the folder."""
        if "_learner" not in self.__dict__ and estimator.in_folder(self.folder):
            self._learner = self._make()
            self._met()
        learner: Optional[Learner] = self.__dict__.get("_learner")
        return learner

    def _fitted(self) -> Learner:
        learner = self._found()
        if learner is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit or partial_fit first"
            )
        return learner

    @property
    def learner_(self) -> Learner:
        """The learner behind it, with its metrics."""
        return self._fitted()

    def setting(self, word: str) -> str:
        """The value of a setting of the learner."""
        return self._fitted().setting(word)

    def close(self) -> None:
        """Saves and closes the learner of a folder."""
        learner = self._found()
        if learner is not None:
            learner.close()
            del self._learner

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
        if frames.has_words(X) or (not reset and "_named" in self.__dict__):
            validate_data(self, X, reset=reset, skip_check_array=True)
            self._named = True
            return learner.encode(X, learn)
        kind = frames.kind_of(X)
        if kind is not None and kind is not frames.KINDS["pandas"]:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return frames.numbers(X, kind)
        if issparse(X):
            X = validate_data(self, X, reset=reset, dtype=np.float32, accept_sparse="csr").toarray()
        made: Floats = validate_data(
            self, filled(X), reset=reset, dtype=np.float32, order="C", ensure_all_finite="allow-nan"
        )
        return made

    def _asked(self, X: Any) -> tuple[Learner, Floats]:
        """The learner, and rows that are only predicted."""
        learner = self._fitted()
        return learner, self._rows(learner, X, False, False)

    def _labels(self, y: Any, first: bool) -> npt.NDArray[Any]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if type(y) is np.ndarray and y.ndim == 1:
            return self._checked(y, first)
        given = naming.unmasked(y)
        made = np.asarray(given)
        several = self._target.word == "number" and made.ndim == 2 and made.shape[1] > 1
        return self._checked(made if several else column_or_1d(given, warn=True), True)

    def _table(
        self, learner: Optional[Learner], X: Any, y: Any
    ) -> tuple[Learner, Floats, npt.NDArray[Any]]:
        """A learner, rows and labels, as many of each. Labels are first: a bad one leaves all as it was."""
        first = learner is None
        labels = self._labels(y, first)
        if learner is None:
            self._numbers = 1 if labels.ndim == 1 else labels.shape[1]
            learner = self._make()
        rows = self._rows(learner, X, first)
        if len(labels) != len(rows):
            raise ValueError(
                f"X has {len(rows)} rows and y has {len(labels)}: they must be as many"
            )
        self._learner = learner
        return learner, rows, labels

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Starts anew and learns a table: in its order, then over and over."""
        if estimator.in_folder(self.folder):
            raise StateError(
                f"{self.folder}: holds a learner, and fit would begin anew: use partial_fit to "
                "go on, or another folder"
            )
        for name in ("_learner", "_named", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        learner, rows, labels = self._table(None, X, y)
        weights = _weights(sample_weight, rows)
        self._meet(labels)
        for at in range(0, len(rows), self.batch_size):
            here = slice(at, at + self.batch_size)
            learner.learn(rows[here], labels[here], None if weights is None else weights[here])
        batch = int(self.setting("run_batch"))
        rest = max(LEAST, int(self.epochs * len(rows) / batch)) - learner.metrics().iterations
        learner.train(max(rest, 0))
        self._met()
        return self

    def _step(
        self, X: Any, y: Any, coming: Optional[npt.NDArray[Any]], sample_weight: Any
    ) -> Self:
        found = self._found()
        first = found is None
        learner, rows, labels = self._table(found, X, y)
        weights = _weights(sample_weight, rows)
        if first:
            self._meet(labels if coming is None else coming)
        learner.learn(rows, labels, weights)
        self._met()
        return self

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return estimator.packed(state, self.folder)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(estimator.unpacked(state))
