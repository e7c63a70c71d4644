#!/usr/bin/env python3
"""Makes small images, and what Pillow makes of them, for the tests of app/images.

    make_image_goldens.py [FOLDER]        needs Pillow; default: images beside this file

NAME.jpg, .png, .webp, .gif and .bmp are image files, NAME.rgb is what Image.convert("RGB") gives, three
bytes a pixel. Exception: of 16-bit grey, which Pillow clips, the upper 8 bits are kept.

resample-*.bin are parts of a picture that is not stored, resized with Pillow's BILINEAR
filter: three bytes a pixel. The picture (also in tests/images/check_image.h) is

    value(x, y, c) = (x * (3 + c) + y * (7 - c) + (x * y % 23) * 5 + (c + 1) * 40) mod 256

A file's name has the picture's size, the part (left, top, width, height) and the size
of the result; "resize" in place of the part's numbers stands for all of it, the shorter
side resized to the number after it and the centre cut out.
"""

import io
import os
import struct
import sys
import zlib

from PIL import Image


def value(x, y, c):
    return (x * (3 + c) + y * (7 - c) + (x * y % 23) * 5 + (c + 1) * 40) % 256


def picture(width, height):
    data = bytes(value(x, y, c) for y in range(height) for x in range(width) for c in range(3))
    return Image.frombytes("RGB", (width, height), data)


