"""The command and the service around a module: python -m pyretain --net, Learner.serve."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
import warnings

import numpy as np
import pytest

pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

from pyretain import Learner, RetainError, RetainWarning, StateError  # noqa: E402
from test_torch_net import SMALL, mlp  # noqa: E402

MINE = """
    import torch
    torch.set_num_threads(1)

    def make(classes):
        return torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, classes))

    def drift(classes):
        return torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU(), torch.nn.Linear(16, classes))

    class Bad(torch.nn.Module):
        def __init__(self, classes):
            super().__init__()
            self.layer, self.made = torch.nn.Linear(32, classes), 0

        def forward(self, inputs):
            self.made += self.training
            if self.made > 5:
                raise RuntimeError("made too many")
            return self.layer(inputs)
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(MINE))
    return tmp_path


def command(folder, *words, launcher=("-m", "pyretain")):
    return subprocess.run([sys.executable, *launcher, *words], cwd=folder, capture_output=True, text=True, timeout=1200)


def test_the_command_runs_with_a_module(mine, stream):
    with open(mine / "data.csv", "w") as file:
        file.write("a,b,c,d,label\n")
        for inputs, labels in stream(20):
            for row, label in zip(inputs, labels):
                file.write(",".join(map(str, row)) + f",{label}\n")
    done = command(mine, "--net", "mine:make", "run", "data.csv", "--out", "x", "--method", "ama+malr", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "model.safetensors" in os.listdir(mine / "x") and "report.html" in os.listdir(mine / "x")
    assert "arch = net:mine.make" in (mine / "x" / "config.ini").read_text()


@pytest.mark.parametrize(
    "net, words",
    [("mine:made", "made"), ("nowhere:make", "nowhere"), ("torchvision:resnet19", "resnet19|no module|No module"), ("timm:no", "no")],
)
def test_a_net_that_is_not_there_is_named(mine, net, words):
    wrong = command(mine, "--net", net, "run")
    assert wrong.returncode == 1 and f"--net {net}: " in wrong.stderr and "PACKAGE:FUNCTION" in wrong.stderr


def test_mpirun_is_refused_with_what_to_type_in_its_place(mine, monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    done = command(mine, "--net", "mine:make", "--device", "cpu", "run", "data.csv")
    assert done.returncode == 1
    assert "mpirun started 2 processes" in done.stderr and "torchrun --nproc-per-node 2 -m pyretain --net mine:make --device cpu run" in done.stderr
    import pyretain.torch as rt

    with pytest.warns(RetainWarning, match="mpirun started several processes"):
        rt.Learner(mlp, **SMALL)
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rt.Learner(mlp, **SMALL)


# Experiments

FIG1 = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "experiments", "fig1.ini")


def test_an_experiment_runs_with_a_module(mine):
    """Its runs are processes with the same module; a second start makes none again."""
    words = ["compare", FIG1, "--net", "mine:drift", "--methods", "ama+malr,sgd+clr", "--seeds", "1", "--out", "x", "--quiet"]
    words += [one for key in ("drift.steps=40", "drift.classes=5", "eval.count=2") for one in ("--set", key)]
    done = command(mine, *words)
    assert done.returncode == 0, done.stderr
    assert "ama+malr" in done.stdout and "Difference from ama+malr" in done.stdout
    configs = [mine / "x" / name / "seed-1" / "config.ini" for name in ("ama+malr", "sgd+clr")]
    assert all("arch = net:mine.drift" in config.read_text() for config in configs)
    before = [config.stat().st_mtime_ns for config in configs]
    assert command(mine, *words).returncode == 0
    assert before == [config.stat().st_mtime_ns for config in configs]
    told = command(mine, *words, "--dry-run", "--force", "--measure", "0")
    assert "x 320 iterations" in told.stdout, told.stdout + told.stderr


def release(folder, count):
    """CLOC's release with photos by time, and a list of the others for evaluation."""
    image = pytest.importorskip("PIL.Image", reason="there is no Pillow")
    torch = pytest.importorskip("torch", reason="there is no PyTorch")
    world = np.random.default_rng(1)
    colours, labels = world.integers(0, 255, (3, 3)), world.integers(0, 3, count)
    (folder / "images").mkdir()
    for i, label in enumerate(labels):
        picture = np.clip(colours[label] + world.normal(0, 30, (40, 48, 3)), 0, 255).astype(np.uint8)
        image.fromarray(picture).save(folder / "images" / f"{i}.jpg")
    train = [i for i in range(count) if i % 5 != 4]
    for name, values in (("labels", labels[train].tolist()), ("time", [1000 + i for i in train]), ("store_loc", [f"{i}.jpg\n" for i in train])):
        torch.save(values, folder / f"train_{name}.torchSave")
    with open(folder / "yfcc100m_val.csv", "w") as file:
        file.writelines(f"{labels[i]},2008-06-01,{1000 + i},{i % 7},{i}.jpg\n" for i in range(count) if i % 5 == 4)


def test_the_paper_under_torchrun(mine):
    """From CLOC's release to figure 1 at the paper's scale, but for sizes, with a net of torchvision's: every run is two processes."""
    pytest.importorskip("torchvision", reason="there is no torchvision")
    (mine / "release").mkdir()
    release(mine / "release", 60)
    made = command(mine, "cloc", "release", launcher=("-m", "pyretain.convert"))
    assert made.returncode == 0, made.stderr
    keys = "image.size=32 image.resize=36 run.batch=8 run.micro_batch=8 run.iterations=4 stream.per_step=16 eval.count=2"
    words = ["compare", FIG1, "--scale", "paper", "--net", "torchvision:resnet18", "--device", "cpu", "--methods", "ama+malr"]
    for key in ["stream.source=manifest:release/manifest.csv", "schedule.validation_batch=16", *keys.split()]:
        words += ["--set", key]
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "pyretain")
    done = command(mine, *words, "--out", "x", launcher=torchrun)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "ama+malr" in done.stdout and "1 of 1 runs" in done.stderr
    run = mine / "x" / "ama+malr" / "seed-1"
    assert "arch = net:torchvision.resnet18" in (run / "config.ini").read_text()
    from safetensors.numpy import load_file

    assert load_file(run / "model.safetensors")["bn1.running_mean"].any()


