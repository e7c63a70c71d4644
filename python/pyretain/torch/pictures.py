"""Pictures for a loop of your own: retain's decoder and augmentation, on threads of their own.

``Pictures(memory)`` has the methods of a ``Memory`` whose first field is pictures: names of files,
their bytes, or pixels. It gives them as the module's input, and makes the next batch while the
module computes. What a batch holds follows from the seed, the iteration and the row alone: it is
what ``retain run`` trains on, with or without prefetching, on any number of threads.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import os
import warnings
import weakref
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
import torch

from pyretain._core import ERRORS, InputError, RetainError, RetainWarning, StateError
from pyretain.command import inside
from pyretain.torch.memory import Batch, Ids, Memory, Path
from pyretain.torch.vectors import can_pin

Names = Union[Sequence[str], Sequence[bytes], torch.Tensor, npt.NDArray[np.uint8]]
Numbers = Union[float, Sequence[float]]
BAD_MOST = 10_000  # unreadable pictures that are remembered by name


class _Picture(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Err(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512)]


class _List(NamedTuple):
    """Pictures as the library takes them, their shape if they are pixels, and what must be kept meanwhile."""

    items: Any
    shape: tuple[int, ...]
    kept: Any


class Loaded(NamedTuple):
    """Pictures as inputs. ``rows[i]`` is the picture in row i: i, unless that is unreadable."""

    inputs: torch.Tensor
    rows: npt.NDArray[np.int64]


Made = tuple[Loaded, dict[str, str]]  # a batch as the threads made it, and what could not be read


class _Guess(NamedTuple):
    """A batch that is being made for an iteration, with the other fields of its records."""

    iteration: int
    ids: Ids
    rest: list[Any]
    made: "concurrent.futures.Future[Made]"


def _raise(err: _Err) -> None:
    raise ERRORS.get(err.code, RetainError)(err.message.decode("utf-8", "replace"))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


class _Threads:
    """The library's object, and the thread of this process that waits for it."""

    def __init__(self, settings: Sequence[str], shape: Sequence[int]) -> None:
        self.library = inside()
        self.library.retain_pictures_close.restype = None
        self.library.retain_pictures_shape.restype = None
        self.it, err, self.process = ctypes.c_void_p(), _Err(), os.getpid()
        words = (ctypes.c_char_p * (len(settings) + 1))(*[one.encode() for one in settings], None)
        given, made = (ctypes.c_int * 3)(*shape), (ctypes.c_int * 3)()
        if self.library.retain_pictures_open(ctypes.byref(self.it), words, given, ctypes.byref(err)):
            _raise(err)
        self.library.retain_pictures_shape(self.it, made)
        self.shape = tuple(made)
        self.ahead = concurrent.futures.ThreadPoolExecutor(1, "pictures")

    def close(self) -> None:
        """Of a process that was forked nothing is closed: its parent has the threads."""
        if self.it and self.process == os.getpid():
            self.ahead.shutdown()
            self.library.retain_pictures_close(self.it)
        self.it = ctypes.c_void_p()

    def make(self, of: _List, iteration: int, pin: bool) -> Made:
        """A batch, and why pictures could not be read, by name. Python's lock is free meanwhile."""
        count = len(of.items)
        rows = np.empty(count, np.int64)
        out = torch.empty((count, *self.shape), dtype=torch.float32, pin_memory=pin)
        errs, err = (_Err * count)(), _Err()
        if self.library.retain_pictures_read(
            self.it, of.items, count, ctypes.c_int64(iteration), ctypes.c_void_p(out.data_ptr()),
            ctypes.c_void_p(rows.ctypes.data), errs, ctypes.byref(err),
        ):  # fmt: skip
            _raise(err)
        bad = np.flatnonzero(rows != np.arange(count))
        why = {os.fsdecode(of.items[i].name): errs[i].message.decode("utf-8", "replace") for i in bad.tolist()}
        return Loaded(out, rows), why


