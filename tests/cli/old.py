"""usage: python3 old.py RETAIN FOLDER

Run folders of earlier versions (FOLDER is tests/golden/old) open in this one. stored-0.1 is a run of
version 0.1 as a kill left it, on the baseline instruction set, with what 0.1 came to in end/. Prints TAP.
"""
import csv
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import tap

retain, old = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return {name: data[8 + size:][slice(*row["data_offsets"])]
            for name, row in header.items() if name != "__metadata__"}


def rows(path):
    """By the columns that 0.1 had, without seconds."""
    with open(path, encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    with open(os.path.join(old, "stored-0.1/end/metrics.csv"), encoding="utf-8") as file:
        columns = file.readline().strip().split(",")[:-1]
    return [[row[column] for column in columns] for row in table]


def lines(path):
    with open(path, encoding="utf-8") as file:
        return list(file)


with tempfile.TemporaryDirectory() as work:
    run, end = os.path.join(work, "run"), os.path.join(old, "stored-0.1/end")
    shutil.copytree(os.path.join(old, "stored-0.1"), run, ignore=shutil.ignore_patterns("end"))
    done = subprocess.run([retain, "run", "--resume", run], capture_output=True, text=True, check=False)
    tap.verdict(done.returncode == 0, "a checkpoint of 0.1 is gone on with", done.stderr)
    for name, read in ("model.safetensors", tensors), ("metrics.csv", rows), ("events.jsonl", lines):
        tap.verdict(read(os.path.join(run, name)) == read(os.path.join(end, name)),
                    f"to the {name} that 0.1 came to")
    done = subprocess.run([retain, "model", "info", os.path.join(end, "model.safetensors")],
                          capture_output=True, text=True, check=False)
    tap.verdict(done.returncode == 0 and "mlp:8" in done.stdout, "weights of 0.1 are read",
                done.stdout + done.stderr)
sys.exit(tap.plan())
