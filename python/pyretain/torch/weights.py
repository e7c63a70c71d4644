"""Data loaders in, weights both ways."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterable, Mapping, Optional

import torch
from safetensors.torch import load_file, save_file

from pyretain.learner import Learner, Metrics
from pyretain.nets import Beside

INPUT = "input."  # what begins so is the scale of inputs, which PyTorch's net does not have
LIMIT = 4.0  # standard deviations; what lies further out is cut off


def feed(learner: Learner, loader: Iterable[Any], device: Optional[str] = "cpu") -> Metrics:
    """Learns from a DataLoader, batch by batch; each is predicted before its labels are revealed."""
    for inputs, labels in loader:
        learner.learn(inputs.detach().to(device).numpy(), labels.detach().to(device).numpy())
    return learner.metrics()


def _all_tensors(learner: Learner, which: str) -> dict[str, torch.Tensor]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.safetensors")
        learner.save_weights(path, which)
        return load_file(path)


def state_dict(learner: Learner, which: str = "serving") -> dict[str, torch.Tensor]:
    """A learner's weights for ``module.load_state_dict``."""
    tensors = _all_tensors(learner, which)
    state = {name: tensor for name, tensor in tensors.items() if not name.startswith(INPUT)}
    beside = _beside(learner)
    return state if beside is None else beside.add(state)


def _beside(learner: Learner) -> Optional[Beside]:
    nets = learner._called[1]
    return None if nets is None else nets.beside


def load_state_dict(learner: Learner, state: Mapping[str, torch.Tensor]) -> None:
    """Continues training from the weights of a module of the same architecture."""
    tensors = {name: t for name, t in _all_tensors(learner, "plain").items() if name.startswith(INPUT)}
    beside = _beside(learner)
    own = state if beside is None else beside.leave(state)
    tensors.update({name: tensor.detach().cpu().contiguous() for name, tensor in own.items()})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.safetensors")
        save_file(tensors, path, {"format": "pt"})
        learner.load_weights(path)


class Scale(torch.nn.Module):
    """A learner's standardisation of inputs: put it before the net."""

    mean: torch.Tensor
    factor: torch.Tensor

    def __init__(self, learner: Learner) -> None:
        super().__init__()
        tensors = _all_tensors(learner, "serving")
        shape = learner.shape
        self.register_buffer("mean", tensors.get(INPUT + "mean", torch.zeros(shape.floats)))
        self.register_buffer("factor", tensors.get(INPUT + "factor", torch.ones(shape.floats)))
        self.scales = INPUT + "mean" in tensors

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Inputs as the net gets them; missing values are 0."""
        if not self.scales:
            return inputs
        made = ((inputs - self.mean) * self.factor).clamp(-LIMIT, LIMIT)
        return torch.where(torch.isfinite(inputs), made, torch.zeros_like(made))
