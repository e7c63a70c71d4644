#!/usr/bin/env python3
"""usage: tests/cli/ways.py RETAIN [LIBRARY]

The same events as a file, as lines, over HTTP and, with LIBRARY (libretain.so), from a program come to one and the same
model, with nothing set but that labels are numbers where they are. A file is read before its first row is learned, so
its classes are known from then on, and those of events come with their labels: ways are compared once a first file has
brought all of them. Prints TAP. Works in a folder of its own.
"""
import ctypes
import json
import os
import random
import shutil
import struct
import sys
import tempfile

import tap
from producer import RETAIN
from tap import verdict

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from service import Service  # noqa: E402
from folder import run  # noqa: E402

LIBRARY = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
N, FIRST, CITIES = 400, 150, ["Rome", "Oslo", "Lima"]


def events(label_of):
    """Ids, rows and labels."""
    draws = random.Random(7)
    for i in range(N):
        kind = draws.randrange(3)
        row = {"x": round(draws.gauss(2 * kind, 0.7), 3), "y": round(draws.random(), 3), "city": draws.choice(CITIES)}
        yield i, row, label_of(kind, row, draws)


def write_table(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("x,y,city,label\n")
        for _, row, label in rows:
            file.write("%s,%s,%s,%s\n" % (row["x"], row["y"], row["city"], label))


def lines_of(rows):
    return "".join(json.dumps({"id": i, "input": row, "label": label}) + "\n" for i, row, label in rows)


def place(folder):
    return ["--resume" if os.path.exists(folder) else "--out", folder]


class Program:
    """A program in C, by ctypes: each row is encoded, observed, revealed, and trained on."""

    def __init__(self, folder, numbers):
        self.retain, self.err = ctypes.CDLL(LIBRARY), ctypes.create_string_buffer(2048)
        self.learner, self.config, self.numbers = ctypes.c_void_p(), None, numbers
        if numbers:
            self.retain.retain_config_new.restype = ctypes.c_void_p
            self.config = ctypes.c_void_p(self.retain.retain_config_new())
            self.call("retain_config_set", self.config, b"model.target", b"number")
        self.call("retain_learner_open", ctypes.byref(self.learner), self.config, folder.encode())

    def call(self, name, *args):
        if getattr(self.retain, name)(*args, self.err):
            raise RuntimeError(f"{self.err.raw[4:].split(bytes(1))[0].decode()}")

    def learn(self, row, label):
        size, ticket, text = ctypes.c_size_t, ctypes.c_uint64(), json.dumps(row).encode()
        floats, said = (ctypes.c_float * 64)(), ctypes.create_string_buffer(64)
        self.call("retain_learner_encode", self.learner, text, size(len(text)), None, size(0))
        shape = self.floats()
        self.call("retain_learner_encode_known", self.learner, text, size(len(text)), floats, size(shape))
        kind = "_numbers" if self.numbers else ""
        self.call("retain_learner_observe" + kind, self.learner, floats, size(shape), said, size(1), ctypes.byref(ticket))
        if self.numbers:
            known = ctypes.c_float(label)
        else:
            known = ctypes.c_int32()
            self.call("retain_learner_class", self.learner, label.encode(), ctypes.byref(known))
        self.call("retain_learner_reveal" + kind, self.learner, ticket, ctypes.byref(known), size(1))
        self.call("retain_learner_train", self.learner, -1)

    def floats(self):
        shape = (ctypes.c_int * 32)()
        self.call("retain_learner_shape", self.learner, shape)
        return shape[4]

    def close(self):
        self.retain.retain_learner_close(self.learner)
        if self.config:
            self.retain.retain_config_free(self.config)


def tensors(folder):
    """A model without its metadata: a table's schema names its label and its file."""
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + size])["__metadata__"].get("retain.class_names"), data[8 + size:]


def as_file(folder, rows, settings):
    write_table(folder + ".csv", rows)
    return run(folder + ".csv", *place(folder), *settings)[::2]


def as_lines(folder, rows, settings):
    return run("-", *place(folder), *settings, text=lines_of(rows))[::2]


def over_http(folder, rows, settings):
    service = Service(RETAIN, "--out", folder, "--listen", "127.0.0.1:0", *settings)
    status, _, body = service.ask("POST", "/v1/samples", lines_of(rows))
    service.end()
    return status != 200, body


def in_c(folder, rows, settings):
    if os.path.exists(folder):
        run("-", "--resume", folder)  # its samples, into a journal
    program = Program(folder, bool(settings))
    for _, row, label in rows:
        program.learn(row, label)
    program.close()
    return 0, ""


def compare(name, ways, rows, settings, begun=None):
    """Rows in each of these ways, from the first or after what another folder has learned."""
    want = None
    for way in ways:
        folder = f"{name} {way.__name__}"
        if begun:
            shutil.copytree(begun, folder)
        code, said = way(folder, rows, settings)
        want = want or tensors(folder)
        verdict(code == 0 and tensors(folder) == want, f"{name}, {way.__name__}", code, said)
    return want


def main():
    ways = [as_file, as_lines, over_http] + [in_c] * bool(LIBRARY)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        numbers = list(events(lambda kind, row, draws: round(3 * row["x"] + kind + draws.gauss(0, 0.1), 2)))
        compare("numbers", ways, numbers, ["--target", "number"])
        classes = list(events(lambda kind, row, draws: ["low", "middle", "high"][kind]))
        compare("classes that come", ways[1:], classes, [])
        as_file("first", classes[:FIRST], [])
        want = compare("classes that are known", ways, classes[FIRST:], [], "first")
        code, said = as_file("whole", classes, [])
        verdict(code == 0 and tensors("whole") == want, "and one file of both parts", said)
        os.chdir("/")
    if not LIBRARY:
        tap.skip("from a program", "no library")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
