"""usage: python3 old.py RETAIN FOLDER

Run folders of earlier versions (FOLDER is tests/golden/old) open in this one. stored-0.1 is a run of
version 0.1 as a kill left it, on the baseline instruction set, with what 0.1 came to in end/. stored-X, live-X
and backup-X are of version X (golden/make_stored_golden.py, make_live_golden.py, make_backup_golden.py), 0.2's as
it was before there were releases. numbers-S.tar.xz are runs of labels that are numbers, by checkpoints of the state
version S (golden/make_numbers_golden.py). A backup that this version makes is tried, too. Prints TAP.
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


def call(*words, **more):
    return subprocess.run([retain, *words], capture_output=True, text=True, check=False, **more)


def stored_0_1(work):
    run, end = os.path.join(work, "run"), os.path.join(old, "stored-0.1/end")
    shutil.copytree(os.path.join(old, "stored-0.1"), run, ignore=shutil.ignore_patterns("end"))
    done = call("run", "--resume", run)
    tap.verdict(done.returncode == 0, "a checkpoint of 0.1 is gone on with", done.stderr)
    for name, read in ("model.safetensors", tensors), ("metrics.csv", rows), ("events.jsonl", lines):
        tap.verdict(read(os.path.join(run, name)) == read(os.path.join(end, name)),
                    f"to the {name} that 0.1 came to")
    done = call("run", os.path.join(old, "stored-0.1/config.ini"), "--out", os.path.join(work, "again"))
    tap.verdict(done.returncode == 0, "a config that 0.1 saved is run again, keys that went left out", done.stderr)
    tap.verdict(tensors(os.path.join(work, "again/model.safetensors")) ==
                tensors(os.path.join(end, "model.safetensors")), "to the same weights")
    done = call("model", "info", os.path.join(end, "model.safetensors"))
    tap.verdict(done.returncode == 0 and "mlp:8" in done.stdout, "weights of 0.1 are read",
                done.stdout + done.stderr)


def stored_later(work, version):
    """With fast weights, whose last bits may differ from version to version."""
    run, end = os.path.join(work, "run-" + version), os.path.join(old, f"stored-{version}/end")
    shutil.copytree(os.path.join(old, "stored-" + version), run, ignore=shutil.ignore_patterns("end", "table"))
    done = call("run", "--resume", run)
    tap.verdict(done.returncode == 0, f"a checkpoint of {version} is gone on with", done.stderr)
    weights = [{name: len(data) for name, data in tensors(f"{folder}/model.safetensors").items()}
               for folder in (run, end)]
    tap.verdict(weights[0] == weights[1] and len(rows(f"{run}/metrics.csv")) == len(rows(f"{end}/metrics.csv")),
                "to its end", weights)


def table(version):
    """Weights that know their columns and classes."""
    folder = os.path.join(old, f"stored-{version}/table")
    done = call("predict", f"{folder}/model.safetensors", f"{folder}/rows.csv")
    said = [line.split(",") for line in done.stdout.splitlines()[1:]]
    before = [line.strip().split(",") for line in lines(f"{folder}/answers.csv")[1:]]
    tap.verdict(len(said) == len(before) == 40 and
                all(a[:2] == b[:2] and abs(float(a[2]) - float(b[2])) < 1e-4 for a, b in zip(said, before)),
                f"weights of a table of {version} answer as they did", done.stderr, done.stdout)


def live(run, golden, name):
    """`run` is a copy of what `golden` has the lines and answers of."""
    with open(f"{golden}/lines.ndjson", encoding="utf-8") as sent:
        done = call("run", "--resume", run, stdin=sent)
    again = [json.loads(line) for line in done.stdout.splitlines()]
    before = [json.loads(line) for line in lines(f"{golden}/answers.ndjson")]
    # Ids 22 to 29 are remembered with their inputs; 30 to 32 wait for their labels.
    tap.verdict(done.returncode == 0, f"{name} is gone on with", done.stderr)
    tap.verdict([answer for answer in again if "sample" in answer] == [a for a in before if "sample" in a],
                "it knows its samples", again)
    known = range(22, 33)
    tap.verdict([a for a in again if "prediction" in a and a["id"] in known] ==
                [a for a in before if "prediction" in a and a["id"] in known], "and repeats its answers", again)


def backup(work, golden, name):
    copy, run = (os.path.join(work, os.path.basename(golden) + end) for end in ("-copy", "-run"))
    shutil.unpack_archive(f"{golden}/copy.tar.gz", copy)
    done = call("restore", copy, run)
    tap.verdict(done.returncode == 0, f"{name} is restored", done.stderr)
    live(run, golden, name)


def numbers(work, golden):
    """Killed after 100 rows, as a checkpoint of the first 64 and a journal: it goes on where it was."""
    name, place = os.path.basename(golden).split(".")[0], os.path.join(work, os.path.basename(golden))
    shutil.unpack_archive(golden, place)
    with open(f"{place}/next.ndjson", encoding="utf-8") as sent:
        done = call("run", "--resume", f"{place}/run", stdin=sent)
    truth = {row["id"]: row["label"] for row in map(json.loads, lines(f"{place}/next.ndjson"))}
    told = [row for row in map(json.loads, done.stdout.splitlines()) if "prediction" in row]
    off = [abs(row["prediction"] - truth[row["id"]]) for row in told]
    tap.verdict(done.returncode == 0 and len(told) == len(truth) == 20, f"a run of {name} is gone on with", done.stderr)
    tap.verdict(off and sum(off) / len(off) < 1, "and knows what it had learned, of labels that spread by 25", off)
    tap.verdict(all(row["low"] <= row["prediction"] <= row["high"] and row["high"] - row["low"] < 15 for row in told),
                "with intervals", told)


def versions(kind):
    return sorted(name[len(kind) + 1:] for name in os.listdir(old) if name.startswith(kind + "-"))


with tempfile.TemporaryDirectory() as place:
    stored_0_1(place)
    for number in versions("stored"):
        if number != "0.1":
            stored_later(place, number)
            table(number)
    for number in versions("live"):
        if number != "0.1":  # whose journal has no answers: tests/cli/live_faults.py
            shutil.copytree(f"{old}/live-{number}/run", f"{place}/live-{number}")
            live(f"{place}/live-{number}", f"{old}/live-{number}", f"a live run of {number}")
    for number in versions("numbers"):
        numbers(place, f"{old}/numbers-{number}")
    for number in versions("backup"):
        backup(place, f"{old}/backup-{number}", f"a backup of {number}")
    subprocess.run([sys.executable, os.path.join(old, "../make_backup_golden.py"), retain, f"{place}/made"], check=True)
    backup(place, f"{place}/made", "a backup of this version")
sys.exit(tap.plan())
