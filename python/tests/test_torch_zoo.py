"""Modules of timm, compiled ones, and what was learned as ONNX."""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

from pyretain import torch as rt  # noqa: E402
from test_torch_net import SMALL  # noqa: E402

SIDE = 16


@pytest.fixture
def timm():
    return pytest.importorskip("timm", reason="there is no timm")


def pictures(steps, count=8, seed=1):
    """Noise around a picture of each of three classes."""
    world = np.random.default_rng(seed)
    centres = world.normal(size=(3, 3, SIDE, SIDE))
    for _ in range(steps):
        labels = world.integers(0, 3, count)
        yield (centres[labels] + world.normal(size=(count, 3, SIDE, SIDE))).astype(np.float32), labels


def learn(learner, stream):
    for inputs, labels in stream:
        learner.learn(inputs, labels)
    return inputs


def vit(timm, classes):
    return timm.create_model("vit_tiny_patch16_224", img_size=SIDE, patch_size=4, embed_dim=24, depth=2, num_heads=2, num_classes=classes)


def test_a_vit_of_timm_learns_and_goes_on(timm, tmp_path):
    words = {"input": (3, SIDE, SIDE), "folder": tmp_path / "x", **SMALL}
    learner = rt.Learner(lambda classes: vit(timm, classes), name="vit", **words)
    inputs = learn(learner, pictures(30))
    assert learner.metrics().learning_efficacy > 0.6
    said = learner.predict_proba(inputs)
    learner.close()
    again = rt.Learner(lambda classes: vit(timm, classes), name="vit", **words)
    assert np.array_equal(again.predict_proba(inputs), said)
    again.close()


def test_the_command_takes_a_module_of_timm(timm, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="there is no Pillow")
    world = np.random.default_rng(1)
    for name, colour in (("red", 0), ("green", 1), ("blue", 2)):
        (tmp_path / "colours" / name).mkdir(parents=True)
        for i in range(12):
            pixels = world.integers(0, 80, (32, 32, 3), np.uint8)
            pixels[..., colour] += 160
            image.fromarray(pixels).save(tmp_path / "colours" / name / f"{i}.png")
    words = ["--net", "timm:test_resnet", "run", "colours", "--out", "x", "--quiet"]
    words += [word for key in ("run.iterations=1", "image.size=64", "image.resize=64") for word in ("--set", key)]
    done = subprocess.run([sys.executable, "-m", "pyretain", *words], cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert "arch = net:timm.test_resnet" in (tmp_path / "x" / "config.ini").read_text()


def test_what_was_learned_becomes_onnx(stream, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="there is no ONNX Runtime")
    pytest.importorskip("onnxscript", reason="there is no onnxscript")
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    learner = rt.Learner(net, input=(4,), **SMALL)
    inputs = learn(learner, stream(20))
    net.load_state_dict(learner.state_dict())
    shapes = ({0: torch.export.Dim("count")},)
    torch.onnx.export(net.eval(), (torch.zeros(2, 4),), tmp_path / "net.onnx", dynamic_shapes=shapes, verbose=False)
    session = runtime.InferenceSession(tmp_path / "net.onnx")
    (logits,) = session.run(None, {session.get_inputs()[0].name: inputs})
    said = torch.softmax(torch.from_numpy(logits), 1).numpy()
    assert np.allclose(said, learner.predict_proba(inputs), atol=1e-5)
    learner.close()


def test_a_compiled_module_learns_as_a_plain_one(stream):
    """By Inductor, whose code is compiled here."""
    losses = []
    for compiled in (False, True):
        torch.manual_seed(1)
        learner = rt.Learner(torch.nn.Linear(4, 3), input=(4,), compile=compiled, **SMALL)
        learn(learner, stream(12))
        losses.append(learner.metrics().loss)
        learner.close()
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)
