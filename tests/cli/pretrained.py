#!/usr/bin/env python3
"""usage: tests/cli/pretrained.py RETAIN

Runs that start from weights in torchvision's layout, for other classes: all but the head is taken from the
file, in F32, BF16 or F16; what does not fit is refused by name. Prints TAP. Works in a folder of its own.
"""
import array
import json
import os
import struct
import sys
import tempfile

import sources
import tap
from sources import retain, settings_of
from tap import verdict

SMALL = ["run.batch=4", "stream.per_step=30", "run.iterations=1", "eval.count=1", "image.size=32", "image.transform=crop", "image.resize=36",
         "engine.threads=1", "run.stop_after=0.1", "schedule.validation_batch=4", "stream.order=random",
         "run.method=sgd+clr"]


def read(path):
    """name -> (dtype, shape, bytes) of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    head.pop("__metadata__", None)
    return {name: (row["dtype"], row["shape"], data[8 + size + row["data_offsets"][0]:
                                                   8 + size + row["data_offsets"][1]]) for name, row in head.items()}


def write(path, tensors):
    head, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    words = json.dumps(head).encode()
    words += b" " * (-len(words) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(words)) + words + b"".join(data for _, _, data in tensors.values()))


def bf16(data):
    return array.array("H", data)[1::2].tobytes()


def widened(data):
    words = array.array("H", bytes(2 * len(data)))
    words[1::2] = array.array("H", data)
    return words.tobytes()


def f16(data):
    values = struct.unpack("<%df" % (len(data) // 4), data)
    return struct.pack("<%de" % len(values), *values)


def as_dtype(tensors, dtype, narrow):
    return {name: (dtype, shape, narrow(data)) if kind == "F32" else (kind, shape, data)
            for name, (kind, shape, data) in tensors.items()}


def run(source, arch, norm, weights, *more):
    return retain("run", "--quiet", "--force", "--out", "run", *settings_of(
        SMALL, ["stream.source=" + source, "model.arch=" + arch, "model.norm=" + norm,
                "model.weights=" + weights, "schedule.rate=1e-30"], more))


def same(a, b):
    """Zeros may have moved by next to nothing."""
    return a == b or all(abs(x - y) < 1e-20 for x, y in zip(array.array("f", a), array.array("f", b)))


def taken(source, arch, norm, weights, expected, what):
    """At a rate of nothing the weights at the end are those of the file, but for the head."""
    code, said, why = run(source, arch, norm, weights, "model.head=new")
    verdict(code == 0, what + ": it runs", code, said, why)
    if code:
        return
    made = read("run/model.safetensors")
    body = [name for name in made if not name.startswith(("fc.", "linear.")) and "num_batches" not in name
            and "running" not in name]
    verdict(len(body) > 10 and all(same(made[name][2], expected[name][2]) for name in body),
            "%s: %d tensors are the file's" % (what, len(body)))
    verdict(made["fc.weight"][1][0] == sources.CLASSES, what + ": the head has the data's classes", made["fc.weight"][1])


def frozen(source, expected):
    """Frozen layers stay as they are at any rate, others move; layers may have rates of their own."""
    def moved(*more):
        code, said, why = retain("run", "--quiet", "--force", "--out", "run", *settings_of(
            SMALL, ["stream.source=" + source, "model.arch=resnet20-cifar", "model.norm=bn", "run.snapshots=plain",
                    "model.weights=n.safetensors", "model.head=new", "schedule.rate=0.1"], more))
        verdict(code == 0, "a run with " + ", ".join(more), code, said, why)
        snapshot = sorted(os.listdir("run/snapshots"))[-1]
        made = read("run/snapshots/" + snapshot)
        return {name: max(abs(a - b) for a, b in zip(array.array("f", made[name][2]), array.array("f", row[2])))
                for name, row in expected.items() if row[0] == "F32" and "running" not in name and name[:2] != "fc"}

    whole = moved("run.iterations=1")
    stands = moved("model.frozen=stem, layer1, layer2")
    verdict(all((change == 0) == name.startswith(("conv1", "bn1", "layer1", "layer2"))
                for name, change in stands.items()), "frozen layers stand still, others move", stands)
    verdict(all(stands[name] == whole[name] for name in whole if name.startswith("layer3")),
            "the others move as before")
    slow = moved("optimizer.rates=layer3:0.01, stem:2")
    ratio = {name: slow[name] / whole[name] for name in whole if whole[name] > 1e-4}
    verdict(all(0.005 < each < 0.02 for name, each in ratio.items() if name.startswith("layer3")) and
            all(1.5 < each < 2.5 for name, each in ratio.items() if name.startswith(("conv1", "bn1"))) and
            all(each == 1 for name, each in ratio.items() if name.startswith("layer2")), "rates of layers", ratio)
    for setting, complaint in (("model.frozen=layer9", "model.frozen: resnet20-cifar has no layer layer9"),
                               ("model.frozen=layer2", "comes after layers that are trained"),
                               ("model.frozen=stem, layer1, layer2, layer3, fc", "all layers are frozen"),
                               ("optimizer.rates=layr1:2", "optimizer.rates: resnet20-cifar has no layer layr1"),
                               ("optimizer.rates=layer1", "LAYER:FACTOR"), ("optimizer.rates=layer1:0", "LAYER:FACTOR")):
        code, said, why = run(source, "resnet20-cifar", "bn", "n.safetensors", "model.head=new", setting)
        verdict(code == 2 and complaint in why, "refused: " + setting, code, said, why)


def without_a_method(source):
    """KIND:PATH in the place of a config; fast weights of the default method are where something is trained."""
    code, said, why = retain("run", source, "--quiet", *settings_of(
        [row for row in SMALL if not row.startswith("run.method")],
        ["model.arch=resnet20-cifar", "model.norm=bn", "model.weights=n.safetensors", "model.head=new",
         "model.frozen=stem, layer1, layer2"]))
    place = "runs/" + os.path.basename(source.partition(":")[2])
    verdict(code == 0 and os.path.exists(place + "/config.ini"), "no method is set: " + source, code, said, why)
    with open(place + "/config.ini", encoding="utf-8") as file:
        verdict("layers = head" in file.read(), "fast weights are in the head")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        source = sources.make_folder("photos")[0]
        for arch, norm, dtype, narrow, wide in (
                ("resnet50", "bn", "BF16", bf16, widened), ("resnet20-cifar", "gn-ws", "F32", bytes, bytes),
                ("resnet20-cifar", "bn", "F16", f16, None)):
            retain("model", "init", "--arch", arch, "--norm", norm, "--classes", "1000", "--out", "w.safetensors")
            tensors = read("w.safetensors")
            write("n.safetensors", as_dtype(tensors, dtype, narrow))
            if wide:
                expected = as_dtype(as_dtype(tensors, "F32", narrow), "F32", wide)
            else:
                expected = as_dtype(tensors, "F32", lambda data: struct.pack(
                    "<%df" % (len(data) // 4), *struct.unpack("<%de" % (len(data) // 4), f16(data))))
            taken(source, arch, norm, "n.safetensors", expected, "%s %s %s" % (arch, norm, dtype))
        # Group norm has no statistics: a file with some is taken all the same.
        taken(source, "resnet20-cifar", "gn-ws", "n.safetensors", expected, "resnet20-cifar bn for gn-ws")
        frozen(source, expected)
        without_a_method(source)
        code, said, why = run(source, "resnet20-cifar", "bn", "n.safetensors")
        verdict(code != 0 and "'fc.weight' has shape (1000" in why and "model.head = new" in why,
                "a head that does not fit is refused", code, said, why)
        wide = dict(tensors)
        wide["conv1.weight"] = ("F32", [16, 3, 1, 1], bytes(16 * 3 * 4))
        write("wide.safetensors", wide)
        code, said, why = run(source, "resnet20-cifar", "bn", "wide.safetensors")
        verdict(code != 0 and "'conv1.weight' has shape" in why and "model.head" not in why,
                "where more does not fit, a new head is no advice", code, said, why)
        odd = dict(tensors, strange=("F32", [1], bytes(4)))
        write("odd.safetensors", odd)
        code, said, why = run(source, "resnet20-cifar", "bn", "odd.safetensors", "model.head=new")
        verdict(code != 0 and "'strange' does not belong" in why, "a strange tensor is refused", code, said, why)
        code, said, why = run(source, "resnet18", "bn", "n.safetensors", "model.head=new")
        verdict(code != 0 and "n.safetensors: tensor" in why, "another net's weights are refused", code, said, why)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
