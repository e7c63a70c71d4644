"""PyTorch's loaders and modules."""

import numpy as np
import pytest

from pyretain import InputError, Learner

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

from pyretain import torch as bridge  # noqa: E402


def module():
    return torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))


def probabilities(learner, net, inputs):
    with torch.no_grad():
        return torch.softmax(net(bridge.Scale(learner)(torch.tensor(inputs))), 1).numpy()


@pytest.fixture
def fed(settings, stream):
    inputs, labels = (np.concatenate(parts) for parts in zip(*stream(40)))
    data = torch.utils.data.TensorDataset(torch.tensor(inputs), torch.tensor(labels))
    learner = Learner(**settings)
    metrics = bridge.feed(learner, torch.utils.data.DataLoader(data, batch_size=16))
    assert metrics.samples == 320 and metrics.learning_efficacy > 0.7
    return learner, inputs


def test_weights_go_to_a_module(fed):
    learner, inputs = fed
    net = module()
    net.load_state_dict(bridge.state_dict(learner))
    assert np.allclose(
        probabilities(learner, net, inputs), learner.predict_proba(inputs), atol=1e-5
    )


def test_weights_come_from_a_module(fed):
    learner, inputs = fed
    net = module()
    bridge.load_state_dict(learner, net.state_dict())
    assert np.allclose(
        probabilities(learner, net, inputs), learner.predict_proba(inputs), atol=1e-5
    )
    learner.train(10)
    wrong = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    with pytest.raises(Exception, match="0.weight|0.bias"):
        bridge.load_state_dict(learner, wrong.state_dict())
