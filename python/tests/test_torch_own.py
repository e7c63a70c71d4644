"""A user's own loss, optimizer and targets around a module, and several processes as one learner."""

import os
import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pyretain
from pyretain import InputError

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

import pyretain.torch as rt  # noqa: E402
from test_torch_net import HERE, SMALL, mlp, nn  # noqa: E402

F = torch.nn.functional


def same(a, b, atol=1e-5):
    for name, tensor in a.state_dict().items():
        assert torch.allclose(tensor, b.state_dict()[name], atol=atol), name


def test_a_loss_of_ones_own(stream):
    """The library's losses by functions: of each sample, or of PyTorch's, whose default is a mean."""

    def mine(logits, labels):
        return F.cross_entropy(logits, labels, reduction="none")

    batches = list(stream(10))
    for kind, settings, loss in [
        ("cross-entropy", {}, mine),
        ("cross-entropy", {}, F.cross_entropy),
        ("smooth", {"loss_smoothing": 0.2}, nn.CrossEntropyLoss(label_smoothing=0.2)),
    ]:
        kept = {**SMALL, "model_classes": 3}
        learners = [
            rt.Learner(mlp, input=(4,), loss=kind, **kept, **settings),
            rt.Learner(mlp, input=(4,), loss=loss, **kept),
        ]
        for inputs, labels in batches:
            for learner in learners:
                learner.learn(inputs, labels)
            assert learners[0].metrics().loss == pytest.approx(learners[1].metrics().loss, abs=1e-5)
        same(*learners)


def test_a_loss_that_does_not_fit(stream):
    learner = rt.Learner(mlp, input=(4,), loss=lambda logits, labels: logits.mean(), **SMALL)
    inputs, labels = next(stream(1))
    with pytest.raises(InputError, match="loss: the function gave .* one for each is needed"):
        learner.learn(inputs, labels)
    assert learner.metrics().samples == len(labels)
    learner = rt.Learner(mlp, input=(4,), loss=lambda logits, labels: F.cross_entropy(logits.detach(), labels, reduction="none"), **SMALL)
    with pytest.raises(InputError, match="no gradient by the logits"):
        learner.learn(inputs, labels)

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

    with pytest.raises(InputError, match="its parameter 'scale' would not be trained"):
        rt.Learner(mlp, input=(4,), loss=Scaled(), **SMALL)
    with pytest.raises(InputError, match="loss.kind = program: .* brings none"):
        rt.Learner(mlp, input=(4,), loss="program", **SMALL)


@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_an_optimizer_of_ones_own(stream, kind):
    """One that the library knows, made to step itself: a function hides what it is."""
    rate = {"sgd": 0.05, "adam": 0.01}[kind]
    make = {
        "sgd": lambda params: torch.optim.SGD(params, rate, momentum=0.9, weight_decay=1e-3),
        "adam": lambda params: torch.optim.Adam(params, rate, weight_decay=1e-3),
    }[kind]
    kept = {**SMALL, "schedule_rate": rate, "optimizer_decay": 1e-3}
    own = rt.Learner(mlp, input=(4,), **kept, optimizer_kind=kind)
    given = rt.Learner(mlp, make, input=(4,), **SMALL)
    for inputs, labels in stream(12):  # its classes come one by one
        own.learn(inputs, labels)
        given.learn(inputs, labels)
    assert given.metrics().learning_rate == pytest.approx(own.metrics().learning_rate)
    same(own, given, 1e-4)


def test_frozen_parameters_do_not_decay(stream):
    """PyTorch's optimizers leave alone what has no gradient."""
    net = mlp(3)
    net[0].weight.requires_grad = False
    learner = rt.Learner(net, torch.optim.AdamW(net.parameters(), 0.01, weight_decay=0.5), input=(4,), **SMALL)
    learner.learn(*next(stream(1)))
    state = learner.state_dict("plain")
    assert torch.equal(state["0.weight"], net[0].weight) and not torch.equal(state["2.weight"], net[2].weight)


