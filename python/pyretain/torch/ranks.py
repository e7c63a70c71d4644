"""Several processes as one learner, started by torchrun.

The first process has the learner and decides everything. The others have the same module and the
same vectors, and repeat what it does with them: they follow its calls of the net and of the
vectors, with their share of every batch. Gradients are summed over all, so their vectors stay
alike, and nothing else of the size of the net travels. Shares follow each other in the batch and
differ by one sample at most.

Small messages go through gloo, gradients through the backend of the device. Training batches lie in
memory that the processes of a machine share; to other machines, and for inferences, inputs go through gloo.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import tempfile
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, NoReturn, Optional, Sequence

import torch
import torch.distributed as dist

from pyretain._core import ffi
from pyretain.nets import Net, Shape

if TYPE_CHECKING:
    from pyretain.torch.vectors import Vector, Vectors

EVER = timedelta(days=3650)  # that the others wait for what comes next; by default it would be half an hour
SHARED: Optional[str] = "/dev/shm" if os.path.isdir("/dev/shm") else None  # where files are memory
ALONE = 8  # inferences of fewer samples for each process are not shared


def count() -> int:
    """Processes that torchrun started, or that the program has joined."""
    if dist.is_available() and dist.is_initialized():
        return int(dist.get_world_size())
    return int(os.environ.get("WORLD_SIZE", "1")) if "MASTER_ADDR" in os.environ else 1


def rank() -> int:
    return int(dist.get_rank()) if dist.is_available() and dist.is_initialized() else int(os.environ.get("RANK", "0"))


def device_of(said: torch.device) -> torch.device:
    """Each process of a machine has a device of its own."""
    if count() == 1 or said.type == "cpu" or said.index is not None:
        return said
    return torch.device(said.type, int(os.environ.get("LOCAL_RANK", "0")))


_joined: list[Any] = []  # the group of small messages, once there is one; None: it ended
_made: list[bool] = []  # not empty: the groups are ours to end


def _leave() -> None:
    """Ends groups of our own: their threads must not outlive the interpreter.

    The small group goes first: as long as anyone holds it, its threads live on.
    """
    if _joined:
        _joined[0] = None
    if _made and dist.is_initialized():
        dist.destroy_process_group()
    _made.clear()


def _small() -> Any:
    if not _joined:
        if not dist.is_initialized():
            dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
            _made.append(True)
        _joined.append(dist.new_group(backend="gloo", timeout=EVER))
        if not rank():
            atexit.register(end)  # unless the learner was closed
    return _joined[0]


def _say(what: tuple[Any, ...]) -> None:
    if _small() is None:
        return  # the others are gone
    dist.broadcast_object_list([what], 0, _small())


def _heard() -> tuple[Any, ...]:
    """What the first process says next; the process ends with its learner."""
    heard: list[Any] = [None]
    dist.broadcast_object_list(heard, 0, _small())
    told: tuple[Any, ...] = heard[0]
    if told[0] == "end":
        _leave()
        raise SystemExit(0)
    return told


def tell_input(shape: Sequence[int]) -> None:
    """Says to the others what a sample is, which they wait for."""
    if count() > 1 and not rank():
        _say(("input", tuple(shape)))


def heard_input() -> Optional[tuple[int, ...]]:
    """What the first process says of a sample; None in that process."""
    if count() == 1:
        return None
    if not rank():
        _small()  # the others do not wait forever for a group
        return None
    follow()
    shape: tuple[int, ...] = _heard()[1]
    return shape


def share(samples: int, one: int) -> tuple[int, int]:
    """The first sample of a process, and of the next one."""
    return samples * one // count(), samples * (one + 1) // count()


def _floats(tensor: torch.Tensor) -> Any:
    return ffi.cast("float *", tensor.data_ptr())


def _sum(gradient: torch.Tensor) -> None:
    dist.all_reduce(gradient)


class Batch(NamedTuple):
    """Memory of batches that the first process shares with the others of its machine."""

    number: int
    floats: torch.Tensor
    sees: list[bool]  # which processes do


def _mapped(path: str, floats: int) -> torch.Tensor:
    return torch.from_file(path, shared=True, size=floats, dtype=torch.float32)


def _made_shared(floats: int) -> Optional[tuple[str, torch.Tensor]]:
    """A file in memory, and what is in it; None where there is no room for it."""
    if SHARED is None:
        return None
    try:
        handle, path = tempfile.mkstemp(prefix="retain-", dir=SHARED)
    except OSError:
        return None
    try:
        os.posix_fallocate(handle, 0, 4 * floats)  # or writing would crash where it is full
        return path, _mapped(path, floats)
    except (OSError, RuntimeError):
        os.unlink(path)
        return None
    finally:
        os.close(handle)


def _who(does: bool) -> list[bool]:
    """Every process's answer, in each of them."""
    answers = torch.zeros(count(), dtype=torch.int32)
    answers[rank()] = does
    dist.all_reduce(answers, group=_small())
    return [bool(one) for one in answers]


