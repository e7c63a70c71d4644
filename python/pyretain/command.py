"""The command ``retain`` inside this process, for nets that Python computes."""

from __future__ import annotations

import configparser
import contextlib
import ctypes
import os
import subprocess
import sys
import threading
from typing import Iterator, NamedTuple, Optional, Sequence

from pyretain._core import InputError, StateError, ffi, lib
from pyretain.nets import Nets, with_signals_of_the_command

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")
_one = threading.Lock()  # a process has one command at a time


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    complaint: str


@contextlib.contextmanager
def _environment(more: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def by_mpirun() -> int:
    """Processes that mpirun started, which PyTorch knows nothing of; 1: it did not, or torchrun's variables are set as well."""
    sizes = [os.environ.get(name, "1") for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")]
    return 1 if "MASTER_ADDR" in os.environ else max(int(size) if size.isdigit() else 1 for size in sizes)


def inside() -> ctypes.CDLL:
    """The command as a library. Calls of its functions release Python's lock."""
    return ctypes.CDLL(os.path.join(FOLDER, "_command.so"))


def continue_file(folder: str) -> None:
    """A folder that ``retain run FILE`` began reads its samples from that file. From here on they are in a journal, as for
    lines: only the command knows formats of files."""
    config = configparser.ConfigParser(interpolation=None, strict=False)
    config.read(os.path.join(folder, "config.ini"), encoding="utf-8")
    if config.get("stream", "source", fallback="stdin") in ("stdin", "program"):
        return
    words = [os.path.join(FOLDER, "retain"), "run", "-", "--quiet", "--resume", folder]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise InputError(done.stderr.strip().splitlines()[-1].removeprefix("retain: ") if done.stderr else f"{folder}: cannot go on")


def run(words: Sequence[str], nets: Optional[Nets] = None, again: str = "", called: str = "retain") -> Ended:
    """Runs it with these words; learners whose model.arch is net:NAME get these nets.

    ``again`` is how processes that it starts get the same nets: the environment's PYRETAIN_NET. ``called`` is
    what users type in place of ``retain`` to have them.
    """
    if not _one.acquire(blocking=False):
        raise StateError("a process can run one command at a time, or serve one learner")
    try:
        command = inside()
        command.retain_command_complaint.restype = ctypes.c_char_p
        argv = (ctypes.c_char_p * (len(words) + 2))(called.encode(), *map(os.fsencode, words), None)
        made = [ctypes.c_void_p()] * 3
        if nets is not None:
            functions = nets.functions()
            given = (ffi.addressof(lib, "pyretain_net_make"), nets.handle, functions)
            made = [ctypes.c_void_p(int(ffi.cast("uintptr_t", one))) for one in given]
        # What verbs start is this Python with the same net, or the plain command.
        program = os.path.join(FOLDER, "retain-net" if again else "retain")
        environment = {"RETAIN_PROGRAM": program, "PYRETAIN_PYTHON": sys.executable, "PYRETAIN_NET": again}
        sys.stdout.flush()
        with _environment(environment), with_signals_of_the_command():
            status = int(command.retain_command(len(words) + 1, argv, *made))
        return Ended(status, command.retain_command_complaint().decode("utf-8", "replace"))
    finally:
        _one.release()
