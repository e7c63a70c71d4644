"""A module on a device that is not the CPU: a made-up one with real numbers (conftest.py), and one without numbers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

import pyretain.torch as rt  # noqa: E402
from test_torch_net import SMALL, Noisy, mlp  # noqa: E402


def test_mixing_fails(sham):
    with pytest.raises(RuntimeError):
        torch.ones(3, device="sham") + torch.ones(3)


def normed(classes):
    return torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, classes))


def focal(logits, labels):
    losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    return (1 - (-losses).exp()) * losses


WAYS = [
    {},
    {"run_micro_batch": 3},
    {"run_method": "schedule-free+recency+fast", "fast_heads": "hidden, young"},
    {"run_method": "ama+malr+fast", "fast_layers": "head", "fast_parts": "0.3:0.97", "model_classes": 3},
    {"run_method": "mir", "optimizer_kind": "adam", "schedule_rate": 0.01},
    {"run_method": "polrs+adrep", "learn_part_steps": 4},
    {"net": normed},
    {"net": normed, "optimizer": lambda params: torch.optim.AdamW(params, 0.01)},
    {"loss": focal, "transform": lambda x: 1.1 * x, "compile": "eager"},
    {"run_method": "lwf+ama", "run_task_steps": 4},
    {"run_method": "er-ace"},
    {"model_target": "number", "loss": torch.nn.HuberLoss(), "schedule_rate": 0.02},
    {"amp": "bf16"},
    {"amp": "fp16"},
]
WITHOUT_NUMBERS = [way for way in WAYS if "amp" not in way]  # autocast refuses the device "meta"


def brought(device, net=mlp, **settings):
    return rt.Learner(net, input=(4,), device=device, **{**SMALL, **settings})


def growing(stream, steps):
    """Its classes come one by one."""
    for number, (inputs, labels) in enumerate(stream(steps)):
        yield inputs, np.minimum(labels, number // 3)


@pytest.mark.parametrize("way", WAYS)
def test_it_comes_to_the_same_numbers(sham, stream, way):
    learners = [brought(device, **way) for device in ("cpu", "sham")]
    for inputs, labels in growing(stream, 12):
        for learner in learners:
            learner.learn(inputs, labels)
    here, there = (learner.state_dict() for learner in learners)
    atol = 1e-2 if "amp" in way else 1e-5
    for name in here:
        assert torch.allclose(here[name].float(), there[name].float(), atol=atol), name
    said = [learner.predict(inputs) if "model_target" in way else learner.predict_proba(inputs) for learner in learners]
    assert np.allclose(*said, atol=atol)
    assert learners[1].metrics().learning_efficacy > learners[1].metrics().blind


def wide(classes):
    return torch.nn.Sequential(torch.nn.Linear(4, 500), torch.nn.ReLU(), torch.nn.Linear(500, classes))


@pytest.mark.parametrize("settings", WAYS[:4])
def test_nothing_of_the_nets_size_crosses(sham, stream, settings):
    """Between host and device go samples, labels' gradients and logits, whatever the size of the net."""
    floats = sum(one.numel() for one in wide(3).parameters())
    learner = brought("sham", wide, **{"model_classes": 3, **settings})
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


def wide_normed(classes):
    return torch.nn.Sequential(torch.nn.Linear(4, 500), torch.nn.BatchNorm1d(500), torch.nn.Linear(500, classes))


@pytest.mark.parametrize("net, loss", [(wide, None), (wide, focal), (wide_normed, None)])
def test_copies_of_an_iteration(sham, stream, net, loss):
    """Inputs go there, logits come here, gradients of logits go there; a validation brings logits of each model. A loss of one's own
    and batch norm's statistics take theirs."""
    learner = brought("sham", net, model_classes=3, loss=loss)
    learner.learn(*next(stream(1, count=64)))
    sham.crossed()
    learner.train(20)
    sizes = sham.crossed()
    batch, validated, stats = SMALL["run_batch"], SMALL["schedule_validation_batch"], 2 * 512
    training, validation = [batch * 4, batch * 3, batch * 3], [validated * 4, validated * 3]
    correction = []
    if loss:
        training += [batch * 3, batch, batch, batch, batch * 3]  # logits, labels and weights go there, losses and gradients come here
    if net is wide_normed:
        correction = [batch * 4, batch * 3, stats, stats]  # a pass of an average, every tenth iteration
        training += [stats, stats]
        validation += [stats]
    # Every fifth iteration SGD and two averages are validated.
    assert sorted(sizes) == sorted(20 * training + 4 * 3 * validation + 2 * 2 * correction)


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


@pytest.mark.parametrize("way", WITHOUT_NUMBERS)
def test_shapes_on_meta(stream, way):
    """No numbers, but every path of a device; what mixes devices fails there as well."""
    learner = brought("meta", **way)
    for inputs, labels in growing(stream, 6):
        learner.learn(inputs, labels)
    assert learner.metrics().iterations == 30
    assert not learner.state_dict("plain")["value.0.weight" if "model_target" in way else "0.weight"].any()


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
