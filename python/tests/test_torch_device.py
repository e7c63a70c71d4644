"""A module on a device that is not the CPU: a made-up one, compiled here, on which mixing fails."""

import os
import shutil
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

import pyretain.torch as rt  # noqa: E402
from test_torch_net import SMALL, mlp  # noqa: E402


@pytest.fixture(scope="module")
def sham(tmp_path_factory):
    if shutil.which("ninja") is None or shutil.which("c++") is None:
        pytest.skip("there is no ninja or no C++ compiler")
    from torch.utils import cpp_extension

    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sham.cpp")
    made = cpp_extension.load(
        "sham_device", [source], extra_cflags=["-O0", "-w"], build_directory=str(tmp_path_factory.mktemp("sham"))
    )
    torch.utils.rename_privateuse1_backend("sham")
    device = types.ModuleType("sham")
    device.is_available = device.is_initialized = lambda: True
    device._is_in_bad_fork = lambda: False
    device.current_device, device.device_count, device.manual_seed_all = lambda: 0, lambda: 1, lambda seed: None
    torch._register_device_module("sham", device)
    torch.utils.generate_methods_for_privateuse1_backend()
    return made


def test_mixing_fails(sham):
    with pytest.raises(RuntimeError):
        torch.ones(3, device="sham") + torch.ones(3)


def test_it_comes_to_the_same_numbers(sham, stream):
    learners = [rt.Learner(mlp, input=(4,), device=device, **SMALL) for device in ("cpu", "sham")]
    for inputs, labels in stream(12):
        for learner in learners:
            learner.learn(inputs, labels)
    here, there = (learner.state_dict() for learner in learners)
    for name in here:
        assert torch.allclose(here[name].float(), there[name].float(), atol=1e-5), name
    assert np.allclose(learners[0].predict_proba(inputs), learners[1].predict_proba(inputs), atol=1e-5)
    assert learners[1].metrics().learning_efficacy > 0.5
