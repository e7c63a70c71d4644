"""Vectors as tensors: parameters, gradient, momentum and averages stay where the module computes.

Each is one flat tensor on the module's device. The library names them by handles and asks for
steps; it reads or writes them only for checkpoints, weights files and growing classes.
"""

from __future__ import annotations

import io
import weakref
from typing import Any, Callable, Optional

import torch

from pyretain._core import ffi
from pyretain.torch.optimizer import Own


def with_values(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor; of the device "meta", which has no values, zeros."""
    return torch.zeros(tensor.shape, dtype=tensor.dtype) if tensor.is_meta else tensor.detach()


def here(tensor: torch.Tensor) -> torch.Tensor:
    """Its values on the CPU."""
    return with_values(tensor).to("cpu", torch.float32)


def can_pin() -> bool:
    """Whether there is a device that copies from pinned memory."""
    accelerator: Any = getattr(torch, "accelerator", torch.cuda)
    try:
        return bool(accelerator.is_available()) and torch.empty(1, pin_memory=True).is_pinned()
    except RuntimeError:
        return False


def memory(it: Any, floats: int) -> torch.Tensor:
    """A tensor over the library's memory."""
    return torch.frombuffer(ffi.buffer(ffi.cast("float *", it), 4 * floats), dtype=torch.float32)


class Vector:
    """A flat tensor, and what nets have cut of it."""

    def __init__(self, floats: int, device: torch.device) -> None:
        self.flat = torch.zeros(floats, device=device)
        self.cuts: weakref.WeakKeyDictionary[Any, dict[int, list[torch.Tensor]]] = weakref.WeakKeyDictionary()
        self.handle = ffi.new_handle(self)
        self.number = 0  # by which processes know it
        self.on_free: Callable[[], None] = lambda: None


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

    def __init__(self, device: torch.device, own: Optional[Own] = None) -> None:
        self.device, self.own = device, own
        self.scale = 2.0**16  # of the loss, in float16
        self._fitted = 0  # passes that it did in a row
        self._layouts: dict[int, Any] = {}  # nets' arrays, by their length
        self._batches: dict[int, torch.Tensor] = {}  # by their addresses

    def layout(self, arrays: Any) -> None:
        """How vectors of this length are cut."""
        self._layouts[arrays.floats] = arrays
        if self.own is not None:
            self.own.layout(arrays.rows)

    def _own_step(self, own: Own, one: Any) -> None:
        arrays = self._layouts[one.count]
        names = [row.name for row in arrays.rows]
        params, grads = (arrays.views(ffi.NULL, span)[1] for span in (one.params, one.grad))
        own.step(dict(zip(names, params)), dict(zip(names, grads)), one.rate, bool(one.first))

    def fits(self, scale: float, patience: int) -> None:
        """A pass did not overflow with this scale; after so many in a row a larger one is tried."""
        self._fitted = self._fitted + 1 if scale == self.scale else 0
        self.scale = scale
        if self._fitted == patience:
            self._fitted, self.scale = 0, 2 * scale

    def save(self) -> bytes:
        """What else a checkpoint needs to go on."""
        file = io.BytesIO()
        own = None if self.own is None else self.own.state()
        torch.save({"scale": self.scale, "fitted": self._fitted, "optimizer": own}, file)
        return file.getvalue()

    def load(self, state: bytes) -> None:
        saved = torch.load(io.BytesIO(state), map_location=self.device, weights_only=True)
        self.scale, self._fitted = saved["scale"], saved.get("fitted", 0)
        if self.own is not None:
            self.own.load(saved["optimizer"])

    def batch(self, floats: int) -> int:
        """Memory for a batch, from which the device copies by itself if it can."""
        made = torch.zeros(floats, pin_memory=self.device.type not in ("cpu", "meta") and can_pin())
        self._batches[made.data_ptr()] = made
        return made.data_ptr()

    def batch_free(self, at: int) -> None:
        self._batches.pop(at, None)

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
        kind = ffi.string(one.kind).decode()
        if self.own is not None and kind == "program":
            with torch.enable_grad():
                self._own_step(self.own, one)
        else:
            STEPS[kind](one, p, g, [_part(span, count) for span in one.buffers if span.vector != ffi.NULL])
        for i in range(one.average_count):
            _part(one.averages[i], count).mul_(one.keep[i]).add_(p, alpha=1 - one.keep[i])