@pytest.mark.parametrize("torchrun", [False, True])
def test_a_run_that_fails_says_why_and_how_to_go_on(mine, torchrun):
    """The last words are the module's, not torchrun's; what is to be typed again brings the module."""
    words = ["compare", FIG1, "--net", "mine:Bad", "--device", "cpu", "--methods", "ama+malr", "--seeds", "1", "--out", "x", "--quiet"]
    words += [one for key in ("drift.steps=40", "drift.classes=5", "eval.count=2") for one in ("--set", key)]
    several = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "pyretain")
    done = command(mine, *words, launcher=several if torchrun else ("-m", "pyretain"))
    assert done.returncode != 0 and re.search("ama.malr, seed 1, failed: .*RuntimeError: made too many", done.stderr), done.stderr
    start = "torchrun --nproc-per-node 2" if torchrun else "python"
    assert f"  {start} -m pyretain --net mine:Bad --device cpu compare {FIG1} --methods ama+malr" in done.stdout


# The service


HANGS = 600  # seconds: a busy machine may be tens of times as slow as a quiet one


class Service:
    """A process that serves at a port of its choice, and ends with the block."""

    def __init__(self, words, folder):
        self.said, self.process = [], subprocess.Popen([sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.wait()
        return self

    def wait(self):
        """It says where it listens once it does."""
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(r"http://\S+", line):
                self.where = found[0]
                return
        raise AssertionError(f"it ended: {self.said}")

    def end(self):
        """What else it said, once it has ended by itself."""
        self.said += self.process.communicate(timeout=HANGS)[0].splitlines(True)
        return self.process.returncode

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()

    def ask(self, path, said):
        with urllib.request.urlopen(f"{self.where}/v1/{path}", json.dumps(said).encode(), timeout=HANGS) as answer:
            return json.loads(answer.read().decode().splitlines()[-1])

    def teach(self, numbers):
        """What it answers once it has learned: a label is acknowledged when it is on disk, before it is trained on."""
        for number in numbers:
            sign = 1 if number % 2 else -1
            self.ask("samples", {"id": number, "input": [sign, sign, 1, 1], "label": "odd" if number % 2 else "even"})
        end = time.monotonic() + HANGS
        while time.monotonic() < end:
            said = [self.ask("predict", {"input": [sign, sign, 1, 1]})["prediction"] for sign in (1, -1)]
            if said == ["odd", "even"]:
                break
            time.sleep(0.1)
        return said


def test_the_service_runs_with_a_module(mine):
    words = ["--net", "mine:make", "serve", "--out", "x", "--listen", "127.0.0.1:0", "--method", "ama+malr"]
    with Service(["-m", "pyretain", *words], mine) as service:
        assert service.teach(range(150)) == ["odd", "even"]
        service.process.send_signal(signal.SIGTERM)
        assert service.end() == 0
    assert "model.safetensors" in os.listdir(mine / "x")


SERVES = """
    import sys
    from mine import make
    import pyretain, pyretain.torch as rt
    kept = dict(folder="x", run_method="ama+malr", run_batch=8, run_iterations=5, replay_holdout=0.2)
    learner = rt.Learner(make, input=(4,), device=sys.argv[1], **kept) if sys.argv[1] != "own" else pyretain.Learner(**kept)
    for number in range(4):
        sign = 1 if number % 2 else -1
        learner.learn([[sign, sign, 1, 1]], ["odd" if number % 2 else "even"])
    waits = learner.observe([[1, 1, 1, 1]])
    for _ in range(2):
        learner.serve("127.0.0.1:0")
        print("served", learner.metrics().samples, *learner.predict([[1, 1, 1, 1], [-1, -1, 1, 1]]), flush=True)
    learner.reveal(waits, ["odd"])
    learner.learn([[1, 1, 1, 1]], ["new"])
    print(learner.metrics().samples, sorted(learner.classes), flush=True)
    try:
        import time, os, threading, signal
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        time.sleep(600)
    except KeyboardInterrupt:
        print("interrupted as before", flush=True)
"""


@pytest.mark.parametrize("device", ["cpu", "own"])
def test_a_learner_serves_and_goes_on(mine, device):
    """Twice, stopped by either signal; what it learned meanwhile and before is there, and Ctrl-C is Python's again."""
    (mine / "serves.py").write_text(textwrap.dedent(SERVES))
    with Service(["serves.py", device], mine) as service:
        assert service.teach(range(100)) == ["odd", "even"]
        service.process.send_signal(signal.SIGINT)
        service.wait()
        assert service.teach(range(100, 110)) == ["odd", "even"]
        service.process.send_signal(signal.SIGTERM)
        assert service.end() == 0
    lines = [line.rstrip() for line in service.said if "http://" not in line and "Saved" not in line]
    assert lines == ["served 104 odd even", "served 114 odd even", "116 ['even', 'new', 'odd']", "interrupted as before"]


def test_what_cannot_be_served_is_told(tmp_path):
    with pytest.raises(StateError, match="in memory"):
        Learner(model_classes=3, model_input=4).serve()
    with Learner(tmp_path / "x", **{**SMALL, "model_input": 4}) as learner, socket.socket() as taken:
        learner.learn([[1, 2, 3, 4]], ["a"])
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = "127.0.0.1:%d" % taken.getsockname()[1]
        with pytest.raises(RetainError, match="already in use"):
            learner.serve(where)
        with pytest.raises(RetainError, match="lisen"):
            learner.serve(where, serve_lisen="x")
        learner.learn([[1, 2, 3, 4]], ["b"])
        assert learner.metrics().samples == 2
