"""Optimizers of PyTorch: in the library's words where it has the same, or as they are."""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import Any, Callable, Optional, Sequence, Union

import torch

from pyretain._core import InputError, RetainWarning, words_of
from pyretain.nets import Tensor

Parameters = list[torch.nn.Parameter]
Given = Union[torch.optim.Optimizer, Callable[[Parameters], torch.optim.Optimizer]]

PLAIN: dict[type, dict[str, Any]] = {
    torch.optim.SGD: {"dampening": 0, "nesterov": False, "maximize": False},
    torch.optim.Adam: {"amsgrad": False, "maximize": False, "decoupled_weight_decay": False},
    torch.optim.AdamW: {"amsgrad": False, "maximize": False, "decoupled_weight_decay": True, "weight_decay": 0},
}


def rate_of(optimizer: torch.optim.Optimizer) -> float:
    """Where a schedule begins, which is retain's own."""
    first = optimizer.param_groups[0]
    rate = float(first["lr"])
    if not rate > 0:
        raise InputError(f"optimizer: its rate is {rate}, and retain's schedules begin there: it must be above 0")
    if "initial_lr" in first:
        words = "the optimizer has a scheduler of PyTorch's, which has no effect: schedule.kind leads the rate"
        warnings.warn(words, RetainWarning, stacklevel=4)
    return rate


def known(optimizer: Given) -> Optional[dict[str, Any]]:
    """Settings by which the library makes the same steps; None if it cannot."""
    if not isinstance(optimizer, torch.optim.Optimizer) or type(optimizer) not in PLAIN:
        return None
    first = {key: value for key, value in optimizer.param_groups[0].items() if key not in ("params", "initial_lr")}
    for group in optimizer.param_groups[1:]:
        if any(group[key] != value for key, value in first.items()):
            return None
    if any(first.get(key, value) != value for key, value in PLAIN[type(optimizer)].items()) or optimizer.state:
        return None
    made = {"schedule_rate": rate_of(optimizer), "optimizer_decay": first.get("weight_decay", 0.0)}
    if type(optimizer) is torch.optim.SGD:
        return {**made, "optimizer_kind": "sgd", "optimizer_momentum": first["momentum"]}
    beta1, beta2 = map(float, first["betas"])
    return {
        **made,
        "optimizer_kind": "adam",
        "optimizer_beta1": beta1,
        "optimizer_beta2": beta2,
        "optimizer_epsilon": first["eps"],
    }


class Own:
    """An optimizer that makes its steps itself, over parameters that stand for the library's.

    The schedule's rate is the first group's; the others keep their ratio to it.
    """

    def __init__(self, given: Given, net: Any, device: torch.device, shapes: Callable[[], Parameters]) -> None:
        self._given, self._net, self._device = given, net, device
        self._made: Optional[torch.optim.Optimizer] = None
        self._names: list[str] = []
        self._params: Parameters = []
        self._rates: list[float] = []
        self._frozen: set[str] = set()
        made = self._first(shapes)
        if inspect.signature(made.step).parameters["closure"].default is inspect.Parameter.empty:
            raise InputError(f"optimizer: {type(made).__name__} computes losses itself, in a closure; retain makes one pass a step")
        self.rate = rate_of(made)

    def _first(self, shapes: Callable[[], Parameters]) -> torch.optim.Optimizer:
        if isinstance(self._given, torch.optim.Optimizer):
            if not isinstance(self._net, torch.nn.Module):
                raise InputError(
                    "optimizer: of a module that a function makes, give a function as well: "
                    "optimizer=lambda parameters: torch.optim.AdamW(parameters)"
                )
            return self._given
        made = self._given(shapes())
        if not isinstance(made, torch.optim.Optimizer):
            raise InputError(f"optimizer: the function gave {type(made).__name__}, not an optimizer of PyTorch's")
        return made

    def _stand_in(self, tensor: torch.Tensor) -> torch.nn.Parameter:
        return torch.nn.Parameter(torch.zeros(tensor.shape, device=self._device))

    def layout(self, rows: Sequence[Tensor]) -> None:
        """The parameters that there are; a net that grows has the same ones."""
        self._frozen = {row.name for row in rows if row.frozen}
        if self._made is not None:
            return
        if not isinstance(self._given, torch.optim.Optimizer):
            trained = [row for row in rows if not row.frozen]
            self._names = [row.name for row in trained]
            self._params = [torch.nn.Parameter(torch.zeros(row.shape, device=self._device)) for row in trained]
            self._made = self._given(list(self._params))
        else:
            self._made = copy.deepcopy(self._given)
            names = {id(one): name for name, one in self._net.named_parameters()}
            for group, own in zip(self._given.param_groups, self._made.param_groups):
                for at, one in enumerate(group["params"]):
                    if id(one) not in names:
                        raise InputError("optimizer: has a parameter that is not the module's")
                    stand_in = self._stand_in(one)
                    if own["params"][at] in self._made.state:
                        self._made.state[stand_in] = self._made.state.pop(own["params"][at])
                    own["params"][at] = stand_in
                    self._names.append(names[id(one)])
                    self._params.append(stand_in)
        self._rates = [float(group["lr"]) for group in self._made.param_groups]

    def _grow(self, one: torch.nn.Parameter, shape: torch.Size) -> None:
        """The state of a parameter that grows; one of another shape than the parameter begins anew."""
        assert self._made is not None
        for key, value in self._made.state.get(one, {}).items():
            if isinstance(value, torch.Tensor) and value.shape == one.shape:
                grown = torch.zeros(shape, dtype=value.dtype, device=value.device)
                grown[tuple(slice(size) for size in value.shape)] = value
                self._made.state[one][key] = grown
            elif isinstance(value, torch.Tensor) and value.dim() and value.shape != shape:
                del self._made.state[one]
                return

    def _point(self, one: torch.nn.Parameter, view: torch.Tensor, grad: Optional[torch.Tensor]) -> None:
        if one.shape != view.shape:
            self._grow(one, view.shape)
        one.data, one.grad = view, grad

    def step(self, views: dict[str, torch.Tensor], grads: dict[str, torch.Tensor], rate: float, first: bool) -> None:
        assert self._made is not None
        for name, one in zip(self._names, self._params):
            name = name if name in views else f"value.{name}"  # see net.Interval
            self._point(one, views[name], None if name in self._frozen else grads[name])  # or it would decay
        if first and self._started():
            self._made.state.clear()  # after a rollback
        for group, own in zip(self._made.param_groups, self._rates):
            group["lr"] = own * rate / self.rate
        self._made.step()
        for one in self._params:
            one.grad = None

    def _started(self) -> bool:
        assert self._made is not None
        return bool(self._made.state) and not (isinstance(self._given, torch.optim.Optimizer) and self._given.state)

    def state(self) -> Any:
        if self._made is None:
            return None
        return {"kind": type(self._made).__name__, "shapes": [tuple(one.shape) for one in self._params], **self._made.state_dict()}

    def load(self, state: Any) -> None:
        if self._made is None or state is None:
            return
        # Older checkpoints have neither.
        kind, shapes, own = state.pop("kind", None), state.pop("shapes", []), type(self._made).__name__
        if kind not in (None, own):
            raise InputError(f"optimizer: the checkpoint has the state of {kind}, not of {own}")
        try:
            self._made.load_state_dict(state)
        except (ValueError, KeyError) as raised:
            raise InputError(f"optimizer: the checkpoint's state does not fit: {words_of(raised)}") from raised
        for one, shape in zip(self._params, shapes):
            one.data = torch.zeros(shape, device=self._device)  # what grows next grew from there
