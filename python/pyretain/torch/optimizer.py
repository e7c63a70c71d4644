"""Optimizers of PyTorch: in the library's words where it has the same, or as they are."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Callable, Optional, Sequence, Union

import torch

from pyretain._core import InputError
from pyretain.nets import Tensor

Parameters = list[torch.nn.Parameter]
Given = Union[torch.optim.Optimizer, Callable[[Parameters], torch.optim.Optimizer]]

PLAIN: dict[type, dict[str, Any]] = {
    torch.optim.SGD: {"dampening": 0, "nesterov": False, "maximize": False},
    torch.optim.Adam: {"amsgrad": False, "maximize": False, "decoupled_weight_decay": False},
    torch.optim.AdamW: {"amsgrad": False, "maximize": False, "decoupled_weight_decay": True, "weight_decay": 0},
}


def known(optimizer: Given) -> Optional[dict[str, Any]]:
    """Settings by which the library makes the same steps; None if it cannot."""
    if not isinstance(optimizer, torch.optim.Optimizer) or type(optimizer) not in PLAIN:
        return None
    first = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    for group in optimizer.param_groups[1:]:
        if any(group[key] != value for key, value in first.items()):
            return None
    if any(first.get(key, value) != value for key, value in PLAIN[type(optimizer)].items()) or optimizer.state:
        return None
    made = {"schedule_rate": first["lr"], "optimizer_decay": first.get("weight_decay", 0.0)}
    if type(optimizer) is torch.optim.SGD:
        return {**made, "optimizer_kind": "sgd", "optimizer_momentum": first["momentum"]}
    beta1, beta2 = first["betas"]
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
        made = self._first(shapes)
        if inspect.signature(made.step).parameters["closure"].default is inspect.Parameter.empty:
            raise InputError(f"optimizer: {type(made).__name__} computes losses itself, in a closure; retain makes one pass a step")
        self.rate = float(made.param_groups[0]["lr"])

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

    def _point(self, one: torch.nn.Parameter, view: torch.Tensor, grad: torch.Tensor) -> None:
        assert self._made is not None
        if one.shape != view.shape:
            for key, value in self._made.state.get(one, {}).items():
                if isinstance(value, torch.Tensor) and value.shape == one.shape:
                    grown = torch.zeros(view.shape, dtype=value.dtype, device=value.device)
                    grown[tuple(slice(size) for size in value.shape)] = value
                    self._made.state[one][key] = grown
        one.data, one.grad = view, grad

    def step(self, views: dict[str, torch.Tensor], grads: dict[str, torch.Tensor], rate: float, first: bool) -> None:
        assert self._made is not None
        for name, one in zip(self._names, self._params):
            name = name if name in views else f"value.{name}"  # see net.Interval
            self._point(one, views[name], grads[name])
        if first and self._started():
            self._made.state.clear()  # after a rollback
        for group, own in zip(self._made.param_groups, self._rates):
            group["lr"] = own * rate / self.rate if self.rate else rate
        self._made.step()
        for one in self._params:
            one.grad = None

    def _started(self) -> bool:
        assert self._made is not None
        return bool(self._made.state) and not (isinstance(self._given, torch.optim.Optimizer) and self._given.state)

    def state(self) -> Any:
        return None if self._made is None else self._made.state_dict()

    def load(self, state: Any) -> None:
        if self._made is not None and state is not None:
            self._made.load_state_dict(state)
