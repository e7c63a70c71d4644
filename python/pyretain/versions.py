"""Versions of a learner in a folder: named states that never change."""

from __future__ import annotations

import datetime
import os
from typing import NamedTuple, Union

from pyretain._core import check, ffi, here, lib, text

Path = Union[str, "os.PathLike[str]"]


class Version(NamedTuple):
    """A version, and where in the stream it was made."""

    name: str
    by: str
    made: datetime.datetime
    samples: int
    iterations: int
    classes: int
    inputs: int
    bytes: int
    efficacy: float
    recent: float


def versions(folder: Path) -> list[Version]:
    """The versions in a learner's folder, oldest first."""
    count = ffi.new("size_t *")
    room = 16
    while True:
        rows = ffi.new("struct retain_version[]", room)
        check(lib.retain_versions(os.fsencode(folder), rows, room, count, here.err))
        if count[0] <= room:
            break
        room = count[0]
    return [
        Version(
            text(row.name),
            text(row.by),
            datetime.datetime.fromtimestamp(row.made, datetime.timezone.utc),
            row.samples,
            row.iterations,
            row.classes,
            row.inputs,
            row.bytes,
            row.efficacy,
            row.recent,
        )
        for row in rows[0 : count[0]]
    ]


def drop_version(folder: Path, name: str) -> None:
    """Deletes a version that does not answer."""
    check(lib.retain_version_drop(os.fsencode(folder), name.encode(), here.err))
