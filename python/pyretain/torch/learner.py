"""A learner around a module of your own."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
import torch

from pyretain import learner as plain
from pyretain._core import NULL, Floats, InputError, ProgressFunction, RetainWarning, StateError, check, here, lib, words_of
from pyretain.command import by_mpirun
from pyretain.config import Config
from pyretain.learner import Question, Step
from pyretain.torch import ranks
from pyretain.torch.module import Maker
from pyretain.torch.net import Brought, Loss, Transform, amp_of, check_module, device_of, shape_of
from pyretain.torch.optimizer import Given, known
from pyretain.torch.weights import state_dict

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyretain._settings import Settings


def host(values: Any) -> Any:
    """A tensor of any device as the library reads it; other values as they are."""
    if not isinstance(values, torch.Tensor):
        return values
    try:
        values = values.detach().cpu()
        return (values.float() if values.dtype is torch.bfloat16 else values).numpy()  # NumPy has no bfloat16
    except (RuntimeError, TypeError) as raised:  # without values, or sparse
        raise InputError(f"a tensor of {values.layout} on {values.device}: {words_of(raised)}") from raised


F = torch.nn.functional
# PyTorch's losses of numbers that the library has.
NUMBERS: dict[Any, str] = {
    torch.nn.MSELoss: "squared", torch.nn.HuberLoss: "huber", torch.nn.SmoothL1Loss: "huber", torch.nn.L1Loss: "absolute",
    F.mse_loss: "squared", F.huber_loss: "huber", F.smooth_l1_loss: "huber", F.l1_loss: "absolute",
}  # fmt: skip


def loss_settings(loss: Union[str, Loss, None], number: bool) -> tuple[dict[str, Any], Optional[Loss]]:
    """Settings of a loss, and what Python computes of it."""
    if loss is None or isinstance(loss, str):
        return ({} if loss is None else {"loss_kind": loss}), None
    if not number:
        return {"loss_kind": "program"}, loss
    kind = NUMBERS.get(loss, NUMBERS.get(type(loss)))
    if kind is None:
        known = ", ".join(one.__name__ for one in NUMBERS)
        raise InputError(f"loss: numbers are learned by a kind of loss.kind, or one of {known}, not by {loss!r}")
    return {"loss_kind": kind}, None


def batch_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a sample, by that of the first batch."""
    if len(shape) < 2:
        raise InputError(f"inputs have the shape {shape}: the first ones must be a batch, (count, *input), or input= must say what a sample is")
    return shape[1:]


def input_in(folder: str) -> Optional[tuple[int, ...]]:
    """The shape of a sample as a learner's folder has it; None if there is none."""
    if not os.path.exists(os.path.join(folder, "config.ini")):
        return None
    config = Config(NULL)
    check(lib.retain_config_load(config.it, os.fsencode(folder), here.err))
    try:
        sizes = tuple(map(int, config.get("model_input").split(",")))
    except ValueError:
        return None  # a shape that the data will tell
    return sizes[:2] if len(sizes) == 3 and sizes[2] == 1 else sizes