class LeaderNet:
    """The first process's net: it runs its share, and gathers what the others made of theirs."""

    def __init__(self, net: Any, number: int, batches: dict[int, Batch]) -> None:
        self._net, self._number, self._batches = net, number, batches
        self.params, self.stats, self.macs, self.features = net.params, net.stats, net.macs, net.features
        self._classes, self._sample = net._classes, net._sample
        self._shared = False

    def first(self, seed: int, params: Any, stats: Any) -> None:
        self._net.first(seed, params, stats)

    def loss(self, of: Any) -> None:
        self._net.loss(of)

    def _mine(self, one: Any, samples: int) -> Any:
        names = "params weights stats version inputs training keep momentum logits features logit_grads grad gradient"
        made = SimpleNamespace(**{name: getattr(one, name) for name in names.split()})
        made.count, made.seed = samples, one.seed
        return made

    def forward(self, one: Any) -> None:
        from pyretain.torch.vectors import memory, vector_of

        self._shared = bool(one.training) or one.count >= ALONE * count()
        if not self._shared:
            self._net.forward(one)
            return
        wants = one.features != ffi.NULL
        stats = memory(one.stats, self._net._statistics.floats) if one.stats != ffi.NULL else torch.zeros(0)
        at = (vector_of(one.weights).number, one.weights.first)
        inputs = memory(one.inputs, one.count * self._sample).view(one.count, -1)
        batch, first = self._place(inputs)
        where = None if batch is None else (batch.number, first)
        _say(("forward", self._number, one.count, at, bool(one.training), bool(one.keep), one.momentum, one.seed, wants, where))
        dist.broadcast(stats, 0, _small())
        sent: list[Any] = []
        for other in range(1, count()):
            begin, end = share(one.count, other)
            if end > begin and not (batch and batch.sees[other]):
                sent.append(dist.isend(inputs[begin:end], other, _small()))
        mine = share(one.count, 0)[1]
        if mine:
            self._net.forward(self._mine(one, mine))
        for work in sent:
            work.wait()
        rows = [(one.logits, self._classes)] + ([(one.features, self.features)] if wants else [])
        for other in range(1, count()):
            begin, end = share(one.count, other)
            for it, width in rows if end > begin else []:
                dist.recv(memory(it, one.count * width).view(one.count, width)[begin:end], other, _small())
        if one.training and len(stats):
            _mean(stats, one.count)

    def _place(self, inputs: torch.Tensor) -> tuple[Optional[Batch], int]:
        """The shared memory that they lie in, if they do, and where."""
        for at, batch in self._batches.items():
            first = (inputs.data_ptr() - at) // 4
            if 0 <= first < len(batch.floats):
                return batch, first
        return None, 0

    def backward(self, one: Any) -> None:
        from pyretain.torch.vectors import memory, vector_of

        if not self._shared:
            self._net.backward(one)
            return
        _say(("backward", self._number, one.count, (vector_of(one.gradient).number, one.gradient.first)))
        grads = memory(one.logit_grads, one.count * self._classes).view(one.count, -1)
        for other in range(1, count()):
            begin, end = share(one.count, other)
            if end > begin:
                dist.send(grads[begin:end].contiguous(), other, _small())
        mine = share(one.count, 0)[1]
        flat = self._net.gradient(one)
        if mine:
            self._net.backward(self._mine(one, mine))
        else:
            flat.zero_()
        _sum(flat)


