import os
import sys

import numpy as np
import pytest

# Tests share nets and streams with benchmarks.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

SETTINGS = {"model_classes": 3, "model_input": 4, "run_method": "sgd+clr", "run_batch": 16}


def blobs(steps, count=8, seed=1, classes=3, dim=4):
    """A little stream: points around centres."""
    world = np.random.default_rng(seed)
    centres = world.normal(size=(classes, dim)) * 2
    for _ in range(steps):
        labels = world.integers(0, classes, count)
        inputs = centres[labels] + world.normal(size=(count, dim)) * 0.5
        yield inputs.astype(np.float32), labels


def drifting(rows, seed=1):
    """A little stream of numbers: a label follows from the inputs, and how turns all the time."""
    world = np.random.default_rng(seed)
    for row in range(rows):
        inputs = world.normal(size=(1, 3)).astype(np.float32)
        turn = row / 300
        weights = np.array([np.cos(turn), np.sin(turn), 0.5])
        yield inputs, float(1000 + 100 * inputs[0] @ weights + 10 * world.normal())


def pytest_collection_modifyitems(items):
    """PyTorch's engine counts devices when it first runs in a thread: tests that register one come before Avalanche's."""
    items.sort(key=lambda item: "avalanche" in item.nodeid)


@pytest.fixture
def settings():
    return dict(SETTINGS)


@pytest.fixture
def stream():
    return blobs
