"""usage: python3 others.py READ_OUT [SEED [ROUNDS]]

retain's readers against those of others, on files made at random: images against Pillow, rows against Python's
csv, weights against the safetensors package. READ_OUT (read_out.c) reads all files of a kind one after the
other, as a loader's thread does; each is also read alone, by a process of its own, and what came before must
not matter. What needs a package that is missing is skipped. Prints TAP.
"""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli")) # behind: it has a numbers.py
import tap # noqa: E402

read_out = os.path.abspath(sys.argv[1])
dice = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 120

# By a fresh process, which has read nothing before.
PILLOW = """
import sys, zlib
from PIL import Image
for path in sys.argv[1:]:
    try:
        image = Image.open(path).convert("RGB")
        print("ok %d %d %08x" % (image.width, image.height, zlib.crc32(image.tobytes())))
    except Exception as reason:
        print("error", str(reason).replace(chr(10), " "))
"""


def lines(*words):
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        return [f"exit code {done.returncode}: {done.stderr.decode()}"]
    return done.stdout.decode("latin-1").splitlines()


def compare(kind, name, paths, theirs, same=lambda ours, theirs: ours == theirs):
    """Ours in a row and each alone, and theirs."""
    together = lines(read_out, kind, *paths)
    alone = [line for path in paths for line in lines(read_out, kind, path)]
    differ = [f"{p}: {a} / {b}" for p, a, b in zip(paths, together, alone) if a != b]
    tap.verdict(not differ and len(together) == len(alone) == len(paths),
                f"{name}: {len(paths)} files in a row are read as each alone", *differ)
    differ = [f"{p}: {a} / {b}" for p, a, b in zip(paths, together, theirs) if not same(a, b)]
    read = sum(line.startswith("ok") for line in together)
    tap.verdict(not differ and len(theirs) == len(paths), f"{name}: the same as others read, {read} with values",
                *differ)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def picture(image_type, mode):
    """Noise over a ramp: frequencies of all kinds."""
    width, height = dice.randint(1, 70), dice.randint(1, 70)
    noise = dice.choice([0, 8, 255])
    image = image_type.new("RGB", (width, height))
    image.putdata([tuple((3 * x + 2 * y * c + dice.randint(0, noise)) % 256 for c in range(3))
                   for y in range(height) for x in range(width)])
    return image.convert(mode)


def without(data, marker):
    """A JPEG file without its segments of this kind."""
    out, at = data[:2], 2
    while data[at] == 0xFF and data[at + 1] != 0xDA:
        size = 2 + int.from_bytes(data[at + 2:at + 4], "big")
        out += b"" if data[at + 1] == marker else data[at:at + size]
        at += size
    return out + data[at:]


def images():
    try:
        from PIL import Image
    except ImportError:
        tap.skip("images against Pillow", "Python has no Pillow")
        return
    sound, bare = [], []
    for i in range(ROUNDS):
        room = io.BytesIO()
        if dice.random() < 0.3:
            picture(Image, dice.choice(["1", "L", "LA", "P", "RGB", "RGBA"])).save(room, "PNG")
            sound.append(write(f"{i}.png", room.getvalue()))
            continue
        more = {"subsampling": dice.randint(0, 2)}
        if dice.random() < 0.3:
            more["restart_marker_blocks"] = dice.randint(1, 9)
        picture(Image, dice.choice(["L", "RGB", "RGB", "CMYK"])).save(
            room, "JPEG", quality=dice.randint(1, 100), progressive=dice.random() < 0.3,
            optimize=dice.random() < 0.5, **more)
        sound.append(write(f"{i}.jpg", room.getvalue()))
        if dice.random() < 0.3:
            bare.append(write(f"{i}-bare.jpg", without(room.getvalue(), dice.choice([0xDB, 0xC4]))))
    compare("image", "sound images", sound, lines(sys.executable, "-c", PILLOW, *sound))
    # Without tables of their own; Pillow reads some of them. After sound ones, which have tables to leave behind.
    mixed = [path for pair in zip(sound, bare * len(sound)) for path in pair]
    compare("image", "images without tables", mixed, lines(sys.executable, "-c", PILLOW, *mixed),
            lambda ours, theirs: ours == theirs or ours.startswith("error"))


