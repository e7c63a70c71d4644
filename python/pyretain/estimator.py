"""What RetainClassifier and RiverClassifier share: making and pickling."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

from pyretain.learner import Learner

Folder = Union[str, "os.PathLike[str]", None]


def make(
    folder: Folder,
    method: Optional[str],
    seed: Optional[int],
    settings: Optional[Mapping[str, Any]],
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
