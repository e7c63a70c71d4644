#!/usr/bin/env python3
"""usage: photos.py IMAGES [FOLDER]

Compares what retain makes of the photographs in FOLDER with what Pillow makes of them, in
evaluation and for the random crops of training, whose rectangles are computed here again from
(seed, iteration, position). Without FOLDER: ../shared/data/jpeg beside the repository if it is
there, otherwise pictures of clouds that Pillow makes. IMAGES is build/bench/images. Prints TAP;
skips itself, with a reason, without Pillow.
"""

import array
import math
import os
import random
import subprocess
import sys
import tempfile

MEAN, STD, SIZE = (.485, .456, .406), (.229, .224, .225), 224
MOST = 1.5  # levels of 255, mean absolute difference of any photograph
AUGMENT = 5  # of enum rng_purpose
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ k[1], a & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c


def bits(seed, counter):
    """Four words, as lib/base/rng.c arranges counter and key."""
    return philox([counter & 0xffffffff, counter >> 32, 0, AUGMENT], [seed & 0xffffffff, seed >> 32])


def random_crop(width, height, seed, iteration, position):
    first = ((iteration << 20) + position) * 16
    flip = bits(seed, first + 14)[0] >> 31
    for i in range(10):
        b = bits(seed, first + i)
        area = width * height * (.08 + .92 * b[0] / 2**32)
        low, high = math.log(3 / 4), math.log(4 / 3)
        ratio = math.exp(low + (high - low) * b[1] / 2**32)
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return b[3] * (width - w + 1) >> 32, b[2] * (height - h + 1) >> 32, w, h, flip
    w, h = width, height
    if width / height < 3 / 4:
        h = round(width / (3 / 4))
    elif width / height > 4 / 3:
        w = round(height * (4 / 3))
    return (width - w) // 2, (height - h) // 2, w, h, flip


def as_in_training(image, position):
    from PIL import Image
    x, y, w, h, flip = random_crop(*image.size, 1, 0, position)
    image = image.crop((x, y, x + w, y + h)).resize((SIZE, SIZE), Image.BILINEAR)
    return image.transpose(Image.FLIP_LEFT_RIGHT) if flip else image


def as_in_evaluation(image, position):
    from PIL import Image
    width, height = image.size
    longer = int(256 * max(width, height) / min(width, height))
    size = (longer, 256) if width > height else (256, longer)
    left, top = (int(round((n - SIZE) / 2.0)) for n in size)
    return image.resize(size, Image.BILINEAR).crop((left, top, left + SIZE, top + SIZE))


def difference(image, floats):
    total, area = 0, SIZE * SIZE
    for c, band in enumerate(image.split()):
        scale, shift = 255 * STD[c], 255 * MEAN[c]
        total += sum(abs(f * scale + shift - p)
            for f, p in zip(floats[c * area:(c + 1) * area], band.tobytes()))
    return total / (3 * area)


def compare(images, folder, mode, reference):
    from PIL import Image
    names = sorted((n for n in os.listdir(folder) if not n.startswith(".")), key=os.fsencode)
    worst, total = (0, ""), 0
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "floats")
        subprocess.run([images, folder, mode, "0", path], check=True, stdout=subprocess.DEVNULL)
        with open(path, "rb") as file:
            for position, name in enumerate(names):
                floats = array.array("f")
                floats.fromfile(file, 3 * SIZE * SIZE)
                image = Image.open(os.path.join(folder, name)).convert("RGB")
                off = difference(reference(image, position), floats)
                worst, total = max(worst, (off, name)), total + off
    print("# %s: %.3f levels on average, %.3f at most (%s)"
        % (mode, total / len(names), worst[0], worst[1]))
    return worst[0] <= MOST


def make_clouds(folder):
    from PIL import Image
    chance = random.Random(1)
    for i in range(12):
        size = chance.randrange(200, 700), chance.randrange(200, 700)
        coarse = Image.frombytes("RGB", (9, 7), chance.randbytes(3 * 9 * 7))
        coarse.resize(size, Image.BICUBIC).save(os.path.join(folder, "%02d.jpeg" % i), quality=90)


def main():
    images = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "..", "shared", "data", "jpeg")
    try:
        import PIL.Image
    except ImportError:
        print("Python's Pillow is not installed")
        return 77
    if os.path.isdir(folder):
        return compare_both(images, folder)
    with tempfile.TemporaryDirectory() as folder:
        make_clouds(folder)
        return compare_both(images, folder)


def compare_both(images, folder):
    good = 0
    for number, (mode, reference) in enumerate((("eval", as_in_evaluation), ("train", as_in_training))):
        well = compare(images, folder, mode, reference)
        good += well
        print("%sok %d - %s is within %g levels of Pillow" % ("" if well else "not ", number + 1, mode, MOST))
    print("1..2")
    return 0 if good == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