def smooth(width, height):
    """A picture that JPEG can keep."""
    data = bytes((x * 255 // width, y * 255 // height, (x + y) * 255 // (width + height))[c]
        for y in range(height) for x in range(width) for c in range(3))
    image = Image.frombytes("RGB", (width, height), data)
    image.paste(picture(12, 12), (20, 15))
    return image


# --- PNG, of kinds that Pillow does not write ----------------------------------------------

def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed_row(samples, depth):
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    bits = "".join(format(s, "0%db" % depth) for s in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def rows_of(xs, ys, colour, depth):
    """Filtered scanlines; the filter changes from row to row."""
    count = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    step = max(1, count * depth // 8)
    out, above = b"", None
    for number, y in enumerate(ys):
        samples = [(value(x, y, c) * 257 if depth == 16 else value(x, y, c)) % (1 << depth)
            for x in xs for c in range(count)]
        row = packed_row(samples, depth)
        above = above or bytes(len(row))
        kind = number % 3
        left = bytes(step) + row
        if kind == 0:
            out += b"\0" + row
        elif kind == 1:
            out += b"\1" + bytes((a - b) % 256 for a, b in zip(row, left))
        else:
            out += b"\2" + bytes((a - b) % 256 for a, b in zip(row, above))
        above = row
    return out


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2)]


def png(width, height, colour, depth, interlaced=False, transparent=b""):
    raw = b""
    for left, top, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        xs, ys = range(left, width, dx), range(top, height, dy)
        if len(xs) and len(ys):
            raw += rows_of(xs, ys, colour, depth)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    palette = b"".join(bytes((i * 37 % 256, i * 91 % 256, 255 - i)) for i in range(1 << min(depth, 8)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
        + (chunk(b"PLTE", palette) if colour == 3 else b"")
        + (chunk(b"tRNS", transparent) if transparent else b"")
        + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def png_files():
    for colour, name, depths in [(0, "grey", (1, 2, 4, 8, 16)), (2, "rgb", (8, 16)),
            (3, "palette", (1, 2, 4, 8)), (4, "grey-alpha", (8, 16)), (6, "rgba", (8, 16))]:
        for depth in depths:
            yield "%s%d" % (name, depth), png(19, 13, colour, depth)
    yield "rgb8-interlaced", png(19, 13, 2, 8, interlaced=True)
    yield "palette4-interlaced", png(19, 13, 3, 4, interlaced=True)
    yield "palette8-transparent", png(19, 13, 3, 8, transparent=bytes(range(200)))
    yield "rgb8-transparent", png(19, 13, 2, 8, transparent=struct.pack(">HHH", 40, 80, 120))


# --- JPEG -----------------------------------------------------------------------------------

def jpeg_files():
    image = smooth(67, 45)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees
    for name, picture_, options in [("444", image, {"subsampling": 0}),
            ("422", image, {"subsampling": 1}), ("420", image, {"subsampling": 2}),
            ("420-progressive", image, {"subsampling": 2, "progressive": True}),
            ("420-restart", image, {"subsampling": 2, "restart_marker_blocks": 2}),
            ("444-optimised", image, {"subsampling": 0, "optimize": True, "quality": 95}),
            ("420-turned", image, {"subsampling": 2, "exif": exif}),
            ("rgb", image, {"keep_rgb": True}),
            ("grey", image.convert("L"), {}), ("cmyk", image.convert("CMYK"), {})]:
        file = io.BytesIO()
        picture_.save(file, "JPEG", **{"quality": 85, **options})
        yield name, file.getvalue()


# --- WebP ------------------------------------------------------------------------------------

def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def clear(width, height):
    """Partly transparent."""
    image = picture(width, height).convert("RGBA")
    image.putalpha(Image.frombytes("L", (width, height), bytes(
        255 * (x % 5 > 1) for y in range(height) for x in range(width))))
    return image


def webp_files():
    image = smooth(67, 45)
    yield "lossy", saved(image, "WEBP", quality=80)
    yield "lossless", saved(picture(19, 13), "WEBP", lossless=True)
    yield "lossless-alpha", saved(clear(19, 13), "WEBP", lossless=True, exact=True)
    yield "animated", saved(image, "WEBP", lossless=True, save_all=True,
        append_images=[image.rotate(180)], duration=100)


# --- GIF -------------------------------------------------------------------------------------

def gif_files():
    image = picture(19, 13).quantize(60)
    yield "plain", saved(image, "GIF", interlace=0)
    yield "interlaced", saved(image, "GIF", interlace=1)
    yield "transparent", saved(image, "GIF", transparency=7)
    yield "animated", saved(image, "GIF", save_all=True, append_images=[image.rotate(180)], duration=100)
    # The frame 13 x 8 at (4, 3) of a larger canvas; bytes 6 to 9 are the canvas's size.
    data = bytearray(saved(picture(13, 8).quantize(60), "GIF", interlace=0))
    at = data.index(b",", 13 + 3 * 64)
    data[6:10], data[at + 1:at + 5] = struct.pack("<HH", 19, 13), struct.pack("<HH", 4, 3)
    yield "placed", bytes(data)


# --- BMP -------------------------------------------------------------------------------------

def bmp(width, height, bits, masks=(), upright=False, header=40, compression=None):
    palette = b"".join(bytes((i * 37 % 256, i * 91 % 256, 255 - i)) + b"\0" * (header > 12)
        for i in range(1 << bits)) if bits <= 8 else b""
    rows = []
    for y in range(height):
        if bits <= 8:
            row = packed_row([value(x, y, 0) % (1 << bits) for x in range(width)], bits)
        elif bits == 24:
            row = bytes(value(x, y, c) for x in range(width) for c in (2, 1, 0))
        else:
            used = masks or ((0x7c00, 0x3e0, 0x1f) if bits == 16 else (0xff0000, 0xff00, 0xff))
            row = b"".join(sum((value(x, y, c) << 24 >> (32 - mask.bit_length())) & mask
                for c, mask in enumerate(used)).to_bytes(bits // 8, "little") for x in range(width))
        rows.append(row + b"\0" * (-len(row) % 4))
    data = b"".join(rows if upright else reversed(rows))
    kind = compression if compression is not None else 3 if masks else 0
    if header == 12:
        head = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        head = struct.pack("<IiiHHIIiiII", header, width, -height if upright else height, 1, bits,
            kind, len(data), 2835, 2835, 0, 0)
    head += b"".join(struct.pack("<I", mask) for mask in masks)
    start = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + head + palette + data


def bmp_files():
    for bits in 1, 4, 8, 16, 24, 32:
        yield "bits%d" % bits, bmp(19, 13, bits)
    yield "bits16-565", bmp(19, 13, 16, (0xf800, 0x7e0, 0x1f))
    yield "bits32-masks", bmp(19, 13, 32, (0xff000000, 0xff0000, 0xff00))
    yield "upright", bmp(19, 13, 24, upright=True)
    yield "os2", bmp(19, 13, 8, header=12)


# --- resampling ------------------------------------------------------------------------------

PARTS = [(61, 47, (0, 0, 61, 47), 32), (61, 47, (5, 3, 17, 40), 32), (61, 47, (20, 10, 9, 8), 32),
    (61, 47, (60, 46, 1, 1), 16), (200, 150, (13, 7, 151, 131), 24), (200, 150, (0, 0, 200, 150), 48)]
CENTRES = [(61, 47, 36, 32), (47, 61, 36, 32), (200, 150, 36, 32), (30, 90, 40, 33)]


def resampled():
    for width, height, (x, y, w, h), size in PARTS:
        part = picture(width, height).crop((x, y, x + w, y + h))
        yield ("%dx%d-%d-%d-%d-%d-%d" % (width, height, x, y, w, h, size),
            part.resize((size, size), Image.BILINEAR))
    for width, height, shorter, size in CENTRES:
        longer = int(shorter * max(width, height) / min(width, height))
        new = (longer, shorter) if width > height else (shorter, longer)
        image = picture(width, height).resize(new, Image.BILINEAR)
        left, top = int(round((new[0] - size) / 2.0)), int(round((new[1] - size) / 2.0))
        yield ("%dx%d-resize-%d-%d" % (width, height, shorter, size),
            image.crop((left, top, left + size, top + size)))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "images")

    def write(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    for files, ending in ((png_files(), ".png"), (jpeg_files(), ".jpg"), (webp_files(), ".webp"),
            (gif_files(), ".gif"), (bmp_files(), ".bmp")):
        for name, data in files:
            write(name + ending, data)
            image = Image.open(io.BytesIO(data))
            if name == "grey16":
                image = Image.frombytes("L", (19, 13), image.tobytes()[1::2])
            write(name + ending + ".rgb", image.convert("RGB").tobytes())
    for name, image in resampled():
        write("resample-%s.bin" % name, image.tobytes())


if __name__ == "__main__":
    main()