def _mean(stats: torch.Tensor, samples: int) -> None:
    """Statistics are those of all shares, by their sizes."""
    begin, end = share(samples, rank())
    stats.mul_((end - begin) / samples)
    dist.all_reduce(stats, group=_small())


class Leader:
    """The first process's nets and vectors, which the others follow."""

    def __init__(self, make: Callable[[Shape], Net], vectors: Vectors) -> None:
        self._make, self._own = make, vectors
        self._nets, self._vectors, self._made = 0, 0, 0
        self._batches: dict[int, Batch] = {}  # by their addresses

    def net(self, shape: Shape) -> LeaderNet:
        made = LeaderNet(self._make(shape), self._nets, self._batches)
        _say(("net", self._nets, tuple(shape)))
        self._nets += 1
        return made

    def batch(self, floats: int) -> int:
        made = _made_shared(floats)
        if made is None:
            return self._own.batch(floats)
        path, shared = made
        try:
            _say(("batch", self._made, path, floats))
            self._batches[shared.data_ptr()] = Batch(self._made, shared, _who(True))
        finally:
            os.unlink(path)  # whoever sees it has it
        self._made += 1
        return shared.data_ptr()

    def batch_free(self, at: int) -> None:
        batch = self._batches.pop(at, None)
        if batch is None:
            self._own.batch_free(at)
        else:
            _say(("batch_free", batch.number))

    def make(self, floats: int) -> Vector:
        made = self._own.make(floats)
        made.number = self._vectors
        self._vectors += 1
        _say(("make", made.number, floats))
        made.on_free = partial(_say, ("free", made.number))
        return made

    @staticmethod
    def _at(span: Any) -> Any:
        from pyretain.torch.vectors import vector_of

        return None if span.vector == ffi.NULL else (vector_of(span).number, span.first)

    def copy(self, to: Any, source: Any, count: int) -> None:
        _say(("copy", self._at(to), self._at(source), count))
        self._own.copy(to, source, count)

    def read(self, source: Any, values: Any, count: int) -> None:
        self._own.read(source, values, count)

    def write(self, to: Any, values: Any, count: int) -> None:
        from pyretain.torch.vectors import memory

        _say(("write", self._at(to), count))
        dist.broadcast(memory(values, count), 0, _small())
        self._own.write(to, values, count)

    def combine(self, out: Any, a: float, x: Any, b: float, y: Any, count: int) -> None:
        _say(("combine", self._at(out), a, self._at(x), b, self._at(y), count))
        self._own.combine(out, a, x, b, y, count)

    def square(self, x: Any, count: int) -> float:
        return self._own.square(x, count)

    def step(self, one: Any) -> None:
        numbers = "count average_count first rate decay momentum beta1 beta2 epsilon correction1 correction2 beta share"
        spans = {name: self._at(getattr(one, name)) for name in ("params", "grad")}
        _say(
            (
                "step",
                ffi.string(one.kind),
                {name: getattr(one, name) for name in numbers.split()},
                spans,
                [self._at(span) for span in one.buffers],
                [self._at(span) for span in one.averages],
                list(one.keep),
            )
        )
        self._own.step(one)

    def save(self) -> bytes:
        return self._own.save()

    def load(self, state: bytes) -> None:
        _say(("load", state))
        self._own.load(state)


def end() -> None:
    """The others' processes end, once the first one's learner is closed."""
    if _joined and _joined[0] is not None:
        with contextlib.suppress(RuntimeError):  # one that failed is gone, and has said why
            _say(("end",))
        _leave()


def follow() -> None:
    """From here on the first process decides over this one."""
    _small()  # until then torchrun may end it: the first process may have failed before it began
    for stop in (signal.SIGINT, signal.SIGTERM):  # the first process is who is told to stop
        signal.signal(stop, signal.SIG_IGN)


