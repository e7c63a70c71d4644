"""Nets that learn classes or numbers from an endless, drifting stream and keep what they learned.

``Learner`` is the library's learner, ``Model`` weights that only predict. RetainClassifier and
RetainRegressor have scikit-learn's interface, RiverClassifier and RiverRegressor River's; they
need these packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from pyretain.client import Answer, AsyncClient, Client, ServiceError
from pyretain.learner import Learner, Metrics, Shape, Step
from pyretain.model import Model
from pyretain.versions import Version, drop_version, versions

# What needs packages of others is loaded when it is asked for.
if TYPE_CHECKING:
    from pyretain.classifier import RetainClassifier as RetainClassifier
    from pyretain.regressor import RetainRegressor as RetainRegressor
    from pyretain.stream import RiverClassifier as RiverClassifier, RiverRegressor as RiverRegressor
else:
    _ESTIMATORS = {
        "RetainClassifier": "pyretain.classifier",
        "RetainRegressor": "pyretain.regressor",
        "RiverClassifier": "pyretain.stream",
        "RiverRegressor": "pyretain.stream",
    }

    def __getattr__(name):
        if name in _ESTIMATORS:
            from importlib import import_module

            return getattr(import_module(_ESTIMATORS[name]), name)
        raise AttributeError(f"module 'pyretain' has no attribute {name!r}")


__version__ = _text(_lib.retain_version())
__all__ = [
    "Answer",
    "AsyncClient",
    "Client",
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
    "ServiceError",
    "Setting",
    "Settings",
    "Shape",
    "StateError",
    "Step",
    "StoppedError",
    "Version",
    "drop_version",
    "versions",
]
