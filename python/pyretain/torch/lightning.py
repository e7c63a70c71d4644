"""Callbacks for Lightning: averages, a learning rate that follows them, and the report.

``Trainer(callbacks=[ama := AMA(validation=loader), MALR(ama), Report(ama, "runs/x")])``. Validation, test and
prediction of the trainer then use the weights that serve. The state is in Lightning's checkpoints.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, Callable, Iterator, Optional

from pyretain._core import InputError, StateError
from pyretain.torch import averages
from pyretain.torch.run import Run


def _callback() -> Any:
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if importlib.util.find_spec(name.split(".")[0]) is not None:
            return importlib.import_module(name + ".callbacks").Callback
    raise ImportError("neither lightning nor pytorch-lightning is installed")


Callback: Any = _callback()


def first(batch: Any) -> Any:
    """The inputs of a batch that is a tuple or a list, as most are."""
    return batch[0] if isinstance(batch, (tuple, list)) else batch


class AMA(Callback):  # type: ignore[misc]
    """Averages of the module's weights, as ``pyretain.torch.AMA``.

    ``validation`` is a loader, repeated as needed, or a function that returns a batch
    (``lambda: memory.held(k, 128)``). ``inputs`` extracts a batch's inputs, for batch norm and to count.
    """

    def __init__(self, validation: Any = None, inputs: Callable[[Any], Any] = first, **settings: Any) -> None:
        self.validation, self.inputs, self.settings = validation, inputs, settings
        self.schedule: Optional[tuple[str, dict[str, Any]]] = None
        self.ama: Optional[averages.AMA] = None
        self.rates: Optional[averages.Schedule] = None
        self._state: Optional[dict[str, Any]] = None
        self._batches: Optional[Iterator[Any]] = None
        self._applied: Any = None
        self._step = 0

    def made(self) -> averages.AMA:
        """The averages; an error before training begins."""
        if self.ama is None:
            raise StateError("the averages are made when training begins")
        return self.ama

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if self.ama is None:
            self.ama = averages.AMA(pl_module, **self.settings)
            if self.schedule is not None:
                if len(trainer.optimizers) != 1:
                    raise InputError(f"MALR leads the rate of one optimizer, and there are {len(trainer.optimizers)}")
                kind, settings = self.schedule
                self.rates = averages.Schedule(trainer.optimizers[0], self.ama, kind, **settings)
        if self._state is not None:
            self.ama.load_state_dict(self._state["ama"])
            if self.rates is not None:
                self.rates.load_state_dict(self._state["rates"])
            self._state = None
        self._step = trainer.global_step

    def _batch(self, device: Any) -> Any:
        if callable(self.validation):
            batch = self.validation()
        else:
            batch = next(self._batches, None) if self._batches is not None else None
            if batch is None:
                self._batches = iter(self.validation)
                batch = next(self._batches)
        return None if batch is None else tuple(one.to(device) for one in batch)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.global_step == self._step:
            return  # Gradients are being accumulated: no step was made.
        self._step = trainer.global_step
        self.made().step(
            None if self.validation is None else lambda: self._batch(pl_module.device), batch=self.inputs(batch)
        )

    def _apply(self) -> None:
        if self.ama is not None and self._applied is None:
            self._applied = self.ama.applied()
            self._applied.__enter__()

    def _take_back(self) -> None:
        if self._applied is not None:
            self._applied.__exit__(None, None, None)
            self._applied = None

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._apply()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._take_back()

    on_test_start = on_predict_start = on_validation_start
    on_test_end = on_predict_end = on_validation_end

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._take_back()

    def state_dict(self) -> dict[str, Any]:
        if self.ama is None:
            return self._state or {}
        return {"ama": self.ama.state_dict(), "rates": self.rates.state_dict() if self.rates else {}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._state = state_dict or None


class MALR(Callback):  # type: ignore[misc]
    """The optimizer's rate follows the averages of ``ama``; ``kind`` may be any of the library's schedules."""

    def __init__(self, ama: AMA, epsilon: float = 0.03, kind: str = "malr", **settings: Any) -> None:
        self.ama = ama
        ama.schedule = (kind, {"schedule_epsilon": epsilon, **settings})

    @property
    def rate(self) -> float:
        """The rate of the next iteration."""
        return self.ama.made().due.rate


class Report(Callback):  # type: ignore[misc]
    """A run folder with metrics, events and report.html.

    Each training batch, if it is (inputs, labels), is predicted before it is trained on: LE. With
    ``predict=False``, for batches that are not a stream, it is not. A row of metrics is written after
    each of the trainer's validations and at the end.
    """

    def __init__(self, ama: AMA, folder: str, predict: bool = True, **settings: Any) -> None:
        self.ama, self.folder, self.predict, self.settings = ama, folder, predict, settings
        self.run: Optional[Run] = None
        self._state: Optional[dict[str, Any]] = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if self.ama.ama is None:
            raise StateError("Report comes after AMA in the list of callbacks")
        if self.run is None:
            self.run = Run(self.folder, ama=self.ama.ama, **self.settings)
        if self._state is not None:
            self.run.load_state_dict(self._state)
            self._state = None

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if self.predict and self.run is not None:
            inputs, labels = batch[0], batch[1]
            self.run.revealed(self.run.predicted(self.ama.made().predict(inputs)), labels)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if self.run is not None and not trainer.sanity_checking:
            self.run.evaluate()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self.run is not None:
            self.run.evaluate()
            self.run.finish()
            self.run.report()

    def state_dict(self) -> dict[str, Any]:
        return self.run.state_dict() if self.run is not None else self._state or {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._state = state_dict or None
