"""What there is to know of a user's module before it is used, and how one is made for any number of classes."""

from __future__ import annotations

import copy
import inspect
import logging
from typing import Any, Callable, Mapping, Optional, Sequence

import torch

from pyretain._core import InputError, RetainError, words_of
from pyretain.nets import Tensor
from pyretain.torch.chance import python_numbers, seeded

Module = torch.nn.Module
Maker = Callable[[int], Module]


def owner_of(module: Module, name: str) -> tuple[Module, str]:
    path, _, last = name.rpartition(".")
    return module.get_submodule(path), last


def last_linear(module: Module, inputs: torch.Tensor) -> Optional[str]:
    """The name of the dense layer whose output is the module's, if it ends so."""
    outputs: dict[str, torch.Tensor] = {}
    hooks = [
        one.register_forward_hook(lambda m, i, out, name=name: outputs.__setitem__(name, out))
        for name, one in module.named_modules()
        if isinstance(one, torch.nn.Linear)
    ]
    was = module.training
    try:
        with torch.no_grad():
            end = module.eval()(inputs)
    finally:
        module.train(was)
        for hook in hooks:
            hook.remove()
    for name, out in outputs.items():
        if out is end and out.dim() == 2:
            return name
    return None


def copied(module: Module) -> Module:
    """A copy, with what PyTorch leaves out: hooks of parameters, and what a pass has left in the module, such as normed weights."""
    left = [one for part in module.modules() for one in vars(part).values() if isinstance(one, torch.Tensor) and not one.is_leaf]
    try:
        made = copy.deepcopy(module, {id(one): one.detach().clone() for one in left})
    except Exception as raised:
        raise InputError(f"the module cannot be copied, by copy.deepcopy: {words_of(raised)}") from raised
    for one, twin in zip(module.parameters(), made.parameters()):
        for hook in (one._backward_hooks or {}).values():
            twin.register_hook(hook)  # type: ignore[no-untyped-call]
        for hook in (getattr(one, "_post_accumulate_grad_hooks", None) or {}).values():
            twin.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call]
    return made


def passed(module: Module, inputs: torch.Tensor) -> Any:
    """What the module makes of inputs that it is tried with."""
    try:
        return module(inputs)
    except (RetainError, MemoryError):
        raise
    except Exception as raised:
        raise InputError(f"the module fails on inputs of shape {tuple(inputs.shape)}: {words_of(raised)}") from raised


def without_values(module: Module) -> Optional[str]:
    """The first tensor that has none yet, if there is one: of a lazy module, or on the device "meta"."""
    for name, one in [*module.named_parameters(), *module.named_buffers()]:
        if torch.nn.parameter.is_lazy(one) or one.is_meta:
            return name
    return None


