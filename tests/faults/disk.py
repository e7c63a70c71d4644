"""What a power cut leaves of a folder.

strace records what a process does to the files below a folder, and what it says. From that record a
disk is rebuilt as it may be after the power went at any moment. What was synced is there: a file's
bytes by fsync or fdatasync of the file, or one by one where it was opened so, names by fsync of their folder. What was not is there or not,
sector by sector and, for the names of one folder, up to some moment. That is harsher than file systems
with a journal are: they keep names in order across folders, too.
"""
import os
import random
import re

CALLS = ("open openat creat write pwrite64 writev pwritev ftruncate fallocate rename renameat renameat2 unlink unlinkat "
         "mkdir mkdirat rmdir fsync fdatasync close dup dup2 dup3 fcntl lseek sendto sendmsg").split()
SECTOR = 512
_STRING = re.compile(rb'"((?:\\x[0-9a-f]{2})*)"')
_LINE = re.compile(rb"^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$", re.S)
_RESULT = re.compile(rb"^(.*)\) += (-?\d+)(?: .*)?$", re.S)


def record(log, inject=()):
    """Words before a command that make a record of it, or let its calls fail."""
    words = ["strace", "-D", "-f", "-o", log]
    if inject:
        return words + [word for one in inject for word in ("-e", one)]
    return words + ["-xx", "-s", "33554432", "-e", "signal=none", "-e", "trace=" + ",".join(CALLS)]


def _bytes(text):
    return bytes.fromhex(text.replace(b"\\x", b"").decode())


def _calls(log):
    """Calls as (name, arguments, result, line at which it began), in the order of their ends."""
    begun = {}
    with open(log, "rb") as file:
        for number, line in enumerate(file):
            found = _LINE.match(line.rstrip(b"\n"))
            if not found:
                continue
            thread, resumed, name, rest = found.groups()
            if rest.endswith(b"<unfinished ...>"):
                begun[thread] = number, name, rest[:-len(b"<unfinished ...>")].rstrip()
                continue
            start = number
            if resumed:
                if thread not in begun:
                    continue
                start, name, before = begun.pop(thread)
                rest = before + rest
            ended = _RESULT.match(rest)
            if ended:
                yield name.decode(), ended[1], int(ended[2]), start, number
            elif name in (b"write", b"sendto", b"sendmsg"):  # killed in the middle of it
                yield name.decode(), rest, 0, start, number


class File:
    def __init__(self):
        self.synced, self.pending = bytearray(), []
        self.size = 0

    def take(self, number, at, data, lasts=False):
        """A write, or, where data is None, a new size. `lasts`: it is synced by itself, and nothing else is."""
        self.pending.append([number, at, data, lasts])
        self.size = at if data is None else max(self.size, at + len(data))

    def sync(self, before):
        """Makes all last that was written before this line of the log."""
        for change in self.pending:
            change[3] = change[3] or change[0] < before
        while self.pending and self.pending[0][3]:
            _change(self.synced, *self.pending.pop(0)[1:3])

    def left(self, mode, draws):
        made = bytearray(self.synced)
        for _, at, data, lasts in self.pending:
            if lasts or mode == "all" or mode == "some" and data is None and draws.random() < 0.5:
                _change(made, at, data)
                continue
            for first in range(0, len(data or b""), SECTOR) if mode == "some" else ():
                if draws.random() < 0.5:
                    _change(made, at + first, data[first:first + SECTOR])
        return made


def _change(made, at, data):
    if data is None:
        del made[at:]
        made.extend(bytes(at - len(made)))
    else:
        made.extend(bytes(max(0, at + len(data) - len(made))))
        made[at:at + len(data)] = data


class Folder:
    def __init__(self):
        self.now, self.synced, self.pending = {}, {}, []

    def take(self, change):
        _rename(self.now, *change)
        self.pending.append(change)

    def sync(self):
        self.synced, self.pending = dict(self.now), []

    def left(self, mode, draws):
        made = dict(self.synced)
        count = {"none": 0, "all": len(self.pending)}.get(mode, draws.randint(0, len(self.pending)))
        for change in self.pending[:count]:
            _rename(made, *change)
        return made


def _rename(names, name, node, gone=None):
    """`name` is `node` from now on, or nobody; `gone` was its name."""
    if gone is not None:
        names.pop(gone, None)
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


