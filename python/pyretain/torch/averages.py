"""Moving averages and learning rates for a loop of your own.

``AMA`` keeps averages of a module's parameters on the module's own device, scores them, and adapts
their weights. ``MALR`` leads an optimizer's rate by their scores. What is due in an iteration and
what a window decides is the library's, as in a learner with the same settings.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple, Optional, Protocol, Sequence, Union

import numpy as np
import torch

from pyretain._core import NULL, InputError, StateError, check, ffi, here, lib
from pyretain.config import Config
from pyretain.torch.chance import seeded
from pyretain.torch.module import other_names, refuse_scripts
from pyretain.torch.vectors import here as on_host

Module = torch.nn.Module
Inputs = tuple[Any, ...]
Evaluate = Callable[[Callable[..., Any], Inputs], tuple[float, float]]
Weights = dict[str, torch.Tensor]


class Due(NamedTuple):
    """What is due in an iteration."""

    iteration: int
    rate: float
    move: bool
    statistics: bool
    validate: bool
    window: bool
    serving: int  # 0 the plain model, 1 or 2 an average
    keep: tuple[float, ...]  # the share that each average keeps when it moves


class Verdict(NamedTuple):
    """The decision at the end of a window, with its reasons."""

    iteration: int
    best: int  # the better average, 1 or 2; 0: none
    rounds: int
    losses: tuple[float, ...]  # of the plain model, then averages
    accuracies: tuple[float, ...]
    keep: tuple[float, ...]  # from now on
    rate_before: float
    rate: float  # from now on
    cut: bool
    conditions: tuple[bool, bool, bool]
    sigma: float


class Record(Protocol):
    """What a run is told of a loop."""

    def _spent(self, counts: dict[str, int]) -> None: ...

    def _verdict(self, guide: Any, verdict: Any) -> None: ...


class Guide:
    """The library's rules of what is due: scores in, verdicts out. It sees no weights."""

    def __init__(self, iterations: int = 0, **settings: Any) -> None:
        config = Config(NULL)
        config.set(settings)
        made = ffi.new("struct retain_guide **")
        check(lib.retain_guide_new(made, config.it, iterations, here.err))
        self.it = ffi.gc(made[0], lib.retain_guide_free)
        self.raw = ffi.new("struct retain_verdict *")
        self._due = ffi.new("struct retain_due *")
        self._scores = ffi.new("struct retain_score[3]")

    def due(self) -> Due:
        due = self._due
        check(lib.retain_guide_due(self.it, due, here.err))
        keep = tuple(due.keep[i] for i in range(due.averages))
        return Due(
            due.iteration, due.rate, bool(due.move), bool(due.statistics), bool(due.validate), bool(due.window),
            due.serving, keep,
        )

    def done(self, scores: Optional[Sequence[tuple[float, float]]] = None) -> Optional[Verdict]:
        """Completes the iteration: (loss, accuracy) of each model, if it was validated."""
        count = len(scores or ())
        if count > len(self._scores):
            raise InputError(f"{count} scores: there are at most {len(self._scores)} models")
        for i, score in enumerate(scores or ()):
            try:
                self._scores[i].loss, self._scores[i].accuracy = score
            except (TypeError, ValueError):
                raise InputError(f"score {score!r} of model {i}: (loss, accuracy) is needed") from None
        v = self.raw
        check(lib.retain_guide_done(self.it, self._scores if count else NULL, count, v, here.err))
        if not v.window:
            return None
        averages = self.due().keep
        models = range(1 + len(averages))
        return Verdict(
            v.iteration, v.best, v.rounds, tuple(v.scores[i].loss for i in models),
            tuple(v.scores[i].accuracy for i in models), averages, v.rate_before, v.rate_after, bool(v.cut),
            (bool(v.c1), bool(v.c2), bool(v.c3)), v.sigma,
        )

    def task(self, iterations: int) -> None:
        """Begins a task of this many iterations: a cyclic rate restarts."""
        check(lib.retain_guide_task(self.it, iterations, here.err))

    def state_dict(self) -> torch.Tensor:
        """As bytes in a tensor, which ``torch.load`` reads without pickle."""
        return packed(lib.retain_guide_pack, self.it)

    def load_state_dict(self, state: torch.Tensor) -> None:
        unpack(lib.retain_guide_unpack, self.it, state)


