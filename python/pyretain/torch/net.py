"""A PyTorch module as a net of the library.

On a CPU the module's parameters, statistics and gradients are the library's arrays, elsewhere
vectors on that device (vectors.py). Nothing of their size is copied: a pass that comes with other
ones (averages, displacements) points the parameters there. Statistics are brought to a device
for each pass.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import logging
import math
import pickle
import random
import threading
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import numpy as np
import torch

from pyretain._core import InputError, ffi
from pyretain.nets import Net, Nets, Shape, Tensor, name_of, places
from pyretain.torch import ranks
from pyretain.torch.optimizer import Given, Own
from pyretain.torch.vectors import Vectors, here, memory, vector_of

Module = torch.nn.Module
Maker = Callable[[int], Module]
Transform = Callable[[torch.Tensor], torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
POINTERS = 32  # arrays whose views are kept
PLAIN: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
HALVES = 40  # how often a loss may be scaled down in float16
PATIENCE = 2000  # passes that fit before it is scaled up again
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "bfloat16": torch.bfloat16, "float16": torch.float16}


def _pointer(it: Any) -> int:
    return int(ffi.cast("uintptr_t", it))


# Generators belong to the process: whoever has seeded them goes first, in whatever thread.
drawing = threading.RLock()


def python_numbers() -> bytes:
    """The state of Python's and NumPy's generators."""
    return pickle.dumps((random.getstate(), np.random.get_state()))


class Chance:
    """The random generators that a module on this device draws from; ``python``: Python's and NumPy's as well."""

    def __init__(self, device: torch.device, python: bool) -> None:
        # Not torch.manual_seed: for each kind of device that is not in use it notes the whole stack, at every call.
        own: Any = torch.default_generator
        self._states: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [(own.get_state, own.set_state)]
        self._seeds: list[Callable[[int], Any]] = [own.manual_seed]
        if python:
            self._states += [(random.getstate, random.setstate), (np.random.get_state, np.random.set_state)]
            self._seeds += [random.seed, lambda seed: np.random.seed(seed % 2**32)]
        if device.type != "cpu":
            there: Any = getattr(torch, device.type, None)
            if hasattr(there, "get_rng_state"):
                self._states.append((there.get_rng_state, there.set_rng_state))
            self._seeds += [getattr(there, name) for name in ("manual_seed_all", "manual_seed") if hasattr(there, name)][:1]

    def begin(self, seed: int) -> list[Any]:
        """Random numbers are a function of the seed from now on; what they were, for ``end``."""
        drawing.acquire()
        kept = [get() for get, _ in self._states]
        for put_seed in self._seeds:
            put_seed(seed)
        return kept

    def end(self, kept: list[Any]) -> None:
        for (_, put), state in zip(self._states, kept):
            put(state)
        drawing.release()


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers are a function of the seed, and the program's own go on as if nothing was."""
    chance = Chance(torch.device("cpu"), True)
    kept = chance.begin(seed)
    try:
        yield
    finally:
        chance.end(kept)


def _owner(module: Module, name: str) -> tuple[Module, str]:
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
    """A copy. What a pass has left in the module, such as normed weights, PyTorch does not copy with its graph."""
    left = [one for part in module.modules() for one in vars(part).values() if isinstance(one, torch.Tensor) and not one.is_leaf]
    return copy.deepcopy(module, {id(one): one.detach().clone() for one in left})


def without_values(module: Module) -> Optional[str]:
    """The first tensor that has none yet, if there is one: of a lazy module, or on the device "meta"."""
    for name, one in [*module.named_parameters(), *module.named_buffers()]:
        if torch.nn.parameter.is_lazy(one) or one.is_meta:
            return name
    return None


def by_classes(make: Callable[..., Module]) -> Maker:
    """A function of the number of classes; those of torchvision and timm call it num_classes."""
    try:
        takes = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return make
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