class Learner(plain.Learner):
    """A PyTorch module that learns from a stream: observe, reveal, train; predict at any time.

    ``net`` is a module that maps a batch to logits, or a function that makes one for a number
    of classes. A module keeps its classes, and learning starts from its weights; with
    ``model_classes="auto"`` its last layer grows with the labels. A function's net always grows, unless
    ``model_classes`` sets the number; the function is called again as classes come.

    ``input`` is the shape of a sample; by default that of the folder's samples, or of the first batch
    observed or predicted, before which other calls fail. ``amp`` is "bf16" or "fp16", ``transform`` a function of
    a batch, applied in training; ``compile`` uses torch.compile, with the backend it names. ``name`` is the name of the
    net in the folder.

    ``optimizer`` is one of PyTorch's over the module's parameters, or a function that makes one from a list of
    parameters. Where it can (SGD, Adam), the library makes the same steps itself; else it calls the optimizer.
    ``loss`` is a value of ``loss.kind``, or a function of logits and labels that returns the loss of each sample; it is
    called with ``reduction="none"`` if it takes ``reduction``, as PyTorch's do.

    Under torchrun the first process has the learner, and the others share its batches: they stay in this
    call until it is closed, and then exit.

    Dropout and everything else random in training is a function of the seed and the iteration,
    so on a CPU a learner that was killed resumes with the same bits.
    """

    def __init__(
        self,
        net: Union[torch.nn.Module, Maker],
        optimizer: Optional[Given] = None,
        *,
        input: Optional[Sequence[int]] = None,
        folder: Union[str, "os.PathLike[str]", None] = None,
        method: Optional[str] = None,
        device: Union[str, torch.device, None] = None,
        amp: Union[str, torch.dtype, None] = None,
        loss: Union[str, Loss, None] = None,
        transform: Optional[Transform] = None,
        compile: Union[bool, str] = False,
        name: Optional[str] = None,
        progress: Union[bool, ProgressFunction, None] = None,
        **settings: Unpack[Settings],
    ) -> None:
        if ranks.count() == 1 and by_mpirun() > 1:
            warnings.warn("mpirun started several processes, and each has a learner of its own: torchrun shares one's work", RetainWarning, stacklevel=2)
        number = settings.get("model_target") == "number"
        said, own_loss = loss_settings(loss, number)
        same = {} if optimizer is None else known(optimizer)
        own = optimizer if same is None else None
        if method is not None:
            said["run_method"] = method
        check_module(net)
        device, amp = device_of(device), amp_of(amp)
        path = None if folder is None else os.fspath(folder)
        self._net = net

        def start(input: Sequence[int]) -> None:
            brought = Brought(net, shape_of(input), device, amp, transform, compile, own_loss, own, number)
            steps = same
            if brought.own is not None:
                steps = {"optimizer_kind": "program", "schedule_rate": brought.own.rate}
                if settings.get("model_frozen") or settings.get("optimizer_rates"):
                    raise InputError("model_frozen and optimizer_rates are for the library's own optimizers; use requires_grad and groups")
            brought.follow()
            self.input = brought.input
            self._begin(path, progress, {**brought.settings(), **said, **(steps or {}), **settings}, brought.nets(net, name))

        self._start: Optional[Callable[[Sequence[int]], None]] = start
        self._starting = threading.Lock()
        self._nothing(path)
        if input is not None:
            self._started(input)
            return
        input = ranks.heard_input()
        if input is None and path is not None:
            input = input_in(path)
        if input is not None:
            self._found(input)

    def _started(self, input: Sequence[int]) -> None:
        assert self._start is not None
        self._start(input)
        self._start = None

    def _found(self, input: Sequence[int]) -> None:
        ranks.tell_input(input)
        self._started(input)

    def _seen(self, inputs: Any) -> Any:
        """Inputs as the library reads them. The first ones say what a sample is."""
        inputs = host(inputs)
        if self._start is not None:
            with self._starting:
                if self._start is not None:
                    self._found(batch_of(np.shape(inputs)))
        return inputs

    def _alive(self) -> Any:
        if self._it is None and self._start is not None:
            raise StateError("the learner has seen no inputs yet: observe or predict a batch first, or say input=, as input=(3, 32, 32)")
        return super()._alive()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._start is None and super().closed

    def setting(self, word: str) -> str:
        """The value of a setting, as ``setting("run_batch")``."""
        if self._start is not None:
            self._alive()
        return super().setting(word)

    def observe(self, inputs: Any) -> Step:
        """A time step: predicts the labels as of now, and keeps the inputs until the labels come."""
        return super().observe(self._seen(inputs))

    def reveal(self, step: Union[Step, int], labels: Any, weights: Any = None) -> None:
        """The labels of a step, or of its ticket, in the order of its inputs, and their weights."""
        super().reveal(step, host(labels), None if weights is None else host(weights))

    def learn(self, inputs: Any, labels: Any, weights: Any = None) -> npt.NDArray[Any]:
        """Observes, reveals and trains in one call; returns the predicted labels."""
        return super().learn(self._seen(inputs), host(labels), None if weights is None else host(weights))

    def predict(self, inputs: Any, for_: Question = "ever") -> npt.NDArray[Any]:
        """The labels of inputs: as of now, or over everything seen so far; None while none is known."""
        return super().predict(self._seen(inputs), for_)

    def predict_proba(self, inputs: Any, for_: Question = "ever") -> Floats:
        """Probabilities of ``classes``, a row per input."""
        return super().predict_proba(self._seen(inputs), for_)

    def numbers(self, inputs: Any, for_: Question = "ever") -> npt.NDArray[np.int32]:
        """Like ``predict``, but returns the library's class numbers; -1 while no class is known."""
        return super().numbers(self._seen(inputs), for_)

    def state_dict(self, which: str = "serving") -> dict[str, torch.Tensor]:
        """Weights for ``load_state_dict`` of such a module."""
        return state_dict(self, which)

    def close(self) -> None:
        """Like ``pyretain.Learner.close``; processes that share the work end, too."""
        self._start = None
        super().close()
        ranks.end()
