"""Makes the manifest that ``retain`` reads from data sets with list files of their own.

``python -m pyretain.convert cloc FOLDER`` reads CLOC's release (``train_*.torchSave``, ``*val.csv``),
``python -m pyretain.convert cldatasets FOLDER`` a tree of CLDatasets (``order_files/*.hdf5``, needs
h5py). Both write FOLDER/manifest.csv: path, label, and time, user and part where the data has them.
Rows keep the order of the lists, so sample numbers do too.

This file needs nothing but Python itself (and h5py for CLDatasets): without pyretain, run it as
``python3 python/pyretain/convert.py``.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import itertools
import math
import os
import pickle
import re
import struct
import sys
import time
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn, TextIO

LABELS = (1 << 22) - 1  # labels from here on, like those below 0, are in no class
LONGEST = 4095  # bytes of a path
BLOCK = 1 << 16  # rows handled at a time
TRIES = 64  # photos looked for in a folder; some may be missing on purpose
BLANKS = " \t\n\v\f\r"


class Refused(Exception):
    """What is wrong with the data, in a sentence that names the file."""


class Progress:
    """A line on a terminal: how much is done and how long the rest will take."""

    def __init__(self, total: int) -> None:
        self.total, self.done = max(total, 1), 0.0
        self.start = self.due = time.monotonic()
        self.shown = sys.stderr.isatty()

    def add(self, amount: float, what: str) -> None:
        self.done += amount
        now = time.monotonic()
        if not self.shown or now < self.due or self.done <= 0:
            return
        self.due = now + 0.2
        share = min(self.done / self.total, 1.0)
        left = int((now - self.start) * (1 / share - 1))
        sys.stderr.write(f"\r\x1b[K{100 * share:3.0f} %  {left // 60}:{left % 60:02d} left  {what}")
        sys.stderr.flush()

    def end(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")


class Counted(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, file: BinaryIO, progress: Progress, name: str) -> None:
        self.file, self.progress, self.name = file, progress, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        self.progress.add(len(data), self.name)
        return len(data)


# Files of torch.save: one list of numbers or texts, or one tensor of one dimension.


class Storage(NamedTuple):
    code: str  # of array and struct
    key: str
    length: int


class Tensor(NamedTuple):
    storage: Storage
    first: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class Name:
    """Stands for one of Python's names. Pickles cannot change it: it has no attributes."""

    __slots__ = ()


class Element(Name):
    """The type of a storage, which is never called."""

    __slots__ = ("code",)
    code: str

    def __init__(self, code: str) -> None:
        object.__setattr__(self, "code", code)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(name)


class Rebuild(Name):
    __slots__ = ()

    def __call__(self, storage: object, first: object, shape: object, stride: object, *rest: object) -> Tensor:
        whole = isinstance(first, int) and isinstance(shape, tuple) and isinstance(stride, tuple)
        if not (isinstance(storage, Storage) and whole and all(isinstance(n, int) for n in (*shape, *stride))):  # type: ignore
            raise pickle.UnpicklingError("holds a tensor that does not consist of a storage and a shape")
        return Tensor(storage, first, shape, stride)  # type: ignore


class Nothing(Name):
    """OrderedDict: the hooks of a tensor, which are not kept."""

    __slots__ = ()

    def __call__(self) -> dict[object, object]:
        return {}


NAMES: dict[tuple[str, str], Name] = {
    ("torch._utils", "_rebuild_tensor_v2"): Rebuild(),
    ("collections", "OrderedDict"): Nothing(),
    ("torch", "DoubleStorage"): Element("d"),
    ("torch", "FloatStorage"): Element("f"),
    ("torch", "LongStorage"): Element("q"),
    ("torch", "IntStorage"): Element("i"),
    ("torch", "ShortStorage"): Element("h"),
    ("torch", "CharStorage"): Element("b"),
    ("torch", "ByteStorage"): Element("B"),
}


