"""What a loop of your own achieves: predictions before labels, evaluations, the page."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
import torch

from pyretain import runs
from pyretain._core import NULL, InputError, StateError, check, ffi, here, lib
from pyretain.config import Config
from pyretain.torch.averages import AMA, packed, unpack
from pyretain.torch.vectors import with_values

Path = Union[str, "os.PathLike[str]"]
Labels = npt.NDArray[np.int32]
TOP = 5


class Metrics(NamedTuple):
    """Accuracies in [0, 1], nan while unknown. ``ir`` and ``ft`` are from the last evaluation."""

    steps: int
    samples: int
    iterations: int
    le: float
    blind: float
    same: float
    most: float
    recent: float
    ir: float
    ir_plain: float
    ft: float
    ft_plain: float
    alarms: float
    cost: float
    chain: float
    kappa: float


def _whole(values: Any) -> Labels:
    values = with_values(values).cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
    if values.dtype.kind not in "iub":
        raise InputError(f"labels are of type {values.dtype}; whole numbers are needed")
    return np.ascontiguousarray(values, np.int32)


def best(logits: torch.Tensor) -> Labels:
    """The most probable classes of each row, best first, at most five."""
    if logits.dim() != 2:
        raise InputError(f"logits have the shape {tuple(logits.shape)}; (count, classes) is needed")
    return _whole(with_values(logits).float().topk(min(TOP, logits.shape[1]), 1).indices)


class Run:
    """The record of a loop, in ``folder`` (None: nothing is written).

    ``predicted`` takes a module's outputs for new inputs and ``revealed`` their labels, whenever they
    come: LE. ``evaluate`` makes a row of metrics, with evaluation data IR and FT. ``budget`` is what a
    step may cost, in iterations of plain SGD with ``batch`` samples; ``iterations`` runs until it is spent.
    ``evaluation`` has data of time bins in order, each (inputs, labels); ``macs`` are the multiply-adds of a
    sample and ``parameters`` the net's, so that updates have a price.
    """

    def __init__(
        self,
        folder: Optional[Path] = None,
        *,
        budget: float = 1,
        batch: int = 64,
        ama: Optional[AMA] = None,
        evaluation: Optional[Sequence[tuple[Any, Any]]] = None,
        evaluations: int = 0,
        macs: float = 0,
        parameters: float = 0,
        ft: tuple[float, float] = (0.1, 0.25),
        **settings: Any,
    ) -> None:
        config = Config(NULL)
        config.set({"run_budget": budget, "run_batch": batch, **(ama._settings if ama else {}), **settings})
        self.folder, self.ama, self.evaluation = None if folder is None else os.fspath(folder), ama, list(evaluation or ())
        plan = ffi.new("struct retain_record_plan *")
        counts = np.array([len(labels) for _, labels in self.evaluation], np.int64)
        plan.bins, plan.evaluations, plan.macs, plan.parameters = len(counts), evaluations, macs, parameters
        plan.samples = ffi.from_buffer("int64_t[]", counts) if len(counts) else NULL
        plan.ft_from, plan.ft_to = ft
        made = ffi.new("struct retain_record **")
        place = NULL if self.folder is None else os.fsencode(self.folder)
        check(lib.retain_record_open(made, config.it, place, plan, here.err))
        self._it = ffi.gc(made[0], lib.retain_record_close)
        self._waiting: dict[int, Labels] = {}
        self._tickets = 0
        self._told = 0
        if ama is not None:
            ama.run = self

    def _handle(self) -> Any:
        if self._it is None:
            raise StateError("the run is closed")
        return self._it

    def predicted(self, answers: Any) -> int:
        """The outputs for new inputs: logits, or one class each. Returns a ticket for their labels."""
        if isinstance(answers, torch.Tensor) and answers.is_floating_point():
            rows = best(answers)
        else:
            rows = _whole(answers)
            rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or not rows.size:
            raise InputError(f"predictions have the shape {rows.shape}; logits or a class for each input are needed")
        self._tickets += 1
        self._waiting[self._tickets] = rows
        return self._tickets

    def revealed(self, ticket: int, labels: Any) -> None:
        """The labels of a ticket, in the order of its inputs: a time step."""
        if ticket not in self._waiting:
            raise InputError(f"ticket {ticket}: is not known, or its labels were revealed")
        rows, labels = self._waiting[ticket], _whole(labels)
        if labels.shape != (len(rows),):
            raise InputError(f"labels have the shape {labels.shape}; ticket {ticket} has {len(rows)} predictions")
        check(
            lib.retain_record_step(
                self._handle(), ffi.from_buffer("int32_t[]", rows), rows.shape[1], ffi.from_buffer("int32_t[]", labels),
                len(rows), here.err,
            )
        )
        del self._waiting[ticket]

    def spent(self, *, iterations: int = 0, trained: int = 0, validated: int = 0, statistics: int = 0, updates: int = 0, moves: int = 0) -> None:
        """Counts work; ``AMA.step`` calls it. All are samples, except iterations, updates and moves."""
        made = ffi.new("struct retain_spent *")
        made.iterations, made.trained, made.validated = iterations, trained, validated
        made.statistics, made.updates, made.moves = statistics, updates, moves
        check(lib.retain_record_spent(self._handle(), made, here.err))
        self._told += 1

    def _spent(self, counts: dict[str, int]) -> None:
        self.spent(**counts)

    def _verdict(self, guide: Any, verdict: Any) -> None:
        check(lib.retain_record_verdict(self._handle(), guide, verdict, here.err))

    @property
    def left(self) -> float:
        """How much the budget still allows for the steps so far, in iterations of plain SGD."""
        left = ffi.new("double *")
        check(lib.retain_record_left(self._handle(), left, here.err))
        return float(left[0])

    def iterations(self) -> Iterator[int]:
        """Yields 0, 1, 2, ... while the budget of the steps so far allows."""
        made = 0
        while self.left > 0:
            told = self._told
            yield made
            made += 1
            if self._told == told:
                raise StateError("an iteration cost nothing: call AMA.step with batch= or samples=, or Run.spent")

    def _hits(self, model: Callable[..., Any]) -> list[tuple[int, int]]:
        made = []
        with torch.no_grad():
            for inputs, labels in self.evaluation:
                answers = best(model(inputs))
                right = answers == _whole(labels)[:, None]
                made.append((int(right[:, 0].sum()), int(right.sum())))
        return made

    def evaluate(self, seen: Optional[float] = None, model: Optional[Callable[..., Any]] = None) -> Metrics:
        """Writes a row of metrics.csv. With evaluation data ``seen`` is how much of the stream the models have
        seen, in [0, 1]; ``model`` is evaluated, by default the one that the averages serve."""
        hits, guide = NULL, self.ama.guide.it if self.ama else NULL
        if self.evaluation and seen is not None:
            if model is None and self.ama is None:
                raise InputError("evaluate: neither a model nor averages to evaluate")
            serving = self._hits(model if model is not None else self.ama.model())  # type: ignore[union-attr]
            plain = self._hits(self.ama.model(0)) if self.ama and model is None else [(-1, -1)] * len(serving)
            hits = ffi.new("struct retain_hits[]", len(serving))
            for at, (now, sgd) in enumerate(zip(serving, plain)):
                hits[at].serving, hits[at].serving_top5 = now
                hits[at].plain, hits[at].plain_top5 = sgd
        bins = len(self.evaluation) if hits is not NULL else 0
        check(lib.retain_record_evaluate(self._handle(), guide, seen or 0, hits, bins, here.err))
        return self.metrics()

    def metrics(self) -> Metrics:
        """The current metrics."""
        made = ffi.new("struct retain_record_metrics *")
        check(lib.retain_record_metrics(self._handle(), made, here.err))
        return Metrics(*(getattr(made, name) for name in Metrics._fields))

    def save(self) -> None:
        """A process that opens the folder continues from here and drops later rows."""
        check(lib.retain_record_save(self._handle(), here.err))

    def finish(self, stopped: bool = False) -> None:
        """Saves, and marks the run as ended."""
        check(lib.retain_record_finish(self._handle(), int(stopped), here.err))

    def report(self) -> runs.Page:
        """Writes the folder's report.html; a notebook shows it inline."""
        if self.folder is None:
            raise StateError("a run without a folder has no report")
        self.save()
        page = runs.Run(self.folder).report()
        page.save(os.path.join(self.folder, "report.html"))
        return page

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint of your own. Predictions that wait for labels are in it."""
        return {
            "record": packed(lib.retain_record_pack, self._handle()),
            "tickets": self._tickets,
            "waiting": {ticket: torch.from_numpy(rows) for ticket, rows in self._waiting.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes back: later rows and events are cut off."""
        unpack(lib.retain_record_unpack, self._handle(), state["record"])
        self._tickets = state["tickets"]
        self._waiting = {ticket: _whole(rows) for ticket, rows in state["waiting"].items()}

    def close(self) -> None:
        """Closes the folder; the next process that opens it drops what was not saved."""
        if self._it is not None:
            ffi.release(self._it)
            self._it = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, raised: object, *more: object) -> None:
        if raised is None:
            self.save()
        self.close()