def refuse_shared(module: Any) -> None:
    """Copies of such a module, and passes that the first process makes alone, would wait for the others forever."""
    for one in module.modules() if isinstance(module, Module) else ():
        for kind in type(one).__mro__:
            if kind.__name__ in SHARED:
                raise InputError(
                    f"the module was given to {SHARED[kind.__name__]}: give it as it is; torchrun makes several processes "
                    "share its batches, and each has all of its parameters"
                )


def by_samples(loss: Optional[Loss]) -> Optional[Loss]:
    """PyTorch's losses have a mean as their default; one for each sample is needed."""
    if isinstance(loss, Module) and hasattr(loss, "reduction"):
        loss = copy.copy(loss)
        setattr(loss, "reduction", "none")
    return loss


def shape_of(input: Any) -> tuple[int, ...]:
    """The shape of a sample, as it was given."""
    shape = tuple(input) if isinstance(input, (tuple, list, torch.Size)) else ()
    if not shape or not all(isinstance(size, int) and size > 0 for size in shape):
        raise InputError(f"input = {input!r}: the shape of a sample, as (3, 32, 32), is needed")
    return shape


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
            other = torch.nn.Linear(head.in_features, classes, head.bias is not None)
            other.train(head.training)
            place, last = _owner(made, self.head)
            setattr(place, last, other.to(head.weight.device))
        return made


class Look:
    """What there is to know of a module before it is used. In the lists its head comes last."""

    def __init__(self, module: Module, input: Sequence[int], classes: int) -> None:
        tried = copied(module)
        with seeded(0), torch.no_grad():
            inputs = torch.rand(2, *input)
            self._check_output(tried.eval()(inputs.clone()), inputs, classes)
            self.head = last_linear(tried, inputs.clone())
            self.macs = self._macs(tried.eval(), inputs.clone())
            before = {name: one.clone() for name, one in tried.named_buffers()}
            given, numbers = inputs.clone(), python_numbers()
            tried.train()(given)
            self.draws = python_numbers() != numbers  # from Python's generators
        self.alters = given._version > 0  # it works on its input in place
        self._check_norms(tried)
        # Buffers that training changes are statistics, others constants of the module.
        self.stats = [Tensor(name, tuple(one.shape)) for name, one in tried.named_buffers() if self._changed(name, before.get(name), one)]
        self.params = self._params(tried)
        linear = tried.get_submodule(self.head) if self.head is not None else None
        self.features = linear.in_features if isinstance(linear, torch.nn.Linear) else 0

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
            elif one.requires_grad:
                raise InputError(f"parameter {name!r} is {one.dtype}: float32 is needed; amp= computes in less")
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


class Arrays:
    """One kind of flat arrays, parameters or statistics, and the module's tensors in them."""

    def __init__(self, rows: Sequence[Tensor], tensors: dict[str, torch.Tensor]) -> None:
        self.rows = rows
        self.tensors = [tensors[row.name] for row in rows]
        self.places, self.floats = places(rows)
        self._views: dict[int, tuple[torch.Tensor, list[torch.Tensor]]] = {}
        self._bound: Any = None

    def cut(self, flat: torch.Tensor) -> list[torch.Tensor]:
        return [flat[at : at + n].view(row.shape) for (at, n), row in zip(self.places, self.rows)]

    def _point(self, views: list[torch.Tensor]) -> None:
        for tensor, view in zip(self.tensors, views):
            tensor.data = view

    def _in_memory(self, it: Any) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The library's array, whole and cut."""
        key = _pointer(it)
        found = self._views.get(key)
        if found is None:
            if len(self._views) >= POINTERS:
                self._views.clear()
            flat = memory(it, self.floats)
            found = self._views[key] = (flat, self.cut(flat))
        return found

    def views(self, it: Any, span: Any) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """An array, whole and cut: the library's, or, where that is NULL, a vector."""
        if it != ffi.NULL:
            return self._in_memory(it)
        vector = vector_of(span)
        flat = vector.flat[span.first : span.first + self.floats]
        cuts = vector.cuts.setdefault(self, {})
        if span.first not in cuts:
            cuts[span.first] = self.cut(flat)
        return flat, cuts[span.first]

    def bind(self, it: Any, span: Any = None) -> None:
        """The module's tensors are those of this array."""
        flat, views = self.views(it, span)
        if self._bound is not views:
            self._bound = None  # unless all of this succeeds
            self._point(views)
        self._bound = views

    def unbind(self) -> None:
        """The module's tensors are nobody knows which."""
        self._bound = None


