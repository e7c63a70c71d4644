#!/usr/bin/env python3
"""Makes small files of torch.save for the tests of pyretain.convert.

    make_torchsave_goldens.py [FOLDER]    needs torch; default: torchsave beside this file

NAME.zip is in the format of ZIP archives, NAME.old in the one before it, a stream of
pickles. python/tests/test_convert.py knows what each of them holds.
"""

import collections
import os
import sys

import torch


def goldens():
    texts = [f"{i % 7}/{i}.jpg\n" for i in range(1200)]
    yield "ints", [7 * i % 713 for i in range(1200)]
    yield "sizes", [0, -1, 255, 256, 65535, 65536, -(2**31), 2**31, -(2**40), 2**62]
    yield "times", [1100000000 + 3 * i for i in range(1200)]
    yield "reals", [0.0, -1.5, 1245000000.25]
    yield "texts", texts
    yield "again", [texts[i % 5] for i in range(20)]  # the same five objects
    yield "unicode", ["\u00e9/\u4f60.jpg", "", "x" * 300]
    yield "one", ["only.jpg\n"]
    yield "nothing", []
    yield "long", torch.tensor([7 * i % 713 for i in range(1200)])
    yield "int", torch.tensor([1, -2, 3], dtype=torch.int32)
    yield "short", torch.tensor([1, -2, 3], dtype=torch.int16)
    yield "bytes", torch.tensor([1, 254, 3], dtype=torch.uint8)
    yield "float", torch.tensor([0.5, -2.0, 3.25])
    yield "double", torch.tensor([0.5, -2.0, 3.25], dtype=torch.float64)
    yield "slice", torch.arange(20)[3:15:2]
    yield "column", torch.arange(5).reshape(5, 1)
    yield "empty", torch.tensor([], dtype=torch.int64)
    # What must be refused.
    yield "matrix", torch.arange(6).reshape(2, 3)
    yield "half", torch.tensor([0.5], dtype=torch.float16)
    yield "dict", {"labels": [1, 2]}
    yield "ordered", collections.OrderedDict(labels=1)
    yield "nested", [1, [2, 3]]
    yield "tensors", [torch.tensor(1), torch.tensor(2)]
    yield "none", [1, None]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "torchsave")
    os.makedirs(folder, exist_ok=True)
    for name, value in goldens():
        for ending, zipped in (("zip", True), ("old", False)):
            with open(os.path.join(folder, f"{name}.{ending}"), "wb") as file:
                torch.save(value, file, _use_new_zipfile_serialization=zipped)
    with open(os.path.join(folder, "protocol4.zip"), "wb") as file:
        torch.save(["a\n", "b\n", "a\n", 3, 2.5], file, pickle_protocol=4)
    with open(os.path.join(folder, "protocol4.old"), "wb") as file:
        torch.save(torch.arange(4), file, pickle_protocol=4,
                   _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
