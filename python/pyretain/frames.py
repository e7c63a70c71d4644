"""Frames of pandas, polars and pyarrow, and files of such tables; none of these packages is needed for the others."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from pyretain._core import Floats, InputError


class Kind(NamedTuple):
    """A package's frames: names of columns, whether one has words, its values, all rows as dicts."""

    names: Callable[[Any], Sequence[Any]]
    words: Callable[[Any, Any], bool]
    column: Callable[[Any, Any], Any]
    rows: Callable[[Any], Sequence[Mapping[Any, Any]]]


def _pandas_rows(frame: Any) -> Sequence[Mapping[Any, Any]]:
    names = [str(name) for name in frame.columns]
    return [dict(zip(names, row)) for row in frame.itertuples(index=False, name=None)]


def _arrow_words(frame: Any, name: Any) -> bool:
    from pyarrow import types  # type: ignore[import-untyped,import-not-found,unused-ignore]

    kind = frame.schema.field(name).type
    return not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


KINDS = {
    "pandas": Kind(
        lambda frame: frame.columns,
        lambda frame, name: getattr(frame.dtypes[name], "kind", "O") not in "fiub",
        lambda frame, name: frame[name].to_numpy(),
        _pandas_rows,
    ),
    "polars": Kind(
        lambda frame: frame.columns,
        lambda frame, name: not (frame.schema[name].is_numeric() or str(frame.schema[name]) == "Boolean"),
        lambda frame, name: frame[name].to_numpy(),
        lambda frame: frame.to_dicts(),
    ),
    "pyarrow": Kind(
        lambda frame: frame.column_names,
        _arrow_words,
        lambda frame, name: frame.column(name).to_numpy(zero_copy_only=False),
        lambda frame: frame.to_pylist(),
    ),
}


def kind_of(frame: Any) -> Optional[Kind]:
    """How to read it; None: it is no frame."""
    found = KINDS.get(type(frame).__module__.partition(".")[0])
    return found if found is not None and getattr(frame, "ndim", len(getattr(frame, "shape", ()))) == 2 else None


def has_words(frame: Any) -> bool:
    """Whether a frame has columns that are no numbers."""
    kind = kind_of(frame)
    return kind is not None and any(kind.words(frame, name) for name in kind.names(frame))


def numbers(frame: Any, kind: Kind) -> Floats:
    """The columns of a frame without words as inputs; what is missing is nan."""
    names = kind.names(frame)
    made = np.empty((len(frame), len(names)), np.float32)
    for at, name in enumerate(names):
        made[:, at] = kind.column(frame, name)
    return made


# Files

ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


def is_file(word: str) -> bool:
    """Whether a word is the path of such a table."""
    return word.lower().endswith(ENDINGS) and os.path.isfile(word)


def _batches(path: str) -> tuple[Any, Any]:
    """The schema of a file and its rows, batch by batch."""
    import pyarrow
    from pyarrow import ipc, parquet

    if path.lower().endswith(ENDINGS[:2]):
        file = parquet.ParquetFile(path)
        return file.schema_arrow, file.iter_batches()
    try:
        opened = ipc.open_file(path)
        return opened.schema, (opened.get_batch(i) for i in range(opened.num_record_batches))
    except pyarrow.ArrowInvalid:
        stream = ipc.open_stream(path)
        return stream.schema, iter(stream)


def _views(pyarrow: Any) -> list[Any]:
    """Kinds of text that its CSV does not write; polars has no other."""
    return [pyarrow.string_view()] if hasattr(pyarrow, "string_view") else []


def _plain(schema: Any, path: str) -> Any:
    """The schema of what CSV can say; a column of lists or tables is refused by name."""
    import pyarrow
    from pyarrow import types

    fields = []
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_nested(kind):
            raise InputError(f"{path}: column {field.name} is {kind}: a cell of a table is one value")
        words = types.is_decimal(kind) or kind in _views(pyarrow)
        fields.append(pyarrow.field(field.name, pyarrow.string() if words else kind))
    return pyarrow.schema(fields)


def _cast(column: Any, kind: Any) -> Any:
    from pyarrow import types

    if types.is_dictionary(column.type):
        return column.dictionary.cast(kind).take(column.indices)
    return column.cast(kind)


def _write(path: str, to: str) -> None:
    import pyarrow
    from pyarrow import csv

    schema, batches = _batches(path)
    plain = _plain(schema, path)
    with csv.CSVWriter(to, plain) as writer:
        for batch in batches:
            columns = [_cast(batch.column(at), field.type) for at, field in enumerate(plain)]
            writer.write(pyarrow.RecordBatch.from_arrays(columns, schema=plain))


def as_csv(path: str) -> str:
    """The path of a CSV file of the same rows, made once in the user's cache; retain reads that."""
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"{path}: reading it needs pyarrow (pip install pyarrow)") from None
    found = os.stat(path)
    known = f"{os.path.realpath(path)}\n{found.st_size}\n{found.st_mtime_ns}"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "retain", "tables", hashlib.sha256(known.encode()).hexdigest()[:16])
    made = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".csv")
    if os.path.exists(made):
        return made
    os.makedirs(folder, exist_ok=True)
    part = f"{made}.{os.getpid()}.part"
    try:
        _write(path, part)
        os.replace(part, made)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: {error}") from None
    finally:
        if os.path.exists(part):
            os.remove(part)
    print(f"retain: {path}: read as {made}", file=sys.stderr)
    return made
