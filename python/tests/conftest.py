import hashlib
import os
import shutil
import sys
import types

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


def _turn(item):
    """Fake tensors crash once a process has a device of its own; PyTorch's engine counts devices when it first runs, and again
    in each thread, of which Avalanche starts some."""
    if "test_torch_cuda" in item.nodeid:
        return 0
    if "sham" in item.nodeid or "sham" in item.fixturenames:
        return 1
    return 3 if "avalanche" in item.nodeid else 2


def pytest_collection_modifyitems(items):
    items.sort(key=_turn)


@pytest.fixture
def settings():
    return dict(SETTINGS)


@pytest.fixture
def stream():
    return blobs


class Sham(types.ModuleType):
    """What PyTorch knows as torch.sham. Its generator is a number, which is counted up by whoever draws from it."""

    def __init__(self):
        super().__init__("sham")
        self.state = 0
        self.is_available = self.is_initialized = lambda: True
        self._is_in_bad_fork = lambda: False
        self.current_device, self.device_count = lambda: 0, lambda: 1
        self.get_rng_state = lambda *device: self.state
        self.set_rng_state = self.manual_seed_all = lambda state, *device: setattr(self, "state", state)


def kept_folder(source, version):
    """Compiling takes a minute, so the result is kept beside the tests' packages."""
    with open(source, "rb") as file:
        digest = hashlib.sha256(file.read() + version.encode() + sys.version.encode()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    folder = os.path.join(cache, "retain", f"sham-{digest}")
    os.makedirs(folder, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def sham():
    """A made-up device, compiled here, on which mixing its memory with the host's fails."""
    torch = pytest.importorskip("torch", reason="there is no PyTorch")
    if shutil.which("ninja") is None or shutil.which("c++") is None:
        pytest.skip("there is no ninja or no C++ compiler")
    from torch.utils import cpp_extension

    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sham.cpp")
    folder = kept_folder(source, torch.__version__)
    made = cpp_extension.load("sham_device", [source], extra_cflags=["-O0", "-w"], build_directory=folder)
    torch.utils.rename_privateuse1_backend("sham")
    device = Sham()
    device.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    torch._register_device_module("sham", device)
    torch.utils.generate_methods_for_privateuse1_backend()
    return made
