"""Nets that Python computes, as the library calls them. What a net is made of is not known here."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Protocol, Sequence

from pyretain._core import InputError, RetainError, ffi, here, keep, lib, words_of

ALIGN = 16  # floats: where a tensor begins in a flat array


class Tensor(NamedTuple):
    """A tensor as the library lists it."""

    name: str
    shape: tuple[int, ...]
    head: bool = False
    frozen: bool = False


class Shape(NamedTuple):
    """What a net is asked to be."""

    channels: int
    height: int
    width: int
    classes: int

    @property
    def floats(self) -> int:
        return self.channels * self.height * self.width


class Net(Protocol):
    """A net for one number of classes. Pointers of a pass are valid during the call only."""

    params: list[Tensor]
    stats: list[Tensor]
    macs: float
    features: int

    def first(self, seed: int, params: Any, stats: Any) -> None: ...
    def forward(self, one: Any) -> None: ...
    def backward(self, one: Any) -> None: ...
    def loss(self, of: Any) -> None: ...


class Vectors(Protocol):
    """Vectors that Python keeps: what struct retain_vectors of retain.h asks for."""

    def make(self, floats: int) -> Any: ...
    def copy(self, to: Any, source: Any, count: int) -> None: ...
    def read(self, source: Any, values: Any, count: int) -> None: ...
    def write(self, to: Any, values: Any, count: int) -> None: ...
    def combine(self, out: Any, a: float, x: Any, b: float, y: Any, count: int) -> None: ...
    def square(self, x: Any, count: int) -> float: ...
    def step(self, one: Any) -> None: ...
    def save(self) -> bytes: ...
    def load(self, state: bytes) -> None: ...
    def batch(self, floats: int) -> int: ...
    def batch_free(self, at: int) -> None: ...


class Beside(Protocol):
    """What belongs to a net's weights and is not the library's."""

    def add(self, state: dict[str, Any]) -> dict[str, Any]: ...
    def leave(self, state: Mapping[str, Any]) -> dict[str, Any]: ...


def places(tensors: Sequence[Tensor]) -> tuple[list[tuple[int, int]], int]:
    """Where each lies in a flat array, (from, count); and the array's length."""
    made, at = [], 0
    for tensor in tensors:
        count = 1
        for size in tensor.shape:
            count *= size
        made.append((at, count))
        at += -(-count // ALIGN) * ALIGN
    return made, at


def name_of(what: Any) -> str:
    """A name for a net that is the same in every process."""
    kind = what if hasattr(what, "__qualname__") else type(what)
    name = f"{kind.__module__}.{kind.__qualname__}".replace(".<locals>", "")
    return re.sub(r"[^A-Za-z0-9._:/-]+", "-", name)[:200]


class Held:
    """A net in the library's hands, with all that the library points to."""

    def __init__(self, nets: Nets, net: Net) -> None:
        self.nets, self.net = nets, net
        self._texts: list[Any] = []
        self.params, self.stats = self._table(net.params), self._table(net.stats)
        self.handle = ffi.new_handle(self)

    def _table(self, tensors: Sequence[Tensor]) -> Any:
        rows = ffi.new("struct retain_tensor[]", max(1, len(tensors)))
        for row, tensor in zip(rows, tensors):
            if len(tensor.shape) > len(row.shape):
                raise InputError(f"tensor {tensor.name!r} has {len(tensor.shape)} dimensions, and at most 8 can be")
            self._texts.append(ffi.new("char[]", tensor.name.encode()))
            row.name, row.dims = self._texts[-1], len(tensor.shape)
            row.head, row.frozen = tensor.head, tensor.frozen
            for d, size in enumerate(tensor.shape):
                row.shape[d] = size
        return rows

    def fill(self, it: Any) -> None:
        it.params, it.param_count = self.params, len(self.net.params)
        it.stats, it.stat_count = self.stats, len(self.net.stats)
        it.macs, it.features = self.net.macs, self.net.features
        it.first, it.forward = lib.pyretain_net_first, lib.pyretain_net_forward
        it.backward, it.free = lib.pyretain_net_backward, lib.pyretain_net_free
        if self.nets.loss:
            it.loss = lib.pyretain_net_loss
        it.context = self.handle


class Nets:
    """Makes a learner's nets, and keeps them as long as the library has them."""

    def __init__(
        self,
        name: str,
        make: Callable[[Shape], Net],
        vectors: Optional[Vectors] = None,
        loss: bool = False,
        beside: Optional[Beside] = None,
    ) -> None:
        self.name, self.make, self.vectors, self.loss, self.beside = name, make, vectors, loss, beside
        self.kept: Any = None  # what was saved last
        self.handle = ffi.new_handle(self)
        self._held: set[Any] = set()  # nets and vectors
        self._lock = threading.Lock()

    def functions(self) -> Any:
        """How the library reaches the vectors; NULL: they are its own."""
        if self.vectors is None:
            return ffi.NULL
        it = ffi.new("struct retain_vectors *")
        it.make, it.free, it.copy = lib.pyretain_vector_make, lib.pyretain_vector_free, lib.pyretain_vector_copy
        it.read, it.write = lib.pyretain_vector_read, lib.pyretain_vector_write
        it.combine, it.square = lib.pyretain_vector_combine, lib.pyretain_vector_square
        it.step, it.context = lib.pyretain_vector_step, self.handle
        it.save, it.load = lib.pyretain_vector_save, lib.pyretain_vector_load
        it.batch_make, it.batch_free = lib.pyretain_batch_make, lib.pyretain_batch_free
        return it

    def hold(self, held: Any) -> None:
        with self._lock:
            self._held.add(held)

    def drop(self, held: Any) -> None:
        with self._lock:
            self._held.discard(held)


def _told(err: Any, raised: BaseException) -> int:
    """What was raised, as an error of the library; ``check`` raises from it."""
    here.raised = raised
    words = words_of(raised).encode()
    ffi.memmove(err.message, words + b"\0", len(words) + 1)
    if isinstance(raised, RetainError) and raised.code:
        return raised.code
    if isinstance(raised, MemoryError):
        return int(lib.RETAIN_ERR_MEMORY)
    return int(lib.RETAIN_ERR_STATE if isinstance(raised, Exception) else lib.RETAIN_ERR_STOPPED)


_commands: list[bool] = []  # not empty: signals are the command's, and disturb nothing


@contextlib.contextmanager
def with_signals_of_the_command() -> Iterator[None]:
    """Meanwhile signals are handled by the command in this process."""
    _commands.append(True)
    try:
        yield
    finally:
        _commands.pop()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C waits for the next pass: a step that is made by half cannot be repeated. A second one does not wait."""
    before = signal.getsignal(signal.SIGINT)
    if here.calm or _commands or not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def wait(*what: Any) -> None:
        if here.interrupted is not None:
            before(*what)
        here.interrupted = lambda: before(*what)

    signal.signal(signal.SIGINT, wait)
    here.calm = True
    try:
        yield
    finally:
        here.calm = False
        signal.signal(signal.SIGINT, before)
        let_in()


def let_in() -> None:
    """What was to wait may happen now."""
    if here.interrupted is not None:
        late, here.interrupted = here.interrupted, None
        late()


# An exception before a function of these has begun, such as KeyboardInterrupt, is an error as well.
_called = ffi.def_extern(error=int(lib.RETAIN_ERR_STOPPED), onerror=keep)


@_called  # type: ignore[untyped-decorator]
def pyretain_net_make(context: Any, shape: Any, net: Any, err: Any) -> int:
    try:
        nets: Nets = ffi.from_handle(context)
        held = Held(nets, nets.make(Shape(shape.channels, shape.height, shape.width, shape.classes)))
        held.fill(net)
        nets.hold(held)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@_called  # type: ignore[untyped-decorator]
def pyretain_net_first(context: Any, seed: int, params: Any, stats: Any, err: Any) -> int:
    try:
        ffi.from_handle(context).net.first(seed, params, stats)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@_called  # type: ignore[untyped-decorator]
def pyretain_net_forward(context: Any, one: Any, err: Any) -> int:
    try:
        let_in()
        ffi.from_handle(context).net.forward(one)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@_called  # type: ignore[untyped-decorator]
def pyretain_net_backward(context: Any, one: Any, err: Any) -> int:
    try:
        ffi.from_handle(context).net.backward(one)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@_called  # type: ignore[untyped-decorator]
def pyretain_net_loss(context: Any, of: Any, err: Any) -> int:
    try:
        ffi.from_handle(context).net.loss(of)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def pyretain_net_free(context: Any) -> None:
    held: Held = ffi.from_handle(context)
    held.nets.drop(held)


def _on_vectors(context: Any, err: Any, what: Callable[[Vectors], None]) -> int:
    try:
        with undisturbed():
            what(ffi.from_handle(context).vectors)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_make(context: Any, floats: int, vector: Any, err: Any) -> int:
    try:
        nets: Nets = ffi.from_handle(context)
        assert nets.vectors is not None
        made = nets.vectors.make(floats)
        nets.hold(made)
        vector[0] = made.handle
        return 0
    except BaseException as raised:
        return _told(err, raised)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def pyretain_vector_free(context: Any, vector: Any) -> None:
    freed = ffi.from_handle(vector)
    freed.on_free()
    ffi.from_handle(context).drop(freed)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def pyretain_batch_make(context: Any, floats: int) -> Any:
    try:
        return ffi.cast("float *", ffi.from_handle(context).vectors.batch(floats))
    except BaseException:
        return ffi.NULL  # out of memory, to the library


@ffi.def_extern()  # type: ignore[untyped-decorator]
def pyretain_batch_free(context: Any, batch: Any) -> None:
    ffi.from_handle(context).vectors.batch_free(int(ffi.cast("uintptr_t", batch)))


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_copy(context: Any, to: Any, source: Any, count: int, err: Any) -> int:
    return _on_vectors(context, err, lambda vectors: vectors.copy(to, source, count))


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_read(context: Any, source: Any, values: Any, count: int, err: Any) -> int:
    return _on_vectors(context, err, lambda vectors: vectors.read(source, values, count))


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_write(context: Any, to: Any, values: Any, count: int, err: Any) -> int:
    return _on_vectors(context, err, lambda vectors: vectors.write(to, values, count))


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_combine(context: Any, out: Any, a: float, x: Any, b: float, y: Any, count: int, err: Any) -> int:
    return _on_vectors(context, err, lambda vectors: vectors.combine(out, a, x, b, y, count))


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_square(context: Any, x: Any, count: int, total: Any, err: Any) -> int:
    def what(vectors: Vectors) -> None:
        total[0] = vectors.square(x, count)

    return _on_vectors(context, err, what)


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_step(context: Any, one: Any, err: Any) -> int:
    return _on_vectors(context, err, lambda vectors: vectors.step(one))


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_save(context: Any, state: Any, size: Any, err: Any) -> int:
    try:
        nets: Nets = ffi.from_handle(context)
        assert nets.vectors is not None
        saved = nets.vectors.save()
        nets.kept = ffi.from_buffer(saved)
        state[0], size[0] = nets.kept, len(saved)
        return 0
    except BaseException as raised:
        return _told(err, raised)


@_called  # type: ignore[untyped-decorator]
def pyretain_vector_load(context: Any, state: Any, size: int, err: Any) -> int:
    return _on_vectors(context, err, lambda vectors: vectors.load(bytes(ffi.buffer(state, size))))
