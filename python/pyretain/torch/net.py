"""A PyTorch module as a net of the library.

On a CPU the module's parameters, statistics and gradients are the library's arrays, elsewhere
vectors on that device (vectors.py). Nothing of their size is copied: a pass that comes with other
ones (averages, displacements) points the parameters there. Statistics are brought to a device
for each pass.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import threading
from typing import Any, Callable, Optional, Sequence, Union

import torch

from pyretain._core import InputError, ffi, words_of
from pyretain.nets import Net, Nets, Shape, Tensor, name_of, places
from pyretain.torch import ranks
from pyretain.torch.chance import Chance, seeded
from pyretain.torch.module import (
    Beside, Growing, Interval, Look, Maker, Module, arguments, by_classes, copied, last_linear, owner_of, passed, refuse_scripts,
    refuse_shared, refuse_types, without_values,
)  # fmt: skip
from pyretain.torch.optimizer import Given, Own
from pyretain.torch.vectors import Vectors, here, memory, vector_of

Transform = Callable[[torch.Tensor], torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
POINTERS = 32  # arrays whose views are kept
PLAIN: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
HALVES = 40  # how often a loss may be scaled down in float16
PATIENCE = 2000  # passes that fit before it is scaled up again
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "bfloat16": torch.bfloat16, "float16": torch.float16}


def _pointer(it: Any) -> int:
    return int(ffi.cast("uintptr_t", it))


def by_samples(loss: Optional[Callable[..., torch.Tensor]]) -> Optional[Loss]:
    """PyTorch's losses have a mean as their default; one for each sample is needed."""
    if isinstance(loss, Module):
        for name, one in loss.named_parameters():
            if one.requires_grad:
                raise InputError(f"loss: its parameter {name!r} would not be trained: let it be one of the module's")
    if isinstance(loss, Module) and hasattr(loss, "reduction"):
        loss = copy.copy(loss)
        setattr(loss, "reduction", "none")
    elif loss is not None and not isinstance(loss, Module) and "reduction" in arguments(loss):
        loss = functools.partial(loss, reduction="none")
    return loss


def shape_of(input: Any) -> tuple[int, ...]:
    """The shape of a sample, as it was given."""
    shape = tuple(input) if isinstance(input, (tuple, list, torch.Size)) else ()
    if not shape or not all(isinstance(size, int) and size > 0 for size in shape):
        raise InputError(f"input = {input!r}: the shape of a sample, as (3, 32, 32), is needed")
    return shape


def device_of(device: Union[str, torch.device, None]) -> torch.device:
    try:
        return torch.device(device if device is not None else "cpu")
    except RuntimeError as raised:
        raise InputError(f"device = {device!r}: {words_of(raised)}") from raised


def amp_of(amp: Union[str, torch.dtype, None]) -> Optional[torch.dtype]:
    if isinstance(amp, str) and amp not in DTYPES:
        raise InputError(f"amp = {amp!r}: must be one of {', '.join(DTYPES)}")
    return DTYPES[amp] if isinstance(amp, str) else amp


def check_module(net: Any) -> None:
    refuse_shared(net)
    refuse_scripts(net)
    if not callable(net):
        raise InputError(f"net = {net!r}: must be a torch.nn.Module, or a function of the number of classes")


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
    owners = [owner_of(module, row.name) for row in rows]
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
        if not look.grows and brought.grown not in (None, classes):
            raise InputError("a row of 0 in the module's last layer gives no number (weight norm), so it cannot grow: say model_classes=")
        brought.grown = classes
        brought.beside.see(module, [*look.params, *look.stats])
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
        # All parameters and modules by their owners: a pass may make no others.
        self._tables = [table for one in self._module.modules() for table in (one._parameters, one._modules)]
        self._names = [tuple(table) for table in self._tables]
        self._entries = sum(map(len, self._tables))
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
        if output.is_complex():
            raise InputError(f"the module gave logits that are {output.dtype}: real numbers are needed")
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
        if sum(map(len, self._tables)) != self._entries:
            made = [(table, name) for table, names in zip(self._tables, self._names) for name in table if name not in names]
            for table, name in made:
                del table[name]
            which = ", ".join(repr(name) for _, name in made)
            raise InputError(f"the module made {which} in a pass: parameters must be there before" if made else "the module dropped parts of itself in a pass")

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
        if of.logit_grads != ffi.NULL and not losses.requires_grad:
            raise InputError("the function gave a loss that has no gradient by the logits")
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
        check_module(net)
        self.input = None if input is None else shape_of(input)
        self.device = ranks.device_of(device_of(device))
        self.amp = amp_of(amp)
        self.transform, self.compile = transform, compile
        self.loss = by_samples(loss)
        self.number = number
        self.classes: Optional[int] = None  # of a module that is given as such
        self.grown: Optional[int] = None  # classes of the last net
        self.beside = Beside()
        self.make: Maker
        if not isinstance(net, Module):
            self.make = by_classes(net)
        elif self.input is not None:
            self.make = self._growing(net, self.input)
        else:
            raise InputError(f"net = {net!r}: a function of the number of classes is needed, that makes the module")
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
        refuse_types(module)
        module = copied(module).cpu()
        with seeded(0), torch.no_grad():
            inputs = torch.rand(2, *input)
            output = passed(copied(module).eval(), inputs)
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
                passed(module.eval(), torch.rand(2, *input))  # a lazy one has its parameters then
        if not self.number:
            return module
        with torch.no_grad():
            outputs = passed(copied(module).cpu().eval(), torch.rand(2, *input)).reshape(2, -1).shape[1]
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
        refuse_scripts(module)
        if not isinstance(module, Module):
            raise InputError(f"the function gave {type(module).__name__} for {shape.classes} classes: a torch.nn.Module is needed")
        return ModuleNet(self, module.cpu(), input, shape.classes)

    def nets(self, net: Any, name: Optional[str]) -> Nets:
        name = name if name is not None else name_of(net)
        if ranks.count() > 1 and self.vectors is not None:
            shared = ranks.Leader(self.net, self.vectors)
            return Nets(name, shared.net, shared, self.loss is not None, self.beside)
        return Nets(name, self.net, self.vectors, self.loss is not None, self.beside)

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