Owned = list[tuple[dict[str, Any], str]]


def owned(module: Module, rows: Sequence[Tensor], kind: str) -> Owned:
    """Where the module keeps each, "_parameters" or "_buffers", and under which name."""
    owners = [_owner(module, row.name) for row in rows]
    return [(getattr(owner, kind), last) for owner, last in owners]


class Statistics(Arrays):
    """The library's statistics. On a device, and of other types than float32, the module has a copy."""

    def __init__(self, rows: Sequence[Tensor], module: Module, device: torch.device) -> None:
        super().__init__(rows, dict(module.named_buffers()))
        self._owned = owned(module, rows, "_buffers")
        others = [one.dtype != torch.float32 for one in self.tensors]
        self.there = torch.zeros(self.floats, device=device) if device.type != "cpu" or any(others) else None
        self._others: list[tuple[torch.Tensor, torch.Tensor]] = []  # and where they are as float32
        if self.there is not None:
            for tensor, view, other in zip(self.tensors, self.cut(self.there), others):
                if other:
                    self._others.append((tensor, view))
                else:
                    tensor.data = view

    def bring(self, it: Any) -> None:
        if not self.floats:
            return
        for tensor, (table, last) in zip(self.tensors, self._owned):
            table[last] = tensor  # a pass that failed may have left its own
        if self.there is None:
            self.bind(it)
            return
        self.there.copy_(self._in_memory(it)[0])
        for tensor, view in self._others:
            tensor.copy_(view if tensor.is_floating_point() else view.round())

    @torch.no_grad()
    def bring_back(self, it: Any) -> None:
        if not self.floats:
            return
        for tensor, (table, last) in zip(self.tensors, self._owned):
            if table[last] is not tensor:  # as self.mean = 0.9 * self.mean + ...
                tensor.copy_(table[last])
                table[last] = tensor
        if self.there is None:
            return
        for tensor, view in self._others:
            view.copy_(tensor)
        self._in_memory(it)[0].copy_(here(self.there))


