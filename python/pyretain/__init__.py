"""Neural classifiers that learn from an endless, drifting stream and keep what they learned.

``Learner`` is the library's learner, ``Model`` weights that only predict. RetainClassifier
has scikit-learn's interface, RiverClassifier River's; they need these packages.
"""

from __future__ import annotations

from pyretain._core import (
    FileError,
    FormatError,
    InputError,
    OutOfMemoryError,
    Progress,
    RetainError,
    RetainWarning,
    StateError,
    StoppedError,
    lib as _lib,
    text as _text,
)
from pyretain._settings import SETTINGS, Setting, Settings
from pyretain.learner import Learner, Metrics, Shape, Step
from pyretain.model import Model


def __getattr__(name: str) -> object:
    # What needs packages of others is loaded when it is asked for.
    if name == "RetainClassifier":
        from pyretain.classifier import RetainClassifier

        return RetainClassifier
    if name == "RiverClassifier":
        from pyretain.stream import RiverClassifier

        return RiverClassifier
    raise AttributeError(f"module 'pyretain' has no attribute {name!r}")


__version__ = _text(_lib.retain_version())
__all__ = [
    "FileError",
    "FormatError",
    "InputError",
    "Learner",
    "Metrics",
    "Model",
    "OutOfMemoryError",
    "Progress",
    "RetainError",
    "RetainWarning",
    "SETTINGS",
    "Setting",
    "Settings",
    "Shape",
    "StateError",
    "Step",
    "StoppedError",
]