class Unpickler(pickle.Unpickler):
    """Builds lists, tuples, dictionaries, numbers and texts, and calls nothing but the names above."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, encoding="utf-8", errors="surrogateescape")

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in NAMES:
            raise pickle.UnpicklingError(f"asks for Python's {module} {name}, which is not followed")
        return NAMES[module, name]

    def persistent_load(self, pid: Any) -> Storage:
        if not (isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage" and isinstance(pid[1], Element)
                and isinstance(pid[2], str) and isinstance(pid[4], int)):
            raise pickle.UnpicklingError("holds a reference that is none to a storage")
        return Storage(pid[1].code, pid[2], pid[4])


def unpickle(file: Any) -> Any:
    """Damaged pickles raise exceptions of many kinds; each becomes a sentence."""
    try:
        return Unpickler(file).load()
    except pickle.UnpicklingError as error:
        raise Refused(str(error)) from error
    except MemoryError as error:
        raise Refused("is damaged, or larger than memory") from error
    except (OSError, zipfile.BadZipFile):
        raise
    except Exception as error:
        raise Refused(f"is a damaged pickle ({error or type(error).__name__})") from error


def tensor_values(tensor: Tensor, data: bytes) -> Sequence[Any]:
    storage, first, shape, stride = tensor
    if not (len(shape) == len(stride) == 1 or (len(shape) == len(stride) == 2 and shape[1] == 1)):
        raise Refused(f"holds a tensor of {len(shape)} dimensions, not of one")
    elements = array(storage.code)
    if storage.length < 0 or storage.length * elements.itemsize > len(data):
        raise Refused(f"its storage has {len(data)} bytes for {storage.length} elements of {elements.itemsize}")
    elements.frombytes(data[: storage.length * elements.itemsize])
    if sys.byteorder == "big":
        elements.byteswap()
    n, step = shape[0], stride[0]
    if n < 0 or first < 0 or step < 0 or n > storage.length or (n and first + (n - 1) * step >= storage.length):
        raise Refused(f"its tensor of {n} elements does not fit the {storage.length} of its storage")
    return elements[first : first + (n - 1) * step + 1 : step] if step and n else elements[first : first + 1] * n


def archive_values(path: str, progress: Progress, name: str) -> Any:
    with zipfile.ZipFile(path) as archive:
        members = {key.partition("/")[2]: key for key in reversed(archive.namelist())}
        if "data.pkl" not in members:
            raise Refused("is a ZIP archive without a data.pkl")
        if "byteorder" in members and archive.read(members["byteorder"])[:3] == b"big":
            raise Refused("was written by a big-endian machine: save it again on a usual one")
        with archive.open(members["data.pkl"]) as file:
            value = unpickle(io.BufferedReader(Counted(file, progress, name), 1 << 20))  # type: ignore
        if isinstance(value, Tensor):
            key = "data/" + value.storage.key
            if key not in members:
                raise Refused(f"has no storage {key}")
            return tensor_values(value, archive.read(members[key]))
        return value


def stream_values(path: str, progress: Progress, name: str) -> Any:
    with open(path, "rb") as raw:
        file = io.BufferedReader(Counted(raw, progress, name), 1 << 20)
        try:
            magic = unpickle(file)
        except Refused:
            magic = None
        if magic != 0x1950A86A20F9469CFC6C:
            raise Refused("is no file of torch.save")
        if unpickle(file) != 1001:
            raise Refused("is of another version of torch.save than 1001")
        facts = unpickle(file)
        if isinstance(facts, dict) and facts.get("little_endian") is False:
            raise Refused("was written by a big-endian machine: save it again on a usual one")
        value = unpickle(file)
        unpickle(file)  # the names of the storages
        if isinstance(value, Tensor):
            count = file.read(8)
            if len(count) < 8 or struct.unpack("<q", count)[0] != value.storage.length:
                raise Refused("ends before its storage, or has another one")
            return tensor_values(value, file.read())
        return value


def torch_list(path: str, progress: Progress) -> Sequence[Any]:
    """The values of a file of torch.save, in its format of ZIP archives or the one before."""
    name = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            archive = file.read(4) == b"PK\3\4"
        values = (archive_values if archive else stream_values)(path, progress, name)
        if not isinstance(values, (list, array)):
            raise Refused(f"holds {named(values)}, not a list or a tensor")
    except Refused as error:
        raise Refused(f"{path}: {error}") from error
    except OSError as error:
        if error.filename is not None:
            raise
        raise Refused(f"{path}: cannot be read ({error})") from error
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, ValueError, struct.error, zlib.error) as error:
        raise Refused(f"{path}: is a damaged ZIP archive ({error})") from error
    return values


def named(value: object) -> str:
    words = {dict: "a dictionary", list: "a list", tuple: "a tuple", Tensor: "a tensor", type(None): "None"}
    return words.get(type(value), type(value).__name__)


def hdf5_list(path: str, progress: Progress) -> Sequence[Any]:
    """The dataset store_list. Values that other files hold are refused, and those files never opened."""
    try:
        h5py: Any = importlib.import_module("h5py")
    except ImportError as error:
        raise Refused(f"{path}: reading it needs h5py: pip install h5py, or apt install python3-h5py") from error
    if not os.path.exists(path):
        raise Refused(f"{path}: there is no such file")
    try:
        with h5py.File(path, "r", locking=False) as file:
            return hdf5_values(h5py, file, path, progress)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise Refused(f"{path}: is no HDF5 file, is damaged or cannot be read ({error})") from error


def hdf5_values(h5py: Any, file: Any, path: str, progress: Progress) -> Sequence[Any]:
    link = file.get("store_list", getlink=True)
    if link is None:
        raise Refused(f"{path}: has no dataset store_list")
    if not isinstance(link, h5py.HardLink):
        raise Refused(f"{path}: its dataset store_list is a link, which is not followed")
    data = file["store_list"]
    why = ""
    if not isinstance(data, h5py.Dataset) or len(data.shape or ()) not in (1, 2) or data.shape[1:] not in ((), (1,)):
        why = "is not of one dimension"
    elif data.is_virtual or data.external:
        why = "keeps its values in other files, which are not read"
    elif not (data.dtype.kind in "iu" or h5py.check_string_dtype(data.dtype)):
        why = "holds neither whole numbers nor texts"
    if why:
        raise Refused(f"{path}: its dataset store_list {why}")
    values: list[Any] = []
    size, name = os.path.getsize(path), os.path.basename(path)
    for first in range(0, len(data), BLOCK):
        block = data[first : first + BLOCK].reshape(-1).tolist()
        values += [v.decode("utf-8", "surrogateescape") if isinstance(v, bytes) else v for v in block]
        progress.add(size * len(block) / len(data), name)
    return values


# From lists to rows of the manifest.


class Part(NamedTuple):
    name: str  # in messages
    word: str  # in the manifest
    paths: str
    labels: str
    times: str = ""
    users: str = ""


class Kind(NamedTuple):
    parts: tuple[Part, ...]  # the stream first
    folders: tuple[str, ...]  # that paths may start from
    read: Callable[[str, Progress], Sequence[Any]]


KINDS = {
    "cloc": Kind(
        tuple(
            Part(name, word, *(f"{name}_{list_}.torchSave" for list_ in ("store_loc", "labels", "time", "userID")))
            for name, word in (("train", "train"), ("cross_val", "pretrain"))
        ),
        ("images", "dataset/images", ""),
        torch_list,
    ),
    "cldatasets": Kind(
        tuple(
            Part(name, name, f"order_files/{name}_image_paths.hdf5", f"order_files/{name}_labels.hdf5")
            for name in ("train", "test", "pretrain")
        ),
        ("data", ""),
        hdf5_list,
    ),
}


def bad_item(path: str, values: Sequence[Any], good: Callable[[Any], bool], why: str) -> Refused:
    """Names the first value that is not as it should be."""
    at = next((i for i, value in enumerate(values) if not good(value)), 0)
    value = values[at]
    if not isinstance(value, (int, float, str)):
        why = f"is {named(value)}, not a number or a text"
    return Refused(f"{path}, item {at}: {why}: {value!r:.60}")


def is_whole(value: object) -> bool:
    return isinstance(value, int) and -(1 << 63) <= value < 1 << 63


def labels_of(path: str, values: Sequence[Any]) -> array[int]:
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        raise bad_item(path, values, is_whole, "its label is not a whole number") from None


def is_time(value: object) -> bool:
    return is_whole(value) or (isinstance(value, float) and abs(value) < 9e12)


def times_of(path: str, values: Sequence[Any]) -> Sequence[Any]:
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        if not all(map(is_time, values)):
            raise bad_item(path, values, is_time, "its time is not a number of seconds") from None
        return array("d", values) if all(isinstance(v, float) for v in values) else values


def time_text(value: int | float) -> str:
    """Whole numbers stay as they are; fractions of seconds go down to microseconds."""
    if isinstance(value, int) or value.is_integer():
        return str(int(value))
    micros = math.floor(value * 1000000)
    return f"{'-' if micros < 0 else ''}{abs(micros) // 1000000}.{abs(micros) % 1000000:06d}"


def is_user(value: object) -> bool:
    return isinstance(value, str) or is_whole(value)


def users_of(path: str, values: Sequence[Any]) -> Sequence[Any]:
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        if not all(map(is_user, values)):
            raise bad_item(path, values, is_user, "its user is neither a whole number nor a name") from None
        return [value.strip() if isinstance(value, str) else value for value in values]


def path_text(value: Any) -> str:
    """Without blanks around it, NULs after it and slashes before it; ValueError says what is wrong."""
    if not isinstance(value, str):
        raise ValueError("is a number, not a path" if isinstance(value, (int, float)) else f"is {named(value)}")
    path = value.rstrip(BLANKS + "\0").lstrip(BLANKS)
    if not path:
        raise ValueError("its path is empty")
    if len(path) > LONGEST // 4 and len(path.encode("utf-8", "surrogateescape")) > LONGEST:
        raise ValueError("its path is too long")
    if "\0" in path:
        raise ValueError("its path holds a zero byte")
    return path.lstrip("/")


def paths_of(path: str, values: Iterable[Any], first: int) -> list[str]:
    done: list[str] = []
    try:
        for value in values:
            done.append(path_text(value))
    except ValueError as error:
        raise Refused(f"{path}, item {first + len(done)}: {error}") from None
    return done


class Manifest:
    """Rows on their way to the file, and what they came to."""

    def __init__(self, root: str, out: TextIO, columns: Sequence[str], progress: Progress) -> None:
        self.root, self.columns, self.progress = root, columns, progress
        self.writer = csv.writer(out, lineterminator="\n")
        self.writer.writerow(columns)
        self.prefix = ""
        self.counts: dict[str, int] = {}
        self.largest, self.bad = -1, 0

    def add(self, word: str, paths: Iterable[str], labels: Sequence[int], times: Sequence[Any], users: Sequence[Any]) -> None:
        """A label in no class becomes an empty cell: then stream.on_bad says what happens to the row."""
        good = [0 <= label < LABELS for label in labels]
        self.bad += len(good) - sum(good)
        self.largest = max(itertools.chain((self.largest,), itertools.compress(labels, good)))
        cells: dict[str, Iterable[Any]] = {
            "path": (self.prefix + path for path in paths),
            "label": (label if ok else "" for label, ok in zip(labels, good)),
            "time": map(time_text, times),
            "user": users or itertools.repeat(""),
            "part": itertools.repeat(word),
        }
        self.writer.writerows(zip(*(cells[column] for column in self.columns)))
        self.counts[word] = self.counts.get(word, 0) + len(labels)


def as_many(root: str, part: str, what: str, values: Sequence[Any], paths: Sequence[Any]) -> None:
    if len(values) != len(paths):
        raise Refused(f"{root}: {part} has {len(values)} {what} for {len(paths)} paths")


def convert_part(kind: Kind, part: Part, manifest: Manifest, folder_of: Callable[[Sequence[str]], str]) -> None:
    """Paths are read last: they take the most memory by far."""

    def read(name: str) -> Sequence[Any]:
        return kind.read(os.path.join(manifest.root, name), manifest.progress)

    root = manifest.root
    labels = labels_of(os.path.join(root, part.labels), read(part.labels))
    times: Sequence[Any] = ()
    users: Sequence[Any] = ()
    if "time" in manifest.columns:
        times = times_of(os.path.join(root, part.times), read(part.times))
    if "user" in manifest.columns and os.path.exists(os.path.join(root, part.users)):
        users = users_of(os.path.join(root, part.users), read(part.users))
    paths = read(part.paths)
    for what, values in (("labels", labels), ("times", times), ("users", users)):
        if values or what == "labels" or (what == "times" and "time" in manifest.columns):
            as_many(root, part.name, what, values, paths)
    file = os.path.join(root, part.paths)
    if part is kind.parts[0]:
        manifest.prefix = folder_of([str(path).strip().lstrip("/") for path in paths[:: max(len(paths) // TRIES, 1)]])
    size = sum(map(os.path.getsize, part_files(root, part)))
    for first in range(0, len(paths), BLOCK):
        rows = slice(first, first + BLOCK)
        block = paths_of(file, paths[rows], first)
        manifest.add(part.word, block, labels[rows], times[rows], users[rows])
        manifest.progress.add(size * len(block) / len(paths), f"{part.name}, row {first}")


def number_in(cell: str) -> int | float | str:
    cell = cell.strip()
    if re.fullmatch("[+-]?[0-9]+", cell):
        return int(cell)
    try:
        return cell if "_" in cell else float(cell)
    except ValueError:
        return cell


def convert_csv(path: str, manifest: Manifest) -> None:
    """CLOC's photos to evaluate on: label first, time third, path last. Users are not looked at."""
    timed = "time" in manifest.columns
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        rows = csv.reader(file, strict=True)
        number = 0
        try:
            while True:
                block = [row for row in itertools.islice(rows, BLOCK)]
                if not block:
                    return
                paths: list[str] = []
                labels: list[int] = []
                times: list[Any] = []
                for row in block:
                    number += 1
                    if not any(cell.strip() for cell in row) and len(row) < 2:
                        continue
                    add_cells(row, timed, paths, labels, times)
                manifest.add("val", paths, labels, times, ())
                manifest.progress.add(2 * sum(len(cell) + 1 for row in block for cell in row), os.path.basename(path))
        except csv.Error as error:
            raise Refused(f"{path}, row {rows.line_num}: {error}") from None
        except ValueError as error:
            raise Refused(f"{path}, row {number}: {error}") from None


