"""What estimators of scikit-learn and of River share: making and pickling."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

from pyretain._core import StateError
from pyretain.learner import Learner
from pyretain.targets import NUMBER, Target

Folder = Union[str, "os.PathLike[str]", None]


def make(
    target: Target, folder: Folder, settings: Optional[Mapping[str, Any]], **said: Any
) -> Learner:
    """The learner that an estimator's parameters ask for; what they say None of is left open."""
    wanted: dict[str, Any] = dict(settings or {})
    wanted.update({word: value for word, value in said.items() if value is not None})
    if target is NUMBER:
        wanted.setdefault("model_target", target.word)
    learner = Learner(folder, **wanted)
    if learner.target != target.word:
        learner.close()
        where = "settings" if folder is None else folder
        raise StateError(f"{where}: labels are of the kind {learner.target}, not {target.word}")
    return learner


def in_folder(folder: Folder) -> bool:
    """Whether a learner is in this folder."""
    return folder is not None and os.path.exists(os.path.join(folder, "config.ini"))


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