def tables():
    paths, theirs = [], []
    for i in range(ROUNDS):
        # Unquoted, a CR alone ends a line for Python; for us lines end with LF or CR LF (csv.h).
        quoting, signs = dice.choice([(csv.QUOTE_MINIMAL, 'ab,"\n 0.5é;\t'), (csv.QUOTE_ALL, 'ab,"\n\r 0.5é;\t')])
        rows = [["".join(dice.choice(signs) for _ in range(dice.randint(0, 6)))
                 for _ in range(dice.randint(1, 6))] for _ in range(dice.randint(1, 12))]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator=dice.choice(["\n", "\r\n"]), quoting=quoting).writerows(rows)
        paths.append(write(f"{i}.csv", text.getvalue().encode("latin-1")))
        read = csv.reader(io.StringIO(text.getvalue(), newline=""))
        theirs.append("ok" + "".join(" " + json.dumps(row if row else [""], separators=(",", ":")) for row in read))
    plain = [line.replace('\\"', '\\u0022').replace("\\n", "\\u000a").replace("\\r", "\\u000d").replace("\\t", "\\u0009")
             for line in theirs]
    compare("csv", "rows", paths, plain)


def weights():
    try:
        import numpy
        from safetensors import SafetensorError
        from safetensors.numpy import load, save
    except ImportError as reason:
        tap.skip("weights against the safetensors package", str(reason))
        return

    def said(data):
        try:
            tensors = load(data)
        except (SafetensorError, KeyError, ValueError, OverflowError) as reason:
            return f"error {reason}"
        numpy.seterr(over="ignore")
        floats = {"float16", "float32", "float64"}
        names = {"float16": "F16", "float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32", "uint8": "U8"}
        rows = [[name, names.get(str(t.dtype), str(t.dtype)), "(" + ", ".join(map(str, t.shape)) + ")",
                 "%08x" % (zlib.crc32(t.astype("float32").tobytes()) if str(t.dtype) in floats else 0)]
                for name, t in tensors.items()]
        return sorted(rows)

    sound, hurt, theirs, theirs_hurt = [], [], [], []
    for i in range(ROUNDS):
        tensors = {}
        for j in range(dice.randint(0, 5)):
            shape = [dice.randint(0, 4) for _ in range(dice.randint(0, 4))]
            kind = dice.choice(["float32", "float64", "float16", "int64", "int32", "uint8"])
            values = [dice.choice([0, 1, -1.5, 3e-7, 65504, 1 / 3]) if "float" in kind else dice.randint(0, 200)
                      for _ in range(int(numpy.prod(shape)))]
            tensors[dice.choice(["a", "é", "x.weight", '"']) + str(j)] = numpy.array(values, kind).reshape(shape)
        data = save(tensors)
        sound.append(write(f"{i}.safetensors", data))
        theirs.append(said(data))
        data = bytearray(data)
        for _ in range(dice.randint(1, 3)):
            data[dice.randrange(min(len(data), 200))] = dice.choice(b'0123459[]{}",:FI ')
        hurt.append(write(f"{i}-hurt.safetensors", bytes(data)))
        theirs_hurt.append(said(bytes(data)))

    def same(ours, theirs):
        if ours.startswith("error") or isinstance(theirs, str):
            return ours.startswith("error") and isinstance(theirs, str)
        rows = [json.loads(row) for row in ours[2:].replace("] [", "]\n[").splitlines()] if len(ours) > 2 else []
        return sorted([[row[0].encode("latin-1").decode(), *row[1:]] for row in rows]) == theirs

    compare("safetensors", "weights", sound, theirs, same)
    # What they refuse we refuse. We refuse more: shapes and names that no net has.
    compare("safetensors", "damaged weights", hurt, theirs_hurt,
            lambda ours, theirs: ours.startswith("error") or same(ours, theirs))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    images()
    tables()
    weights()
    os.chdir("/")
sys.exit(tap.plan())
