"""Pictures for loops of one's own: the bytes are those of the command's runs."""

import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
Image = pytest.importorskip("PIL.Image", reason="there is no Pillow")

import pyretain  # noqa: E402
from pyretain import torch as rt  # noqa: E402

SMALL = {"size": 24, "resize": 28}


def photos(folder, count):
    """JPEG files of different shapes; their names, and a label for each."""
    world = np.random.default_rng(1)
    names, labels = [], []
    for i in range(count):
        labels.append(int(world.integers(0, 3)))
        small = world.integers(0, 255, (5, 6, 3), dtype=np.uint8)
        Image.fromarray(small).resize((40 + i % 7, 36 + i % 5), Image.BILINEAR).save(folder / f"{i}.jpg")
        names.append(f"{i}.jpg")
    return names, labels


@pytest.fixture
def album(tmp_path):
    (tmp_path / "album").mkdir()
    return (tmp_path / "album", *photos(tmp_path / "album", 48))


PROBE = """
    import torch
    torch.set_num_threads(1)
    seen = {True: [], False: []}

    class Probe(torch.nn.Module):
        def __init__(self, classes):
            super().__init__()
            self.layer = torch.nn.Linear(3, classes)

        def forward(self, x):
            seen[self.training].append(x.clone())
            torch.save(seen, "seen")
            return self.layer(x.mean((2, 3)))
"""