def arguments(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """What a function takes, as far as it says."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def by_classes(make: Callable[..., Module]) -> Maker:
    """A function of the number of classes; those of torchvision and timm call it num_classes."""
    takes = arguments(make)
    # Theirs pass on what they do not name, and their first argument is about pretrained weights.
    passes_on = any(one.kind is one.VAR_KEYWORD for one in takes.values())
    if "num_classes" in takes or (passes_on and next(iter(takes)) in ("weights", "pretrained")):
        return lambda classes: make(num_classes=classes)
    return make


# Modules that share their work by themselves: a class of theirs, and what makes it.
SHARED = {
    "FSDPModule": "torch.distributed.fsdp.fully_shard",
    "FullyShardedDataParallel": "FullyShardedDataParallel",
    "DistributedDataParallel": "DistributedDataParallel",
}


def refuse_scripts(module: Any) -> None:
    if isinstance(module, Module) and any(isinstance(one, torch.jit.ScriptModule) for one in module.modules()):
        raise InputError("the module is TorchScript's, whose parameters cannot be pointed elsewhere: give the module that it was made of")


def refuse_shared(module: Any) -> None:
    """Copies of such a module, and passes that the first process makes alone, would wait for the others forever."""
    for one in module.modules() if isinstance(module, Module) else ():
        for kind in type(one).__mro__:
            if kind.__name__ in SHARED:
                raise InputError(
                    f"the module was given to {SHARED[kind.__name__]}: give it as it is; torchrun makes several processes "
                    "share its batches, and each has all of its parameters"
                )


def refuse_types(module: Module) -> None:
    for name, one in module.named_parameters():
        if one.requires_grad and one.dtype != torch.float32:
            raise InputError(f"parameter {name!r} is {one.dtype}: float32 is needed; amp= computes in less")


def other_names(module: Module) -> dict[str, str]:
    """Names of tensors that have another one as well (tied weights), and their first ones, by which the library knows them."""
    first: dict[int, str] = {}
    made = {}
    for name, one in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
        of = first.setdefault(id(one), name)
        if of != name:
            made[name] = of
    return made


class Beside:
    """What a module's state dict has beside the library's tensors: other names of them, and constants."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._constants: dict[str, Any] = {}

    def see(self, module: Module, rows: Sequence[Tensor]) -> None:
        known = {row.name for row in rows}
        self._names = {name: of for name, of in other_names(module).items() if of in known}
        self._constants = {
            name: one.detach().clone() if isinstance(one, torch.Tensor) else one
            for name, one in module.state_dict().items()
            if name not in known and name not in self._names
        }

    def add(self, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, **{name: state[of] for name, of in self._names.items()}, **self._constants}

    def leave(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Without them, if they are what they are here."""
        for name, of in self._names.items():
            if name in state and of in state and not torch.equal(state[name], state[of]):
                raise InputError(f"{name!r} and {of!r} are one tensor of the module, and differ in this state")
        for name, one in self._constants.items():
            if name in state and not name.endswith("num_batches_tracked") and not _same(state[name], one):
                raise InputError(f"{name!r} is a constant of the module, and differs in this state")
        return {name: one for name, one in state.items() if name not in self._names and name not in self._constants}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one.cpu(), other)
    return bool(one == other)


class Interval(Module):
    """A module of one output as a net for numbers: its value, and bounds beside it that are learned."""

    def __init__(self, value: Module) -> None:
        super().__init__()
        self.value = value
        self.bounds = torch.nn.Parameter(torch.tensor([-1.6, 1.6]))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        value = self.value(inputs).reshape(len(inputs), 1)
        return torch.cat([value, value.detach() + self.bounds], 1)


class Growing:
    """Makes a module for any number of classes out of one that ends with a dense layer."""

    def __init__(self, module: Module, head: str) -> None:
        self.module, self.head = module, head

    def __call__(self, classes: int) -> Module:
        made = copied(self.module)
        head = made.get_submodule(self.head)
        assert isinstance(head, torch.nn.Linear)
        if head.out_features != classes:
            self._check(made, head)
            other = torch.nn.Linear(head.in_features, classes, head.bias is not None)
            other.train(head.training)
            place, last = owner_of(made, self.head)
            setattr(place, last, other.to(head.weight.device))
        return made

    def _check(self, module: Module, head: torch.nn.Linear) -> None:
        if type(head) is not torch.nn.Linear or head._forward_pre_hooks or head._forward_hooks:
            what = "is more than a torch.nn.Linear (weight norm, hooks)"
        elif any(name.startswith(f"{self.head}.") for pair in other_names(module).items() for name in pair):
            what = "shares its weights with another layer"
        else:
            return
        raise InputError(f"the module's last layer {self.head!r} {what}, so it cannot grow: say model_classes={head.out_features}")


class Look:
    """What there is to know of a module before it is used. In the lists its head comes last."""

    def __init__(self, module: Module, input: Sequence[int], classes: int) -> None:
        refuse_types(module)
        tried = copied(module)
        with seeded(0), torch.no_grad():
            inputs = torch.rand(2, *input)
            self._check_output(passed(tried.eval(), inputs.clone()), inputs, classes)
            self.head = last_linear(tried, inputs.clone())
            self.macs = self._macs(tried.eval(), inputs.clone())
            before = {name: one.clone() for name, one in tried.named_buffers()}
            given, numbers = inputs.clone(), python_numbers()
            passed(tried.train(), given)
            self.draws = python_numbers() != numbers  # from Python's generators
        self.alters = given._version > 0  # it works on its input in place
        self._check_kept(module, tried)
        self._check_norms(tried)
        # Buffers that training changes are statistics, others constants of the module.
        self.stats = [Tensor(name, tuple(one.shape)) for name, one in tried.named_buffers() if self._changed(name, before.get(name), one)]
        self.params = self._params(tried)
        linear = tried.get_submodule(self.head) if self.head is not None else None
        self.features = linear.in_features if isinstance(linear, torch.nn.Linear) else 0
        with seeded(0), torch.no_grad():
            self.grows = self._grows(tried.eval(), inputs, classes)

    def _grows(self, tried: Module, inputs: torch.Tensor, classes: int) -> bool:
        """Whether logits are numbers where a row of the last layer is 0, as that of a class which comes is; weight norm divides by it."""
        before = tried(inputs.clone())
        for name, one in tried.named_parameters():
            if self.head is not None and name.startswith(f"{self.head}.".lstrip(".")) and one.dim() and len(one) == classes:
                one[-1] = 0
        return not bool(torch.isfinite(before).all()) or bool(torch.isfinite(tried(inputs.clone())).all())

    @staticmethod
    def _check_kept(module: Module, tried: Module) -> None:
        before, now = ({name: (one.shape, one.dtype) for name, one in it.named_parameters()} for it in (module, tried))
        for name in [*before, *now]:
            if before.get(name) != now.get(name):
                raise InputError(f"a pass through the module makes, drops or changes its parameter {name!r}: all must be there before, and stay")

    @staticmethod
    def _changed(name: str, before: Optional[torch.Tensor], now: torch.Tensor) -> bool:
        # The counter of batch norm decides nothing; what changes its shape is a cache.
        if name.endswith("num_batches_tracked") or before is None or before.shape != now.shape or torch.equal(before, now):
            return False
        if now.is_complex():
            raise InputError(f"buffer {name!r} changes in training, and is {now.dtype}: a real number is needed")
        return True

    def _params(self, module: Module) -> list[Tensor]:
        head = None if self.head is None else self.head + "." if self.head else ""
        rows = []
        for name, one in module.named_parameters():
            if one.dtype == torch.float32:
                rows.append(Tensor(name, tuple(one.shape), head is not None and name.startswith(head), not one.requires_grad))
        if not rows:
            raise InputError("the module has no parameters, so there is nothing to train")
        return sorted(rows, key=lambda row: row.head)

    @staticmethod
    def _check_output(output: Any, inputs: torch.Tensor, classes: int) -> None:
        if not isinstance(output, torch.Tensor):
            raise InputError(f"the module returns {type(output).__name__}: a tensor of logits is needed")
        if tuple(output.shape) != (len(inputs), classes):
            raise InputError(
                f"the module maps inputs of shape {tuple(inputs.shape)} to {tuple(output.shape)}, and "
                f"{(len(inputs), classes)} is needed: a batch to its logits"
            )
        if output.is_complex():
            raise InputError(f"the module's logits are {output.dtype}: real numbers are needed")

    @staticmethod
    def _check_norms(module: Module) -> None:
        for name, one in module.named_modules():
            if isinstance(one, torch.nn.modules.batchnorm._NormBase) and one.track_running_stats and one.momentum is None:
                raise InputError(f"{name}: momentum=None averages over all batches; a number is needed")

    @staticmethod
    def _macs(module: Module, inputs: torch.Tensor) -> float:
        """Multiply-adds of a sample, as far as PyTorch counts them."""
        logging.getLogger("torch.utils.flop_counter").setLevel(logging.ERROR)  # that there is no Triton
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as count:
            module(inputs)
        return float(count.get_total_flops()) / 2 / len(inputs)
