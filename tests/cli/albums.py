#!/usr/bin/env python3
"""usage: tests/cli/albums.py RETAIN

Efficacy by albums on a small tree of CLOC's form, and on a manifest of the same photos: that
metrics.csv, the terminal, --json and the page say what the definition gives, worked out here
from every sample's prediction. Prints TAP. Works in a folder of its own.
"""
import csv
import json
import os
import pickle
import random
import sys
import tempfile
import zipfile

import sources
import tap
from sources import retain, settings_of
from tap import verdict

PER_STEP = 7
# Weights do not move, so the model at the end is the one that predicted each time step.
STILL = sources.SMALL + ["stream.per_step=%d" % PER_STEP, "run.method=sgd+clr", "schedule.rate=1e-30", "image.size=16"]


def by_albums(users, right):
    """Of each step the first run of another user than the one who ended the step before, him left out."""
    last, shares = None, []
    for first in range(0, len(users) - len(users) % PER_STEP, PER_STEP):
        step = [(users[i], right[i]) for i in range(first, first + PER_STEP)]
        others = [one for one in step if one[0] != last]
        album = []
        for one in others:
            if one[0] != others[0][0]:
                break
            album.append(one[1])
        if album:
            shares.append(sum(album) / len(album))
        last = step[-1][0]
    return sum(shares) / len(shares)


def last_row(folder):
    with open(folder + "/metrics.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))[-1]


def compare(source, users, what):
    code, said, why = retain("run", "--quiet", "--force", "--out", "run", *settings_of(STILL, ["stream.source=" + source]))
    verdict(code == 0, what + ": it runs", code, said, why)
    code, _, why = retain("eval", "run", source, "--part", "stream", "--out", "all.csv", "--quiet",
                          *settings_of(["image.size=16"]))
    verdict(code == 0, what + ": every sample is predicted", code, why)
    with open("all.csv", encoding="utf-8") as file:
        right = [int(row["label"] == row["prediction"]) for row in csv.DictReader(file)]
    want, got = by_albums(users, right), float(last_row("run")["le_album"])
    verdict(len(right) == len(users) and 0 < sum(right) < len(right) and abs(want - got) < 1e-12,
            what + ": le_album is what the predictions give", want, got, right)
    verdict(abs(got - float(last_row("run")["le"])) > 1e-6, what + ": it is not le", got, last_row("run")["le"])
    verdict("on albums of others" in said and "%.1f %%" % (100 * got) in said, what + ": the terminal says it", said)
    return got


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        draws, users = random.Random(3), []
        while len(users) < sources.N:
            users += [draws.randrange(6)] * draws.randrange(1, 6)
        users = users[:sources.N]
        sources.tree_cloc("CLOC")
        sources.convert("cloc", "CLOC")
        source = "manifest:CLOC/manifest.csv"
        code, said, why = retain("run", "--quiet", "--force", "--out", "run", *settings_of(STILL, ["stream.source=" + source]))
        verdict(code == 0 and last_row("run")["le_album"] == "" and "albums" not in said,
                "without users there is no such number", code, said, why)
        with zipfile.ZipFile("CLOC/train_userID.torchSave", "w") as file:
            file.writestr("archive/data.pkl", pickle.dumps(users, protocol=2))
            file.writestr("archive/version", "3\n")
        done = sources.convert("cloc", "CLOC")
        verdict(done[0] == 0, "CLOC with users is converted", *done)
        first = compare(source, users, "CLOC")
        rows = ["path,label,time,user"] + ["CLOC/images/%d/%03d.png,%d,%d,user %d" % (
            i % 5, i, i % sources.CLASSES, i, users[i]) for i in range(sources.N)]
        sources.put("list.csv", "\n".join(rows) + "\n")
        again = compare("manifest:list.csv", users, "a manifest")
        code, said, why = retain("run", "--json", "--force", "--out", "run", *settings_of(
            STILL, ["stream.source=" + source]))
        verdict(code == 0 and json.loads(said)["le_album"] == first, "--json says it", first, again, said, why)
        with open("run/report.html", encoding="utf-8") as file:
            verdict('"le_album":%s' % repr(first)[:8] in file.read(), "the page has it")
        code, said, why = retain("run", "--quiet", "--force", "--out", "run", *settings_of(
            STILL, ["stream.source=" + source, "stream.order=random"]))
        verdict(code == 0 and last_row("run")["le_album"] == "", "a stream in random order has no albums", code, why)
        with zipfile.ZipFile("CLOC/train_userID.torchSave", "w") as file:
            file.writestr("archive/data.pkl", pickle.dumps(users[:-1], protocol=2))
            file.writestr("archive/version", "3\n")
        code, _, why = sources.convert("cloc", "CLOC")
        verdict(code == 1 and "train has 59 users for 60 paths" in why, "too few users are refused", code, why)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
