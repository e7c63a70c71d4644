"""River's interface."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np
from river import base

from pyretain import estimator
from pyretain._core import Floats
from pyretain.learner import Learner, Question


class RiverClassifier(base.MiniBatchClassifier):
    """A net that learns row by row from dicts, and keeps what it learned.

    Values may be numbers, words or None; keys may be missing, and new ones may come. Scaling
    and encoding are part of the model.

    Parameters
    ----------
    folder
        Where it lives: a new one, or the one that is there. None: in memory.
    method
        A method of the library; None: the default.
    seed
        The seed of everything that is random.
    for_
        What is predicted: "now", what this is among the newest rows, or "ever".
    settings
        Other settings of the library, as ``{"model_arch": "mlp:128"}``.
    """

    def __init__(
        self,
        folder: estimator.Folder = None,
        method: Optional[str] = None,
        seed: Optional[int] = None,
        for_: Question = "now",
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.folder = folder
        self.method = method
        self.seed = seed
        self.for_ = for_
        self.settings = settings

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_skips(cls) -> set[str]:
        # A batch is one time step here, and not as many as it has rows.
        return {"check_learn_many_matches_learn_one"}

    @property
    def learner(self) -> Optional[Learner]:
        """The learner behind it, once it has learned something."""
        if "_learner" not in self.__dict__ and estimator.in_folder(self.folder):
            self._learner = estimator.make(self.folder, self.method, self.seed, self.settings)
        found: Optional[Learner] = self.__dict__.get("_learner")
        return found

    def _made(self) -> Learner:
        learner = self.learner
        if learner is None:
            learner = estimator.make(self.folder, self.method, self.seed, self.settings)
            self._learner = learner
        return learner

    def close(self) -> None:
        """Saves and closes the learner of a folder."""
        if self.__dict__.get("_learner") is not None:
            self._learner.close()
            del self._learner

    def _inputs(self, rows: Sequence[Mapping[Any, Any]], learn: bool) -> Floats:
        fields: Optional[estimator.Fields] = self.__dict__.get("_fields")
        if fields is None:
            fields = self._fields = estimator.begun(rows[0], self.folder)
        return estimator.encoded(fields, rows, learn)

    def _knows(self) -> bool:
        return self.__dict__.get("_fields") is not None and self.learner is not None

    # Rows

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Is told the label of a row, and trains for a while."""
        inputs = self._inputs([x], True)
        self._made().learn(inputs, (y,))

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """How probable each label is; empty while none is known."""
        if not self._knows():
            return {}
        learner = self._learner
        made = learner.predict_proba(self._inputs([x], False), self.for_)[0].astype(np.float64)
        return dict(zip(learner.classes, (made / made.sum()).tolist()))

    # Frames

    def learn_many(self, X: Any, y: Any) -> None:
        """Is told the labels of a frame's rows, as one time step, and trains for a while."""
        if len(X):
            inputs = self._inputs(estimator.records(X), True)
            self._made().learn(inputs, list(y))

    def predict_proba_many(self, X: Any) -> Any:
        """How probable each label is, a row per row."""
        import pandas as pd  # type: ignore[import-untyped]

        if not self._knows() or not len(X):
            return pd.DataFrame(index=X.index)
        learner = self._learner
        made = learner.predict_proba(self._inputs(estimator.records(X), False), self.for_)
        shares = made.astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return pd.DataFrame(shares, columns=learner.classes, index=X.index)

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        return estimator.packed(self.__dict__, self.folder)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(estimator.unpacked(state))