def packed(function: Any, it: Any) -> torch.Tensor:
    size = ffi.new("size_t *")
    check(function(it, NULL, size, here.err))
    # A state may take a little more the second time: a clock went on.
    size[0] += 64
    made = np.empty(size[0], np.uint8)
    check(function(it, ffi.from_buffer(made), size, here.err))
    return torch.from_numpy(made[: size[0]].copy())


def unpack(function: Any, it: Any, state: torch.Tensor) -> None:
    made = np.ascontiguousarray(state.cpu().numpy(), np.uint8)
    check(function(it, ffi.from_buffer(made), made.nbytes, here.err))


def cross_entropy(model: Callable[..., Any], batch: Inputs) -> tuple[float, float]:
    """The mean cross-entropy and accuracy of a model on (inputs, labels)."""
    inputs, labels = batch
    logits = model(inputs)
    labels = labels.to(logits.device)
    loss = torch.nn.functional.cross_entropy(logits.float(), labels.long())
    return float(on_host(loss)), float(on_host((logits.argmax(1) == labels).float().mean()))


def _float_tensors(named: Any) -> Weights:
    return {name: one for name, one in named if one.is_floating_point() or one.is_complex()}


def _like(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and one.device == other.device


class AMA:
    """Averages of ``net``'s parameters: two that adapt (ama), one (ema) or none.

    After ``optimizer.step()`` call ``step``, which updates the averages and validates when
    due. ``rule`` is window, swap or paper, ``every`` the iterations between two updates. ``evaluate``
    takes a function like the module and a validation batch and returns (loss, accuracy); the
    default is cross-entropy of (inputs, labels). Other settings: ``schedule_window=1000``,
    ``schedule_validate_every=20``, ``average_gamma=0.99``, ...
    """

    def __init__(
        self,
        net: Module,
        rule: str = "window",
        *,
        kind: str = "ama",
        every: int = 10,
        evaluate: Evaluate = cross_entropy,
        **settings: Any,
    ) -> None:
        refuse_scripts(net)
        self.net, self.evaluate = net, evaluate
        self.run: Optional[Record] = None
        self._schedule: Optional[Schedule] = None
        self._settings = {"average_kind": kind, "average_rule": rule, "average_every": every, **settings}
        self._settings.setdefault("schedule_kind", "constant")
        self.guide = Guide(**self._settings)
        self.due = self.guide.due()
        with torch.no_grad():
            self.params = [
                {name: one.detach().clone() for name, one in self._plain().items()} for _ in self.due.keep
            ]
            self.buffers = [
                {name: one.detach().clone() for name, one in net.named_buffers()} for _ in self.due.keep
            ]

    def _plain(self) -> Weights:
        return _float_tensors(self.net.named_parameters())

    @property
    def iteration(self) -> int:
        """The number of the next iteration: the argument of ``Memory.draw``."""
        return self.due.iteration

    @property
    def serving(self) -> int:
        """The model that predicts best: 0 the plain one, 1 or 2 an average."""
        return self.due.serving

    def _follow(self, schedule: Schedule, settings: dict[str, Any]) -> None:
        if self.due.iteration != 1 or self._schedule is not None:
            raise StateError("a schedule is made before the first iteration, and only one")
        self._settings.update(settings)
        self.guide = Guide(schedule.iterations, **self._settings)
        self.due = self.guide.due()
        self._schedule = schedule

    def _move(self) -> int:
        plain = self._plain()
        for average, keep in zip(self.params, self.due.keep):
            if plain.keys() != average.keys() or not all(_like(plain[n], average[n]) for n in plain):
                raise StateError("the module's parameters are not those that the averages began with, in names, shapes, types and devices")
            # In the order of the module's tensors, in few kernels, where they are.
            torch._foreach_lerp_(list(average.values()), [plain[name].detach() for name in average], 1 - keep)
        # Statistics follow; passes in training mode correct them.
        own = dict(self.net.named_buffers())
        now = _float_tensors((name, own[name]) for name in self._statistics())
        for buffers, keep in zip(self.buffers, self.due.keep):
            for name, one in now.items():
                buffers[name].lerp_(one, 1 - keep)
        return len(self.params)

    def _statistics(self) -> list[str]:
        """The buffers that batch norm changes in training."""
        norms = torch.nn.modules.batchnorm._NormBase
        return [
            f"{prefix}.{name}".lstrip(".")
            for prefix, one in self.net.named_modules()
            if isinstance(one, norms)
            for name, _ in one.named_buffers(recurse=False)
        ]

    def _gather_statistics(self, batch: Any) -> int:
        """Averaged weights need batch-norm statistics of their own: a pass in training mode."""
        if not self._statistics():
            return 0
        if batch is None:
            raise InputError("the module has batch norm: step(batch=inputs) is needed for the averages' statistics")
        was = self.net.training
        self.net.train()
        try:
            # Dropout in them is none of the loop's.
            with seeded(self.due.iteration, next(self.net.parameters()).device):
                for params, buffers in zip(self.params, self.buffers):
                    torch.func.functional_call(self.net, {**params, **buffers}, (batch,))
        finally:
            self.net.train(was)
        return len(batch) * len(self.params)

    def grow(self) -> None:
        """Follows a module whose tensors grew: averages keep their values and take new parts from the module."""
        tables = ((self.params, self._plain()), (self.buffers, dict(self.net.named_buffers())))
        with torch.no_grad():
            for kept, now in tables:
                for at, old in enumerate(kept):
                    kept[at] = {name: self._grown(old.get(name), one.detach()) for name, one in now.items()}

    @staticmethod
    def _grown(old: Optional[torch.Tensor], new: torch.Tensor) -> torch.Tensor:
        if old is not None and old.shape == new.shape:
            return old
        made = new.clone()
        if old is not None and old.dim() == new.dim() and all(a <= b for a, b in zip(old.shape, new.shape)):
            made[tuple(slice(0, size) for size in old.shape)] = old
        return made

    def model(self, index: Optional[int] = None) -> Callable[..., Any]:
        """A function like the module, for inference: the plain model (0), an average, or the serving model."""
        index = self.serving if index is None else index
        if not 0 <= index <= len(self.params):
            raise InputError(f"model {index}: there are {1 + len(self.params)}")

        def call(*inputs: Any, **named: Any) -> Any:
            was = self.net.training
            self.net.eval()
            try:
                with torch.no_grad():
                    if not index:
                        return self.net(*inputs, **named)
                    weights = {**self.params[index - 1], **self.buffers[index - 1]}
                    return torch.func.functional_call(self.net, weights, inputs, named)
            finally:
                self.net.train(was)

        return call

    def predict(self, inputs: Any) -> Any:
        """The module's output with the serving weights."""
        return self.model()(inputs)

    def weights(self, index: Optional[int] = None) -> Weights:
        """A state dict for the module: the serving weights, or a model's."""
        index = self.serving if index is None else index
        made = dict(self.net.state_dict())
        if index:
            made.update(self.params[index - 1])
            made.update({name: one for name, one in self.buffers[index - 1].items() if name in made})
            made.update({name: made[of] for name, of in other_names(self.net).items() if name in made})
        return {name: one.detach().clone() for name, one in made.items()}

    @contextlib.contextmanager
    def applied(self, index: Optional[int] = None) -> Iterator[Module]:
        """Context manager: the module itself with these weights; its own return on exit."""
        kept = {name: one.detach().clone() for name, one in self.net.state_dict().items()}
        self.net.load_state_dict(self.weights(index))
        try:
            yield self.net
        finally:
            self.net.load_state_dict(kept)

    def _validate(self, validation: Any) -> tuple[Optional[list[tuple[float, float]]], int]:
        batch = validation() if callable(validation) else validation
        if batch is None:
            return None, 0
        scores = [self.evaluate(self.model(index), batch) for index in range(1 + len(self.params))]
        return scores, len(batch[-1]) * len(scores)

    def step(self, validation: Union[Inputs, Callable[[], Optional[Inputs]], None] = None, batch: Any = None, samples: int = 0) -> Optional[Verdict]:
        """Completes an iteration after the optimizer's step; returns the verdict if a window ends.

        ``validation`` is a batch or, better, a function that returns one, called only when it is
        due; None while there is none. ``batch`` are the inputs of the step, for batch norm and to
        count them for a run (or ``samples`` says how many they were).
        """
        due, counts = self.due, {"iterations": 1, "updates": 1, "trained": samples or (0 if batch is None else len(batch))}
        scores = None
        with torch.no_grad():
            if due.move:
                counts["moves"] = self._move()
            if due.statistics and self.params:
                counts["statistics"] = self._gather_statistics(batch)
            if due.validate and validation is not None:
                scores, counts["validated"] = self._validate(validation)
            verdict = self.guide.done(scores)
            self.due = self.guide.due()
            if verdict is not None and len(self.params) == 2:
                self._copy(verdict.best - 1)
        if self.run is not None:
            self.run._spent(counts)
            if verdict is not None:
                self.run._verdict(self.guide.it, self.guide.raw)
        if self._schedule is not None:
            self._schedule.apply()
        return verdict

    def _copy(self, best: int) -> None:
        for kept in (self.params, self.buffers):
            for name, one in kept[1 - best].items():
                one.copy_(kept[best][name])

    def state_dict(self) -> dict[str, Any]:
        """Averages and all decisions so far, for ``torch.save``."""
        return {
            "guide": self.guide.state_dict(),
            "params": [dict(one) for one in self.params],
            "buffers": [dict(one) for one in self.buffers],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for kept, saved in ((self.params, state["params"]), (self.buffers, state["buffers"])):
            if len(kept) != len(saved) or any(a.keys() != b.keys() for a, b in zip(kept, saved)):
                raise InputError("the state is of averages of another module, or of another kind")
            for now, then in zip(kept, saved):
                for name, one in now.items():
                    if one.shape != then[name].shape:
                        raise InputError(f"{name}: the state has the shape {tuple(then[name].shape)}, not {tuple(one.shape)}")
        self.guide.load_state_dict(state["guide"])
        with torch.no_grad():
            for kept, saved in ((self.params, state["params"]), (self.buffers, state["buffers"])):
                for now, then in zip(kept, saved):
                    for name, one in now.items():
                        one.copy_(then[name])
        self.due = self.guide.due()
        if self._schedule is not None:
            self._schedule.apply()


class Schedule:
    """An optimizer's rate by one of the library's schedules: constant, cosine, cyclic, rwp, malr.

    The initial rate is that of the optimizer's first group; other groups keep their ratio to it. Created
    before the first iteration, it follows the iterations of ``ama`` by itself. ``window`` and
    ``patience`` are in iterations; ``iterations`` is the length of the run, for a cosine.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        ama: AMA,
        kind: str,
        *,
        window: Optional[int] = None,
        patience: Optional[int] = None,
        iterations: int = 0,
        **settings: Any,
    ) -> None:
        self.optimizer, self.ama, self.iterations = optimizer, ama, iterations
        first = float(optimizer.param_groups[0]["lr"])
        if not first > 0:
            raise InputError(f"optimizer: its rate is {first}; it must be above 0")
        self.ratios = [float(group["lr"]) / first for group in optimizer.param_groups]
        said: dict[str, Any] = {"schedule_kind": kind, "schedule_rate": repr(first)}
        if window is not None:
            said["schedule_window"] = window
        if patience is not None:
            said["schedule_patience"] = patience
        ama._follow(self, {**said, **settings})
        self.apply()

    @property
    def rate(self) -> float:
        """The rate of the next iteration."""
        return self.ama.due.rate

    def apply(self) -> None:
        """Sets the rate of the next iteration in the optimizer."""
        for group, ratio in zip(self.optimizer.param_groups, self.ratios):
            rate = self.rate * ratio
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def state_dict(self) -> dict[str, Any]:
        """The ratios of groups; everything else is in the averages' state."""
        return {"ratios": list(self.ratios)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if len(state["ratios"]) != len(self.optimizer.param_groups):
            raise InputError(f"the state is of {len(state['ratios'])} groups, the optimizer has {len(self.optimizer.param_groups)}")
        self.ratios = list(state["ratios"])
        self.apply()


class MALR(Schedule):
    """Multiplies the rate by ``factor`` when the averages have not improved and their lead over the plain
    model has not grown for ``patience`` iterations, and that lead is above ``epsilon``."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        ama: AMA,
        epsilon: float = 0.03,
        *,
        factor: float = 0.5,
        window: Optional[int] = None,
        patience: Optional[int] = None,
        **settings: Any,
    ) -> None:
        said = {"schedule_epsilon": epsilon, "schedule_factor": factor, **settings}
        super().__init__(optimizer, ama, "malr", window=window, patience=patience, **said)