@pytest.mark.parametrize("kind", [torch.optim.Adafactor, torch.optim.AdamW])
def test_state_of_any_shape_survives_growth(tmp_path, stream, kind):
    """Adafactor's has a row and a column of each matrix. Opened again before and after classes come, it comes to the same bits."""

    def opened(folder):
        return rt.Learner(mlp, lambda params: kind(params, 0.05), input=(4,), folder=tmp_path / folder, **SMALL)

    straight, learner = opened("a"), opened("b")
    for number, (inputs, labels) in enumerate(stream(12)):
        for one in (straight, learner):
            one.learn(inputs, np.minimum(labels, number // 3))
        learner.close()
        learner = opened("b")
    assert learner.shape.classes == 3 and straight.metrics().loss < 1
    for name, tensor in straight.state_dict("plain").items():
        assert torch.equal(tensor, learner.state_dict("plain")[name]), name


def test_another_optimizer_than_the_folders_is_refused(tmp_path, stream):
    def opened(make):
        return rt.Learner(mlp, make, input=(4,), folder=tmp_path / "x", model_classes=3, **SMALL)

    inputs, labels = next(stream(1))
    with opened(lambda params: torch.optim.AdamW(params, 0.01)) as learner:
        learner.learn(inputs, labels)
        said = learner.predict_proba(inputs)
    with pytest.raises(InputError, match="has the state of AdamW, not of RMSprop"):
        opened(lambda params: torch.optim.RMSprop(params, 0.01))
    with pytest.raises(InputError, match="state does not fit"):
        opened(lambda params: torch.optim.AdamW(params[:2], 0.01))
    with opened(lambda params: torch.optim.AdamW(params, 0.01)) as learner:
        assert np.array_equal(learner.predict_proba(inputs), said)


def test_rates_are_retains(stream):
    net = mlp(3)
    learner = rt.Learner(net, torch.optim.Adam(net.parameters(), torch.tensor(0.25)), input=(4,), **SMALL)
    assert float(learner.setting("schedule_rate")) == 0.25
    for kind in (torch.optim.SGD, torch.optim.RMSprop):
        optimizer = kind(net.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step)
        with pytest.warns(pyretain.RetainWarning, match="a scheduler of PyTorch's, which has no effect"):
            rt.Learner(net, optimizer, input=(4,), **SMALL)
        optimizer.step()
        scheduler.step()
        with pytest.raises(InputError, match="its rate is 0.0"):
            rt.Learner(net, optimizer, input=(4,), **SMALL)


def test_an_optimizer_that_cannot_be_is_refused():
    with pytest.raises(InputError, match="LBFGS computes losses itself, in a closure"):
        rt.Learner(mlp, torch.optim.LBFGS, input=(4,), **SMALL)


def test_an_optimizer_chooses_parameters_by_their_shapes(stream):
    make = lambda params: torch.optim.RMSprop([one for one in params if one.dim() == 2], 0.01)  # noqa: E731
    learner = rt.Learner(mlp, make, input=(4,), model_classes=3, **SMALL)
    before = learner.state_dict("plain")
    learner.learn(*next(stream(1)))
    moved = {name for name, tensor in learner.state_dict("plain").items() if not torch.equal(tensor, before[name])}
    assert moved == {"0.weight", "2.weight"}


def test_groups_keep_their_ratio(stream):
    net = mlp(3)
    first, last = list(net[0].parameters()), list(net[2].parameters())
    optimizer = torch.optim.SGD([{"params": last, "lr": 0.1}, {"params": first, "lr": 0.0}], lr=0.1)
    with pytest.raises(InputError, match="function"):
        rt.Learner(mlp, torch.optim.RMSprop(net.parameters()), input=(4,), **SMALL)
    with pytest.raises(InputError, match="model_frozen"):
        rt.Learner(net, optimizer, input=(4,), model_frozen="0", **SMALL)
    learner = rt.Learner(net, optimizer, input=(4,), **SMALL)
    for inputs, labels in stream(5):
        learner.learn(inputs, labels)
    state = learner.state_dict("plain")
    assert torch.equal(state["0.weight"], net[0].weight) and not torch.equal(state["2.weight"], net[2].weight)


CHILD = """
    import sys, os, signal
    sys.path.insert(0, {here!r})
    import numpy as np, torch
    import pyretain.torch as rt
    from test_torch_net import SMALL, Noisy
    torch.set_num_threads(1)
    world = np.random.default_rng(1)
    means = np.random.default_rng(9).normal(size=(3, 4)) * 2
    steps, kill = 14, int(sys.argv[2])
    batches = [(lambda l: (l, (means[l] + world.normal(size=(8, 4))).astype(np.float32)))(world.integers(0, 3, 8)) for _ in range(steps)]
    with rt.Learner(Noisy, lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.1), input=(4,), folder=sys.argv[1],
            loss=torch.nn.CrossEntropyLoss(label_smoothing=0.1), run_checkpoint_every="3 steps", **SMALL) as learner:
        begin = learner.metrics().steps
        for i in range(begin, steps):
            labels, inputs = batches[i]
            step = learner.observe(inputs)
            learner.reveal(step, labels)
            if kill and i - begin == kill:
                os.kill(os.getpid(), signal.SIGKILL)
            learner.train()
        torch.save(learner.state_dict("plain"), sys.argv[1] + ".pt")
"""
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ALONE = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("start, turns", [([sys.executable], [4, 2, 5, 0]), (TORCHRUN, [5, 0])])
def test_killed_with_an_optimizer_of_ones_own(tmp_path, start, turns):
    """State of the optimizer, averages and batch norm are in one checkpoint: the same bits, of one process and of two."""
    script = tmp_path / "child.py"
    script.write_text(textwrap.dedent(CHILD.format(here=HERE)))
    for name, kills in (("straight", [0]), ("killed", turns)):
        for kill in kills:
            done = subprocess.run([*start, script, tmp_path / name, str(kill)], capture_output=True, text=True, timeout=1200, env=ALONE)
            assert done.returncode == (kill and (1 if start is TORCHRUN else -signal.SIGKILL)), done.stderr
    a, b = (torch.load(tmp_path / f"{name}.pt") for name in ("straight", "killed"))
    for name in a:
        assert torch.equal(a[name], b[name]), name


@pytest.mark.parametrize("loss, outputs", [(nn.MSELoss(), 1), (F.mse_loss, 1), ("huber", 3)])
def test_numbers(loss, outputs):
    """A module of one output learns numbers; its interval is learned beside it."""
    world = np.random.default_rng(3)
    learner = rt.Learner(
        lambda n: nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, outputs)),
        input=(4,),
        loss=loss,
        model_target="number",
        schedule_rate=0.05,
        **{**SMALL, "run_iterations": 10},
    )
    for _ in range(60):
        inputs = world.normal(size=(8, 4)).astype(np.float32)
        learner.learn(inputs, 100 + 10 * inputs[:, 0] + world.normal(size=8))
    inputs = world.normal(size=(200, 4)).astype(np.float32)
    told = np.asarray(learner.predict(inputs), dtype=float)
    assert np.abs(told - (100 + 10 * inputs[:, 0])).mean() < 4
    with pytest.raises(InputError, match="loss: numbers"):
        rt.Learner(mlp, input=(4,), loss=lambda a, b: a, model_target="number")


