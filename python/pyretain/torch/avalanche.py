"""Plugins for Avalanche: averages, a learning rate that follows them, and replay from disk.

``Naive(..., plugins=[Replay(memory, 64), ama := AMA(validation=...), MALR(ama, optimizer)])``. Evaluation uses the weights
that serve.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Optional

import torch

from pyretain.torch import averages
from pyretain.torch.memory import Memory

Plugin: Any = importlib.import_module("avalanche.training.plugins").SupervisedPlugin


class AMA(Plugin):  # type: ignore[misc]
    """Averages of the strategy's model, as ``pyretain.torch.AMA``. It follows a growing head.

    ``validation`` is a function that returns a batch (inputs, labels), or None while there is none.
    """

    def __init__(self, validation: Optional[Callable[[], Any]] = None, **settings: Any) -> None:
        super().__init__()
        self.validation, self.settings = validation, settings
        self.schedule: Optional[tuple[Any, dict[str, Any]]] = None
        self.ama: Optional[averages.AMA] = None
        self.rates: Optional[averages.Schedule] = None
        self._applied: Any = None

    def before_training_exp(self, strategy: Any, **kwargs: Any) -> None:
        if self.ama is None:
            self.ama = averages.AMA(strategy.model, **self.settings)
            if self.schedule is not None:
                optimizer, settings = self.schedule
                self.rates = averages.Schedule(optimizer, self.ama, **settings)
        self.ama.grow()
        if self.rates is not None:
            self.rates.apply()

    def _batch(self, device: Any) -> Any:
        batch = self.validation() if self.validation else None
        return None if batch is None else tuple(one.to(device) for one in batch[:2])

    def after_update(self, strategy: Any, **kwargs: Any) -> None:
        if self.ama is not None:
            self.ama.step(lambda: self._batch(strategy.device), batch=strategy.mb_x)

    def before_eval(self, strategy: Any, **kwargs: Any) -> None:
        if self.ama is not None and self._applied is None:
            self.ama.grow()
            self._applied = self.ama.applied()
            self._applied.__enter__()

    def after_eval(self, strategy: Any, **kwargs: Any) -> None:
        if self._applied is not None:
            self._applied.__exit__(None, None, None)
            self._applied = None


class MALR(Plugin):  # type: ignore[misc]
    """The optimizer's rate follows the averages of ``ama``; ``kind`` may be any of the library's schedules."""

    def __init__(self, ama: AMA, optimizer: torch.optim.Optimizer, epsilon: float = 0.03, kind: str = "malr", **settings: Any) -> None:
        super().__init__()
        self.ama = ama
        ama.schedule = (optimizer, {"kind": kind, "schedule_epsilon": epsilon, **settings})


class Replay(Plugin):  # type: ignore[misc]
    """Replay from a ``Memory``: each batch gets ``batch`` more samples drawn from it.

    An experience's samples are added when its training begins, ``chunk`` per time step.
    ``encode`` turns inputs into records, as ``lambda x: (255 * x).byte()``, and ``decode`` records into inputs.
    """

    def __init__(
        self,
        memory: Memory,
        batch: int = 64,
        *,
        encode: Callable[[torch.Tensor], torch.Tensor] = lambda x: x,
        decode: Callable[[torch.Tensor], torch.Tensor] = lambda x: x,
        chunk: int = 1024,
        workers: int = 0,
    ) -> None:
        super().__init__()
        self.memory, self.batch, self.encode, self.decode = memory, batch, encode, decode
        self.chunk, self.workers, self.iteration = chunk, workers, 0

    def before_training_exp(self, strategy: Any, **kwargs: Any) -> None:
        loader: Any = torch.utils.data.DataLoader(strategy.experience.dataset, self.chunk, num_workers=self.workers)
        for inputs, labels, *tasks in loader:
            task = tasks[0] if tasks else torch.zeros(len(labels), dtype=torch.long)
            self.memory.add(self.encode(inputs), torch.as_tensor(task), torch.as_tensor(labels))

    def before_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        self.iteration += 1
        drawn = self.memory.draw(self.iteration, self.batch)
        if drawn is None:
            return
        inputs, tasks, labels = drawn.fields
        more = [self.decode(inputs), labels, tasks][: len(strategy.mbatch)]
        strategy.mbatch = [torch.cat((now, then.to(now.device, now.dtype))) for now, then in zip(strategy.mbatch, more)]

    def validation(self, count: int = 128) -> Optional[tuple[Any, Any]]:
        """A batch of held-out samples, for ``AMA(validation=...)``."""
        held = self.memory.held(self.iteration, count)
        return None if held is None else (self.decode(held[0]), held[2])
