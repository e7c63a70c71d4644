"""Fake tensors of CUDA: devices and shapes without numbers. A backward pass needs a real GPU, and so does reading a number.

Comes first (conftest.py): PyTorch crashes on fake tensors once a process has a device of its own.
"""

import types

import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

from pyretain._core import ffi  # noqa: E402
from pyretain.torch import net  # noqa: E402
from pyretain.torch.module import Look  # noqa: E402
from pyretain.torch.vectors import STEPS, Vectors  # noqa: E402
from test_torch_net import mlp  # noqa: E402


def spans(vectors, count, floats):
    made = [vectors.make(floats) for _ in range(count)]
    return made, [types.SimpleNamespace(vector=one.handle, first=0) for one in made]


@pytest.fixture
def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        yield mode


@pytest.mark.parametrize("kind", STEPS)
def test_vectors_on_fake_cuda(fake, kind):
    """What the library asks of vectors stays on the device; nothing mixes, and nothing is read."""
    vectors, floats = Vectors(torch.device("cuda")), 64
    made, (params, grad, one, other, *averages) = spans(vectors, 6, floats)
    nothing, host = types.SimpleNamespace(vector=ffi.NULL, first=0), ffi.new("float[]", floats)
    vectors.write(params, host, floats)
    vectors.copy(one, params, floats)
    vectors.copy(other, nothing, floats)
    for out, a in ((params, 1), (params, 0.5), (averages[0], 1), (averages[0], 0.5)):
        vectors.combine(out, a, params, 0.5, one, floats)
    numbers = dict(count=floats, average_count=2, first=0, rate=0.1, decay=1e-4, momentum=0.9, beta1=0.9, beta2=0.99, epsilon=1e-8)
    numbers.update(correction1=0.1, correction2=0.1, beta=0.9, share=0.1, keep=[0.9, 0.8], kind=ffi.new("char[]", kind.encode()))
    buffers = [one, nothing if kind == "sgd" else other]
    vectors.step(types.SimpleNamespace(**numbers, params=params, grad=grad, buffers=buffers, averages=averages))
    vectors.read(params, host, floats)
    assert all(vector.flat.device.type == "cuda" for vector in made)
    with pytest.raises(Exception, match="device"):
        made[0].flat.add_(torch.ones(floats))


class There(torch.nn.Sequential):
    """Goes to a device by new parameters: fake ones cannot take the place of real ones."""

    def to(self, device):
        for one in self.modules():
            for name, tensor in one._parameters.items():
                one._parameters[name] = torch.nn.Parameter(torch.empty(tensor.shape, device=device))
        return self


@pytest.mark.parametrize("training", [False, True])
def test_a_forward_pass_on_fake_cuda(fake, monkeypatch, training):
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    def look(*what):
        with unset_fake_temporarily():
            return Look(*what)

    monkeypatch.setattr(net, "Look", look)
    with unset_fake_temporarily():
        module = There(*mlp(3))
    brought = net.Brought(lambda classes: module, (4,), "cuda")
    made = net.ModuleNet(brought, module, (4,), 3)
    _, (weights,) = spans(brought.vectors, 1, made._arrays.floats)
    inputs, logits, features = (ffi.new("float[]", 8 * n) for n in (4, 3, 16))
    one = dict(params=ffi.NULL, weights=weights, stats=ffi.NULL, version=1, inputs=inputs, count=8, training=training)
    one.update(keep=training, momentum=0.1, seed=1, logits=logits, features=features)
    made._chance = types.SimpleNamespace(begin=lambda seed: [], end=lambda kept: None)  # there is no generator
    made.forward(types.SimpleNamespace(**one))
    assert all(tensor.device.type == "cuda" for tensor in made._arrays.tensors)
    assert made._kept is None or made._kept.device.type == "cuda" and made._kept.requires_grad
