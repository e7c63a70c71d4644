"""A module on a device that is not the CPU: a made-up one, compiled here, on which mixing fails."""

import hashlib
import os
import shutil
import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

import pyretain.torch as rt  # noqa: E402
from test_torch_net import SMALL, Noisy, mlp  # noqa: E402


def kept_folder(source):
    """Compiling takes a minute, so the result is kept beside the tests' packages."""
    with open(source, "rb") as file:
        digest = hashlib.sha256(file.read() + torch.__version__.encode() + sys.version.encode()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    folder = os.path.join(cache, "retain", f"sham-{digest}")
    os.makedirs(folder, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def sham():
    if shutil.which("ninja") is None or shutil.which("c++") is None:
        pytest.skip("there is no ninja or no C++ compiler")
    from torch.utils import cpp_extension

    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sham.cpp")
    made = cpp_extension.load("sham_device", [source], extra_cflags=["-O0", "-w"], build_directory=kept_folder(source))
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


WAYS = [
    {},
    {"run_micro_batch": 3},
    {"run_method": "schedule-free+recency+fast", "fast_heads": "hidden, young"},
    {"run_method": "ama+malr+fast", "fast_layers": "head", "fast_parts": "0.3:0.97", "model_classes": 3},
    {"run_method": "mir", "optimizer_kind": "adam", "schedule_rate": 0.01},
    {"run_method": "polrs+adrep", "learn_part_steps": 4},
]


@pytest.mark.parametrize("settings", WAYS)
def test_it_comes_to_the_same_numbers(sham, stream, settings):
    learners = [rt.Learner(mlp, input=(4,), device=device, **{**SMALL, **settings}) for device in ("cpu", "sham")]
    for inputs, labels in stream(12):
        for learner in learners:
            learner.learn(inputs, labels)
    here, there = (learner.state_dict() for learner in learners)
    for name in here:
        assert torch.allclose(here[name].float(), there[name].float(), atol=1e-5), name
    assert np.allclose(learners[0].predict_proba(inputs), learners[1].predict_proba(inputs), atol=1e-5)
    assert learners[1].metrics().learning_efficacy > 0.5


def wide(classes):
    return torch.nn.Sequential(torch.nn.Linear(4, 500), torch.nn.ReLU(), torch.nn.Linear(500, classes))


@pytest.mark.parametrize("settings", WAYS[:4])
def test_nothing_of_the_nets_size_crosses(sham, stream, settings):
    """Between host and device go samples, labels' gradients and logits, whatever the size of the net."""
    floats = sum(one.numel() for one in wide(3).parameters())
    learner = rt.Learner(wide, input=(4,), device="sham", **{**SMALL, "model_classes": 3, **settings})
    batches = list(stream(8))
    for inputs, labels in batches[:4]:
        learner.learn(inputs, labels)
    sham.crossed()
    for inputs, labels in batches[4:]:
        learner.learn(inputs, labels)
    sizes = sham.crossed()
    assert len(sizes) > 20, "copies of inputs and logits are counted"
    # Parts beside the net read the inputs of its last layer, or that layer, which they displace in memory.
    rest = 16 * 500 if "fast_layers" in settings or "fast_heads" in settings else 0
    assert max(sizes) <= max(rest, 16 * 4) and (rest or max(sizes) < floats // 10), max(sizes)
    learner.state_dict()
    assert max(sham.crossed()) >= floats, "weights that are saved are read out"


def test_copies_of_an_iteration_are_three(sham, stream):
    """Inputs go there, logits come here, gradients of logits go there; a validation brings logits of each model."""
    learner = rt.Learner(wide, input=(4,), device="sham", **{**SMALL, "model_classes": 3})
    learner.learn(*next(stream(1, count=64)))
    sham.crossed()
    learner.train(20)
    sizes = sham.crossed()
    batch, validated = SMALL["run_batch"], SMALL["schedule_validation_batch"]
    training = 20 * [batch * 4, batch * 3, batch * 3]
    validation = 4 * 3 * [validated * 4, validated * 3]  # every fifth iteration: SGD and two averages
    assert sorted(sizes) == sorted(training + validation)


def test_it_goes_on_from_its_folder(sham, stream, tmp_path):
    batches = list(stream(12))
    weights = []
    for pieces in ((12,), (5, 12)):
        at = 0
        for end in pieces:
            folder = tmp_path / str(len(pieces))
            with rt.Learner(Noisy, input=(4,), device="sham", folder=folder, **SMALL) as learner:
                for inputs, labels in batches[at:end]:
                    learner.learn(inputs, labels)
                weights.append(learner.state_dict())
            at = end
    for name, tensor in weights[0].items():
        assert torch.equal(tensor, weights[-1][name]), name


@pytest.mark.parametrize("settings", WAYS)
def test_shapes_on_meta(stream, settings):
    """No numbers, but every path of a device; what mixes devices fails there as well."""
    learner = rt.Learner(mlp, input=(4,), device="meta", **{**SMALL, "model_classes": 3, **settings})
    for inputs, labels in stream(3):
        learner.learn(inputs, labels)
    assert learner.metrics().iterations == 15
    assert not learner.state_dict()["0.weight"].any()


def test_pictures_come_in_pinned_memory(sham):
    """From which a GPU copies while it computes."""
    pixels = np.random.default_rng(1).integers(0, 256, (6, 3, 8, 8), dtype=np.uint8)
    with rt.Memory(seed=2) as memory, rt.Pictures(memory) as pictures, rt.Pictures(memory, pin=False) as others:
        memory.add(pixels, np.arange(6))
        for k in (1, 2, 3):
            batch, other = pictures.draw(k, 4).fields[0], others.draw(k, 4).fields[0]
            assert batch.is_pinned() and not other.is_pinned() and torch.equal(batch, other)
            assert torch.equal(batch.to("sham", non_blocking=True).cpu(), other)


def test_a_learner_of_photos_trains_from_pinned_memory(sham, tmp_path, monkeypatch):
    """retain run around a module: the library's threads decode photos, and batches lie where the device copies from."""
    image = pytest.importorskip("PIL.Image", reason="there is no Pillow")
    from pyretain.command import run
    from pyretain.torch import net
    from pyretain.torch.vectors import memory

    for at, pixels in enumerate(np.random.default_rng(1).integers(0, 256, (40, 20, 24, 3), dtype=np.uint8)):
        (tmp_path / "photos" / str(at % 2)).mkdir(parents=True, exist_ok=True)
        image.fromarray(pixels).save(tmp_path / "photos" / str(at % 2) / f"{at}.png")

    def make(classes):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, classes))

    pinned, forward = [], net.ModuleNet.forward

    def noted(self, one):
        if one.training:
            pinned.append(memory(one.inputs, one.count * 3 * 16 * 16).is_pinned())
        forward(self, one)

    monkeypatch.setattr(net.ModuleNet, "forward", noted)
    nets = net.Brought(make, None, "sham").nets(make, "photos")
    keys = "model.arch=net:photos image.size=16 run.method=ama+malr run.batch=8 run.iterations=3 run.step_epochs=0 stream.per_step=8 stream.loaders=2"
    words = ["run", str(tmp_path / "photos"), "--out", str(tmp_path / "x"), "--quiet"]
    ended = run(words + [word for key in keys.split() for word in ("--set", key)], nets)
    assert ended.status == 0, ended.complaint
    assert len(pinned) >= 9 and all(pinned)
