import numpy as np
import pytest

SETTINGS = {"model_classes": 3, "model_input": 4, "run_method": "sgd+clr", "run_batch": 16}


def blobs(steps, count=8, seed=1, classes=3, dim=4):
    """A little stream: points around centres."""
    world = np.random.default_rng(seed)
    centres = world.normal(size=(classes, dim)) * 2
    for _ in range(steps):
        labels = world.integers(0, classes, count)
        inputs = centres[labels] + world.normal(size=(count, dim)) * 0.5
        yield inputs.astype(np.float32), labels


@pytest.fixture
def settings():
    return dict(SETTINGS)


@pytest.fixture
def stream():
    return blobs
