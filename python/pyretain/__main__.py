"""The command ``retain``: also ``python -m pyretain``.

``python -m pyretain --net PACKAGE:FUNCTION VERB ...`` runs it in this process, with the PyTorch
module that the function makes for a number of classes. ``--device``, ``--amp`` and ``--input``
(3,32,32) say how.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import os
import sys
from typing import Any, NoReturn, Optional

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def _function(words: str) -> Any:
    package, _, name = words.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(package)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        sys.exit(f"retain: --net {words}: {error}; PACKAGE:FUNCTION is needed, as torchvision.models:resnet18")
    return found


def _with_net(said: argparse.Namespace, words: list[str]) -> int:
    """The command in this process, its learners with the module's nets."""
    from pyretain._core import InputError, ffi, lib
    from pyretain.config import key_of, value_of
    from pyretain.torch.net import Brought

    net = _function(said.net)
    input: Optional[list[int]] = [int(size) for size in said.input.split(",")] if said.input else None
    try:
        brought = Brought(net, input, said.device, said.amp)
    except InputError as error:
        sys.exit(f"retain: {error}")
    nets = brought.nets(net, said.net.replace(":", "."))
    settings = {"model_arch": f"net:{nets.name}", **brought.settings()}
    for word, value in settings.items() if words else ():
        if not any(given.startswith(key_of(word) + "=") for given in words):
            words += ["--set", f"{key_of(word)}={value_of(value)}"]
    command = ctypes.CDLL(os.path.join(FOLDER, "_command.so"))
    argv = (ctypes.c_char_p * (len(words) + 2))(b"retain", *map(os.fsencode, words), None)
    make = int(ffi.cast("uintptr_t", ffi.addressof(lib, "pyretain_net_make")))
    handle, functions = int(ffi.cast("uintptr_t", nets.handle)), nets.functions()
    vectors = int(ffi.cast("uintptr_t", functions))
    return int(command.retain_command(len(words) + 1, argv, ctypes.c_void_p(make), ctypes.c_void_p(handle), ctypes.c_void_p(vectors)))


def main() -> NoReturn:
    """Becomes the command, with this process's arguments."""
    if any(word.split("=")[0] == "--net" for word in sys.argv[1:]):
        parser = argparse.ArgumentParser(prog="python -m pyretain", description=__doc__, allow_abbrev=False)
        parser.add_argument("--net", required=True, metavar="PACKAGE:FUNCTION")
        parser.add_argument("--device")
        parser.add_argument("--amp")
        parser.add_argument("--input")
        sys.exit(_with_net(*parser.parse_known_args()))
    command = os.path.join(FOLDER, "retain")
    try:
        os.execv(command, ["retain", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"retain: {command}: {error.strerror}")


if __name__ == "__main__":
    main()
