"""The parts for loops of one's own: the numbers are the learner's, whoever keeps the weights."""

import json
import multiprocessing
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")

import pyretain  # noqa: E402
from pyretain import runs  # noqa: E402
from pyretain import torch as rt  # noqa: E402

KINDS = ["unlimited", "reservoir", "fifo", "balanced", "halves"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Nets are tiny, and threads that wait for each other on a busy machine take longer than they."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def module(inputs=4, classes=3, seed=1):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.ReLU(), torch.nn.Linear(16, classes))


def pictures(first, count):
    at = np.arange(first, first + count)[:, None, None, None]
    return ((at * 7 + np.arange(3 * 8 * 8).reshape(3, 8, 8)) % 251).astype(np.uint8)


@pytest.mark.parametrize("pool", KINDS)
@pytest.mark.parametrize("objective", ["pure", "mixed"])
def test_draws_are_the_learners(stream, pool, objective):
    """A learner's net sees the inputs of each batch; a memory draws the same ones."""
    said = {"replay_pool": pool, "replay_limit": 40, "replay_holdout": 0.2, "replay_objective": objective}
    trained, held = [], []

    class Probe(torch.nn.Module):
        def __init__(self, classes=3):
            super().__init__()
            self.layer = torch.nn.Linear(4, classes)

        def forward(self, inputs):
            if inputs.shape[0] in (16, 24):
                (trained if self.training else held).append(inputs.detach().clone())
            return self.layer(inputs)

    learner = rt.Learner(
        Probe(), input=(4,), method="ama+malr", model_scale="off", run_batch=16, run_seed=5, run_iterations=3,
        replay_validation_limit=30, schedule_validation_batch=24, schedule_validate_every=2, schedule_window=4, schedule_patience=8, **said,
    )
    memory = rt.Memory(pool=pool, limit=40, holdout=0.2, objective=objective, seed=5, replay_validation_limit=30)
    drawn, validated, k = [], [], 0
    for inputs, labels in stream(12, count=8):
        step = learner.observe(inputs)
        learner.reveal(step, labels)
        memory.add(inputs, labels.astype(np.int64))
        learner.train(3)
        for _ in range(3):
            k += 1
            batch = memory.draw(k, 16)
            drawn.append(batch.fields[0])
            if k % 2 == 0 and (now := memory.held(k, 24)) is not None:
                validated.append(now[0])
    assert len(drawn) == len(trained) and all(torch.equal(a, b) for a, b in zip(drawn, trained))
    # The plain model and both averages see the same validation batch.
    assert len(held) == 3 * len(validated) > 0
    assert all(torch.equal(a, b) for a, b in zip(validated, held[::3]))


@pytest.mark.parametrize("method", ["ama+malr", "ema+rwp", "ama+clr", "sgd+rwp"])
def test_verdicts_are_the_learners(tmp_path, stream, method):
    """A window of one round has that round's scores: a guide that is told them decides the same."""
    said = {
        "run_method": method, "schedule_window": 4, "schedule_validate_every": 4, "schedule_patience": 8,
        "schedule_c3": False, "average_every": 2, "schedule_rate": 0.5,
    }
    learner = pyretain.Learner(tmp_path / "run", model_input=4, model_classes=3, run_batch=8, replay_holdout=0.3, **said)
    for inputs, labels in stream(60):
        learner.reveal(learner.observe(inputs), labels)
        learner.train(4)
    learner.save()
    with open(tmp_path / "run" / "events.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    windows = {line["iteration"]: line for line in lines if line["event"] == "window"}
    cuts = {line["iteration"]: line for line in lines if line["event"] == "cut"}
    guide = rt.Guide(**said)
    models = ["sgd", "ma1", "ma2"][: 1 + len(guide.due().keep)]
    for k in range(1, max(windows) + 1):
        due = guide.due()
        assert due.iteration == k and due.validate == (k % 4 == 0) and due.move == (bool(due.keep) and k % 2 == 0)
        event = windows.get(k)
        verdict = guide.done([(event[f"loss_{m}"], event[f"acc_{m}"]) for m in models] if event else None)
        assert (verdict is None) == (event is None)
        if event:
            assert verdict.rate == event["rate"] == guide.due().rate
            assert verdict.best == event.get("best", 0)
            assert verdict.cut == (k in cuts)
            assert list(verdict.keep) == [np.float32(event[f"gamma{i + 1}_next"]) for i in range(len(verdict.keep))]
    assert len(windows) > 40 and (cuts or "clr" in method)
    learner.close()


def validation(memory, ama, device):
    held = memory.held(ama.iteration, 32)
    return None if held is None else [one.to(device) for one in held]


def loop(memory, ama, malr, optimizer, run, stream, steps, checkpoint=None):
    """A loop as people write it."""
    device = next(ama.net.parameters()).device
    for inputs, labels in list(stream(steps))[run.metrics().steps :]:
        inputs, labels = torch.from_numpy(inputs), torch.from_numpy(labels)
        ticket = run.predicted(ama.predict(inputs.to(device)))
        memory.add(inputs, labels)
        run.revealed(ticket, labels)
        for _ in run.iterations():
            batch = memory.draw(ama.iteration, 16)
            x, y = (one.to(device) for one in batch.fields)
            optimizer.zero_grad()
            losses = torch.nn.functional.cross_entropy(ama.net(x), y, reduction="none")
            (losses * batch.weights.to(device)).sum().backward()
            optimizer.step()
            ama.step(lambda: validation(memory, ama, device), batch=x)
        if run.metrics().steps % 10 == 0:
            run.evaluate(seen=run.metrics().steps / 60)
        if checkpoint and run.metrics().steps % 7 == 0:
            checkpoint()


def parts(folder, stream, pool="reservoir", norm=False, seed=1, device="cpu"):
    net = module(seed=seed)
    if norm:
        net = torch.nn.Sequential(net[0], torch.nn.BatchNorm1d(16), *net[1:])
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    memory = rt.Memory(folder, pool=pool, limit=60, holdout=0.2, seed=1)
    ama = rt.AMA(net, every=2, schedule_validate_every=5)
    malr = rt.MALR(optimizer, ama, window=20, patience=20, schedule_c3=False)
    data = list(stream(60, count=12))
    bins = [tuple(torch.from_numpy(one).to(device) for one in data[at]) for at in range(0, 60, 15)]
    run = rt.Run(folder, budget=4, batch=16, ama=ama, evaluation=bins)
    return memory, ama, malr, optimizer, run


def everything(memory, ama, malr, optimizer, run):
    return {
        "net": ama.net.state_dict(), "optimizer": optimizer.state_dict(), "ama": ama.state_dict(),
        "malr": malr.state_dict(), "memory": memory.state_dict(), "run": run.state_dict(),
    }


def load_everything(state, memory, ama, malr, optimizer, run):
    ama.net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    ama.load_state_dict(state["ama"])
    malr.load_state_dict(state["malr"])
    memory.load_state_dict(state["memory"])
    run.load_state_dict(state["run"])


@pytest.mark.parametrize("device, norm", [("cpu", False), ("cpu", True), ("sham", True), ("meta", True)])
def test_a_loop_learns_and_says_so(request, tmp_path, stream, device, norm):
    if device == "sham":
        request.getfixturevalue("sham")
    made = parts(tmp_path / "x", stream, norm=norm, device=device)
    memory, ama, malr, optimizer, run = made
    loop(*made, stream, 60)
    metrics = run.metrics()
    assert metrics.steps == 60 and metrics.samples == 480
    if device == "meta":
        return  # there are no numbers
    assert metrics.le > 0.8 > metrics.blind and metrics.ir > 0.9
    # Validation and averages are part of the budget: fewer than 4 iterations a step.
    assert 2 * 60 < metrics.iterations < 4 * 60 and abs(run.left) < 2
    assert malr.rate < 0.1 and optimizer.param_groups[0]["lr"] == malr.rate
    assert memory.facts.training == 60
    run.finish()
    page = run.report()
    assert "<html" in page.html and os.path.exists(tmp_path / "x" / "report.html")
    rows = runs.Run(tmp_path / "x").metrics
    assert list(rows.index) == [10, 20, 30, 40, 50, 60] and rows["ir"].iloc[-1] == metrics.ir
    assert (runs.Run(tmp_path / "x").events["event"] == "cut").any()
    assert runs.Run(tmp_path / "x").matrix.shape == (6, 4)


def test_averages_by_hand():
    net = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        net.weight.fill_(0)
    ama = rt.AMA(net, kind="ema", every=2, average_gamma=0.75)
    for value in (1.0, 2.0, 3.0, 4.0):
        with torch.no_grad():
            net.weight.fill_(value)
        ama.step()
    # 0 -> 0.75 * 0 + 0.25 * 2 -> 0.75 * 0.5 + 0.25 * 4
    assert float(ama.params[0]["weight"]) == 1.375 and ama.serving == 1
    assert float(ama.predict(torch.ones(1, 1))) == 1.375
    with ama.applied():
        assert float(net.weight) == 1.375
    assert float(net.weight) == 4


class Coupled(torch.nn.Module):
    """Two layers have the same weights; others are complex."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.turn = torch.nn.Parameter(torch.ones(4, dtype=torch.complex64))

    def forward(self, x):
        return (self.second(self.first(x)) * self.turn).abs()


def test_averages_of_tied_and_of_complex_weights(stream):
    net = Coupled()
    optimizer, ama = torch.optim.SGD(net.parameters(), 0.1), rt.AMA(net, every=1)
    for inputs, labels in stream(5):
        inputs = torch.tensor(inputs)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs), torch.tensor(labels)).backward()
        optimizer.step()
        ama.step(batch=inputs)
    said = ama.model(1)(inputs)
    assert not torch.allclose(said, ama.model(0)(inputs))
    assert not torch.equal(ama.params[0]["turn"], net.turn)
    with ama.applied(1), torch.no_grad():
        assert torch.allclose(net(inputs), said)
    other = Coupled()
    other.load_state_dict(ama.weights(1))
    assert torch.allclose(other(inputs), said)


def test_batch_norm_statistics_are_the_averages_own():
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    ama = rt.AMA(net, kind="ema", every=1, average_statistics_every=2)
    inputs = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(pyretain.InputError, match="batch norm"):
        ama.step()
        ama.step()
    ama.step(batch=inputs)
    assert torch.allclose(ama.buffers[0]["0.running_mean"], 0.1 * inputs.mean(0))
    assert torch.equal(net[0].running_mean, torch.zeros(2))
    # Between such passes they move as the weights do.
    net(2 * inputs)
    before, keep = ama.buffers[0]["0.running_mean"].clone(), ama.due.keep[0]
    ama.step(batch=inputs)
    assert torch.allclose(ama.buffers[0]["0.running_mean"], keep * before + (1 - keep) * net[0].running_mean)
    assert not torch.equal(before, ama.buffers[0]["0.running_mean"])


class Drawing(torch.nn.Module):
    """Draws from the generators of the host and of its device."""

    def forward(self, x):
        torch.sham.state += 1
        return torch.nn.functional.dropout(x, 0.5, self.training)


def test_statistics_draw_nothing_of_the_loops(sham):
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), Drawing()).to("sham")
    ama = rt.AMA(net, every=1, average_statistics_every=1)
    torch.sham.state, before = 7, torch.get_rng_state()
    ama.step(batch=torch.ones(2, 4).to("sham"))
    assert torch.sham.state == 7 and torch.equal(torch.get_rng_state(), before)
    assert ama.buffers[0]["1.running_mean"].cpu().any()


@pytest.mark.parametrize("pool", ["unlimited", "reservoir"])
def test_goes_on_from_a_checkpoint(tmp_path, stream, pool):
    """torch.save of everything, and the process ends somewhere after it: the same bits in the end."""
    straight = parts(tmp_path / "straight", stream, pool)
    loop(*straight, stream, 60)
    made, path = parts(tmp_path / "x", stream, pool), tmp_path / "checkpoint"

    def save():
        torch.save(everything(*made), path)

    for stop in (9, 23, 40, 60):
        loop(*made, stream, stop, save)
        if stop < 60:
            made[0].close()
            made[4].close()
            made = parts(tmp_path / "x", stream, pool, seed=2)
            load_everything(torch.load(path, weights_only=True), *made)
    assert all(torch.equal(a, b) for a, b in zip(straight[1].net.state_dict().values(), made[1].net.state_dict().values()))
    for a, b in zip(straight[1].params, made[1].params):
        assert all(torch.equal(a[name], b[name]) for name in a)
    for name in ("metrics.csv", "events.jsonl"):
        a, b = [(tmp_path / where / name).read_text().splitlines() for where in ("straight", "x")]
        assert [line.rsplit(",", 1)[0] if name == "metrics.csv" else line for line in a] == [
            line.rsplit(",", 1)[0] if name == "metrics.csv" else line for line in b
        ]


def go_on(folder, stream, kill):
    """A process that goes on from its last checkpoint, if there is one, to the end; or that is killed so long after its next one."""
    path, saved = folder / "checkpoint", threading.Event()
    made = parts(folder, stream, seed=2 if path.exists() else 1)

    def save(name="checkpoint"):
        torch.save(everything(*made), folder / (name + ".new"))
        os.replace(folder / (name + ".new"), folder / name)
        saved.set()

    def end():
        saved.wait()
        time.sleep(kill)
        os.kill(os.getpid(), signal.SIGKILL)

    if kill is not None:
        threading.Thread(target=end, daemon=True).start()
    if path.exists():
        load_everything(torch.load(path, weights_only=True), *made)
    else:
        save()
    loop(*made, stream, 60, save)
    save("end")


def test_killed_ten_times_it_comes_to_the_same_bits(tmp_path, stream):
    straight = parts(tmp_path / "straight", stream)
    loop(*straight, stream, 60)
    # Forked by a process that has computed nothing: autograd's threads do not survive a fork of this one.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["torch", "pyretain.torch"])
    folder, kills = tmp_path / "x", 0
    while not (folder / "end").exists():
        child = processes.Process(target=go_on, args=(folder, stream, 0.002 * (kills % 5) if kills < 10 else None))
        child.start()
        child.join()
        assert child.exitcode in ((-signal.SIGKILL, 0) if kills < 10 else (0,))
        kills += 1
    assert kills > 3
    end = torch.load(folder / "end", weights_only=True)
    for name, one in straight[1].net.state_dict().items():
        assert torch.equal(one, end["net"][name])
    for a, b in zip(straight[1].params, end["ama"]["params"]):
        assert all(torch.equal(a[name], b[name]) for name in a)


def test_records_of_any_kind(tmp_path):
    images = pictures(0, 10)
    with rt.Memory(tmp_path / "a") as memory:
        assert memory.fields is None
        assert memory.add(torch.from_numpy(images), torch.arange(10)) == range(0, 10)
        memory.add(pictures(10, 5), np.arange(10, 15))
        x, y = memory.read([3, 14])
        assert x.dtype is torch.uint8 and y.dtype is torch.int64 and y.tolist() == [3, 14]
        assert np.array_equal(x.numpy(), pictures(0, 15)[[3, 14]])
        with pytest.raises(pyretain.InputError, match="records are uint8 of shape .3, 8, 8., int64 of shape .., not"):
            memory.add(images.astype(np.float32), np.arange(10))
        with pytest.raises(pyretain.InputError, match="record 15: there are 15"):
            memory.read([15])
        assert len(memory) == 15
    with rt.Memory(tmp_path / "b") as memory:
        memory.add(["a.jpg", "folder/b.jpg"], [b"", b"tokens"], np.float32([[1, 2], [3, 4]]))
        names, tokens, numbers = memory.read([1, 0])
        assert names == ["folder/b.jpg", "a.jpg"] and tokens == [b"tokens", b""]
        assert torch.equal(numbers, torch.tensor([[3.0, 4.0], [1.0, 2.0]]))
    with rt.Memory(tmp_path / "b") as memory:
        assert memory.read([0])[0] == ["a.jpg"]


def test_a_picture_takes_three_kibibytes(tmp_path):
    count, size = 500, 3 * 32 * 32
    with rt.Memory(tmp_path, holdout=0) as memory:
        for first in range(0, count, 50):
            memory.add(np.zeros((50, 3, 32, 32), np.uint8), labels=np.zeros(50, int))
        used = sum(os.stat(tmp_path / "memory" / name).st_blocks * 512 for name in ("data", "index"))
        assert used < count * (size + 24) + 3 * 4096


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_loaders_with_workers_serve_the_same(tmp_path, context):
    """Records that came after the workers began are seen; batches are those without workers."""
    with rt.Memory(tmp_path / "m", pool="reservoir", limit=50, seed=3) as memory:
        memory.add(pictures(0, 40), np.arange(40))
        scaled = context == "fork"  # A lambda cannot be sent to a process that was not forked.
        dataset = rt.ReplayDataset(memory, transform=(lambda x: x.float() / 255) if scaled else None)
        sampler = rt.ReplaySampler(memory, 16, 5)
        loader = torch.utils.data.DataLoader(
            dataset, batch_sampler=sampler, num_workers=2 if scaled else 1,
            multiprocessing_context=context, persistent_workers=True
        )
        for step in range(3 if scaled else 2):
            seen = [(x, y) for x, y in loader]
            assert len(seen) == 5
            for at, (x, y) in enumerate(seen):
                batch = memory.draw(step * 5 + at + 1, 16)
                assert torch.equal(y, batch.fields[1])
                expected = batch.fields[0].float() / 255 if scaled else batch.fields[0]
                assert torch.equal(x, expected)
            memory.add(pictures(40 + step * 20, 20), np.arange(40 + step * 20, 60 + step * 20))
        assert sampler.state_dict() == {"iteration": 5 * (step + 1)}


def test_one_owner_and_readers(tmp_path):
    with rt.Memory(tmp_path / "m") as memory:
        memory.add(pictures(0, 4), np.arange(4))
        with pytest.raises(pyretain.StateError, match="in use"):
            rt.Memory(tmp_path / "m")
        reader = pickle.loads(pickle.dumps(memory))
        assert reader.read([2])[1].tolist() == [2]
        with pytest.raises(pyretain.StateError, match="only be read"):
            reader.draw(1, 2)
    with pytest.raises(pyretain.StateError, match="in RAM"):
        pickle.dumps(rt.Memory())
    with pytest.raises(pyretain.FormatError, match="unlimited"):
        rt.Memory(tmp_path / "m", pool="fifo", limit=10)


def test_what_is_wrong_is_named(tmp_path, stream):
    net, other = module(), module(classes=4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ama = rt.AMA(net, every=1)
    ama.step()
    with pytest.raises(pyretain.StateError, match="before the first iteration"):
        rt.MALR(optimizer, ama)
    with pytest.raises(pyretain.InputError, match="averages of another module|has the shape"):
        rt.AMA(other).load_state_dict(ama.state_dict())
    net[2] = torch.nn.Linear(16, 5)
    with pytest.raises(pyretain.StateError, match="not those that the averages began with"):
        ama.step()
    with pytest.raises(pyretain.InputError, match="average.rule"):
        rt.AMA(other, rule="best")
    nan = rt.AMA(other, schedule_validate_every=1, schedule_window=1)
    with pytest.raises(pyretain.InputError, match="loss nan"):
        nan.step((torch.full((2, 4), torch.nan), torch.zeros(2, dtype=torch.long)))
    assert nan.iteration == 1
    odd = rt.AMA(other, schedule_validate_every=1, evaluate=lambda model, batch: 0.5)
    with pytest.raises(pyretain.InputError, match=r"score 0.5 of model 0: \(loss, accuracy\) is needed"):
        odd.step((torch.zeros(2, 4), torch.zeros(2)))
    with pytest.raises(pyretain.InputError, match="TorchScript"):
        rt.AMA(torch.jit.trace(other, torch.zeros(2, 4)))
    wide = rt.AMA(other, every=1)
    other.double()
    with pytest.raises(pyretain.StateError, match="not those that the averages began with"):
        wide.step()
    run = rt.Run(tmp_path / "r")
    ticket = run.predicted(torch.zeros(3, 4))
    with pytest.raises(pyretain.InputError, match="ticket 1 has 3 predictions"):
        run.revealed(ticket, [1, 2])
    run.revealed(ticket, [1, 2, 3])
    with pytest.raises(pyretain.InputError, match="ticket 1: is not known"):
        run.revealed(ticket, [1, 2, 3])
    with pytest.raises(pyretain.StateError, match="cost nothing"):
        list(run.iterations())
    with pytest.raises(pyretain.FileError, match="another process works"):
        rt.Run(tmp_path / "r")
    run.close()
    memory = rt.Memory()
    with pytest.raises(pyretain.InputError, match="same number"):
        memory.add(np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(pyretain.InputError, match="replay.objective = mir"):
        rt.Memory(objective="mir")
    with pytest.raises(pyretain.StateError, match="in RAM"):
        memory.state_dict()
