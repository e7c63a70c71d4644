"""What every module shares: the library, its errors, and arrays as it wants them."""

from __future__ import annotations

import threading
import warnings
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from pyretain._retain import ffi as ffi
from pyretain._retain import lib as lib

Floats = npt.NDArray[np.float32]
NULL: Any = ffi.NULL
FLOATS = ffi.typeof("float[]")


class RetainError(Exception):
    """An error of the library, with its message; ``code`` is its number."""

    code = 0


class OutOfMemoryError(RetainError, MemoryError):
    """An allocation failed."""


class InputError(RetainError, ValueError):
    """A value is out of range or unknown."""


class FormatError(RetainError, ValueError):
    """A file does not follow its format."""


class FileError(RetainError, OSError):
    """The operating system refused a file operation, or another process has the file."""


class StateError(RetainError, RuntimeError):
    """The call is not allowed in the object's state."""


class StoppedError(RetainError):
    """A progress function asked to stop."""


class RetainWarning(UserWarning):
    """A problem that stops nothing, such as a damaged checkpoint."""


ERRORS: dict[int, type[RetainError]] = {
    lib.RETAIN_ERR_MEMORY: OutOfMemoryError,
    lib.RETAIN_ERR_INPUT: InputError,
    lib.RETAIN_ERR_FORMAT: FormatError,
    lib.RETAIN_ERR_FILE: FileError,
    lib.RETAIN_ERR_STATE: StateError,
    lib.RETAIN_ERR_STOPPED: StoppedError,
}
for _code, _kind in ERRORS.items():
    _kind.code = _code


class _PerThread(threading.local):
    """Calls run without Python's lock, so each thread has its own place for errors."""

    def __init__(self) -> None:
        self.err = ffi.new("struct retain_err *")
        self.one = ffi.new("struct retain_prediction[1]")
        self.raised: Optional[BaseException] = None  # by a function that the library called
        self.calm = False  # signals wait (nets.undisturbed)
        self.interrupted: Optional[Callable[[], Any]] = None  # what one does, once it may


here = _PerThread()


def text(chars: Any) -> str:
    return str(ffi.string(chars).decode("utf-8", "replace"))


def words_of(raised: BaseException) -> str:
    """An exception as a sentence of the library: one line that fits."""
    words = " ".join(str(raised).split()) or type(raised).__name__
    if not isinstance(raised, RetainError):
        words = f"{type(raised).__name__}: {words}"
    return words.encode()[:300].decode("utf-8", "ignore")


def check(code: int) -> None:
    """Raises what the library said in the place of this thread, unless the code is 0."""
    if not code:
        return
    raised, here.raised = here.raised, None
    message = text(here.err.message)
    if raised is not None and code == lib.RETAIN_ERR_STOPPED:
        raise raised
    # By a function of a net: its own words are in the library's sentence.
    cause = raised if raised is not None and message.endswith(words_of(raised)) else None
    raise ERRORS.get(code, RetainError)(message) from cause


class Progress(NamedTuple):
    """Progress of a call that trains or opens."""

    done: int
    total: int
    iterations: int  # that the learner has made in its life


ProgressFunction = Callable[[Progress], object]


class Watch:
    """What a learner's calls tell meanwhile. A true answer of ``progress`` stops the call."""

    def __init__(self, progress: Optional[ProgressFunction]) -> None:
        self.progress = progress


@ffi.def_extern()  # type: ignore[untyped-decorator]
def pyretain_warning(context: Any, message: Any) -> None:
    warnings.warn(text(message), RetainWarning, stacklevel=2)


def keep(kind: Any, raised: BaseException, trace: Any) -> None:
    """What was raised by a function that the library called, for ``check``."""
    here.raised = raised


@ffi.def_extern(error=1, onerror=keep)  # type: ignore[untyped-decorator]
def pyretain_progress(context: Any, now: Any) -> int:
    # That this is Python is enough to let a KeyboardInterrupt in.
    watch = ffi.from_handle(context)
    if watch.progress is None:
        return 0
    return 1 if watch.progress(Progress(now.done, now.total, now.iterations)) else 0


def filled(values: Any) -> Any:
    """Masked numbers as nan, which is missing; NumPy would hand on what lies behind the mask."""
    if isinstance(values, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in values):
        values = np.ma.array(values)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind not in "fiub" or not np.ma.is_masked(values):
        return values.data
    made = np.array(values.data, np.float32 if values.dtype == np.float32 else np.float64)
    made[np.ma.getmaskarray(values)] = np.nan
    return made


def _converted(values: Any) -> Floats:
    array = np.asarray(filled(values))
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"inputs are of type {array.dtype}, and numbers are needed; rows with names and "
            "words are for RetainClassifier, RiverClassifier or Learner.encode"
        )
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=np.float32, order="C")


def rows_of(values: Any, floats: int) -> tuple[Floats, int]:
    """Inputs as the library takes them, and how many. Contiguous float32 is not copied."""
    if type(values) is np.ndarray and values.dtype == np.float32 and values.flags.c_contiguous:
        array = values
    else:
        array = _converted(values)
    shape = array.shape
    if floats and array.size == floats and (len(shape) == 1 or len(shape) == 3):
        return array, 1
    count = shape[0] if len(shape) > 1 else 1
    if not shape or (floats and array.size != count * floats):
        raise InputError(
            f"inputs have the shape {shape}; an input is {floats or 'some'} numbers, several "
            f"are an array of shape (count, {floats or '...'})"
        )
    if count == 0:
        raise InputError(f"inputs have the shape {shape}: there is none")
    return array, count