def add_cells(row: list[str], timed: bool, paths: list[str], labels: list[int], times: list[Any]) -> None:
    if not 4 <= len(row) <= 16:
        raise ValueError("its columns are not label, date, time, user, path")
    label, moment = number_in(row[0]), number_in(row[2])
    paths.append(path_text(row[-1]))
    if not isinstance(label, int):
        raise ValueError(f"its label is not a whole number: {row[0]!r:.60}")
    labels.append(label)
    if timed:
        if not is_time(moment):
            raise ValueError(f"its time is not a number of seconds: {row[2]!r:.60}")
        times.append(moment)


def part_files(root: str, part: Part) -> Iterator[str]:
    for name in part[2:]:
        if name and os.path.exists(os.path.join(root, name)):
            yield os.path.join(root, name)


def find_csv(root: str) -> str:
    found = sorted(name for name in os.listdir(root) if name.endswith("val.csv"))
    if len(found) > 1:
        raise Refused(f"{root}: both {found[0]} and {found[1]} could be the photos to evaluate on")
    return os.path.join(root, found[0]) if found else ""


def has_any(folder: str, paths: Iterable[str]) -> bool:
    return any(os.path.exists(os.path.join(folder, path)) for path in paths)


def image_folder(root: str, folders: Iterable[str], said: str, paths: Sequence[str]) -> str:
    """The first folder with any of these photos; else the first one that is there."""
    there = [said] if said else [os.path.join(root, f).rstrip("/") for f in folders if os.path.isdir(os.path.join(root, f))]
    for folder in there:
        if has_any(folder, paths):
            return folder
    print(f"convert: {there[0]}: has none of {len(paths)} photos that were looked for; --images names another folder", file=sys.stderr)
    return there[0]


