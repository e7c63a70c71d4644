"""River's interface."""

from __future__ import annotations

from typing import Any, Mapping, Optional

import numpy as np
import numpy.typing as npt
from river import base

from pyretain import estimator
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
            self._learner = self._new()
        found: Optional[Learner] = self.__dict__.get("_learner")
        return found

    def _new(self) -> Learner:
        return estimator.make(self.folder, self.method, self.seed, self.settings)

    def _learn(self, rows: Any, labels: Any) -> None:
        learner = self.learner or self._new()
        self._learner = learner
        learner.learn(learner.encode(rows), labels)

    def _predict(self, rows: Any) -> npt.NDArray[np.float64]:
        shares = self._learner.predict_proba(self._learner.encode(rows, learn=False), self.for_)
        made: npt.NDArray[np.float64] = shares.astype(np.float64)
        made /= made.sum(axis=1, keepdims=True)
        return made

    def close(self) -> None:
        """Saves and closes the learner of a folder."""
        if self.__dict__.get("_learner") is not None:
            self._learner.close()
            del self._learner

    # Rows

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Is told the label of a row, and trains for a while."""
        self._learn(x, (y,))

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """How probable each label is; empty while none is known."""
        if self.learner is None:
            return {}
        return dict(zip(self._learner.classes, self._predict(x)[0].tolist()))

    # Frames

    def learn_many(self, X: Any, y: Any) -> None:
        """Is told the labels of a frame's rows, as one time step, and trains for a while."""
        if len(X):
            self._learn(X, list(y))

    def predict_proba_many(self, X: Any) -> Any:
        """How probable each label is, a row per row."""
        import pandas as pd  # type: ignore[import-untyped]

        if self.learner is None or not len(X):
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(self._predict(X), columns=self._learner.classes, index=X.index)

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        return estimator.packed(self.__dict__, self.folder)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(estimator.unpacked(state))