class ModuleNet:
    """A module in the library's hands: for one number of classes, used by one thread at a time."""

    def __init__(self, brought: Brought, module: Module, input: tuple[int, ...], classes: int) -> None:
        look = Look(module, input, classes)
        self._input, self._sample = input, math.prod(input)
        self.params, self.stats = look.params, look.stats
        self.macs, self.features = look.macs, look.features
        self._brought, self._classes, self._alters = brought, classes, look.alters
        self._device = brought.device
        self._chance = Chance(brought.device, look.draws or brought.transform is not None)
        self._first = {
            name: one.detach().clone()
            for name, one in [*module.named_parameters(), *module.named_buffers()]
        }
        self._module = module.to(self._device)
        self._arrays = Arrays(self.params, dict(self._module.named_parameters()))
        self._statistics = Statistics(self.stats, self._module, self._device)
        self._owned = owned(self._module, self.params, "_parameters")
        self._trained = [i for i, row in enumerate(self.params) if not row.frozen]
        if brought.vectors is not None:
            brought.vectors.layout(self._arrays)
        self._call: Callable[[torch.Tensor], Any] = brought.compiled(self._module)
        self._lock = threading.Lock()
        self._version = -1
        self._kept: Optional[torch.Tensor] = None
        self._features: Optional[torch.Tensor] = None
        self._wants = False
        if look.head is not None:
            self._module.get_submodule(look.head).register_forward_pre_hook(self._see)

    def _see(self, module: Module, inputs: Any) -> None:
        if self._wants:
            self._features = inputs[0]

    def first(self, seed: int, params: Any, stats: Any) -> None:
        values = self._brought.values(seed, self._classes, self._input) or self._first
        for it, arrays in ((params, self._arrays), (stats, self._statistics)):
            if not arrays.floats:
                continue
            flat = memory(it, arrays.floats)
            for (at, n), row in zip(arrays.places, arrays.rows):
                flat[at : at + n] = values[row.name].reshape(-1).cpu()

    def _run(self, one: Any, inputs: torch.Tensor) -> torch.Tensor:
        brought, training = self._brought, bool(one.training)
        if self._module.training != training:
            self._module.train(training)
        # By hand: context managers for each of these take longer than some nets.
        kept = self._chance.begin(one.seed) if training else None
        grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(bool(one.keep))
        try:
            with PLAIN if brought.amp is None else torch.autocast(self._device.type, brought.amp):
                if training and brought.transform is not None:
                    with torch.no_grad():
                        inputs = self._transformed(brought.transform, inputs)
                output = self._call(inputs)
        finally:
            torch._C._set_grad_enabled(grad)
            if kept is not None:
                self._chance.end(kept)
        if not isinstance(output, torch.Tensor) or tuple(output.shape) != (one.count, self._classes):
            shape = tuple(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
            raise InputError(f"the module gave {shape} for {one.count} inputs: {(one.count, self._classes)} is needed")
        if one.keep and not output.requires_grad:
            raise InputError("the logits have no gradient: does the module compute them under torch.no_grad, or detach them?")
        return output

    @staticmethod
    def _transformed(transform: Transform, inputs: torch.Tensor) -> torch.Tensor:
        made = transform(inputs)
        if not isinstance(made, torch.Tensor) or len(made) != len(inputs):
            shape = tuple(made.shape) if isinstance(made, torch.Tensor) else type(made).__name__
            raise InputError(f"transform gave {shape} for a batch of {len(inputs)} inputs: as many are needed")
        return made

    def _check_params(self) -> None:
        """The module may change values, not parameters; those that it replaced are put back."""
        for row, tensor, (table, last) in zip(self.params, self._arrays.tensors, self._owned):
            now = table[last]
            if now is tensor and tensor.shape == row.shape:
                continue
            for each, (there, name) in zip(self._arrays.tensors, self._owned):
                there[name] = each
            self._arrays.unbind()
            shape = None if now is None else tuple(now.shape)
            raise InputError(f"the module replaced its parameter {row.name!r} of shape {row.shape} by one of shape {shape} in a pass")

    def forward(self, one: Any) -> None:
        with self._lock:
            self._arrays.bind(one.params, one.weights)
            if one.training or one.version != self._version:
                self._version = -1  # unless all of this succeeds
                self._statistics.bring(one.stats)
            inputs = memory(one.inputs, one.count * self._sample)
            # From pinned memory while kernels are queued; that the logits are here says that it has ended.
            inputs = inputs.view(one.count, *self._input).to(self._device, non_blocking=True)
            if self._alters and self._device.type == "cpu":
                inputs = inputs.clone()
            self._wants = one.features != ffi.NULL
            output = self._run(one, inputs)
            self._check_params()
            memory(one.logits, output.numel()).view(output.shape).copy_(here(output))
            if self._wants:
                self._tell_features(one)
            if one.training:
                self._statistics.bring_back(one.stats)
            else:
                self._version = one.version
            self._kept = output if one.keep else None

    def _tell_features(self, one: Any) -> None:
        seen, self._features, self._wants = self._features, None, False
        if seen is None or seen.numel() != one.count * self.features:
            raise InputError("the module's last layer did not see its batch")
        memory(one.features, seen.numel()).view(seen.shape).copy_(here(seen))

    def backward(self, one: Any) -> None:
        with self._lock:
            output, self._kept = self._kept, None
            assert output is not None
            given = memory(one.logit_grads, output.numel()).view(output.shape).to(self._device)
            flat, cut = self._arrays.views(one.grad, one.gradient)
            if self._brought.amp == torch.float16:
                self._scaled(output, given, flat, cut)
            else:
                self._descend(output, given.to(output.dtype), flat, cut, False)

    def gradient(self, one: Any) -> torch.Tensor:
        """The whole gradient of a pass."""
        return self._arrays.views(one.grad, one.gradient)[0]

    def _descend(self, output: torch.Tensor, given: torch.Tensor, flat: torch.Tensor, cut: list[torch.Tensor], again: bool) -> None:
        flat.zero_()
        for i in self._trained:
            self._arrays.tensors[i].grad = cut[i]
        try:
            output.backward(given, retain_graph=again)  # type: ignore[no-untyped-call]
        finally:
            for i in self._trained:
                self._arrays.tensors[i].grad = None

    def _scaled(self, output: torch.Tensor, given: torch.Tensor, flat: torch.Tensor, cut: list[torch.Tensor]) -> None:
        """Small gradients vanish in float16 and large ones overflow: a scale that just fits."""
        vectors = self._brought.vectors
        assert vectors is not None
        scale = vectors.scale
        for _ in range(HALVES if given.is_meta or bool(torch.isfinite(given).all()) else 1):
            self._descend(output, (given * scale).to(output.dtype), flat, cut, True)
            flat.div_(scale)
            if flat.is_meta or bool(torch.isfinite(flat).all()):
                vectors.fits(scale, PATIENCE)
                return
            scale /= 2

    def loss(self, of: Any) -> None:
        """The user's own loss of each sample, and its gradient by the logits."""
        logits = memory(of.logits, of.count * self._classes).view(of.count, self._classes).to(self._device)
        logits.requires_grad_(of.logit_grads != ffi.NULL)
        labels = torch.frombuffer(ffi.buffer(of.labels, 4 * of.count), dtype=torch.int32).long().to(self._device)
        assert self._brought.loss is not None
        with torch.enable_grad():
            losses = self._brought.loss(logits, labels)
        if not isinstance(losses, torch.Tensor) or tuple(losses.shape) != (of.count,):
            shape = tuple(losses.shape) if isinstance(losses, torch.Tensor) else type(losses).__name__
            raise InputError(f"the function gave {shape} for {of.count} samples: one for each is needed, as reduction=\"none\"")
        memory(of.losses, of.count).copy_(here(losses))
        if of.logit_grads != ffi.NULL:
            weights = memory(of.weights, of.count).to(self._device)
            (grads,) = torch.autograd.grad((losses * weights).sum(), logits)
            memory(of.logit_grads, grads.numel()).view(grads.shape).copy_(here(grads))


class Brought:
    """A user's module and how it is computed."""

    def __init__(
        self,
        net: Union[Module, Maker],
        input: Optional[Sequence[int]],
        device: Union[str, torch.device, None] = None,
        amp: Union[str, torch.dtype, None] = None,
        transform: Optional[Transform] = None,
        compile: Union[bool, str] = False,
        loss: Optional[Loss] = None,
        own: Optional[Given] = None,
        number: bool = False,
    ) -> None:
        refuse_shared(net)
        self.input = None if input is None else shape_of(input)
        self.device = ranks.device_of(torch.device(device if device is not None else "cpu"))
        if isinstance(amp, str) and amp not in DTYPES:
            raise InputError(f"amp = {amp!r}: must be one of {', '.join(DTYPES)}")
        self.amp = DTYPES[amp] if isinstance(amp, str) else amp
        self.transform, self.compile = transform, compile
        self.loss = by_samples(loss)
        self.number = number
        self.classes: Optional[int] = None  # of a module that is given as such
        self.make: Maker
        if isinstance(net, Module) and self.input is not None:
            self.make = self._growing(net, self.input)
        elif callable(net) and not isinstance(net, Module):
            self.make = by_classes(net)
        else:
            raise InputError(f"net = {net!r}: must be a torch.nn.Module, or a function of the number of classes")
        self._made = isinstance(net, Module)
        self.own = None if own is None else Own(own, net, self.device, self._some_parameters)
        # On a CPU the library's own arrays do, unless something else must be kept as well.
        memory_does = self.device.type == "cpu" and self.own is None and self.amp != torch.float16 and ranks.count() == 1
        self.vectors = None if memory_does else Vectors(self.device, self.own)

    def _some_parameters(self) -> list[torch.nn.Parameter]:
        """Of the shapes that an optimizer will see."""
        assert self.input is not None
        with seeded(0):
            return [one for one in self._made_for(2, self.input).parameters() if one.requires_grad]

    def _growing(self, module: Module, input: tuple[int, ...]) -> Maker:
        empty = without_values(module)
        if empty is not None:
            raise InputError(f"{empty!r} of the module has no values yet: give a function that makes the module in its place")
        module = copied(module).cpu()
        with seeded(0), torch.no_grad():
            inputs = torch.rand(2, *input)
            output = copied(module).eval()(inputs)
            if self.number:
                return lambda classes: copied(module)
            if not isinstance(output, torch.Tensor) or output.dim() != 2:
                raise InputError("the module must map a batch to logits, (count, classes)")
            head = last_linear(copied(module), inputs)
        self.classes = int(output.shape[1])
        if head:
            return Growing(module, head)

        def same(classes: int) -> Module:
            if classes != self.classes:
                raise InputError(
                    f"{classes} classes, and the module has {self.classes}: it does not end with a torch.nn.Linear "
                    "of a name, so give a function of the number of classes in its place"
                )
            return copied(module)

        return same

    def compiled(self, module: Module) -> Callable[[torch.Tensor], Any]:
        if not self.compile:
            return module
        made: Callable[[torch.Tensor], Any] = torch.compile(
            module, backend=self.compile if isinstance(self.compile, str) else "inductor"
        )
        return made

    def _made_for(self, classes: int, input: tuple[int, ...]) -> Module:
        """A module with this many outputs; for numbers one output will do."""
        module = self.make(1 if self.number else classes)
        if isinstance(module, Module) and without_values(module) is not None:
            with torch.no_grad():
                module.eval()(torch.rand(2, *input))  # a lazy one has its parameters then
        if not self.number:
            return module
        with torch.no_grad():
            outputs = copied(module).cpu().eval()(torch.rand(2, *input)).reshape(2, -1).shape[1]
        return Interval(module) if outputs == 1 else module

    def values(self, seed: int, classes: int, input: tuple[int, ...]) -> Optional[dict[str, torch.Tensor]]:
        """First values by a seed, where a function makes the module; a module has its own."""
        if self._made:
            return None
        with seeded(seed):
            module = self._made_for(classes, input).cpu()
        return {name: one.detach() for name, one in [*module.named_parameters(), *module.named_buffers()]}

    def net(self, shape: Shape) -> Net:
        given = shape[:1] if shape.height == shape.width == 1 else shape[:3]
        input = given if self.input is None else self.input
        if shape.floats != math.prod(input):
            raise InputError(f"inputs have {shape.floats} numbers, and input = {input} has {math.prod(input)}")
        with seeded(0):
            module = self._made_for(shape.classes, input)
        refuse_shared(module)
        if not isinstance(module, Module):
            raise InputError(f"the function gave {type(module).__name__} for {shape.classes} classes: a torch.nn.Module is needed")
        return ModuleNet(self, module.cpu(), input, shape.classes)

    def nets(self, net: Any, name: Optional[str]) -> Nets:
        name = name if name is not None else name_of(net)
        if ranks.count() > 1 and self.vectors is not None:
            shared = ranks.Leader(self.net, self.vectors)
            return Nets(name, shared.net, shared, self.loss is not None)
        return Nets(name, self.net, self.vectors, self.loss is not None)

    def follow(self) -> None:
        """Of several processes all but the first stay here until that one ends, and end as well."""
        if ranks.count() > 1 and ranks.rank() and self.vectors is not None:
            ranks.Follower(self.net, self.vectors).go()

    def settings(self) -> dict[str, Any]:
        """What the library must know; the module is given its inputs as they come."""
        made: dict[str, Any] = {"model_scale": "off"}
        if self.classes is not None:
            made["model_classes"] = self.classes
        if self.input is None:
            return made
        sizes = list(self.input)
        sizes[: max(1, len(sizes) - 2)] = [math.prod(sizes[: max(1, len(sizes) - 2)])]
        made["model_input"] = sizes[0] if len(sizes) == 1 else [*sizes, 1][:3]
        return made
