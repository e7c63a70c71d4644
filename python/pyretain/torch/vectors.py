"""Vectors as tensors: parameters, gradient, momentum and averages stay where the module computes.

Each is one flat tensor on the module's device. The library names them by handles and asks for
steps; it reads or writes them only for checkpoints, weights files and growing classes.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable

import torch

from pyretain._core import ffi


def here(tensor: torch.Tensor) -> torch.Tensor:
    """Its values on the CPU; on the device "meta", which has none, zeros."""
    return torch.zeros(tensor.shape) if tensor.is_meta else tensor.detach().to("cpu", torch.float32)


def memory(it: Any, floats: int) -> torch.Tensor:
    """A tensor over the library's memory."""
    return torch.frombuffer(ffi.buffer(ffi.cast("float *", it), 4 * floats), dtype=torch.float32)


class Vector:
    """A flat tensor, and what nets have cut of it."""

    def __init__(self, floats: int, device: torch.device) -> None:
        self.flat = torch.zeros(floats, device=device)
        self.cuts: weakref.WeakKeyDictionary[Any, dict[int, list[torch.Tensor]]] = weakref.WeakKeyDictionary()
        self.handle = ffi.new_handle(self)


def vector_of(span: Any) -> Vector:
    found: Vector = ffi.from_handle(span.vector)
    return found


def _part(span: Any, count: int) -> torch.Tensor:
    return vector_of(span).flat[span.first : span.first + count]


def _sgd(one: Any, p: torch.Tensor, g: torch.Tensor, buffers: list[torch.Tensor]) -> None:
    (momentum,) = buffers
    if one.first:
        momentum.copy_(g)
    else:
        momentum.mul_(one.momentum).add_(g)
    p.add_(momentum, alpha=-one.rate)


def _adam(one: Any, p: torch.Tensor, g: torch.Tensor, buffers: list[torch.Tensor]) -> None:
    mean, square = buffers
    mean.mul_(one.beta1).add_(g, alpha=1 - one.beta1)
    square.mul_(one.beta2).addcmul_(g, g, value=1 - one.beta2)
    p.addcdiv_(mean, (square / one.correction2).sqrt_().add_(one.epsilon), value=-one.rate / one.correction1)


def _schedule_free(one: Any, p: torch.Tensor, g: torch.Tensor, buffers: list[torch.Tensor]) -> None:
    z, x = buffers
    if one.first:
        z.copy_(p)
        x.copy_(p)
    z.add_(g, alpha=-one.rate)
    x.mul_(1 - one.share).add_(z, alpha=one.share)
    torch.mul(z, 1 - one.beta, out=p)
    p.add_(x, alpha=one.beta)


STEPS: dict[str, Callable[[Any, torch.Tensor, torch.Tensor, list[torch.Tensor]], None]] = {
    "sgd": _sgd,
    "adam": _adam,
    "schedule-free": _schedule_free,
}


class Vectors:
    """All vectors of a learner, on one device."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def make(self, floats: int) -> Vector:
        return Vector(floats, self.device)

    @torch.no_grad()
    def copy(self, to: Any, source: Any, count: int) -> None:
        if source.vector == ffi.NULL:
            _part(to, count).zero_()
        else:
            _part(to, count).copy_(_part(source, count))

    def read(self, source: Any, values: Any, count: int) -> None:
        memory(values, count).copy_(here(_part(source, count)))

    @torch.no_grad()
    def write(self, to: Any, values: Any, count: int) -> None:
        _part(to, count).copy_(memory(values, count))

    @torch.no_grad()
    def combine(self, out: Any, a: float, x: Any, b: float, y: Any, count: int) -> None:
        to, one, other = _part(out, count), _part(x, count), _part(y, count)
        if out.vector == x.vector and out.first == x.first:
            (to if a == 1 else to.mul_(a)).add_(other, alpha=b)
        elif a == 1:
            torch.add(one, other, alpha=b, out=to)
        else:
            to.copy_(one * a + other * b)

    def square(self, x: Any, count: int) -> float:
        part = _part(x, count)
        return 0.0 if part.is_meta else float(torch.dot(part, part))

    @torch.no_grad()
    def step(self, one: Any) -> None:
        count = one.count
        p, g = _part(one.params, count), _part(one.grad, count)
        if one.decay:
            g.add_(p, alpha=one.decay)
        buffers = [_part(span, count) for span in one.buffers if span.vector != ffi.NULL]
        STEPS[ffi.string(one.kind).decode()](one, p, g, buffers)
        for i in range(one.average_count):
            _part(one.averages[i], count).mul_(one.keep[i]).add_(p, alpha=1 - one.keep[i])
