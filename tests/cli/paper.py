#!/usr/bin/env python3
"""usage: tests/cli/paper.py RETAIN EXPERIMENTS

Every experiment at the paper's scale, on small trees of the right form (CLOC, CGLM,
ImageNet): that the paper's settings open there, that the scale's own data is refused where
it does not fit, what --list and --dry-run say. Prints TAP. Works in a folder of its own.
"""
import os
import re
import sys
import tempfile

import sources
import tap
from sources import retain
from tap import skip, verdict

EXPERIMENTS = os.path.abspath(sys.argv[2])
# Experiments on data that is not the paper's.
OTHERS = re.compile("both-")


def trees():
    """Where each data set of the paper is; 300 photos fill a time step of 256."""
    sources.N = 300
    there = {"cloc": sources.tree_cloc("CLOC"), "cglm": sources.tree_cldatasets("CGLM")}
    if not sources.has_h5py():
        skip("CGLM is converted", "there is no h5py")
        there["cglm"] = there["cloc"]
    for kind, folder in set(there.values()):
        done = sources.convert(kind, folder)
        verdict(done[0] == 0, folder + " is converted", *done)
    there = {name: "manifest:" + folder + "/manifest.csv" for name, (_, folder) in there.items()}
    sources.CLASSES, sources.N = 100, 200
    return {**there, "imagenet": sources.make_folder("imagenet")[0]}


def scales():
    """(experiment, scale, its config) of all scales on the paper's data."""
    for name in sorted(os.listdir(EXPERIMENTS)):
        with open(os.path.join(EXPERIMENTS, name), encoding="utf-8") as file:
            words = file.read()
        name = name[:-4]
        found = re.findall(r"^\[scale (paper\S*)\]\n(?:(?!\[).*\n)*?config = (\S+)$", words, re.M)
        if not OTHERS.match(name):
            verdict(any(scale == "paper" for scale, _ in found), name + " has a scale on the paper's data")
        for scale, config in found:
            yield name, scale, config


def every_experiment(there):
    for name, scale, config in scales():
        source = there[config.split("-")[0]]
        code, said, why = retain("compare", os.path.join(EXPERIMENTS, name + ".ini"), "--scale", scale,
                                 "--dry-run", "--measure", "0", "--set", "stream.source=" + source)
        verdict(code == 0 and "to be run" in said and re.search(r"x \d+ iterations", said),
                "%s --scale %s opens" % (name, scale), code, said, why)


def dry_run(fig1, *words):
    return retain("compare", fig1, "--dry-run", "--measure", "0", *words)


def what_does_not_fit(there):
    fig1 = os.path.join(EXPERIMENTS, "fig1.ini")
    for scale, source, word in (("laptop", there["cloc"], "drift"), ("drift-paper", there["cloc"], "drift"),
                                ("paper", there["imagenet"], "manifest, tar"), ("paper", "drift", "manifest")):
        code, said, why = dry_run(fig1, "--scale", scale, "--set", "stream.source=" + source)
        verdict(code == 2 and "scale %s of fig1 is for sources of kind %s" % (scale, word) in why,
                "fig1 --scale %s refuses %s" % (scale, source.split(":")[0]), code, said, why)
    code, said, why = dry_run(fig1, "--scale", "paper")
    verdict(code == 2 and "data/CLOC" in why, "data that is not there is named", code, said, why)


def what_it_says(there):
    code, said, why = retain("compare", os.path.join(EXPERIMENTS, "fig6.ini"), "--scale", "paper", "--dry-run",
                             "--measure", "0.1", "--set", "stream.source=" + there["cloc"],
                             "--set", "model.arch=resnet18", "--set", "image.size=32")
    verdict(code == 0 and re.search(
        r"gn-ws +1 x 80 iterations, [\d.e+]+ samples/s, read at [\d.e+]+/s, .* each; memory .* GB, disk", said),
        "--dry-run says what a run will cost", code, said, why)
    os.symlink(EXPERIMENTS, "experiments")
    code, said, why = retain("compare", "--list")
    verdict(code == 0 and re.search(r"\n +paper +CLOC.*\n +needs data: .*KIND one of manifest", said)
            and re.search(r"\n +laptop .*\n +needs no data", said), "--list says which data a scale needs",
            code, said, why)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        there = trees()
        every_experiment(there)
        what_does_not_fit(there)
        what_it_says(there)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
