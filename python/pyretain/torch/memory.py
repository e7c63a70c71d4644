"""A replay memory for a loop of your own: records on disk, and batches drawn from them.

``Memory.add`` keeps a time step, ``draw`` gives the training batch of an iteration, ``held`` one of
what is held out for validation. A draw is a function of the seed, the iteration and the position,
and what was added is on disk: a process killed at any moment goes on with the same draws.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
import torch

from pyretain._core import NULL, FormatError, InputError, StateError, check, ffi, here, lib
from pyretain.config import Config

Path = Union[str, "os.PathLike[str]"]
Ids = npt.NDArray[np.int64]
ITEM = np.dtype([("bytes", np.uint64), ("size", np.uint64), ("label", np.int32), ("reserved", np.int32)])
FIELDS = "fields.json"


class Field:
    """What one field of a record is: numbers of one type and shape, or bytes or text of any length."""

    def __init__(self, kind: str, shape: Sequence[int] = ()) -> None:
        self.kind, self.shape = kind, tuple(shape)
        self.dtype = None if kind in ("bytes", "text") else np.dtype(kind)
        self.size = 0 if self.dtype is None else int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and (self.kind, self.shape) == (other.kind, other.shape)

    def __str__(self) -> str:
        return self.kind if self.dtype is None else f"{self.kind} of shape {self.shape}"


class Batch(NamedTuple):
    """The training batch of an iteration. ``weights`` sum to 1; ``fresh`` marks samples of the newest time step."""

    ids: Ids
    fields: tuple[Any, ...]
    weights: torch.Tensor
    fresh: torch.Tensor


class Facts(NamedTuple):
    """How many records were added, how many pools hold, in how many steps, and bytes on disk."""

    records: int
    stored: int
    training: int
    validation: int
    steps: int
    bytes: int


def _column(values: Any) -> tuple[Field, Any]:
    """A field of several records, as NumPy or as a list of bytes."""
    if isinstance(values, torch.Tensor):
        if values.dtype is torch.bfloat16:
            raise InputError("a field is of type bfloat16, which NumPy does not know; add .half() or .float()")
        values = values.detach().cpu().numpy()
    if isinstance(values, (list, tuple)) and values and all(isinstance(one, (bytes, str)) for one in values):
        text = isinstance(values[0], str)
        if any(isinstance(one, str) != text for one in values):
            raise InputError("a field has both bytes and text")
        return Field("text" if text else "bytes"), [one.encode() if isinstance(one, str) else one for one in values]
    array = np.asarray(values)
    if array.dtype.kind not in "biufc" or array.ndim < 1:
        raise InputError(f"a field is of type {array.dtype} and shape {array.shape}: numbers, bytes or text are needed")
    array = np.ascontiguousarray(array)
    return Field(array.dtype.name, array.shape[1:]), array


def _packed(fields: Sequence[Field], columns: Sequence[Any], count: int) -> tuple[npt.NDArray[Any], Any]:
    """Records as items of the library, and what must be kept meanwhile."""
    items = np.zeros(count, ITEM)
    if all(field.dtype is not None for field in fields):
        parts = [column.reshape(count, -1).view(np.uint8) for field, column in zip(fields, columns) if field.size]
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty((count, 0), np.uint8)], axis=1)
        rows = np.ascontiguousarray(rows)
        items["bytes"] = rows.ctypes.data + np.arange(count, dtype=np.uint64) * rows.shape[1]
        items["size"] = rows.shape[1]
        return items, rows
    made = []
    for i in range(count):
        parts = []
        for field, column in zip(fields, columns):
            one = column[i] if field.dtype is None else column[i].tobytes()
            parts += [len(one).to_bytes(4, "little"), one] if field.dtype is None else [one]
        made.append(ffi.from_buffer(b"".join(parts)))
    items["bytes"] = [int(ffi.cast("uintptr_t", one)) for one in made]
    items["size"] = [len(one) for one in made]
    return items, made


class Memory:
    """Records in ``folder`` (None: in RAM), and batches drawn from them.

    ``pool`` is unlimited, reservoir, fifo, balanced or halves, ``limit`` the maximum of training samples
    of a bounded pool, ``holdout`` the share held out for validation. ``objective`` is pure,
    mixed or er. Any other setting of the library's ``replay`` section may be given, as
    ``replay_recency_share``; without ``replay_validation_limit`` at most ``limit`` are held out.

    The first ``add`` defines a record: any number of fields, each an array or tensor whose
    first dimension counts records, or a list of bytes or of text (names of files). One process
    owns a folder's memory. Its children may read it, and so may workers of a DataLoader.
    """

    def __init__(
        self,
        folder: Optional[Path] = None,
        *,
        pool: str = "unlimited",
        limit: Optional[int] = None,
        holdout: float = 0.05,
        objective: str = "pure",
        seed: int = 1,
        **settings: Any,
    ) -> None:
        said: dict[str, Any] = {
            "replay_pool": pool,
            "replay_holdout": holdout,
            "replay_objective": objective,
            "run_seed": seed,
        }
        if limit is not None:
            said["replay_limit"] = limit
            said["replay_validation_limit"] = limit if pool != "unlimited" else 0
        config = Config(NULL)
        config.set({**said, **settings})
        self.folder = None if folder is None else os.path.join(os.fspath(folder), "memory")
        made = ffi.new("struct retain_memory **")
        place = NULL if self.folder is None else os.fsencode(self.folder)
        check(lib.retain_memory_open(made, config.it, place, here.err))
        self._begin(made[0])

    def _begin(self, it: Any) -> None:
        self._it = ffi.gc(it, lib.retain_memory_close)
        self._fields: Optional[list[Field]] = None
        self._lock = threading.Lock()
        self._read_fields()

    @classmethod
    def reader(cls, folder: Path) -> Memory:
        """Read-only access to the records of a folder that another process owns."""
        made = cls.__new__(cls)
        made.folder = os.path.join(os.fspath(folder), "memory")
        it = ffi.new("struct retain_memory **")
        check(lib.retain_memory_reader(it, os.fsencode(made.folder), here.err))
        made._begin(it[0])
        return made

    def __getstate__(self) -> str:
        if self.folder is None:
            raise StateError("a memory in RAM cannot be sent to another process; give it a folder, or fork")
        return os.path.dirname(self.folder)

    def __setstate__(self, folder: str) -> None:
        self.__dict__.update(Memory.reader(folder).__dict__)

    def _handle(self) -> Any:
        if self._it is None:
            raise StateError("the memory is closed")
        return self._it

    def _read_fields(self) -> None:
        path = None if self.folder is None else os.path.join(self.folder, FIELDS)
        if path is None or not os.path.exists(path):
            return
        try:
            with open(path, encoding="utf-8") as file:
                self._fields = [Field(one["kind"], one["shape"]) for one in json.load(file)]
        except (ValueError, KeyError, TypeError) as wrong:
            raise FormatError(f"{path}: {wrong}") from wrong

    def _write_fields(self, fields: list[Field]) -> None:
        """Before the first record: whoever has records knows what they are."""
        if self.folder is not None:
            path = os.path.join(self.folder, FIELDS)
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump([{"kind": field.kind, "shape": list(field.shape)} for field in fields], file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(path + ".new", path)
        self._fields = fields

    @property
    def fields(self) -> Optional[list[Field]]:
        """The fields of a record; None before the first."""
        if self._fields is None:
            self._read_fields()
        return self._fields

    @property
    def facts(self) -> Facts:
        """Counts; after ``load_state_dict`` ``stored`` exceeds ``records`` by those to be repeated."""
        facts = ffi.new("struct retain_memory_facts *")
        check(lib.retain_memory_facts(self._handle(), facts, here.err))
        return Facts(facts.records, facts.stored, facts.training, facts.validation, facts.steps, facts.bytes)

    def __len__(self) -> int:
        return self.facts.records

    def add(self, *columns: Any, labels: Any = None) -> range:
        """Stores a time step; returns the ids of its records. On disk when it returns.

        A balanced pool balances ``labels``, or the last field if it has a whole number for each record.
        """
        if not columns:
            raise InputError("a record has at least one field")
        made = [_column(values) for values in columns]
        counts = {len(column) for _, column in made}
        if len(counts) != 1:
            raise InputError(f"fields have {sorted(counts)} records each; all must have the same number")
        count = counts.pop()
        if not count:
            raise InputError("there is no record to add")
        fields = [field for field, _ in made]
        items, kept = _packed(fields, [column for _, column in made], count)
        items["label"] = self._labels(labels, made[-1], count)
        first = ffi.new("int64_t *")
        with self._lock:
            known = self.fields
            if known is None:
                self._write_fields(fields)
            elif known != fields:
                raise InputError(
                    f"records are {', '.join(map(str, known))}, not {', '.join(map(str, fields))}"
                )
            list_ = ffi.cast("struct retain_item *", ffi.from_buffer(items))
            check(lib.retain_memory_add(self._handle(), list_, count, first, here.err))
        del kept
        return range(first[0], first[0] + count)

    @staticmethod
    def _labels(labels: Any, last: tuple[Field, Any], count: int) -> Any:
        if labels is None:
            field, column = last
            if field.dtype is None or field.dtype.kind not in "iub" or field.shape:
                return -1
            labels = column
        labels = np.asarray(labels.detach().cpu() if isinstance(labels, torch.Tensor) else labels)
        if labels.shape != (count,) or labels.dtype.kind not in "iub":
            raise InputError(f"labels have the shape {labels.shape}; a whole number for each of {count} records is needed")
        return np.clip(labels, -1, 2**31 - 1)

    def task(self) -> None:
        """The next step begins a task; from then on steps do not begin tasks by themselves."""
        check(lib.retain_memory_task(self._handle(), here.err))

    def draw_ids(self, iteration: int, count: int) -> Optional[tuple[Ids, npt.NDArray[np.float32], npt.NDArray[np.bool_]]]:
        """Ids, weights and freshness of an iteration's training batch; None while there is none."""
        ids, weights, fresh = np.empty(count, np.int64), np.empty(count, np.float32), np.empty(count, np.bool_)
        drawn = ffi.new("size_t *")
        check(
            lib.retain_memory_draw(
                self._handle(), iteration, _place("int64_t", ids), _place("float", weights), _place("unsigned char", fresh),
                count, drawn, here.err,
            )
        )
        return (ids, weights, fresh) if drawn[0] else None

    def draw(self, iteration: int, count: int) -> Optional[Batch]:
        """The training batch of an iteration; None while there is nothing to draw from."""
        drawn = self.draw_ids(iteration, count)
        if drawn is None:
            return None
        ids, weights, fresh = drawn
        return Batch(ids, self.read(ids), torch.from_numpy(weights), torch.from_numpy(fresh))

    def held_ids(self, iteration: int, count: int) -> Optional[Ids]:
        """Ids of held-out samples; None while there is none."""
        ids, drawn = np.empty(count, np.int64), ffi.new("size_t *")
        check(lib.retain_memory_draw_held(self._handle(), iteration, _place("int64_t", ids), count, drawn, here.err))
        return ids if drawn[0] else None

    def held(self, iteration: int, count: int) -> Optional[tuple[Any, ...]]:
        """The fields of a validation batch; None while nothing is held out."""
        ids = self.held_ids(iteration, count)
        return None if ids is None else self.read(ids)

    def read(self, ids: Any) -> tuple[Any, ...]:
        """The fields of records, each a tensor (or a list of bytes or text) with a row per id."""
        ids = np.ascontiguousarray(ids, np.int64)
        fields = self.fields
        if ids.ndim != 1:
            raise InputError(f"ids have the shape {ids.shape}; a list is needed")
        if fields is None:
            raise StateError("the memory has no record yet")
        if all(field.dtype is not None for field in fields):
            return self._read_fixed(ids, fields)
        return self._read_any(ids, fields)

    def _read_raw(self, ids: Ids, out: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
        offsets = np.empty(len(ids) + 1, np.uint64)
        check(
            lib.retain_memory_read(
                self._handle(), _place("int64_t", ids), len(ids), ffi.from_buffer(out) if out.size else NULL, out.nbytes,
                _place("size_t", offsets), NULL, here.err,
            )
        )
        return offsets

    def _read_fixed(self, ids: Ids, fields: list[Field]) -> tuple[Any, ...]:
        count, size = len(ids), sum(field.size for field in fields)
        rows = np.empty((count, size), np.uint8)
        if count:
            self._read_raw(ids, rows)
        made, at = [], 0
        for field in fields:
            part = np.ascontiguousarray(rows[:, at : at + field.size]).view(np.dtype(field.kind))
            made.append(torch.from_numpy(part.reshape(count, *field.shape)))
            at += field.size
        return tuple(made)

    def _read_any(self, ids: Ids, fields: list[Field]) -> tuple[Any, ...]:
        sizes = self._read_raw(ids, np.empty(0, np.uint8))
        out = np.empty(int(sizes[-1]), np.uint8)
        offsets = self._read_raw(ids, out) if out.size else sizes
        columns: list[list[Any]] = [[] for _ in fields]
        for i in range(len(ids)):
            record, at = out[int(offsets[i]) : int(offsets[i + 1])].tobytes(), 0
            for field, column in zip(fields, columns):
                size = field.size
                if field.dtype is None:
                    size, at = int.from_bytes(record[at : at + 4], "little"), at + 4
                column.append(record[at : at + size])
                at += size
        return tuple(self._whole(field, column) for field, column in zip(fields, columns))

    @staticmethod
    def _whole(field: Field, column: list[bytes]) -> Any:
        if field.kind == "text":
            return [one.decode() for one in column]
        if field.dtype is None:
            return column
        array = np.frombuffer(bytearray(b"".join(column)), field.dtype)
        return torch.from_numpy(array.reshape(len(column), *field.shape))

    def state_dict(self) -> dict[str, int]:
        """Marks the present state, for a checkpoint of your own. The last two marks can be loaded."""
        mark = ffi.new("int64_t *")
        check(lib.retain_memory_mark(self._handle(), mark, here.err))
        return {"mark": int(mark[0]), "records": len(self)}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Goes back to a mark. Then add the same steps again; they are compared with the stored ones."""
        check(lib.retain_memory_back(self._handle(), state["mark"], here.err))

    def close(self) -> None:
        """Closes the folder."""
        if self._it is not None:
            ffi.release(self._it)
            self._it = None

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _place(kind: str, array: npt.NDArray[Any]) -> Any:
    return ffi.from_buffer(f"{kind}[]", array, require_writable=kind != "int64_t")


class ReplayDataset(torch.utils.data.Dataset[Any]):
    """A memory's records by id, for a DataLoader with a ``ReplaySampler``; works in workers, too.

    ``transform`` is applied to the first field of each record.
    """

    def __init__(self, memory: Memory, transform: Optional[Callable[[Any], Any]] = None) -> None:
        self.memory, self.transform = memory, transform

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, id: int) -> tuple[Any, ...]:
        return self.__getitems__([id])[0]

    def __getitems__(self, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        fields = self.memory.read(list(ids))
        change = self.transform
        return [
            tuple(change(column[i]) if change and not f else column[i] for f, column in enumerate(fields))
            for i in range(len(ids))
        ]


class ReplaySampler(torch.utils.data.Sampler[list[int]]):
    """The batches of the next ``iterations``, as lists of ids: a DataLoader's ``batch_sampler``.

    Iterate over the loader once for each time step. Loaders with workers draw ahead, but never beyond
    this, so draws are the same as without workers. ``iteration`` counts the batches drawn.
    """

    def __init__(self, memory: Memory, batch: int, iterations: int, iteration: int = 0) -> None:
        self.memory, self.batch, self.iterations, self.iteration = memory, batch, iterations, iteration

    def __len__(self) -> int:
        return self.iterations

    def __iter__(self) -> Iterator[list[int]]:
        for _ in range(self.iterations):
            drawn = self.memory.draw_ids(self.iteration + 1, self.batch)
            if drawn is None:
                return
            self.iteration += 1
            yield drawn[0].tolist()

    def state_dict(self) -> dict[str, int]:
        return {"iteration": self.iteration}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.iteration = state["iteration"]
