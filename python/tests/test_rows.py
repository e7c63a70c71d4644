"""Rows of named values as inputs, by the library and by the shorter way for numbers."""

import random

import numpy as np

from pyretain import InputError, Learner
from pyretain import rows as named
from pyretain._core import ffi, here, lib

def test_rows_of_numbers_are_encoded_as_the_library_does():
    """Rows of numbers take a shorter way, to the same floats: whatever comes, and before and after fields came."""
    world, learner = random.Random(3), Learner(run_seed=1, schema_spare=1)
    values = [1.5, -2, 0, 3e38, 4e38, 1e-50, float("nan"), float("inf"), True, None, "red", np.float32(0.1), 10**400]
    names = ["a", "b", "c", "kind"]
    learner.learn(learner.encode({"a": 1.0, "b": 2, "c": 0.5, "kind": "red"}), ["x"])
    for number in range(600):
        if number == 300:
            names.append("late")
        row = {name: world.choice(values[:6] if world.random() < 0.8 else values) for name in names if world.random() < 0.8}
        learn = number % 3 == 0 and not any(row.get(name) == "red" for name in names if name != "kind")
        try:
            said = learner.encode(row, learn)
        except InputError:
            continue
        line = named.written(row)
        made = np.empty((1, said.shape[1]), np.float32)
        at = ffi.from_buffer("float[]", made)
        assert not lib.retain_learner_encode_known(learner._it, line, len(line), at, made.shape[1], here.err)
        assert made.tobytes() == said.tobytes(), row
    assert {"a", "b", "c"} <= set(learner._places._at) and "kind" not in learner._places._at
