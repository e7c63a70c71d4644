"""Settings by keywords, and the library's configuration that is made of them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from pyretain._core import NULL, InputError, check, ffi, here, lib, text
from pyretain._settings import SETTINGS
from pyretain.nets import Nets


def key_of(word: str) -> str:
    """The library's key for a keyword; a mistake is left to the library, which suggests."""
    setting = SETTINGS.get(word)
    return setting.key if setting else word.replace("_", ".", 1)


def value_of(value: object) -> str:
    """A value as a config file says it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return ",".join(map(value_of, value))
    return str(value)


class Config:
    """The configuration that a learner was made of."""

    def __init__(self, watch: Any) -> None:
        self.it = ffi.gc(lib.retain_config_new(), lib.retain_config_free)
        lib.retain_config_on_warning(self.it, lib.pyretain_warning, watch, NULL)
        lib.retain_config_on_progress(self.it, lib.pyretain_progress, watch, NULL)

    def bring(self, nets: Nets) -> None:
        """Its learners have these nets, and their vectors."""
        check(lib.retain_config_on_net(self.it, nets.name.encode(), lib.pyretain_net_make, nets.handle, here.err))
        vectors = nets.functions()
        if vectors != ffi.NULL:
            check(lib.retain_config_on_vectors(self.it, vectors, here.err))

    def set(self, settings: dict[str, Any]) -> None:
        for word, value in settings.items():
            key, said = key_of(word).encode(), value_of(value).encode()
            if b"\0" in key + said:
                raise InputError(f"{word} = {value!r}: cannot hold a zero byte")
            check(lib.retain_config_set(self.it, key, said, here.err))

    def get(self, word: str) -> str:
        value = ffi.new("const char **")
        check(lib.retain_config_get(self.it, key_of(word).encode(), value, here.err))
        return text(value[0])

    def values(self) -> dict[str, str]:
        return {word: self.get(word) for word in SETTINGS}


def describe(made: Any) -> None:
    """Settings as keywords in the signature and docstring of a class, for completion and help."""
    signature = inspect.signature(made.__init__)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    keys = [
        inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=setting.default)
        for word, setting in SETTINGS.items()
    ]
    made.__init__.__signature__ = signature.replace(parameters=own + keys)
    lines = [
        f"    {word} = {setting.default}\n        {setting.help}"
        + (f" ({setting.allowed})" if setting.allowed else "")
        for word, setting in SETTINGS.items()
    ]
    made.__doc__ = f"{made.__doc__}\n    Settings and their defaults:\n\n" + "\n".join(lines)