def prefix_of(folder: str, out: str) -> str:
    """What stands before paths: relative where the photos lie below the manifest's folder."""
    folder, base = os.path.abspath(folder), os.path.dirname(os.path.abspath(out))
    if folder == base:
        return ""
    if folder.startswith(os.path.join(base, "")):
        folder = os.path.relpath(folder, base)
    return os.path.join(folder, "")


def write_rows(kind: Kind, root: str, images: str, to: str, out: TextIO) -> Manifest:
    stream = kind.parts[0]
    parts = [p for p in kind.parts if p is stream or any(True for _ in part_files(root, p._replace(times="", users="")))]
    more = find_csv(root) if stream.times else ""
    columns = ["path", "label"]
    columns += ["time"] if stream.times and os.path.exists(os.path.join(root, stream.times)) else []
    columns += ["user"] if stream.users and os.path.exists(os.path.join(root, stream.users)) else []
    columns += ["part"] if more or len(parts) > 1 else []
    sizes = [os.path.getsize(f) for part in parts for f in part_files(root, part)]
    progress = Progress(2 * (sum(sizes) + (os.path.getsize(more) if more else 0)))
    manifest = Manifest(root, out, columns, progress)
    try:
        for part in parts:
            convert_part(kind, part, manifest, lambda some: prefix_of(image_folder(root, kind.folders, images, some), to))
        if more:
            convert_csv(more, manifest)
    finally:
        progress.end()
    count = sum(manifest.counts.values())
    if not count:
        raise Refused(f"{root}: names no images")
    if manifest.largest < 0:
        raise Refused(f"{root}: none of its {count} labels is from 0 to {LABELS - 1}")
    return manifest


