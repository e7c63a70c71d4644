"""A learner around a module of your own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
import torch

from pyretain import learner as plain
from pyretain._core import Floats, InputError, ProgressFunction
from pyretain.learner import Question, Step
from pyretain.torch.net import Maker, Transform
from pyretain.torch.weights import state_dict

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyretain._settings import Settings


def host(values: Any) -> Any:
    """A tensor of any device as the library reads it; other values as they are."""
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values


def _only(group: dict[str, Any], kind: str, plain_values: dict[str, Any]) -> None:
    for key, value in plain_values.items():
        if group.get(key, value) != value:
            raise InputError(f"optimizer: {kind} with {key} = {group[key]!r}: only {value!r} is known")


def optimizer_settings(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """An optimizer of PyTorch's in the library's words. The library makes the steps itself."""
    groups = optimizer.param_groups
    first = {key: value for key, value in groups[0].items() if key != "params"}
    for group in groups[1:]:
        if any(group[key] != value for key, value in first.items()):
            raise InputError("optimizer: groups differ; optimizer_rates says rates by layer")
    kind = type(optimizer)
    made = {"schedule_rate": first["lr"], "optimizer_decay": first.get("weight_decay", 0.0)}
    if kind is torch.optim.SGD:
        _only(first, "SGD", {"dampening": 0, "nesterov": False, "maximize": False})
        return {**made, "optimizer_kind": "sgd", "optimizer_momentum": first["momentum"]}
    if kind is torch.optim.Adam or (kind is torch.optim.AdamW and not first["weight_decay"]):
        _only(first, kind.__name__, {"amsgrad": False, "maximize": False, "decoupled_weight_decay": kind is torch.optim.AdamW})
        beta1, beta2 = first["betas"]
        return {
            **made,
            "optimizer_kind": "adam",
            "optimizer_beta1": beta1,
            "optimizer_beta2": beta2,
            "optimizer_epsilon": first["eps"],
        }
    raise InputError(f"optimizer: {kind.__name__} is not known: SGD, Adam, and AdamW without weight decay are")


class Learner(plain.Learner):
    """A PyTorch module that learns from a stream: observe, reveal, train; predict at any time.

    ``net`` is a module that maps a batch to logits, or a function that makes one for a number
    of classes. A module keeps its classes, and its weights are where learning begins; with
    ``model_classes="auto"`` its last layer grows with the labels. A function always does, unless
    ``model_classes`` says how many there are; it is called again as classes come.

    ``input`` is the shape of a sample. ``amp`` is "bf16" or "fp16", ``transform`` a function of
    a batch that is applied in training, ``compile`` uses torch.compile, by the backend it names. ``optimizer`` is read,
    not used: the library makes the same steps. ``name`` is what the folder remembers the net by.

    Dropout and all else that is random in training is a function of the seed and the iteration,
    so on a CPU a learner that was killed comes to the same bits.
    """

    def __init__(
        self,
        net: Union[torch.nn.Module, Maker],
        optimizer: Optional[torch.optim.Optimizer] = None,
        *,
        input: Sequence[int],
        folder: Union[str, "os.PathLike[str]", None] = None,
        method: Optional[str] = None,
        device: Union[str, torch.device, None] = None,
        amp: Union[str, torch.dtype, None] = None,
        loss: Optional[str] = None,
        transform: Optional[Transform] = None,
        compile: Union[bool, str] = False,
        name: Optional[str] = None,
        progress: Union[bool, ProgressFunction, None] = None,
        **settings: Unpack[Settings],
    ) -> None:
        said: dict[str, Any] = {} if optimizer is None else optimizer_settings(optimizer)
        if method is not None:
            said["run_method"] = method
        if loss is not None:
            said["loss_kind"] = loss
        how = {"device": device, "amp": amp, "transform": transform, "compile": compile}
        said, nets = self._bring(net, input, how, name, {**said, **settings})
        self._net, self.input = net, tuple(input)
        self._begin(None if folder is None else os.fspath(folder), progress, said, nets)

    def observe(self, inputs: Any) -> Step:
        """A time step: predicts what it is now, and keeps the inputs until labels come."""
        return super().observe(host(inputs))

    def reveal(self, step: Union[Step, int], labels: Any) -> None:
        """The labels of a step, or of its ticket, in the order of its inputs."""
        super().reveal(step, host(labels))

    def learn(self, inputs: Any, labels: Any) -> npt.NDArray[Any]:
        """observe, reveal and train at once; the labels that it had predicted."""
        return super().learn(host(inputs), host(labels))

    def predict(self, inputs: Any, for_: Question = "ever") -> npt.NDArray[Any]:
        """The labels of inputs: of what is now, or of whatever has been; None while none is known."""
        return super().predict(host(inputs), for_)

    def predict_proba(self, inputs: Any, for_: Question = "ever") -> Floats:
        """How probable each of ``classes`` is, a row per input."""
        return super().predict_proba(host(inputs), for_)

    def numbers(self, inputs: Any, for_: Question = "ever") -> npt.NDArray[np.int32]:
        """As ``predict``, but the library's numbers; -1 while nothing is known."""
        return super().numbers(host(inputs), for_)

    def state_dict(self, which: str = "serving") -> dict[str, torch.Tensor]:
        """Weights for ``load_state_dict(..., strict=False)`` of such a module."""
        return state_dict(self, which)
