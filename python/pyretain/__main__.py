"""The command ``retain``: also ``python -m pyretain``.

``python -m pyretain --net PACKAGE:FUNCTION VERB ...`` runs it in this process, with the PyTorch
module that the function makes for a number of classes; ``torchvision:resnet18`` and
``timm:vit_tiny_patch16_224`` are modules of those packages by their names. ``--device``,
``--amp`` and ``--input`` (3,32,32) say how.

Files of Parquet and Arrow (.parquet, .arrow, .feather, .ipc) are tables, too; they need pyarrow.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import shlex
import sys
from typing import Any, Callable, NoReturn, Optional

from pyretain._core import InputError
from pyretain.command import FOLDER, by_mpirun
from pyretain.frames import as_csv, is_file

NET = "PYRETAIN_NET"  # of the environment: the net's options, for processes that verbs start
SHARE = ("run", "serve")  # verbs whose work several processes share
START = ("compare", "tune", "verify-resume")  # verbs that start processes
TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_", "TORCHELASTIC_")  # its variables
EXAMPLES = "PACKAGE:FUNCTION is needed, as mine:make, torchvision:resnet18 or timm:vit_tiny_patch16_224"


def _torchvision(name: str) -> Callable[..., Any]:
    from torchvision import models  # type: ignore[import-untyped,unused-ignore]

    made: Callable[..., Any] = models.get_model_builder(name)
    return made


def _timm(name: str) -> Callable[..., Any]:
    import timm  # type: ignore[import-not-found,unused-ignore]

    if not timm.is_model(name):
        raise ValueError(f"timm has no model {name!r}")
    return functools.partial(timm.create_model, name)


ZOOS = {"torchvision": _torchvision, "timm": _timm}


def _function(words: str) -> Any:
    package, _, name = words.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        if package in ZOOS:
            make = ZOOS[package](name)
            return lambda classes: make(num_classes=classes)
        found: Any = importlib.import_module(package)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        sys.exit(f"retain: --net {words}: {error}; {EXAMPLES}")
    return found


def _value(words: list[str], option: str) -> Optional[str]:
    """What an option of the command says."""
    for at, word in enumerate(words):
        if word.startswith(option + "="):
            return word.partition("=")[2]
        if word == option and at + 1 < len(words):
            return words[at + 1]
    return None


def _settle_ranks(said: argparse.Namespace, verb: str) -> None:
    """Started by torchrun: which processes do what. PyTorch is not loaded yet."""
    if (started := by_mpirun()) > 1:
        start = _called(argparse.Namespace(**{**vars(said), "ranks": started}))
        sys.exit(f"retain: {verb}: mpirun started {started} processes, which would all do the same with a module. These share its work: {start} {verb}")
    here = int(os.environ.get("WORLD_SIZE", "1")) if "MASTER_ADDR" in os.environ else 1
    if here > 1 and verb not in SHARE:
        if int(os.environ.get("RANK", "0")):
            sys.exit(0)
        # The first process starts runs, and each of them is as many processes as there are now.
        if here != int(os.environ.get("LOCAL_WORLD_SIZE", here)):
            sys.exit(f"retain: {verb}: torchrun on several machines shares the work of {' and '.join(SHARE)} only")
        for name in [name for name in os.environ if name.startswith(TORCHRUN)]:
            del os.environ[name]
        said.ranks = here
    elif here == 1 and verb in SHARE and said.ranks > 1:
        words = ["-m", "pyretain.torch.launch", "--standalone", "--nproc-per-node", str(said.ranks), "-m", "pyretain"]
        os.environ[NET] = _again(argparse.Namespace(**{**vars(said), "ranks": 1}))
        os.execv(sys.executable, [sys.executable, *words, *sys.argv[1:]])


def _again(said: argparse.Namespace) -> str:
    return json.dumps(vars(said))


def _called(said: argparse.Namespace) -> str:
    """How the command was called, for what it tells users to type."""
    count = max(said.ranks, int(os.environ.get("WORLD_SIZE", "1")))
    start = ["python", "-m", "pyretain"] if count == 1 else ["torchrun", "--nproc-per-node", str(count), "-m", "pyretain"]
    for name in ("net", "device", "amp", "input"):
        value = getattr(said, name)
        start += [] if value is None else ["--" + name, value]
    return shlex.join(start)


def _with_net(said: argparse.Namespace, words: list[str]) -> int:
    """The command in this process, its learners with the module's nets."""
    verb = next((word for word in words if not word.startswith("-")), "")
    _settle_ranks(said, verb)
    import torch

    from pyretain import command
    from pyretain.config import key_of, value_of
    from pyretain.torch import ranks
    from pyretain.torch.net import Brought

    threads = int(_value(words, "--threads") or 0)
    if threads > 0:
        torch.set_num_threads(threads)
    net = _function(said.net)
    input: Optional[list[int]] = [int(size) for size in said.input.split(",")] if said.input else None
    try:
        brought = Brought(net, input, said.device, said.amp)
    except InputError as error:
        sys.exit(f"retain: {error}")
    brought.follow()
    nets = brought.nets(net, said.net.replace(":", "."))
    settings = {"model_arch": f"net:{nets.name}", **brought.settings()}
    for word, value in settings.items() if words else ():
        if not any(given.startswith(key_of(word) + "=") for given in words):
            words += ["--set", f"{key_of(word)}={value_of(value)}"]
    # Runs at the same time would share a device.
    if verb in START[:2] and _value(words, "--jobs") is None and (said.ranks > 1 or brought.device.type != "cpu"):
        words += ["--jobs", "1"]
    status = command.run(words, nets, _again(said), _called(said)).status
    ranks.end()
    return status


def _split(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="python -m pyretain", description=__doc__, allow_abbrev=False)
    parser.add_argument("--net", required=True, metavar="PACKAGE:FUNCTION")
    parser.add_argument("--device")
    parser.add_argument("--amp")
    parser.add_argument("--input")
    parser.set_defaults(ranks=1)
    return parser.parse_known_args(words)


def _tables(words: list[str]) -> None:
    """In the place of tables in other formats, the same as CSV."""
    for at, word in enumerate(words):
        if not is_file(word):
            continue
        try:
            words[at] = as_csv(word)
        except InputError as error:
            sys.exit(f"retain: {error}")


def main() -> NoReturn:
    """Becomes the command, with this process's arguments."""
    _tables(sys.argv)
    if any(word.split("=")[0] == "--net" for word in sys.argv[1:]):
        sys.exit(_with_net(*_split(sys.argv[1:])))
    if os.environ.get(NET):
        sys.exit(_with_net(argparse.Namespace(**json.loads(os.environ[NET])), sys.argv[1:]))
    command = os.path.join(FOLDER, "retain")
    try:
        os.execv(command, ["retain", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"retain: {command}: {error.strerror}")


if __name__ == "__main__":
    main()