class Follower:
    """Another process: does what the first one says, until it ends."""

    def __init__(self, make: Callable[[Shape], Any], vectors: Vectors) -> None:
        self._make, self._own = make, vectors
        self._nets: dict[int, Any] = {}
        self._vectors: dict[int, Vector] = {}
        self._passes = itertools.count()
        self._inputs = torch.zeros(0)
        self._batches: dict[int, torch.Tensor] = {}

    def _span(self, at: Any) -> Any:
        if at is None:
            return SimpleNamespace(vector=ffi.NULL, first=0)
        return SimpleNamespace(vector=self._vectors[at[0]].handle, first=at[1])

    def net(self, number: int, shape: tuple[int, ...]) -> None:
        self._nets[number] = self._make(Shape(*shape))

    def make(self, number: int, floats: int) -> None:
        self._vectors[number] = self._own.make(floats)

    def free(self, number: int) -> None:
        del self._vectors[number]

    def batch(self, number: int, path: str, floats: int) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # that machine's memory is another's
            self._batches[number] = _mapped(path, floats)
        _who(number in self._batches)

    def batch_free(self, number: int) -> None:
        self._batches.pop(number, None)

    def copy(self, to: Any, source: Any, count: int) -> None:
        self._own.copy(self._span(to), self._span(source), count)

    def write(self, to: Any, count: int) -> None:
        values = torch.empty(count)
        dist.broadcast(values, 0, _small())
        self._own.write(self._span(to), _floats(values), count)

    def combine(self, out: Any, a: float, x: Any, b: float, y: Any, count: int) -> None:
        self._own.combine(self._span(out), a, self._span(x), b, self._span(y), count)

    def step(self, kind: bytes, numbers: Any, spans: Any, buffers: Any, averages: Any, keep: Any) -> None:
        one = SimpleNamespace(**numbers, **{name: self._span(at) for name, at in spans.items()})
        one.kind, one.keep = ffi.new("char[]", kind), keep
        one.buffers, one.averages = [self._span(at) for at in buffers], [self._span(at) for at in averages]
        self._own.step(one)

    def load(self, state: bytes) -> None:
        self._own.load(state)

    def _share(self, where: Optional[tuple[int, int]], begin: int, mine: int, sample: int) -> torch.Tensor:
        """Inputs of this process: from shared memory, or sent."""
        batch = None if where is None else self._batches.get(where[0])
        if batch is not None and where is not None:
            first = where[1] + begin * sample
            return batch[first : first + mine * sample].view(mine, sample)
        inputs = torch.empty(mine, sample)
        dist.recv(inputs, 0, _small())
        return inputs

    def forward(
        self, number: int, samples: int, at: Any, training: bool, keep: bool, momentum: float, seed: int, wants: bool, where: Any
    ) -> None:
        net = self._nets[number]
        stats = torch.empty(net._statistics.floats)
        dist.broadcast(stats, 0, _small())
        begin, end = share(samples, rank())
        mine = end - begin
        if mine:
            inputs, logits = self._share(where, begin, mine, net._sample), torch.empty(mine, net._classes)
            features = torch.empty(mine, max(1, net.features))
            self._inputs = inputs  # until the backward pass
            net.forward(
                SimpleNamespace(
                    params=ffi.NULL,
                    weights=self._span(at),
                    stats=_floats(stats) if len(stats) else ffi.NULL,
                    version=next(self._passes),
                    inputs=_floats(inputs),
                    count=mine,
                    training=training,
                    keep=keep,
                    momentum=momentum,
                    seed=seed + begin,
                    logits=_floats(logits),
                    features=_floats(features) if wants else ffi.NULL,
                )
            )
            dist.send(logits, 0, _small())
            if wants:
                dist.send(features, 0, _small())
        if training and len(stats):
            _mean(stats, samples)

    def backward(self, number: int, samples: int, at: Any) -> None:
        net = self._nets[number]
        begin, end = share(samples, rank())
        one = SimpleNamespace(grad=ffi.NULL, gradient=self._span(at))
        flat = net.gradient(one)
        if end > begin:
            grads = torch.empty(end - begin, net._classes)
            dist.recv(grads, 0, _small())
            one.logit_grads = _floats(grads)
            net.backward(one)
        else:
            flat.zero_()
        _sum(flat)

    def go(self) -> NoReturn:
        follow()
        while True:
            what, *how = _heard()
            getattr(self, what)(*how)