class Pictures:
    """A memory's pictures as batches or, without a memory, pictures by ``load``.

    ``size``, ``transform``, ``resize``, ``flip``, ``channels``, ``mean`` and ``std`` are keys of the
    library's section ``image``, with its defaults: photos become 3x224x224, randomly cropped in
    training. ``seed`` is the augmentation's, like ``run_seed``; ``threads`` -1 means as many as there are
    processors. File names are relative to ``root``. Batches are in pinned memory where there is a
    device that copies from it, unless ``pin`` says otherwise. ``prefetch=False`` disables prefetching.

    An unreadable picture is not fatal: the nearest readable one before it in the batch, or
    else after it, takes its place with all of its fields. ``bad`` says why, by name; ``replaced``
    counts rows. A batch without any readable picture is an error.
    """

    def __init__(
        self,
        memory: Optional[Memory] = None,
        *,
        size: Optional[int] = None,
        transform: Optional[str] = None,
        resize: Optional[int] = None,
        flip: Optional[bool] = None,
        channels: Optional[int] = None,
        mean: Optional[Numbers] = None,
        std: Optional[Numbers] = None,
        seed: int = 1,
        threads: int = -1,
        root: Path = "",
        pin: Optional[bool] = None,
        prefetch: bool = True,
    ) -> None:
        said = {
            "image.size": size, "image.transform": transform, "image.resize": resize, "image.flip": flip,
            "image.channels": channels, "image.mean": mean, "image.std": std, "run.seed": seed, "stream.loaders": threads,
        }  # fmt: skip
        self.memory, self.root, self.prefetch = memory, os.fspath(root), prefetch
        self.pin = can_pin() if pin is None else pin
        self.bad: dict[str, str] = {}
        self.replaced = 0
        self._settings = [f"{key}={_written(value)}" for key, value in said.items() if value is not None]
        self._begin()
        self._ready((0, 0, 0))  # so that settings are checked now

    def _begin(self) -> None:
        self._threads: Optional[_Threads] = None
        self._given: Optional[tuple[int, ...]] = None
        self._guess: Optional[_Guess] = None
        self._step, self._drawn, self._usual = -1, 0, -1
        self._closed = False

    def __getstate__(self) -> dict[str, Any]:
        names = ("memory", "root", "prefetch", "_settings")
        return {"bad": {}, "replaced": 0, "pin": False, **{name: getattr(self, name) for name in names}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _ready(self, shape: tuple[int, ...]) -> _Threads:
        """Threads of this process for such pictures; a process that was forked has none yet."""
        if self._closed:
            raise StateError("the pictures are closed")
        found = self._threads
        if found is not None and found.process == os.getpid() and self._given == shape:
            return found
        self._drop()
        if found is not None:
            self.pin = self.pin and found.process == os.getpid()  # a process that was forked has no device
            found.close()
        made = self._threads = _Threads(self._settings, shape)
        self._given = shape
        weakref.finalize(self, made.close)
        return made

    def _drop(self) -> None:
        """Lets what was made ahead go."""
        if self._guess is not None and self._threads is not None and self._threads.process == os.getpid():
            concurrent.futures.wait([self._guess.made])
        self._guess = None

    def _list(self, pictures: Names, called: Optional[Sequence[str]] = None) -> _List:
        count = len(pictures)
        made, shape, kept = (_Picture * count)(), (0, 0, 0), pictures
        if isinstance(pictures, (torch.Tensor, np.ndarray)):
            kept = pixels = np.ascontiguousarray(pictures)
            if pixels.dtype != np.uint8 or pixels.ndim not in (3, 4):
                raise InputError(f"pictures are {pixels.dtype} of shape {pixels.shape}: uint8 of (count, channels, height, width) is needed")
            shape = (*([1] * (4 - pixels.ndim)), *pixels.shape[1:])
            for i, one in enumerate(made):
                one.bytes, one.size = pixels[i].ctypes.data, pixels[i].size
        else:
            for one, value in zip(made, pictures):
                if isinstance(value, str):
                    one.name = os.fsencode(os.path.join(self.root, value))
                elif isinstance(value, bytes):
                    one.bytes, one.size = ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p), len(value)
                else:
                    raise InputError(f"a picture is {type(value).__name__}: names of files, bytes or uint8 pixels are needed")
        for i, one in enumerate(made):
            if one.name is None:
                one.name = (called[i] if called else f"picture {i}").encode()
        return _List(made, shape, kept)

    def _records(self, ids: Ids) -> tuple[_List, list[Any]]:
        """The pictures of records, and their other fields."""
        pictures, *rest = self._memory().read(ids)
        return self._list(pictures, [f"record {id}" for id in ids]), rest

    def _make(self, of: _List, iteration: int = -1) -> Made:
        return self._ready(of.shape).make(of, iteration, self.pin)

    def _memory(self) -> Memory:
        if self.memory is None:
            raise StateError("the pictures have no memory; give one, or use load")
        return self.memory

    def _give(self, made: Made, rest: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The fields of a batch. Notes what could not be read: only here, so that threads do not matter."""
        (inputs, rows), why = made
        if not why:
            return (inputs, *rest)
        self.replaced += int((rows != np.arange(len(rows))).sum())
        for name, sentence in why.items():
            if name in self.bad or len(self.bad) >= BAD_MOST:
                continue
            self.bad[name] = sentence
            count = len(self.bad)
            if str(count).rstrip("0") in ("1", "2", "5"):
                warnings.warn(f"{sentence}; left out ({count} so far)", RetainWarning, stacklevel=3)
        return (inputs, *[[one[i] for i in rows] if isinstance(one, list) else one[torch.from_numpy(rows)] for one in rest])

    def load(self, pictures: Names, iteration: Optional[int] = None) -> Loaded:
        """Pictures as inputs: as for evaluation, or augmented as the training batch of an iteration."""
        made = self._make(self._list(pictures), -1 if iteration is None else iteration)
        self._give(made)
        return made[0]

    def read(self, ids: Any) -> tuple[Any, ...]:
        """The fields of records, pictures as for evaluation."""
        list_, rest = self._records(np.ascontiguousarray(ids, np.int64))
        return self._give(self._make(list_), rest)

    def held(self, iteration: int, count: int) -> Optional[tuple[Any, ...]]:
        """The fields of a validation batch; None while nothing is held out."""
        ids = self._memory().held_ids(iteration, count)
        return None if ids is None else self.read(ids)

    def draw(self, iteration: int, count: int) -> Optional[Batch]:
        """The training batch of an iteration, augmented; None while there is nothing to draw from.

        Starts prefetching the next iteration's batch, unless the memory will probably be added to before.
        """
        drawn = self._memory().draw_ids(iteration, count)
        if drawn is None:
            return None
        ids, weights, fresh = drawn
        guess = self._guessed(iteration, ids)
        if guess is not None:
            made, rest = guess.made.result(), guess.rest
        else:
            list_, rest = self._records(ids)
            made = self._make(list_, iteration)
        fields, rows = self._give(made, rest), made[0].rows
        if self.prefetch and self._goes_on():
            self._expect(iteration + 1, count)
        return Batch(ids[rows], fields, torch.from_numpy(weights), torch.from_numpy(fresh[rows]))

    def _guessed(self, iteration: int, ids: Ids) -> Optional[_Guess]:
        """What was made ahead, if it is this. What went wrong goes wrong again where it is asked for."""
        guess = self._guess
        self._drop()
        if guess is None or self._threads is None or self._threads.process != os.getpid():
            return None
        if guess.iteration != iteration or not np.array_equal(ids, guess.ids) or guess.made.exception() is not None:
            return None
        return guess

    def _goes_on(self) -> bool:
        """Whether this step has another iteration: one has probably as many as the one before."""
        step = self._memory().facts.steps
        if step != self._step:
            self._step, self._usual, self._drawn = step, self._drawn or -1, 0
        self._drawn += 1
        return self._drawn != self._usual

    def _expect(self, iteration: int, count: int) -> None:
        """Records are read here: a memory may be closed or lose them while threads are at work."""
        drawn = self._memory().draw_ids(iteration, count)
        if drawn is None:
            return
        list_, rest = self._records(drawn[0])
        threads = self._ready(list_.shape)
        self._guess = _Guess(iteration, drawn[0], rest, threads.ahead.submit(threads.make, list_, iteration, self.pin))

    def close(self) -> None:
        """Ends the threads, after the batch in progress."""
        self._drop()
        if self._threads is not None:
            self._threads.close()
        self._closed = True

    def __enter__(self) -> Pictures:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
