#!/usr/bin/env python3
"""usage: tests/cli/scaling.py RETAIN [LIBRARY]

Running standardisation of inputs. The same rows come to the same bits from a file, live, live in CSV
and, with LIBRARY (libretain.so), from a program; missing values are taken where inputs are scaled and
refused where they are not; a model file has all that predicting needs. Prints TAP. Works in a folder of
its own.
"""
import ctypes
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import tap
from tap import verdict

RETAIN = os.path.abspath(sys.argv[1])
LIBRARY = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
N, STEP, DIM = 320, 8, 5
KEYS = {"model.arch": "mlp:16", "run.batch": "16", "run.iterations": "4", "run.seed": "3",
        "schedule.window": "40", "schedule.patience": "80", "schedule.validation_batch": "32",
        "schedule.validate_every": "10", "schedule.rate": "0.05", "schedule.epsilon": "0.02",
        "replay.holdout": "0.05", "engine.threads": "1"}


def make_rows():
    """Columns of other scales each: one begins constant, one has gaps, one has a wild value."""
    draws = random.Random(7)
    for i in range(N):
        label = draws.randrange(3)
        row = [1e4 + 500 * label + 90 * draws.gauss(0, 1), 1e-5 * (label - draws.gauss(0, 1)),
               7 if i < 100 else draws.gauss(0, 1), draws.gauss(label, 1), draws.gauss(0, 1)]
        if i % 6 == 1:
            row[3] = None
        if i == 150:
            row[4] = 1e38
        yield [None if x is None else struct.unpack("f", struct.pack("f", x))[0] for x in row], label


ROWS = list(make_rows())


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return {name: data[8 + size:][slice(*row["data_offsets"])]
            for name, row in header.items() if name != "__metadata__"}


def run(folder, settings, feed=None):
    command = [RETAIN, "run", "--quiet", "--out", folder]
    for key, value in {**KEYS, **settings}.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, input=feed, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def npy(path, kind, shape, data):
    words = str({"descr": kind, "fortran_order": False, "shape": shape})
    words += " " * (64 - (10 + len(words) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words.encode() + data)


def from_file():
    flat = [float("nan") if x is None else x for row, _ in ROWS for x in row]
    npy("x.npy", "<f4", (N, DIM), struct.pack(f"<{N * DIM}f", *flat))
    npy("x-labels.npy", "<i8", (N,), struct.pack(f"<{N}q", *(label for _, label in ROWS)))
    code, _, said = run("file", {"stream.source": "npy:x.npy", "stream.eval": "none",
                                 "stream.per_step": STEP, "eval.count": 1})
    verdict(code == 0, "a file of raw numbers with gaps is learned from", said)
    return tensors("file/model.safetensors")


LIVE = {"stream.source": "stdin", "stdin.per_step": STEP, "model.classes": 3, "model.input": DIM}


def live_ndjson():
    lines = [json.dumps({"id": i, "input": row, "label": label}) for i, (row, label) in enumerate(ROWS)]
    code, _, said = run("live", LIVE, "\n".join(lines) + "\n")
    verdict(code == 0 and json.load(open("live/run.json", encoding="utf-8"))["bad_lines"] == 0,
            "null stands for a missing value", said)
    return tensors("live/model.safetensors")


def live_csv():
    lines = [",".join([str(i), str(label)] + ["" if x is None else repr(x) for x in row])
             for i, (row, label) in enumerate(ROWS)]
    code, _, said = run("csv", {**LIVE, "stdin.format": "csv"}, "\n".join(lines) + "\n")
    verdict(code == 0, "so does an empty column", said)
    return tensors("csv/model.safetensors")


class Failure(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512)]


class Prediction(ctypes.Structure):
    _fields_ = [("label", ctypes.c_int32), ("probability", ctypes.c_float)]


def program():
    retain, err = ctypes.CDLL(LIBRARY), Failure()
    retain.retain_config_new.restype = ctypes.c_void_p
    config, learner = ctypes.c_void_p(retain.retain_config_new()), ctypes.c_void_p()
    codes = [retain.retain_config_set(config, key.encode(), value.encode(), ctypes.byref(err))
             for key, value in {**KEYS, "model.classes": "3", "model.input": str(DIM)}.items()]
    codes.append(retain.retain_learner_open(ctypes.byref(learner), config, b"program", ctypes.byref(err)))
    for at in range(0, N, STEP):
        part = ROWS[at:at + STEP]
        flat = [float("nan") if x is None else x for row, _ in part for x in row]
        inputs, labels = (ctypes.c_float * len(flat))(*flat), (ctypes.c_int32 * STEP)(*(y for _, y in part))
        ticket, said = ctypes.c_uint64(), (Prediction * STEP)()
        codes.append(retain.retain_learner_observe(learner, inputs, ctypes.c_size_t(len(flat)), said,
                                                   ctypes.c_size_t(STEP), ctypes.byref(ticket),
                                                   ctypes.byref(err)))
        codes.append(retain.retain_learner_reveal(learner, ticket, labels, ctypes.c_size_t(STEP),
                                                  ctypes.byref(err)))
        codes.append(retain.retain_learner_train(learner, -1, ctypes.byref(err)))
    retain.retain_learner_close(learner)
    retain.retain_config_free(config)
    verdict(not any(codes), "a program passes NAN", err.message)
    return tensors("program/model.safetensors")


def refused():
    """Without scaling every number must be there."""
    lines = ['{"id": 1, "input": [1, null, 3, 4, 5]}', '{"id": 2, "input": [1, 2, 3, 4, 5]}']
    code, out, said = run("off", {**LIVE, "model.scale": "off"}, "\n".join(lines) + "\n")
    answers = [json.loads(line) for line in out.splitlines()]
    verdict(code == 0 and "number 1 is not a number" in answers[0].get("error", "") and "prediction" in answers[1],
            "a missing value is refused where nothing is scaled", said, answers)
    verdict("input.mean" not in tensors("off/model.safetensors"), "its model has no scale")


def main():
    same = from_file()
    verdict(all(f"input.{name}" in same for name in ("mean", "factor", "seen")), "the model has its scale",
            list(same))
    mean, seen = struct.unpack(f"<{DIM}f", same["input.mean"]), struct.unpack(f"<{DIM}q", same["input.seen"])
    verdict(abs(mean[0] - 10500) < 100 and abs(mean[4]) < 1, "by the values that there were", mean)
    verdict(seen[0] == N and seen[3] == N - sum(row[3] is None for row, _ in ROWS),
            "without those that were missing", seen)
    verdict(live_ndjson() == same, "the same bits live")
    verdict(live_csv() == same, "and as CSV")
    if LIBRARY:
        verdict(program() == same, "and from a program")
    refused()
    done = subprocess.run([RETAIN, "model", "info", "file/model.safetensors"], capture_output=True,
                          text=True, check=False)
    verdict(done.returncode == 0 and "input.mean" in done.stdout, "retain model info knows it", done.stderr)
    code, _, said = run("again", {**LIVE, "model.weights": "file/model.safetensors"})
    verdict(code == 0 and tensors("again/model.safetensors")["input.factor"] == same["input.factor"],
            "another learner begins with weights and scale", said)
    code, _, said = run("wrong", {**LIVE, "model.weights": "file/model.safetensors", "model.scale": "off"})
    verdict(code == 2 and "model.scale = running" in said, "but not one that does not scale", code, said)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
    os.chdir("/")
sys.exit(tap.plan())