def convert(kind: str, folder: str, out: str = "", images: str = "") -> Manifest:
    """Writes the manifest of a data set, whole or not at all; Refused or OSError says what is wrong."""
    root = folder.rstrip("/") or folder
    out = out or os.path.join(root, "manifest.csv")
    os.listdir(root)  # an error that names it
    draft = f"{out}.tmp-{os.getpid()}"
    try:
        with open(draft, "x", encoding="utf-8", errors="surrogateescape", newline="") as file:
            manifest = write_rows(KINDS[kind], root, images, out, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, out)
    finally:
        if os.path.exists(draft):
            os.remove(draft)
    return manifest


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyretain.convert", description=str(__doc__).split("\n\n")[0])
    parser.add_argument("kind", choices=sorted(KINDS), help="cloc: CLOC's release; cldatasets: a tree of CLDatasets, as CGLM")
    parser.add_argument("folder", help="the one with train_store_loc.torchSave, or with order_files/")
    parser.add_argument("--out", default="", help="the manifest to write (default: FOLDER/manifest.csv)")
    parser.add_argument("--images", default="", help="the folder that paths start from (default: found below FOLDER)")
    parser.add_argument("--force", action="store_true", help="write over a manifest that is there")
    told = parser.parse_args(words)
    out = told.out or os.path.join(told.folder, "manifest.csv")
    try:
        if os.path.exists(out) and not told.force:
            raise Refused(f"{out}: is there already; --force writes over it")
        manifest = convert(told.kind, told.folder, out, told.images)
    except Refused as error:
        print(f"convert: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"convert: {error.filename or out}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    parts = ", ".join(f"{count} {word}" for word, count in manifest.counts.items())
    print(f"{out}: {parts}; {manifest.largest + 1} classes; {', '.join(manifest.columns)}")
    if manifest.bad:
        print(f"{manifest.bad} rows have a label in no class and are written without: stream.on_bad=skip leaves them out")
    print(f"now: retain run --set stream.source=manifest:{out} ...")
    return 0


if __name__ == "__main__":
    sys.exit(main())
