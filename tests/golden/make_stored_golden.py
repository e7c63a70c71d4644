#!/usr/bin/env python3
"""usage: tests/golden/make_stored_golden.py RETAIN FOLDER

Makes what tests of later versions must open, as small as it gets: FOLDER/checkpoint and its logs, a run as
a kill left it, on the baseline instruction set; FOLDER/end, what the run comes to; and FOLDER/table, the weights
of a table's run, rows, and the answers to them. old/stored-0.2 was made so; tests/cli/old.py reads it.
"""
import os
import shutil
import subprocess
import sys
import time

SETTINGS = ["drift.steps=400", "drift.per_step=8", "drift.classes=5", "drift.dim=4",
            "model.arch=mlp:4", "engine.isa=baseline", "engine.threads=1", "run.iterations=2", "run.batch=8",
            "run.checkpoint_every=100 steps", "eval.count=4", "eval.bins=4", "replay.pool=reservoir",
            "replay.limit=100"]
retain, folder = os.path.abspath(sys.argv[1]), sys.argv[2]


def words(out):
    return [retain, "run", "--quiet", "--method", "schedule-free+recency+fast", "--out", out] + [
        word for setting in SETTINGS for word in ("--set", setting)]


def keep(out, names):
    for name in os.listdir(out):
        if name not in names and os.path.isfile(os.path.join(out, name)):
            os.remove(os.path.join(out, name))


subprocess.run(words("straight"), check=True, stdout=subprocess.DEVNULL)
while True:
    shutil.rmtree(folder, ignore_errors=True)
    with subprocess.Popen(words(folder), stdout=subprocess.DEVNULL) as going:
        while not os.path.exists(f"{folder}/checkpoint/000001.state") and going.poll() is None:
            time.sleep(0.001)
        going.kill()
    if not os.path.exists(f"{folder}/model.safetensors"):
        break
keep(folder, ["config.ini", "metrics.csv", "events.jsonl", "matrix.csv"])
os.remove(f"{folder}/checkpoint/" + sorted(os.listdir(f"{folder}/checkpoint"))[0])
os.mkdir(f"{folder}/end")
for name in "model.safetensors", "metrics.csv", "events.jsonl":
    shutil.copy(f"straight/{name}", f"{folder}/end")
shutil.rmtree("straight")

os.mkdir(f"{folder}/table")
with open(f"{folder}/table/rows.csv", "w", encoding="utf-8") as file:
    file.write("age,city,label\n")
    for i in range(40):
        city = ["Rome", "Bern", "", "Oslo"][i % 4]
        file.write(f"{i % 7 if i % 5 else ''},{city},{'yes' if i % 4 < 2 else 'no'}\n")
subprocess.run([retain, "run", f"{folder}/table/rows.csv", "--quiet", "--out", "table", "--set", "model.arch=mlp:4"],
               check=True, stdout=subprocess.DEVNULL)
shutil.copy("table/model.safetensors", f"{folder}/table")
shutil.rmtree("table")
subprocess.run([retain, "predict", f"{folder}/table/model.safetensors", f"{folder}/table/rows.csv", "--quiet", "--out",
                f"{folder}/table/answers.csv"], check=True)
