#!/usr/bin/env python3
"""usage: tests/cli/sources.py RETAIN [SHARED]

`retain run` from every kind of data set that `retain list` has, made small here,
and from real ones in SHARED where they are: that it ends well, that a killed run
comes to the same, and what becomes of samples that cannot be read. Prints TAP.
Works in a folder of its own.
"""
import base64
import importlib.util
import io
import json
import os
import pickle
import random
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib

import tap
from tap import skip, verdict

RETAIN = os.path.abspath(sys.argv[1])
SHARED = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
PATIENCE = 120  # seconds, for a machine that is busy
N, CLASSES, SIDE = 60, 3, 16
SMALL = ["model.arch=mlp:8", "run.batch=8", "stream.per_step=5", "run.iterations=2",
         "schedule.validation_batch=4", "replay.holdout=0.2", "eval.count=2", "eval.bins=2",
         "engine.threads=1", "stream.loaders=2", "run.checkpoint_every=2 steps"]
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQ"
    "c1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/wAALCAAQABABAREA/8QAFgABAQEAAAAAAAAAAAAAAAAABQAE/8QAIBAA"
    "AgEDBQEBAAAAAAAAAAAAARECACFRBBIxcYHRA//aAAgBAQAAPwA6H5jaI7bdpfDzk1phpG4ouxNkPX5znirRQJ2l"
    "Ek2C+94QvSMZQ0wDiJJX3RCBYeBwMdu1f//Z")

draws = random.Random(1)