SHARED = """
    import sys
    sys.path.insert(0, {here!r})
    import numpy as np, torch
    import pyretain.torch as rt
    from test_torch_net import SMALL, mlp
    from pyretain.torch import ranks
    torch.set_num_threads(1)
    own = (lambda p: torch.optim.AdamW(p, 0.01)) if "own" in sys.argv else None
    sent, send = [], ranks.dist.isend
    ranks.dist.isend = lambda tensor, *to: (sent.append(len(tensor)), send(tensor, *to))[1]
    if "sent" in sys.argv:
        ranks.SHARED = None  # as between machines
    learner = rt.Learner(mlp, own, **{{**SMALL, "run_method": "ama+malr+fast"}})
    world = np.random.default_rng(1)
    means = np.random.default_rng(9).normal(size=(3, 4)) * 2
    for i in range(12):
        labels = world.integers(0, 1 + min(i // 2, 2), 8)
        learner.learn((means[labels] + world.normal(size=(8, 4))).astype(np.float32), labels)
    state = {{**learner.state_dict(), "loss": torch.tensor(learner.metrics().loss)}}
    torch.save(state, sys.argv[1])
    print("sends:", len(sent))
    learner.close()
"""


@pytest.mark.parametrize("how", [["shared"], ["own", "sent"]])
def test_torchrun_shares_the_work(tmp_path, how):
    """Two processes come to what one comes to, but for rounding; both end. Training batches are shared, or sent."""
    script = tmp_path / "shared.py"
    script.write_text(textwrap.dedent(SHARED.format(here=HERE)))
    for count, start in (("1", [sys.executable]), ("2", TORCHRUN)):
        done = subprocess.run([*start, script, tmp_path / count, *how], capture_output=True, text=True, timeout=1200, env=ALONE)
        assert done.returncode == 0, done.stderr[-3000:]
    sends = int(re.search(r"sends: (\d+)", done.stdout)[1])
    assert sends >= 60 if "sent" in how else not sends  # sixty iterations
    one, two = (torch.load(tmp_path / count) for count in "12")
    for name in one:
        assert torch.allclose(one[name], two[name], atol=1e-4), name


SHARDED = """
    import torch
    import torch.distributed as dist
    from pyretain import torch as rt

    def make(classes):
        if not dist.is_initialized():
            dist.init_process_group("gloo")
        from torch.distributed.fsdp import fully_shard
        return fully_shard(torch.nn.Sequential(torch.nn.Linear(4, classes)))

    rt.Learner(make, input=(4,), model_classes=3)
"""


def test_a_sharded_module_is_refused_at_once(tmp_path):
    """By its first process; torchrun does not have to kill the other, which it does after 30 seconds."""
    pytest.importorskip("torch.distributed.fsdp", reason="this PyTorch has no FSDP2")
    script = tmp_path / "sharded.py"
    script.write_text(textwrap.dedent(SHARDED))
    done = subprocess.run([*TORCHRUN, script], capture_output=True, text=True, timeout=1200, env=ALONE)
    assert done.returncode != 0 and "the module was given to torch.distributed.fsdp.fully_shard: give it as it is" in done.stderr
    assert "SIGKILL" not in done.stderr
