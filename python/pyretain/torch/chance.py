"""Random numbers in training as a function of the seed and the iteration."""

from __future__ import annotations

import contextlib
import pickle
import random
import threading
from typing import Any, Callable, Iterator

import numpy as np
import torch

# Generators belong to the process: whoever has seeded them goes first, in whatever thread.
drawing = threading.RLock()


def python_numbers() -> bytes:
    """The state of Python's and NumPy's generators."""
    return pickle.dumps((random.getstate(), np.random.get_state()))


class Chance:
    """The random generators that a module on this device draws from; ``python``: Python's and NumPy's as well."""

    def __init__(self, device: torch.device, python: bool) -> None:
        # Not torch.manual_seed: for each kind of device that is not in use it notes the whole stack, at every call.
        own: Any = torch.default_generator
        self._states: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [(own.get_state, own.set_state)]
        self._seeds: list[Callable[[int], Any]] = [own.manual_seed]
        if python:
            self._states += [(random.getstate, random.setstate), (np.random.get_state, np.random.set_state)]
            self._seeds += [random.seed, lambda seed: np.random.seed(seed % 2**32)]
        if device.type != "cpu":
            there: Any = getattr(torch, device.type, None)
            if hasattr(there, "get_rng_state"):
                self._states.append((there.get_rng_state, there.set_rng_state))
            self._seeds += [getattr(there, name) for name in ("manual_seed_all", "manual_seed") if hasattr(there, name)][:1]

    def begin(self, seed: int) -> list[Any]:
        """Random numbers are a function of the seed from now on; what they were, for ``end``."""
        drawing.acquire()
        kept = [get() for get, _ in self._states]
        for put_seed in self._seeds:
            put_seed(seed)
        return kept

    def end(self, kept: list[Any]) -> None:
        for (_, put), state in zip(self._states, kept):
            put(state)
        drawing.release()


@contextlib.contextmanager
def seeded(seed: int, device: torch.device = torch.device("cpu")) -> Iterator[None]:
    """Random numbers are a function of the seed, and the program's own go on as if nothing was."""
    chance = Chance(device, True)
    kept = chance.begin(seed)
    try:
        yield
    finally:
        chance.end(kept)