def test_batches_are_those_of_a_run(album, tmp_path):
    """`retain run` on a manifest, and a loop of one's own on the same files: the same floats."""
    folder, names, labels = album
    (tmp_path / "mine.py").write_text(textwrap.dedent(PROBE))
    with open(folder / "manifest.csv", "w") as file:
        file.write("path,label,time,split\n")
        for i, (name, label) in enumerate(zip(names, labels)):
            file.write(f"{name},place {label},{1000 + i},train\n")
        file.write(f"{names[0]},place {labels[0]},1010,eval\n")
    keys = f"stream.source=manifest:{folder}/manifest.csv stream.per_step=12 image.size=24 image.resize=28 run.method=sgd+clr"
    keys += " run.batch=8 run.micro_batch=8 run.iterations=2 run.seed=3 replay.holdout=0.2 eval.count=1"
    words = ["--net", "mine:Probe", "run", "--out", "x", "--quiet", *[w for key in keys.split() for w in ("--set", key)]]
    done = subprocess.run([sys.executable, "-m", "pyretain", *words], cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    seen = torch.load(tmp_path / "seen")
    trained, predicted = [[x for x in seen[which] if len(x) == 8] for which in (True, False)]
    with rt.Memory(holdout=0.2, seed=3) as memory, rt.Pictures(memory, **SMALL, seed=3, root=folder) as pictures:
        drawn, observed = [], []
        for first in range(0, 48, 12):
            observed.append(pictures.load(names[first : first + 12]).inputs)
            memory.add(names[first : first + 12], np.array(labels[first : first + 12]))
            drawn += [pictures.draw(first // 6 + k, 8).fields[0] for k in (1, 2)]
    assert len(trained) == 8 and all(torch.equal(a, b) for a, b in zip(trained, drawn))
    assert all(any(torch.equal(a[:8], b) for b in predicted) for a in observed)


def batches(album, steps=4, each=3, **said):
    """Batches of a loop, with the fields of a validation batch after each step."""
    folder, names, labels = album
    made = []
    with rt.Memory(holdout=0.2, seed=2) as memory, rt.Pictures(memory, **SMALL, root=folder, **said) as pictures:
        for step in range(steps):
            memory.add(names[step * 12 : step * 12 + 12], np.arange(step * 12, step * 12 + 12), labels=labels[step * 12 : step * 12 + 12])
            for _ in range(each + step % 2):
                made.append(pictures.draw(len(made) + 1, 8))
            made[-1] = made[-1]._replace(fields=made[-1].fields + (pictures.held(len(made), 6) or ()))
    return made, pictures


def same(a, b):
    return len(a) == len(b) and all(
        np.array_equal(x.ids, y.ids) and torch.equal(x.weights, y.weights) and len(x.fields) == len(y.fields)
        and all(torch.equal(f, g) for f, g in zip(x.fields, y.fields)) for x, y in zip(a, b)
    )  # fmt: skip


def test_threads_and_prefetching_change_nothing(album):
    made, _ = batches(album, threads=0, prefetch=False)
    assert torch.equal(made[3].fields[1], torch.from_numpy(made[3].ids)) and len(made[-1].fields) == 4
    assert not torch.equal(made[0].fields[0], made[1].fields[0])
    for said in ({"threads": 0}, {"threads": 3}, {"threads": 2, "prefetch": False}):
        assert same(made, batches(album, **said)[0]), said


def test_the_next_batch_is_made_meanwhile(album):
    folder, names, labels = album
    with rt.Memory(seed=2) as memory, rt.Pictures(memory, **SMALL, root=folder) as pictures:
        memory.add(names, np.array(labels))
        first = pictures.draw(1, 8)
        guess = pictures._guess
        second = pictures.draw(2, 8)
        assert guess.iteration == 2 and second.fields[0] is guess.made.result()[0].inputs
        # What is added changes the draw: what was made ahead is not used.
        memory.add(names, np.array(labels))
        third = pictures.draw(3, 8)
        assert pictures._usual == 2 and not torch.equal(first.fields[0], third.fields[0])
        pictures.draw(4, 8)
        assert pictures._guess is None  # the step before had two iterations


def test_bytes_and_pixels(album):
    folder, names, _ = album
    with rt.Pictures(**SMALL, root=folder) as pictures:
        by_name = pictures.load(names[:5], iteration=7).inputs
        assert by_name.shape == (5, 3, 24, 24) and by_name.dtype == torch.float32
        files = [(folder / name).read_bytes() for name in names[:5]]
        assert torch.equal(pictures.load(files, iteration=7).inputs, by_name)
    pixels = np.random.default_rng(1).integers(0, 256, (6, 3, 8, 8), dtype=np.uint8)
    mean, std = (np.array(v, np.float32)[:, None, None] for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    with rt.Pictures() as pictures:
        plain = pictures.load(torch.from_numpy(pixels)).inputs.numpy()
        assert np.allclose(plain, (pixels / np.float32(255) - mean) / std, atol=1e-5)
        shifted = pictures.load(pixels, iteration=1).inputs
        assert shifted.shape == (6, 3, 8, 8) and not np.array_equal(shifted, plain)
        assert pictures.load(pixels[:, 0]).inputs.shape == (6, 1, 8, 8)
    with rt.Memory() as memory, rt.Pictures(memory, seed=4) as pictures:
        memory.add(pixels, np.arange(6))
        batch = pictures.draw(1, 4)
        assert torch.equal(batch.fields[0], rt.Pictures(seed=4).load(pixels[batch.ids], 1).inputs)
    image = io.BytesIO()
    Image.fromarray(pixels[0].transpose(1, 2, 0)).save(image, "PNG")
    with rt.Memory() as memory, rt.Pictures(memory, transform="plain", size=8) as pictures:
        memory.add([image.getvalue()], np.arange(1))
        assert np.array_equal(pictures.read([0])[0][0], plain[0])


def test_an_unreadable_picture_is_named_and_replaced(album):
    folder, names, labels = album
    straight, _ = batches(album)
    (folder / "3.jpg").write_bytes((folder / "3.jpg").read_bytes()[:100])
    (folder / "7.jpg").unlink()
    with pytest.warns(pyretain.RetainWarning, match="left out"):
        made, pictures = batches(album)
    with pytest.warns(pyretain.RetainWarning):
        again, others = batches(album, threads=0, prefetch=False)
    assert same(made, again) and pictures.bad == others.bad and pictures.replaced == others.replaced
    assert sorted(map(os.path.basename, pictures.bad)) == ["3.jpg", "7.jpg"]
    assert "3.jpg: " in pictures.bad[f"{folder}/3.jpg"] and "7.jpg" in pictures.bad[f"{folder}/7.jpg"]
    replaced = 0
    for a, b in zip(straight, made):
        assert not {3, 7} & set(b.ids.tolist()) and torch.equal(b.fields[1], torch.from_numpy(b.ids))
        kept = torch.from_numpy(a.ids == b.ids)
        assert torch.equal(a.fields[0][kept], b.fields[0][kept]) and torch.equal(a.weights, b.weights)
        replaced += int((~kept).sum())
    assert 0 < replaced <= pictures.replaced  # validation batches have some, too
    # The nearest one before it stands in; at the beginning one after it.
    with rt.Pictures(**SMALL, root=folder) as pictures, pytest.warns(pyretain.RetainWarning):
        assert pictures.load(["3.jpg", "7.jpg", "1.jpg", "7.jpg"]).rows.tolist() == [2, 2, 2, 2]
        with pytest.raises(pyretain.RetainError, match="7.jpg"):
            pictures.load(["7.jpg", "3.jpg"])
        assert pictures.load(["1.jpg"]).rows.tolist() == [0] and pictures.replaced == 3


def in_child(pictures, end):
    end.send(pictures.read(range(8))[0].numpy())
    pictures.close()


def test_a_fork_has_threads_of_its_own(album, tmp_path):
    folder, names, labels = album
    with rt.Memory(tmp_path / "m", seed=2) as memory, rt.Pictures(memory, **SMALL, root=folder) as pictures:
        memory.add(names, np.array(labels))
        pictures.draw(1, 8)  # and the second is being made
        context = multiprocessing.get_context("fork")
        mine, theirs = context.Pipe()
        child = context.Process(target=in_child, args=(pictures, theirs))
        child.start()
        theirs.close()
        assert np.array_equal(mine.recv(), pictures.read(range(8))[0])
        child.join(30)
        assert child.exitcode == 0
        copy = pickle.loads(pickle.dumps(pictures))
        assert torch.equal(copy.read([5])[0], pictures.read([5])[0])
        assert torch.equal(pictures.draw(2, 8).fields[0], pictures.draw(2, 8).fields[0])


def test_closing_midway(album):
    folder, names, labels = album
    before = threading.active_count()
    for _ in range(3):
        with rt.Memory(seed=2) as memory:
            memory.add(names, np.array(labels))
            pictures = rt.Pictures(memory, **SMALL, root=folder)
            pictures.draw(1, 8)
            pictures.close()
            with pytest.raises(pyretain.StateError, match="closed"):
                pictures.draw(2, 8)
            rt.Pictures(memory, **SMALL, root=folder).draw(1, 8)  # dropped with a batch under way
    end = time.monotonic() + 600
    while threading.active_count() > before + 1 and time.monotonic() < end:
        time.sleep(0.01)  # a batch that is under way is ended
    assert threading.active_count() <= before + 1


def test_what_is_wrong_is_named(album):
    with pytest.raises(pyretain.InputError, match="image.transform = warp"):
        rt.Pictures(transform="warp")
    with pytest.raises(pyretain.InputError, match="image.mean"):
        rt.Pictures(mean=(0.5, 0.5))
    with pytest.raises(pyretain.StateError, match="no memory"):
        rt.Pictures().draw(1, 8)
    with pytest.raises(pyretain.InputError, match="uint8"):
        rt.Pictures().load(torch.zeros(2, 3, 8, 8))
    with pytest.raises(pyretain.InputError, match="0 pictures"):
        rt.Pictures().load([])
    with pytest.raises(pyretain.InputError, match="pixels of 2 channels"):
        rt.Pictures().load(torch.zeros(2, 2, 8, 8, dtype=torch.uint8))
    with pytest.raises(pyretain.FormatError, match="picture 0: "):
        rt.Pictures().load([b"no image"])
    with rt.Memory() as memory:
        memory.add(np.zeros((2, 4), np.float32))
        with pytest.raises(pyretain.InputError, match="pictures are float32"):
            rt.Pictures(memory).draw(1, 2)
        assert rt.Pictures(rt.Memory()).draw(1, 2) is None
