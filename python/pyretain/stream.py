"""River's interface."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt
from river import base

from pyretain import estimator
from pyretain import labels as naming
from pyretain.learner import Learner, Question
from pyretain.targets import CLASS, NUMBER, Target, values


class _Streamed:
    """Rows in, a learner behind: what both estimators below share."""

    _target: Target

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

    def _said(self) -> dict[str, Any]:
        """Settings that are parameters; None leaves them open."""
        return {"run_method": self.method, "run_seed": self.seed}

    def _new(self) -> Learner:
        # River's rows may have none of the fields seen so far; a folder keeps what it was made with.
        spare = None if estimator.in_folder(self.folder) else 1
        return estimator.make(self._target, self.folder, self.settings, schema_spare=spare, **self._said())

    def _learn(self, rows: Any, labels: Any) -> None:
        learner = self.learner or self._new()
        self._learner = learner
        learner.learn(learner.encode(rows), labels)

    def _known(self, rows: Any) -> npt.NDArray[np.float32]:
        """Rows that are only predicted."""
        return self._learner.encode(rows, learn=False)

    def close(self) -> None:
        """Saves and closes the learner of a folder."""
        if self.__dict__.get("_learner") is not None:
            self._learner.close()
            del self._learner

    def __getstate__(self) -> dict[str, Any]:
        return estimator.packed(self.__dict__, self.folder)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(estimator.unpacked(state))


class RiverClassifier(_Streamed, base.MiniBatchClassifier):
    """A net that learns classes row by row from dicts, and retains.

    Values may be numbers, words or None; keys may be missing, and new ones may come. Scaling
    and encoding are part of the model.

    Parameters
    ----------
    folder
        Its folder, new or existing. None: in memory.
    method
        A method of the library; None: the default.
    seed
        The seed of everything that is random.
    for_
        The question: "now", what this is among the newest rows, or "ever".
    class_weight
        Weights of classes in answers: "balanced" by rarity, or costs by label, as ``{True: 20}``.
    settings
        Other settings of the library, as ``{"model_arch": "mlp:128"}``.
    """

    _target = CLASS

    def __init__(
        self,
        folder: estimator.Folder = None,
        method: Optional[str] = None,
        seed: Optional[int] = None,
        for_: Question = "now",
        class_weight: Union[str, Mapping[Any, float], None] = None,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(folder, method, seed, for_, settings)
        self.class_weight = class_weight

    def _said(self) -> dict[str, Any]:
        return {**super()._said(), "learn_weigh": naming.weighed(self.class_weight)}

    @property
    def _multiclass(self) -> bool:
        return True

    def _predict(self, rows: Any) -> npt.NDArray[np.float64]:
        shares = self._learner.predict_proba(self._known(rows), self.for_)
        made: npt.NDArray[np.float64] = shares.astype(np.float64)
        made /= made.sum(axis=1, keepdims=True)
        return made

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learns the label of a row."""
        self._learn(x, (y,))

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> Any:
        """The most probable label; None while none is known."""
        if self.learner is None:
            return None
        label = self._learner.predict(self._known(x), self.for_)[0]
        return label.item() if isinstance(label, np.generic) else label

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Probabilities by label; empty while none is known."""
        if self.learner is None:
            return {}
        return dict(zip(self._learner.classes, self._predict(x)[0].tolist()))

    def learn_many(self, X: Any, y: Any) -> None:
        """Learns the labels of a frame's rows, as one time step."""
        if len(X):
            self._learn(X, list(y))

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities by label, a row per row."""
        import pandas as pd  # type: ignore[import-untyped]

        if self.learner is None or not len(X):
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(self._predict(X), columns=self._learner.classes, index=X.index)


class RiverRegressor(_Streamed, base.MiniBatchRegressor):
    """A net that learns numbers row by row from dicts, and retains.

    Values may be numbers, words or None; keys may be missing, and new ones may come. Scaling
    and encoding, also of the labels, are part of the model.

    Parameters
    ----------
    folder
        Its folder, new or existing. None: in memory.
    method
        A method of the library; None: the default.
    seed
        The seed of everything that is random.
    for_
        The question: "now", what this is among the newest rows, or "ever".
    coverage
        Share of true numbers that an interval should hold; None: the library's default, 0.9.
    settings
        Other settings of the library, as ``{"model_arch": "mlp:128"}``.
    """

    _target = NUMBER

    def __init__(
        self,
        folder: estimator.Folder = None,
        method: Optional[str] = None,
        seed: Optional[int] = None,
        for_: Question = "now",
        coverage: Optional[float] = None,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(folder, method, seed, for_, settings)
        self.coverage = coverage

    def _said(self) -> dict[str, Any]:
        return {**super()._said(), "model_coverage": self.coverage}

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learns the number of a row."""
        self._learn(x, values((y,)))

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The number of a row; 0 while none is known."""
        if self.learner is None:
            return 0.0
        return float(self._learner.predict(self._known(x), self.for_)[0])

    def predict_interval_one(self, x: Mapping[Any, Any]) -> tuple[float, float]:
        """The interval of a row's number, low and high, with coverage ``coverage``."""
        if self.learner is None:
            return 0.0, 0.0
        low, high = self._learner.predict_interval(self._known(x), self.for_)[0].tolist()
        return low, high

    def learn_many(self, X: Any, y: Any) -> None:
        """Learns the numbers of a frame's rows, as one time step."""
        if len(X):
            self._learn(X, values(y))

    def predict_many(self, X: Any) -> Any:
        """The number of each row."""
        import pandas as pd

        known = self.learner is not None and len(X)
        made = self._learner.predict(self._known(X), self.for_) if known else np.zeros(len(X))
        return pd.Series(made.astype(np.float64), index=X.index, name=X.columns.name)