def put(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def png(label, side=SIDE):
    """A picture whose colour is its class, and some noise."""
    rows = b"".join(b"\0" + bytes((80 * label + draws.randrange(60)) % 256 for _ in range(3 * side))
                    for _ in range(side))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def image(i):
    return JPEG if i % 10 == 9 else png(i % CLASSES)


# What each kind of data set is, as small as can be: writes it to `to`, returns stream.source and
# the settings that it needs.

def make_idx(to):
    for part, n in (("train", N), ("t10k", N // 4)):
        pixels = bytes((80 * (i % CLASSES) + draws.randrange(60)) % 256
                       for i in range(n) for _ in range(64))
        put(to + "/%s-images-idx3-ubyte" % part, struct.pack(">4I", 2051, n, 8, 8) + pixels)
        put(to + "/%s-labels-idx1-ubyte" % part, struct.pack(">2I", 2049, n) +
            bytes(i % CLASSES for i in range(n)))
    return "idx:" + to, []


def make_cifar(to):
    for part, n in (("data_batch_1", N), ("test_batch", N // 4)):
        put(to + "/%s.bin" % part, b"".join(
            bytes([i % 10]) + bytes([20 * (i % 10) + draws.randrange(20)]) * 3072 for i in range(n)))
    return "cifar:" + to, []


def make_tar(to):
    put(to + "/x", b"")
    for shard in range(2):
        with tarfile.open(to + "/data-%d.tar" % shard, "w") as tar:
            for i in range(shard * N // 2, (shard + 1) * N // 2):
                for name, data in (("%04d.png" % i, png(i % CLASSES)),
                                   ("%04d.json" % i, json.dumps({"label": i % CLASSES, "time": i}).encode())):
                    entry = tarfile.TarInfo(name)
                    entry.size = len(data)
                    tar.addfile(entry, io.BytesIO(data))
    return "tar:" + to + "/data-{0..1}.tar", ["stream.eval=every:5", "image.size=16"]


def make_folder(to):
    for i in range(N + N // 4):
        put(to + "/%s/class%d/%03d.%s" % ("train" if i < N else "val", i % CLASSES, i,
                                          "jpg" if i % 10 == 9 else "png"), image(i))
    return "folder:" + to, ["image.size=16", "stream.order=random"]


def make_manifest(to):
    rows = ["path,label,time"]
    for i in range(N):
        put(to + "/images/%03d.%s" % (i, "jpg" if i % 10 == 9 else "png"), image(i))
        rows.append("images/%03d.%s,%s,2024-01-01T%02d:%02d:00" % (
            i, "jpg" if i % 10 == 9 else "png", "bridge market tower".split()[i % CLASSES], i // 60, i % 60))
    put(to + "/list.csv", "\n".join(rows) + "\n")
    return "manifest:" + to + "/list.csv", ["stream.eval=every:5", "image.size=16"]


def npy(kind, shape, data):
    words = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    words += " " * (-(len(words) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words.encode() + data


def make_npy(to):
    put(to + "/x.npy", npy("<f4", (N, 4), struct.pack(
        "<%df" % (4 * N), *(i % CLASSES + draws.gauss(0, 0.3) for i in range(N) for _ in range(4)))))
    put(to + "/x-labels.npy", npy("<i8", (N,), struct.pack("<%dq" % N, *(i % CLASSES for i in range(N)))))
    return "npy:" + to + "/x.npy", ["stream.eval=every:5"]


def make_table(to):
    put(to + "/rows.csv", "size,colour,time,label\n" + "".join(
        "%.3f,%s,%d,%s\n" % (i % CLASSES + draws.gauss(0, 0.3), ("red", "blue")[i % 2], i, "abc"[i % CLASSES])
        for i in range(N)))
    return "table:" + to + "/rows.csv", ["stream.eval=every:5"]


def convert(kind, folder, *words):
    """The manifest of a data set with list files of its own."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/pyretain/convert.py")
    done = subprocess.run([sys.executable, script, kind, folder, "--force", *words], capture_output=True,
                          timeout=PATIENCE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def hdf5(values):
    """The smallest HDF5 file with one dataset, store_list, of whole numbers or of texts."""
    if isinstance(values[0], int):
        kind = struct.pack("<B3BIHHI", 0x10, 8, 0, 0, 8, 0, 64, 0)
        data = struct.pack("<%dq" % len(values), *values)
    else:
        size = max(map(len, values)) + 1
        kind = struct.pack("<B3BI", 0x13, 0, 0, 0, size)
        data = b"".join(value.encode().ljust(size, b"\0") for value in values)
    none = 2 ** 64 - 1

    def messages(*pairs):
        body = b"".join(struct.pack("<HHB3x", number, len(part), 0) + part for number, part in pairs)
        return struct.pack("<BxHII4x", 1, len(pairs), 1, len(body)) + body
    tree, heap, names, node, root, sheet, at = 200, 800, 840, 900, 1300, 1400, 2048
    file = bytearray(at) + data
    parts = {
        0: b"\x89HDF\r\n\x1a\n" + bytes([0, 0, 0, 0, 0, 8, 8, 0]) +
           struct.pack("<HHIQQQQ", 4, 16, 0, 0, none, len(file), none) +
           struct.pack("<QQIIQQ", 0, root, 1, 0, tree, heap),
        tree: b"TREE" + struct.pack("<BBHQQQQQ", 0, 0, 1, none, none, 0, node, 8),
        heap: b"HEAP" + struct.pack("<B3xQQQ", 0, 24, 1, names),
        names: b"\0" * 8 + b"store_list",
        node: b"SNOD" + struct.pack("<BxH", 1, 1) + struct.pack("<QQIIQQ", 8, sheet, 0, 0, 0, 0),
        root: messages((0x11, struct.pack("<QQ", tree, heap))),
        sheet: messages((1, struct.pack("<BBB5xQ", 1, 1, 0, len(values))), (3, kind),
                        (8, struct.pack("<BBQQ6x", 3, 1, at, len(data)))),
    }
    for place, part in parts.items():
        file[place:place + len(part)] = part
    return bytes(file)


def tree_cldatasets(to):
    for part, first, n in (("train", 0, N), ("test", N, N // 4)):
        names = ["%03d.png" % i for i in range(first, first + n)]
        for i, name in enumerate(names, first):
            put(to + "/data/" + name, png(i % CLASSES))
        put(to + "/order_files/%s_image_paths.hdf5" % part, hdf5(names))
        put(to + "/order_files/%s_labels.hdf5" % part, hdf5([i % CLASSES for i in range(first, first + n)]))
    return "cldatasets", to


def tree_cloc(to):
    paths = ["%d/%03d.png" % (i % 5, i) for i in range(N + N // 4)]
    for i, path in enumerate(paths):
        put(to + "/images/" + path, png(i % CLASSES))
    for name, values in (("labels", [i % CLASSES for i in range(N)]), ("time", list(range(N))),
                         ("store_loc", paths[:N])):
        with zipfile.ZipFile(to + "/train_%s.torchSave" % name, "w") as file:
            file.writestr("archive/data.pkl", pickle.dumps(values, protocol=2))
            file.writestr("archive/version", "3\n")
    put(to + "/yfcc100m_val.csv", "".join("%d,,%d,u,%s\n" % (i % CLASSES, i, paths[i])
                                          for i in range(N, N + N // 4)))
    return "cloc", to


MAKERS = {name[5:]: maker for name, maker in list(globals().items()) if name.startswith("make_")}


def retain(*words):
    done = subprocess.run([RETAIN, *words], capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def settings_of(*lists):
    return [word for settings in lists for setting in settings for word in ("--set", setting)]


def run(source, settings, out, *words):
    return retain("run", "--quiet", "--force", "--out", out, *words,
                  *settings_of(SMALL, ["stream.source=" + source], settings))


def facts_of(folder):
    with open(folder + "/run.json", encoding="utf-8") as file:
        return json.load(file)


def file_of(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def kinds():
    """The rows of `retain list` under its heading for data sets."""
    listed = retain("list")[1].split("data sets on disk", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^  (\S+)", listed, re.M)


def every_kind():
    for kind in kinds():
        if kind not in MAKERS:
            verdict(False, "there is a small data set of kind " + kind)
            continue
        source, settings = MAKERS[kind]("data-" + kind)
        code, said, why = run(source, settings, "run-" + kind)
        verdict(code == 0 and "retention (IR)" in said and facts_of("run-" + kind)["skipped"] == 0,
                "a run from " + kind, code, said, why)


def converted():
    """What has list files of its own is refused with the command that makes a manifest of it."""
    for kind, make in (("cloc", tree_cloc), ("cldatasets", tree_cldatasets)):
        to = make("tree-" + kind)[1]
        for words in (kind + ":" + to, to):
            code, said, why = run(words, ["image.size=16"], "run-" + kind)
            verdict(code == 2 and re.search("python -m pyretain.convert %s .*%s;" % (kind, to), why),
                    words + ": the message says how to convert it", code, said, why)
        if kind == "cldatasets" and not has_h5py():
            skip("converting cldatasets", "there is no h5py")
            continue
        done = convert(kind, to)
        code, said, why = run("manifest:" + to + "/manifest.csv", ["image.size=16"], "run-" + kind)
        verdict(done[0] == 0 and code == 0 and "retention (IR)" in said and facts_of("run-" + kind)["skipped"] == 0,
                "a run from " + kind + ", converted", done, code, said, why)
        code, said, why = run(kind + ":" + to, ["image.size=16"], "run-" + kind + "-named")
        verdict(code == 0 and file_of("run-" + kind, "model.safetensors") == file_of("run-" + kind + "-named", "model.safetensors"),
                kind + ":PATH stands for the manifest that was made of it", code, said, why)


def has_h5py():
    return importlib.util.find_spec("h5py") is not None


def one_kills():
    """A killed run draws the same pictures, changed in the same way."""
    source, settings = make_folder("killed")
    put("killed/train/class1/004.png", b"\x89PNG no more")
    for drift in ("off", "on"):
        code, said, why = retain("verify-resume", "--kills", "3", *settings_of(
            SMALL, ["stream.source=" + source, "image.transform=crop", "run.iterations=60",
                    "stream.on_bad=skip", "stream.max_bad=0.1", "stream.drift=" + drift], settings))
        verdict(code == 0, "killed and resumed with random crops, a bad picture, drift " + drift
                + ": the same bytes", code, said, why)


def stopped():
    """What was left out stays so, and counted, when a run goes on, even if it was mended since."""
    source, settings = make_folder("stopped")
    settings = settings + ["stream.on_bad=skip", "stream.max_bad=0.1", "run.iterations=300"]
    good = file_of("stopped/train/class1/004.png")
    put("stopped/train/class1/004.png", good[:40])
    straight = run(source, settings, "stopped-straight")
    with subprocess.Popen([RETAIN, "run", "--quiet", "--out", "stopped-run"] + settings_of(
            SMALL, ["stream.source=" + source], settings),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not (
                os.path.exists("stopped-run/events.jsonl") and
                b'"bad"' in file_of("stopped-run/events.jsonl")):
            time.sleep(0.005)
        process.terminate()
    put("stopped/train/class1/004.png", good)
    resumed = retain("run", "--quiet", "--resume", "stopped-run")
    verdict(process.returncode in (0, 143) and straight[0] == 0 and resumed[0] == 0,
            "a run with a bad picture is stopped and goes on", process.returncode, straight, resumed)
    verdict(facts_of("stopped-straight")["skipped"] == facts_of("stopped-run")["skipped"] == 1 and
            file_of("stopped-straight/events.jsonl") == file_of("stopped-run/events.jsonl") and
            file_of("stopped-straight/model.safetensors") == file_of("stopped-run/model.safetensors"),
            "it counts, logs and learns what a straight run does")


def bad(kind, name, harm, words, settings=(), reads=True):
    """`harm` spoils one sample; it is an error that says `words`, or is skipped and counted."""
    to = "bad-%d" % tap.cases
    source, own = MAKERS[kind](to)
    harm(to)
    own = own + list(settings) + ["run.iterations=20"]
    code, said, why = run(source, own + ["stream.on_bad=error"], to + "-error")
    verdict(code == 1 and words in why, "%s, %s: an error that names it" % (kind, name), code, said, why)
    code, said, why = run(source, own + ["stream.on_bad=skip", "stream.max_bad=0.05"], to + "-skip")
    events = [json.loads(line) for line in file_of(to + "-skip", "events.jsonl").splitlines()] \
        if code == 0 else []
    told = [event for event in events if event["event"] == "bad"]
    verdict(code == 0 and facts_of(to + "-skip")["skipped"] == 1 and "left out" in said and
            len(told) == 1 and (not reads or words in told[0]["why"]),
            "%s, %s: skipped, counted and logged" % (kind, name), code, said, why, told)
    code, said, why = run(source, own + ["stream.on_bad=skip", "stream.max_bad=0.005"], to + "-most")
    verdict(code == 1 and "stream.max_bad = 0.005" in why, "%s, %s: one is too many" % (kind, name),
            code, said, why)


def edit(path, change):
    def harm(to):
        put(to + "/" + path, change(file_of(to, path)))
    return harm


def line(number, change):
    def changed(data):
        lines = data.decode().split("\n")
        lines[number] = change(lines[number])
        return "\n".join(lines)
    return changed


def bad_samples():
    bad("folder", "truncated JPEG", edit("train/class0/009.jpg", lambda data: data[:-30]),
        "train/class0/009.jpg")
    bad("folder", "an empty file", edit("val/class0/060.png", lambda data: b""), "val/class0/060.png")
    bad("manifest", "a missing image", lambda to: os.remove(to + "/images/007.png"), "list.csv, row 9")
    bad("manifest", "a short row", edit("list.csv", line(5, lambda row: "images/004.png")),
        "list.csv, row 6: has 1 column, and row 1 has 3", reads=False)
    bad("manifest", "a time that is none", edit("list.csv", line(5, lambda row: row + "x")),
        "list.csv, row 6, column time", reads=False)
    bad("cifar", "a label out of range", edit("data_batch_1.bin", lambda data: b"\x0b" + data[1:]),
        "data_batch_1.bin, record 0: label 11", reads=False)
    bad("npy", "a label below 0", edit("x-labels.npy", lambda data: data[:-8] + b"\xff" * 8),
        "x-labels.npy, row 59: label -1", reads=False)
    bad("table", "a short row", edit("rows.csv", line(9, lambda row: "1.5")), "rows.csv, row 10", reads=False)
    bad("tar", "a label that is none", edit("data-0.tar", lambda data: data.replace(b'"label": 2', b'"label": x', 1)),
        "0002.json", reads=False)


def broken_files():
    """What is wrong with a file as a whole is an error in any case."""
    for kind, path, change, words in (
            ("tar", "data-1.tar", lambda data: data[:data.rfind(b"\x89PNG") + 50],
             "data-1.tar: the member at byte"),
            ("tar", "data-1.tar", lambda data: data[:1024] + b"x" + data[1025:], "data-1.tar"),
            ("idx", "train-labels-idx1-ubyte", lambda data: data[:-1], "train-labels-idx1-ubyte"),
            ("cifar", "test_batch.bin", lambda data: data[:-7], "test_batch.bin"),
            ("npy", "x.npy", lambda data: data[:-4], "x.npy"),
            ("manifest", "list.csv", lambda data: b"", "list.csv: is empty")):
        to = "broken-%d" % tap.cases
        source, settings = MAKERS[kind](to)
        edit(path, change)(to)
        code, said, why = run(source, settings + ["stream.on_bad=skip"], to + "-run")
        verdict(code == 1 and words in why, "%s: %s as a whole is broken" % (kind, path), code, said, why)


def too_long_a_step():
    source, settings = make_npy("long")
    code, _, why = run(source, settings + ["run.step_epochs=1e10"], "long-run")
    verdict(code == 2 and "run.step_epochs = 1e+10" in why and "in a time step" in why,
            "a time step of too many iterations is refused by name", code, why)


def other_pictures():
    """WebP, GIF and BMP are read; what is no picture, or lies in no class, is named and counted."""
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/images")
    kinds = ("lossy.webp", "animated.webp", "plain.gif", "animated.gif", "bits24.bmp", "bits4.bmp", "rgb8.png")
    for i in range(4 * len(kinds)):
        name = kinds[i % len(kinds)]
        os.makedirs("album/%s" % "ab"[i % 2], exist_ok=True)
        shutil.copy(os.path.join(golden, name), "album/%s/%02d%s" % ("ab"[i % 2], i, os.path.splitext(name)[1].upper()))
    put("album/a/scan.tiff", b"II*")
    put("album/b/Thumbs.db", b"x")
    put("album/lost.webp", b"x")
    settings = ["image.size=16", "stream.order=random", "stream.eval=every:5"]
    code, said, why = run("folder:album", settings, "album-run")
    verdict(code == 0 and facts_of("album-run")["skipped"] == 0, "a run from WebP, GIF and BMP files", code, said, why)
    verdict("3 files are left out" in why and "lost.webp, a/scan.tiff, b/Thumbs.db" in why,
            "a run names and counts the files that it leaves out", why)
    settings = settings_of(settings)
    code, said, why = retain("data", "info", "folder:album", "--check", *settings)
    verdict(code == 0 and "28 records were looked at; all of them can be read" in said and
            "3 files are left out" in said and "    a/scan.tiff\n" in said, "so does data info", said, why)
    code, said, why = retain("data", "info", "folder:album", "--json", *settings)
    verdict(json.loads(said)["left_out"] == ["lost.webp", "a/scan.tiff", "b/Thumbs.db"], "... in JSON as well", said)
    code, said, why = retain("data", "show", "folder:album", *settings)
    verdict(code == 0 and "3 files are left out" in said, "... and data show", said, why)
    code, said, why = retain("predict", "album-run", "folder:album")
    verdict(code == 0 and "3 files are left out" in why and said.count("\n") == 29, "... and predict", said, why)
    code, said, why = retain("predict", "album-run", "album/a")
    verdict(code == 0 and "1 file is left out" in why and "scan.tiff" in why and ".WEBP" in said and ".GIF" in said and
            ".BMP" in said, "... also of pictures without classes", said, why)
    with tarfile.open("album.tar", "w") as tar:
        tar.add("album")
    code, said, why = retain("data", "info", "tar:album.tar", *settings)
    verdict(code == 0 and "2 files are left out" in said and "album/a/scan.tiff" in said, "... and of archives", said, why)


def real_data():
    for name, where, settings in (
            ("MNIST", "mnist", ["stream.limit=2000"]),
            ("CIFAR-10 as JPEG files", "cifar10/cifar10-jpeg.tar.gz",
             ["stream.limit=2000", "image.size=32", "image.transform=pad", "stream.order=random"])):
        path = os.path.join(SHARED, "data", where)
        if not SHARED or not os.path.exists(path):
            skip("a run from " + name, "there is no " + (path if SHARED else "folder of real data"))
            continue
        code, said, why = run(path, settings + ["stream.per_step=50", "run.iterations=20"], "real")
        verdict(code == 0 and facts_of("real")["skipped"] == 0, "a run from " + name, code, said, why)
    jpeg = os.path.join(SHARED, "data", "jpeg")
    if not SHARED or not os.path.isdir(jpeg):
        skip("a run from a folder of photos", "there is no " + (jpeg if SHARED else "folder of real data"))
        return
    for i, name in enumerate(sorted(os.listdir(jpeg))[:40]):
        os.makedirs("photos/%d" % (i % 2), exist_ok=True)
        shutil.copy(os.path.join(jpeg, name), "photos/%d/%s" % (i % 2, name))
    code, said, why = run("folder:photos", ["stream.eval=every:5", "image.size=64", "stream.order=random"], "real")
    verdict(code == 0 and facts_of("real")["skipped"] == 0, "a run from a folder of photos", code, said, why)
    done = subprocess.run([RETAIN, "run", "photos/", "--set", "image.size=16"], capture_output=True, text=True, check=False)
    verdict(done.returncode == 0 and done.stdout.startswith("photos: folder, 40 samples"), "it is called by its name",
            done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        every_kind()
        converted()
        one_kills()
        stopped()
        bad_samples()
        broken_files()
        too_long_a_step()
        other_pictures()
        real_data()
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
