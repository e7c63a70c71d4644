#!/usr/bin/env python3
"""usage: tests/serve/pictures.py RETAIN FOLDER

Images as bodies, for nets that take images. FOLDER has small good ones. Prints TAP.
"""
import os
import shutil
import sys
import tempfile

from service import new
from tap import plan, verdict

CONFIG = "[model]\narch = mlp:8\nclasses = 3\ninput = 3,16,16\n[image]\ntransform = crop\n"


def sizes(retain, folder, words, kind):
    """With no word about images: one of the net's own size is taken as it is, others are resized."""
    os.makedirs(folder)
    service = new(folder, retain, config=CONFIG.split("[image]")[0])
    status, got = service.post("/v1/predict", words, **kind)
    verdict(status == 200, "an image of another size is resized", got)
    service.end()
    shutil.rmtree(os.path.join(folder, "shop"))
    service = new(folder, retain, "--set", "image.transform=plain", config=CONFIG.split("[image]")[0])
    status, got = service.post("/v1/predict", words, **kind)
    verdict(status == 400 and "are expected" in got["error"], "unless it shall be as it is", got)
    return service


def main(retain, pictures):
    folder = tempfile.mkdtemp(prefix="retain-pictures-")
    service = None
    try:
        # Without the label chain, which answers in turn only, both ways have the same mixture.
        service = new(folder, retain, "--set", "fast.heads=units, near", config=CONFIG)
        for name, kind in ("444.jpg", "jpeg"), ("420-0.jpg", "jpeg"), ("16.png", "png"), ("L.png", "png"), \
                ("animated.webp", "webp"), ("plain.gif", "gif"), ("bits8.bmp", "bmp"):
            with open(os.path.join(pictures, name), "rb") as file:
                words = file.read()
            words = words[1:]  # behind the fuzzer's own byte
            kind = {"Content-Type": "image/" + kind}
            status, got = service.post("/v1/predict?top=3", words, **kind)
            verdict(status == 200 and got["prediction"] in (0, 1, 2) and len(got["top"]) == 3, "%s is predicted" % name, got)
            status, kept = service.post("/v1/predict?id=" + name, words, **kind)
            verdict(status == 200 and kept == {"id": name, "prediction": got["prediction"], "probability": got["probability"]},
                    "kept under an id, by the same numbers", got, kept)
            verdict(service.post("/v1/predict?id=" + name, words, **kind) == (200, kept), "sent again: the same answer")
            status, got = service.post("/v1/label", {"id": name, "label": 1})
            verdict(status == 200 and "sample" in got, "its label is taken", got)
            for at in range(0, len(words), max(1, len(words) // 40)):
                status, got = service.post("/v1/predict", words[:at] + bytes([words[at] ^ 0x55]) + words[at + 1:][:-3], **kind)
                if status not in (200, 400) or (status == 400 and not got["error"]):
                    break
            verdict(status in (200, 400), "spoilt ones are predicted or refused", at, status, got)
        status, got = service.post("/v1/predict?id=17", words, **kind)
        verdict(got.get("id") == 17, "an id that is a whole number is one", got)
        status, got = service.post("/v1/predict", b"II*\0....", **{"Content-Type": "image/tiff"})
        verdict(status == 400 and "error" in got, "a format that is not known is refused", got)
        verdict(service.end() == 0, "it ends in good order", service.errors)
        service = None
        service = sizes(retain, os.path.join(folder, "sizes"), words, kind)
    finally:
        if service:
            service.end()
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