class Disk:
    """A record, made happen call by call."""

    def __init__(self, log, root):
        self.calls = list(_calls(log))
        self.top, self.root = Folder(), os.path.realpath(root)
        self.open = {}  # descriptor -> [node, place, durable at once, appends]
        self.paths = {}  # of folders, by descriptor
        self.said = []  # (line of the log, descriptor, bytes)
        self.at = 0

    def __len__(self):
        return len(self.calls)

    def _find(self, path):
        """The folder of a path and the last name; None: it is outside."""
        path = os.path.normpath(os.path.join(self.root, path))
        if path == self.root:
            return None, ""
        if not path.startswith(self.root + "/"):
            return None, None
        node = self.top
        names = path[len(self.root) + 1:].split("/")
        for name in names[:-1]:
            node = node.now.get(name)
            if not isinstance(node, Folder):
                return None, None
        return node, names[-1]

    def _path(self, args, at=0):
        """The path of an argument; by the folder before it, if there is one."""
        text = [_bytes(word) for word in _STRING.findall(args)][at].decode()
        before = re.findall(rb'(AT_FDCWD|\d+), "', args)
        base = before[at] if at < len(before) else b"AT_FDCWD"
        return text if base == b"AT_FDCWD" else os.path.join(self.paths.get(int(base), "/nowhere"), text)

    def until(self, number):
        """Makes the first `number` calls happen."""
        while self.at < number:
            name, args, result, begun, ended = self.calls[self.at]
            self.at += 1
            if name in ("write", "writev", "sendto", "sendmsg") and int(re.match(rb"\d+", args)[0]) not in self.open:
                data = b"".join(map(_bytes, _STRING.findall(args)))
                self.said.append((begun, int(re.match(rb"\d+", args)[0]), data if name == "sendmsg" else data[:result or None]))
            elif result >= 0:
                getattr(self, "_" + name, lambda *_: None)(args, result, begun, ended)

    def _openat(self, args, result, begun, ended):
        path = self._path(args)
        folder, name = self._find(path)
        self.open.pop(result, None)
        self.paths[result] = os.path.normpath(os.path.join(self.root, path))
        node = self.top if name == "" else folder.now.get(name) if folder else None
        if folder and node is None and b"O_CREAT" in args:
            node = File()
            folder.take((name, node))
        if isinstance(node, File) and b"O_TRUNC" in args:
            node.take(ended, 0, None)
        if node is not None:
            self.open[result] = [node, 0, b"SYNC" in args, b"O_APPEND" in args]

    _open = _openat

    def _close(self, args, *_):
        self.open.pop(int(args), None)

    def _dup(self, args, result, *_):
        old = int(re.match(rb"\d+", args)[0])
        if old in self.open:
            self.open[result] = self.open[old]

    _dup2 = _dup3 = _dup

    def _fcntl(self, args, result, *_):
        if b"F_DUPFD" in args:
            self._dup(args, result)

    def _lseek(self, args, result, *_):
        if int(re.match(rb"\d+", args)[0]) in self.open:
            self.open[int(re.match(rb"\d+", args)[0])][1] = result

    def _put(self, fd, at, data, ended):
        held = self.open.get(fd)
        if not held or not isinstance(held[0], File):
            return
        place = at if at is not None else held[0].size if held[3] else held[1]
        held[0].take(ended, place, data, held[2])
        if at is None:
            held[1] = place + len(data)

    def _write(self, args, result, begun, ended):
        self._put(int(re.match(rb"\d+", args)[0]), None, b"".join(map(_bytes, _STRING.findall(args)))[:result], ended)

    _writev = _write

    def _pwrite64(self, args, result, begun, ended):
        at = int(args.rsplit(b", ", 1)[1])
        self._put(int(re.match(rb"\d+", args)[0]), at, b"".join(map(_bytes, _STRING.findall(args)))[:result], ended)

    _pwritev = _pwrite64

    def _ftruncate(self, args, result, begun, ended):
        fd, size = map(int, args.split(b", "))
        if isinstance(self.open.get(fd, [None])[0], File):
            self.open[fd][0].take(ended, size, None)

    def _fsync(self, args, result, begun, ended):
        node = self.open.get(int(args), [None])[0]
        if isinstance(node, File):
            node.sync(begun)
        elif node:
            node.sync()

    _fdatasync = _fsync

    def _mkdir(self, args, *_):
        folder, name = self._find(self._path(args))
        if folder:
            folder.take((name, Folder()))

    _mkdirat = _mkdir

    def _unlink(self, args, *_):
        folder, name = self._find(self._path(args))
        if folder:
            folder.take((name, None))

    _unlinkat = _rmdir = _unlink

    def _rename(self, args, *_):
        folder, name = self._find(self._path(args))
        other, new = self._find(self._path(args, 1))
        assert folder is other, "a file moves to another folder"
        if folder:
            folder.take((new, folder.now[name], name))

    _renameat = _renameat2 = _rename

    def output(self):
        """What was said before now, by descriptor."""
        made = {}
        line = self.calls[self.at - 1][4] if self.at else 0
        for begun, fd, data in self.said:
            if begun <= line:
                made.setdefault(fd, bytearray()).extend(data)
        return made

    def lay_out(self, path, mode, seed):
        """Writes what a cut at this moment leaves. `mode`: none, all or some of what was not synced."""
        def make(node, path):
            os.makedirs(path, exist_ok=True)
            for name, inner in node.left(mode, draws).items():
                if isinstance(inner, Folder):
                    make(inner, os.path.join(path, name))
                else:
                    with open(os.path.join(path, name), "wb") as file:
                        data = inner.left(mode, draws)
                        file.write(data.rstrip(b"\0"))  # a journal is sparse
                        file.truncate(len(data))

        draws = random.Random(seed)
        make(self.top, path)
