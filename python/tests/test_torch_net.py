"""Modules of the user's own as the net of a learner."""

import copy
import json
import os
import random
import threading

import numpy as np
import pytest

import conftest
import kills
import pyretain
from pyretain import FormatError, InputError, Learner, StateError

torch = pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("safetensors", reason="there is no safetensors")

import pyretain.torch as rt  # noqa: E402
from pyretain.torch.module import Look, last_linear  # noqa: E402

nn = torch.nn
torch.set_num_threads(1)  # other tests run at the same time
HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = {
    "run_method": "ama+malr",
    "run_batch": 8,
    "run_iterations": 5,
    "schedule_validate_every": 5,
    "schedule_window": 10,
    "schedule_patience": 20,
    "schedule_validation_batch": 16,
    "replay_holdout": 0.2,
    "engine_threads": 1,
}


def mlp(classes):
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, classes))


def pictures(steps, count=8, classes=3, shape=(3, 8, 8), seed=1):
    """Squares of a class's colour and place, in noise."""
    world = np.random.default_rng(seed)
    means = world.normal(size=(classes, *shape))
    for _ in range(steps):
        labels = world.integers(0, classes, count)
        yield (means[labels] + world.normal(size=(count, *shape))).astype(np.float32), labels


class Noisy(nn.Module):
    """Batch norm, dropout, a constant, a number, a frozen layer, and work on the input in place."""

    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3))
        self.fixed = nn.Linear(16, 16)
        for one in self.fixed.parameters():
            one.requires_grad = False
        self.temperature = nn.Parameter(torch.tensor(1.0))
        self.register_buffer("constant", torch.full((16,), 0.5))
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        x.mul_(1.0)
        return self.head(self.fixed(self.body(x) * self.constant) * self.temperature)


# The same as the library's own nets


@pytest.mark.parametrize(
    "arch, norm, shape, rate",
    [("mlp:16", "none", (4,), 0.05), ("resnet18-cifar", "gn-ws", (3, 16, 16), 5e-6), ("resnet18-cifar", "bn", (3, 16, 16), 5e-6)],
)
def test_losses_are_those_of_the_own_net(tmp_path, arch, norm, shape, rate):
    """Fifty iterations: the same batches, validated at the same iterations, and windows that end alike."""
    import torch_models

    def make(classes):
        return torch_models.build(arch, norm, classes, *shape)

    kept = {**SMALL, "model_classes": 3, "model_scale": "off", "schedule_rate": rate}
    # Winograd rounds otherwise, and roundings grow at every ReLU that they switch.
    own = Learner(tmp_path / "own", model_arch=arch, model_norm=norm, model_input=shape, engine_conv="direct", **kept)
    net = rt.Learner(make, input=shape, folder=tmp_path / "net", **kept)
    first = rt.state_dict(own, "plain")
    rt.load_state_dict(net, first)
    for inputs, labels in pictures(10, shape=shape):
        own.learn(inputs, labels)
        net.learn(inputs, labels)
        a, b = own.metrics(), net.metrics()
        assert b.loss == pytest.approx(a.loss, abs=1e-4)
        assert b.learning_rate == a.learning_rate and b.iterations == a.iterations
        assert np.isnan(a.retention) == np.isnan(b.retention)
    assert a.iterations == 50 and not np.isnan(a.retention)
    end, other = rt.state_dict(own, "plain"), net.state_dict("plain")
    for name, tensor in end.items():
        if tensor.dtype == torch.float32:
            apart, moved = (torch.linalg.vector_norm(tensor - one[name]) for one in (other, first))
            assert 0 < moved and apart < 0.01 * moved + 1e-6, (name, apart, moved)
    own.close()
    net.close()
    mine, its = (events(tmp_path / folder) for folder in ("own", "net"))
    assert [line["event"] for line in mine] == [line["event"] for line in its]
    windows = [pair for pair in zip(mine, its) if pair[0]["event"] == "window"]
    assert len(windows) == 5 and all(one == pytest.approx(other, abs=1e-4) for one, other in windows)


def events(folder):
    with open(folder / "events.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_the_first_batch_says_what_a_sample_is(tmp_path, stream):
    """A learner without input= comes to the same, and its folder remembers."""
    batches, folder = list(stream(6)), tmp_path / "x"
    said = rt.Learner(mlp, input=(4,), **SMALL)
    with rt.Learner(mlp, folder=folder, **SMALL) as learner:
        assert not learner.closed and not folder.exists()
        for ask in (learner.metrics, learner.train, learner.serve, learner.state_dict, lambda: learner.reveal(1, [0]), lambda: learner.setting("run_batch")):
            with pytest.raises(StateError, match=r"no inputs yet: observe or predict a batch first, or say input="):
                ask()
        with pytest.raises(InputError, match=r"the shape \(4,\): the first ones must be a batch"):
            learner.observe(batches[0][0][0])
        for one in (said, learner):
            one.predict(batches[0][0])
            for inputs, labels in batches[:3]:
                one.learn(inputs, labels)
        assert learner.input == (4,)
    with rt.Learner(mlp, folder=folder, **SMALL) as learner:
        assert learner.metrics().samples == 24
        for one in (said, learner):
            for inputs, labels in batches[3:]:
                one.learn(inputs, labels)
        assert learner.metrics().loss == said.metrics().loss
    with pytest.raises(StateError, match="closed"):
        rt.Learner.close(learner) or learner.metrics()


@pytest.mark.parametrize("shape", [(2, 5), (3, 4, 4), (4, 2, 3, 2)])
def test_inputs_of_any_shape_come_back_from_a_folder(tmp_path, shape):
    def make(classes):
        return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), classes))

    for _ in range(2):
        with rt.Learner(make, folder=tmp_path / "x", **SMALL) as learner:
            learner.learn(np.ones((2, *shape), np.float32), [0, 1])
    assert learner.input == (shape if len(shape) < 4 else (8, 3, 2))


def test_a_function_begins_where_the_seed_says():
    weights = []
    for seed in (1, 1, 2):
        before = torch.get_rng_state()
        with rt.Learner(mlp, input=(4,), run_seed=seed, model_classes=3) as learner:
            weights.append(learner.state_dict("plain")["0.weight"])
        assert torch.equal(before, torch.get_rng_state())  # the program's own numbers
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_seeding_asks_no_device_that_is_not_in_use(monkeypatch, stream):
    """torch.manual_seed would: three stacks noted at every pass, more than all else around the module."""
    monkeypatch.setattr(torch, "manual_seed", None)
    with rt.Learner(Noisy, input=(4,), model_classes=3, **SMALL) as learner:
        learner.learn(*next(stream(1)))


def test_a_module_begins_as_it_is(stream):
    torch.manual_seed(1)
    net = mlp(3)
    before = copy.deepcopy(net.state_dict())
    learner = rt.Learner(net, input=(4,), **SMALL)
    assert learner.shape.classes == 3
    assert torch.equal(learner.state_dict("plain")["2.weight"], before["2.weight"])
    for inputs, labels in stream(10):
        learner.learn(torch.tensor(inputs), torch.tensor(labels))
    assert learner.metrics().learning_efficacy > 0.5
    assert not torch.equal(learner.state_dict("plain")["2.weight"], before["2.weight"])
    assert torch.equal(net.state_dict()["2.weight"], before["2.weight"])  # a copy learns


# What modules have


def test_statistics_constants_and_frozen_layers(stream):
    net = Noisy(3)
    learner = rt.Learner(net, input=(4,), average_serve="average", **SMALL)
    for inputs, labels in stream(20):
        given = inputs.copy()
        learner.learn(inputs, labels)
        assert np.array_equal(given, inputs)
    assert learner.metrics().learning_efficacy > 0.5
    plain, serving = learner.state_dict("plain"), learner.state_dict("serving")
    assert torch.equal(plain["constant"], net.constant)
    assert plain["temperature"].shape == () and plain["temperature"] != 1
    for state in (plain, serving):
        assert torch.equal(state["fixed.weight"], net.fixed.weight)
        assert not torch.equal(state["body.1.running_mean"], torch.zeros(16))
    # Averages have statistics of their own.
    assert not torch.equal(plain["body.1.running_mean"], serving["body.1.running_mean"])
    net.load_state_dict(serving)
    with torch.no_grad():
        said = torch.softmax(net.eval()(torch.tensor(inputs)), 1).numpy()
    assert np.allclose(said, learner.predict_proba(inputs), atol=1e-5)


class Tied(nn.Module):
    """Two layers have the same weights."""

    def __init__(self, classes=3):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.head = nn.Linear(4, classes)

    def forward(self, x):
        return self.head(self.second(self.first(x).relu()).relu())


@pytest.mark.parametrize("own", [False, True])
def test_tied_weights_stay_tied(stream, own):
    net = Tied()
    optimizer = torch.optim.AdamW(net.parameters(), 0.01) if own else None
    learner = rt.Learner(net, optimizer, input=(4,), **SMALL)
    for inputs, labels in stream(10):
        learner.learn(inputs, labels)
    state = learner.state_dict()
    assert torch.equal(state["first.weight"], state["second.weight"])
    net.load_state_dict(state)
    with torch.no_grad():
        said = torch.softmax(net(torch.tensor(inputs)), 1).numpy()
    assert np.allclose(said, learner.predict_proba(inputs), atol=1e-5)
    rt.load_state_dict(learner, Tied().state_dict())
    with pytest.raises(InputError, match="'second.weight' and 'first.weight' are one tensor"):
        rt.load_state_dict(learner, {**state, "second.weight": torch.zeros(4, 4)})


def test_constants_are_those_of_the_module():
    learner = rt.Learner(Noisy(3), input=(4,), **SMALL)
    other = Noisy(3)
    rt.load_state_dict(learner, other.state_dict())
    assert torch.equal(learner.state_dict("plain")["head.weight"], other.head.weight)
    other.constant.mul_(2)
    with pytest.raises(InputError, match="'constant' is a constant of the module, and differs"):
        rt.load_state_dict(learner, other.state_dict())


def test_hooks_of_parameters_come_along(stream):
    """A gradient that a hook masks; PyTorch's copies have no such hooks."""
    net = mlp(3)
    net[0].weight.register_hook(lambda grad: grad * 0)
    learner = rt.Learner(net, input=(4,), **SMALL, optimizer_decay=0)
    learner.learn(*next(stream(1)))
    state = learner.state_dict("plain")
    assert torch.equal(state["0.weight"], net[0].weight) and not torch.equal(state["2.weight"], net[2].weight)


def test_what_a_look_finds():
    look = Look(Noisy(3), (4,), 3)
    assert look.head == "head" and look.features == 16 and look.alters
    assert [row.name for row in look.params[-2:]] == ["head.weight", "head.bias"]
    assert {row.name for row in look.params if row.frozen} == {"fixed.weight", "fixed.bias"}
    assert [row.name for row in look.stats] == ["body.1.running_mean", "body.1.running_var"]
    assert Look(mlp(3), (4,), 3).macs == 4 * 16 + 16 * 3
    assert last_linear(nn.Sequential(nn.Linear(4, 3), nn.Softmax(1)), torch.zeros(2, 4)) is None


@pytest.mark.parametrize("made", [mlp, Noisy])
def test_classes_grow(made, stream):
    learner = rt.Learner(made, input=(4,), **SMALL)
    for inputs, labels in stream(20):
        learner.learn(inputs, [f"class {number}" for number in labels])
    assert sorted(learner.classes) == ["class 0", "class 1", "class 2"]
    assert learner.metrics().learning_efficacy > 0.5


def test_a_modules_head_grows(stream):
    net = mlp(2)
    learner = rt.Learner(net, input=(4,), model_classes="auto", **SMALL)
    for inputs, labels in stream(10):
        learner.learn(inputs, labels)
    assert learner.shape.classes == 3 and learner.state_dict()["2.weight"].shape == (3, 16)
    assert torch.equal(net[2].weight, net[2].weight) and net[2].weight.shape == (2, 16)


def normed(classes):
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.utils.parametrizations.weight_norm(nn.Linear(16, classes)))


def embedding(classes):
    net = nn.Sequential(nn.Embedding(classes, 4), nn.Flatten(), nn.Linear(16, 4), nn.Linear(4, classes))
    net[3].weight = net[0].weight
    return net


@pytest.mark.parametrize("make, words", [(normed, "more than a torch.nn.Linear"), (embedding, "shares its weights")])
def test_a_head_that_cannot_grow_is_named(make, words, stream):
    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = make(3)

        def forward(self, x):
            return self.net(x.long().clamp(0, 2) if make is embedding else x)

    with pytest.raises(InputError, match=f"{words}.* cannot grow: say model_classes=3"):
        rt.Learner(Tokens(), input=(4,), model_classes="auto", **SMALL)
    learner = rt.Learner(Tokens(), input=(4,), **SMALL)  # its own classes do
    learner.learn(*next(stream(1)))


def test_weight_norm_of_a_head_that_grows_is_named(stream):
    learner = rt.Learner(normed, input=(4,), **SMALL)
    with pytest.raises(InputError, match="a row of 0 .* cannot grow: say model_classes="):
        learner.learn(*next(stream(1)))
    learner = rt.Learner(normed, input=(4,), model_classes=3, **SMALL)
    for inputs, labels in stream(10):
        learner.learn(inputs, labels)
    assert learner.metrics().learning_efficacy > 0.5


def test_parts_beside_the_net_see_its_features(stream):
    learner = rt.Learner(mlp, input=(4,), **{**SMALL, "run_method": "ama+malr+fast"}, fast_heads="hidden", fast_layers="head")
    for inputs, labels in stream(15):
        learner.learn(inputs, labels)
    assert learner.metrics().learning_efficacy > 0.6
    bare = nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(1))
    with pytest.raises(InputError, match="does not tell"):
        rt.Learner(bare, input=(4,), fast_heads="hidden")


def test_the_plain_door_is_the_same(tmp_path, stream):
    with Learner(tmp_path / "a", net=mlp, input=(4,), device="cpu", **SMALL) as learner:
        for inputs, labels in stream(10):
            learner.learn(inputs, labels)
        learner.report()
    with rt.Learner(mlp, input=(4,), folder=tmp_path / "b", **SMALL) as other:
        for inputs, labels in stream(10):
            other.learn(inputs, labels)
    names = ["model.safetensors", "metrics.csv"]
    for name in names[:1]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "net:" in (tmp_path / "a" / "config.ini").read_text()


class Keeps(nn.Module):
    """Statistics of several types, one in a new tensor each time; random numbers of Python's; a layer that is normed."""

    def __init__(self, classes):
        super().__init__()
        self.body = torch.nn.utils.spectral_norm(nn.Linear(4, 16))
        self.head = nn.Linear(16, classes)
        self.register_buffer("passes", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("square", torch.zeros(4, dtype=torch.float64))

    def forward(self, x):
        if self.training:
            self.passes += 1
            self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
            self.square.mul_(0.9).add_(0.1 * (x**2).mean(0))
            x = x * (0.9 + 0.1 * random.random() + 0.1 * np.random.rand())
        return self.head(self.body((x - self.mean) / (1 + self.square.float())).relu()) * (1 + 0.001 * self.passes)


@pytest.mark.parametrize("amp", [None, "fp16"])
def test_statistics_of_any_type_are_kept(amp, tmp_path, stream):
    """Opened again after each step, it comes to the same; and the program's own random numbers go on."""
    states = []
    random.seed(1)
    for again in (False, True):
        learner = rt.Learner(Keeps, input=(4,), folder=tmp_path / str(again), amp=amp, **SMALL)
        for inputs, labels in stream(8):
            if again:
                learner.close()
                learner = rt.Learner(Keeps, input=(4,), folder=tmp_path / str(again), amp=amp, **SMALL)
            learner.learn(inputs, labels)
        states.append(learner.state_dict("plain"))
    assert random.random() == random.Random(1).random()
    assert states[0]["passes"] >= 40 and states[0]["mean"].any() and states[0]["square"].any()
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name


def test_a_lazy_module_gets_its_parameters(stream):
    def lazy(classes):
        return nn.Sequential(nn.LazyLinear(16), nn.LazyBatchNorm1d(), nn.ReLU(), nn.LazyLinear(classes))

    learner = rt.Learner(lazy, input=(4,), **SMALL)
    for inputs, labels in stream(10):
        learner.learn(inputs, labels)
    assert learner.metrics().learning_efficacy > 0.5
    with pytest.raises(InputError, match="'0.weight' of the module has no values yet: give a function"):
        rt.Learner(lazy(3), input=(4,))


def test_a_module_that_was_used_is_copied(stream):
    """With what its last pass left behind, which PyTorch alone does not copy."""
    net = nn.Sequential(torch.nn.utils.weight_norm(nn.Linear(4, 16)), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    net(torch.rand(2, 4)).sum().backward()
    optimizer.step()
    learner = rt.Learner(net, optimizer, input=(4,), **SMALL)
    for inputs, labels in stream(10):
        learner.learn(inputs, labels)
    assert learner.metrics().learning_efficacy > 0.5


def test_learners_in_threads_draw_what_each_would_alone(stream):
    def learn(into):
        learner = rt.Learner(Noisy, input=(4,), model_classes=3, **SMALL)
        for inputs, labels in stream(30):
            learner.learn(inputs, labels)
        into.append(learner.metrics().loss)

    alone, together = [], []
    learn(alone)
    threads = [threading.Thread(target=learn, args=(together,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == 3 * alone


# How it is computed


def test_the_scale_of_a_loss_comes_back_after_nan(stream, moody):
    learner = rt.Learner(Moody, input=(4,), model_classes=3, amp="fp16", **SMALL)
    straight = rt.Learner(Moody, input=(4,), model_classes=3, amp="fp16", **SMALL)
    for inputs, labels in stream(10):
        straight.learn(inputs, labels)
        step = learner.observe(inputs)
        learner.reveal(step, labels)
        Moody.mood = "nan"
        with pytest.raises(StateError, match="the loss is nan"):
            learner.train(1)
        Moody.mood = ""
        learner.train(5)
    assert learner.metrics().loss == straight.metrics().loss


def test_a_scale_that_fits_grows():
    vectors = rt.learner.Brought(mlp, (4,), amp="fp16").vectors
    before = vectors.scale
    for _ in range(3):
        vectors.fits(before, 3)
    assert vectors.scale == 2 * before
    vectors.fits(before / 2, 3)
    assert vectors.scale == before / 2


def test_optimizers_of_pytorch_are_read(stream):
    net = mlp(3)
    sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.8, weight_decay=1e-3)
    learner = rt.Learner(net, sgd, input=(4,), method="sgd+clr")
    said = {word: float(learner.setting(word)) for word in ("schedule_rate", "optimizer_momentum", "optimizer_decay")}
    assert said == {"schedule_rate": 0.05, "optimizer_momentum": 0.8, "optimizer_decay": 1e-3}
    adam = rt.Learner(net, torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.8, 0.9)), input=(4,), method="sgd+clr")
    assert adam.setting("optimizer_kind") == "adam" and float(adam.setting("optimizer_beta1")) == 0.8
    # What the library has no steps for steps itself (test_torch_own.py).
    for own in (
        torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True),
        torch.optim.AdamW(net.parameters(), lr=0.1),
        torch.optim.RMSprop(net.parameters(), lr=0.1),
    ):
        learner = rt.Learner(net, own, input=(4,), method="sgd+clr")
        assert learner.setting("optimizer_kind") == "program" and float(learner.setting("schedule_rate")) == 0.1


def test_steps_are_pytorchs_own(stream):
    """Plain SGD on the samples of a time step, in both."""
    net = mlp(3)
    settings = {"run_method": "sgd+clr", "replay_holdout": 0, "run_batch": 8, "optimizer_wide": 0, "run_iterations": 1}
    sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.8, weight_decay=1e-3)
    learner = rt.Learner(net, sgd, input=(4,), **settings, replay_pool="fifo", replay_limit=1)
    inputs, labels = next(stream(1, count=1))
    learner.learn(inputs, labels)  # the pool holds this sample alone, so a batch is eight of it
    loss = nn.functional.cross_entropy(net(torch.tensor(inputs).repeat(8, 1)), torch.tensor(labels).repeat(8))
    loss.backward()
    sgd.step()
    assert learner.metrics().loss == pytest.approx(float(loss.detach()), abs=1e-6)
    for name, tensor in net.state_dict().items():
        assert torch.allclose(tensor, learner.state_dict("plain")[name], atol=1e-6), name


@pytest.mark.parametrize("how", [{"amp": "bf16"}, {"compile": "eager"}, {"transform": lambda x: x + 0.1 * torch.randn_like(x)}])
def test_other_ways_to_compute_learn_as_well(how, stream):
    learners = [rt.Learner(mlp, input=(4,), model_classes=3, **how, **SMALL) for _ in range(2)]
    for inputs, labels in stream(20):
        for learner in learners:
            learner.learn(inputs, labels)
    assert learners[0].metrics().learning_efficacy > 0.6
    assert learners[0].metrics().loss == learners[1].metrics().loss


def test_predictions_go_on_while_it_trains(stream):
    learner = rt.Learner(Noisy, input=(4,), model_classes=3, **SMALL)
    inputs, labels = next(stream(1))
    learner.learn(inputs, labels)
    failed, over = [], threading.Event()

    def ask():
        while not over.is_set():
            try:
                learner.predict_proba(inputs)
            except BaseException as raised:
                failed.append(raised)
                return

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    learner.train(300)
    over.set()
    for thread in threads:
        thread.join()
    assert not failed


# What goes wrong


class Moody(nn.Module):
    """Does what it is told, wrongly."""

    mood = ""

    def __init__(self, classes):
        super().__init__()
        self.net, self.spare = mlp(classes), nn.Identity()

    def forward(self, x):
        output = self.net(x)
        if Moody.mood == "raise":
            raise RuntimeError("the cable\nis loose")
        if Moody.mood == "shape":
            return output[:, :1]
        if Moody.mood == "replace":
            self.net[2].weight = nn.Parameter(torch.zeros(5, 16))
        if Moody.mood == "resize":
            self.net[2].weight.data = torch.zeros(5, 16)
        if Moody.mood == "make":
            self.more = nn.Linear(4, 3)
        if Moody.mood == "drop":
            del self.spare
        if Moody.mood == "complex":
            return output.to(torch.complex64)
        if Moody.mood == "nan":
            return output * float("nan")
        if Moody.mood == "detach":
            return output.detach()
        if Moody.mood == "stop":
            raise KeyboardInterrupt
        return output


@pytest.fixture
def moody():
    yield Moody
    Moody.mood = ""


def test_errors_are_told_and_lose_nothing(tmp_path, stream, moody):
    straight = rt.Learner(Moody, input=(4,), model_classes=3, **SMALL)
    learner = rt.Learner(Moody, input=(4,), model_classes=3, folder=tmp_path / "x", **SMALL)
    for inputs, labels in stream(6):
        straight.learn(inputs, labels)
        step = learner.observe(inputs)
        learner.reveal(step, labels)
        learner.train(2)
        Moody.mood = "raise"
        with pytest.raises(StateError, match="forward: RuntimeError: the cable is loose") as told:
            learner.train(3)
        assert isinstance(told.value.__cause__, RuntimeError)
        Moody.mood = "shape"
        with pytest.raises(InputError, match=r"gave \(8, 1\) for 8 inputs: \(8, 3\) is needed"):
            learner.train(3)
        for Moody.mood in ("replace", "resize"):
            with pytest.raises(InputError, match=r"'net.2.weight' of shape \(3, 16\) by one of shape \(5, 16\)"):
                learner.train(3)
        for Moody.mood, words in (
            ("detach", "the logits have no gradient"),
            ("make", "the module made 'more' in a pass"),
            ("complex", "logits that are torch.complex64"),
        ):
            with pytest.raises(InputError, match=words):
                learner.train(3)
        Moody.mood = "stop"
        with pytest.raises(KeyboardInterrupt):
            learner.train(3)
        Moody.mood = ""
        learner.train(3)
    assert learner.metrics().loss == straight.metrics().loss
    assert learner.metrics().samples == 48
    Moody.mood = "nan"
    with pytest.raises(StateError, match="the loss is nan"):
        learner.train(1)
    Moody.mood = ""
    Moody.mood = "drop"
    with pytest.raises(InputError, match="dropped parts of itself"):
        learner.train(1)
    Moody.mood = ""
    learner.close()
    again = rt.Learner(Moody, input=(4,), model_classes=3, folder=tmp_path / "x", **SMALL)
    assert again.metrics().samples == 48


def test_a_transform_keeps_the_size_of_a_batch(stream):
    learner = rt.Learner(mlp, input=(4,), transform=lambda x: torch.cat([x, x]), **SMALL)
    with pytest.raises(InputError, match=r"transform gave \(16, 4\) for a batch of 8 inputs"):
        learner.learn(*next(stream(1)))
    assert learner.metrics().samples == 8


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    sys.path.insert(0, {here!r})
    from conftest import blobs
    from test_torch_net import SMALL, Noisy, rt
    learners = [rt.Learner(Noisy, lambda p: rt.learner.torch.optim.AdamW(p, 0.01), input=(4,), model_classes=3, **SMALL) for _ in range(2)]
    came, over, ready, sent = 0, threading.Event(), threading.Event(), threading.Event()
    def interrupt():
        while not over.is_set():  # one at a time: a second one would not wait
            if ready.wait(0.01):
                ready.clear()
                time.sleep(0.02)
                os.kill(os.getpid(), signal.SIGINT)
                sent.set()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=interrupt).start()
    for i, (inputs, labels) in enumerate(blobs(4)):
        for learner in learners:
            learner.reveal(learner.observe(inputs), labels)
        learners[1].train(100)
        while (left := 100 * (i + 1) - learners[0].metrics().iterations):
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                ready.set()
                learners[0].train(left)
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # the last place where it may come
            except KeyboardInterrupt:
                came += 1
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            sent.wait()
            sent.clear()
    over.set()
    print(came, learners[0].metrics().loss == learners[1].metrics().loss)
"""


def test_ctrl_c_comes_between_passes(tmp_path):
    """Wherever it meets Python, and however often: weights are not lost, and nothing is made twice."""
    import subprocess
    import sys
    import textwrap

    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(INTERRUPTED.format(here=HERE)))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-3000:]
    came, same = done.stdout.split()
    assert int(came) > 3 and same == "True" and "Exception ignored" not in done.stderr


def test_another_module_than_the_folders_is_refused(tmp_path, stream):
    folder = tmp_path / "x"
    with rt.Learner(mlp(3), input=(4,), folder=folder, name="mine", **SMALL) as learner:
        for inputs, labels in stream(3):
            learner.learn(inputs, labels)
    with pytest.raises(InputError, match="net:mine.*net:yours|net:yours.*net:mine"):
        rt.Learner(mlp(3), input=(4,), folder=folder, name="yours", **SMALL)
    wider = nn.Sequential(nn.Linear(4, 17), nn.ReLU(), nn.Linear(17, 3))
    with pytest.raises(pyretain.RetainError, match=r"\(16, 4\) 0.weight.*\(17, 4\) 0.weight"):
        rt.Learner(wider, input=(4,), folder=folder, name="mine", **SMALL)
    normed = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16, affine=False), nn.ReLU(), nn.Linear(16, 3))
    with pytest.raises(pyretain.RetainError, match="was saved"):
        rt.Learner(normed, input=(4,), folder=folder, name="mine", **SMALL)
    norm = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3), nn.BatchNorm1d(3, affine=False))
    with pytest.raises(pyretain.RetainError, match=r'was saved without tensor "\(3\) 3.running_mean"'):
        rt.Learner(norm, input=(4,), folder=folder, name="mine", **SMALL)
    with rt.Learner(norm, input=(4,), folder=tmp_path / "y", name="mine", **SMALL) as learner:
        learner.learn(inputs, labels)
    with pytest.raises(pyretain.RetainError, match="was saved with more tensors"):
        rt.Learner(mlp(3), input=(4,), folder=tmp_path / "y", name="mine", **SMALL)
    with pytest.raises(InputError, match="net:mine"):
        Learner(folder)
    with rt.Learner(mlp(3), input=(4,), folder=folder, name="mine", **SMALL) as learner:
        assert learner.metrics().samples == 24


class Odd(nn.Module):
    """Makes a parameter in a pass, or has what cannot be copied."""

    def __init__(self, kind):
        super().__init__()
        self.net, self.kind = mlp(3), kind
        if kind == "lock":
            self.lock = threading.Lock()

    def forward(self, x):
        if self.kind == "late":
            self.late = nn.Parameter(torch.zeros(3))
        output = self.net(x)
        return output.to(torch.complex64) if self.kind == "complex" else output


@pytest.mark.parametrize(
    "net, shape, words",
    [
        (Odd("late"), (4,), "makes, drops or changes its parameter 'late'"),
        (Odd("lock"), (4,), "cannot be copied, by copy.deepcopy: .*lock"),
        (lambda classes: Odd("lock"), (4,), "cannot be copied, by copy.deepcopy: .*lock"),
        (Odd("complex"), (4,), "logits are torch.complex64"),
        (nn.Bilinear(4, 4, 3), (4,), r"fails on inputs of shape \(2, 4\): .*missing 1 required"),
        (torch.jit.trace(nn.Linear(4, 3), torch.zeros(2, 4)), (4,), "TorchScript"),
        (nn.Linear(5, 3), (4,), "mat1 and mat2|shapes"),
        (lambda classes: nn.Linear(4, classes + 1), (4,), r"to \(2, \d+\)"),
        (lambda classes: nn.LSTM(4, classes), (4,), "tuple"),
        (lambda classes: 7, (4,), "int"),
        ("resnet", (4,), "must be a torch.nn.Module"),
        (mlp, (), "shape of a sample"),
        (mlp, 4, "input = 4: the shape of a sample"),
        (nn.Identity(), (3,), "no parameters"),
        (mlp(3).to("meta"), (4,), "no values yet"),
        (mlp(3).double(), (4,), "parameter '0.weight' is torch.float64: float32 is needed"),
        (nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3, momentum=None)), (4,), "momentum=None"),
    ],
)
def test_a_module_that_does_not_fit_is_refused(net, shape, words):
    with pytest.raises(InputError, match=words):
        rt.Learner(net, input=shape, model_classes=3)


def test_values_that_cannot_be_read_are_named():
    learner = rt.Learner(mlp, input=(4,), **SMALL)
    with pytest.raises(InputError, match="on meta"):
        learner.observe(torch.zeros(2, 4, device="meta"))
    with pytest.raises(InputError, match="torch.sparse_coo"):
        learner.observe(torch.zeros(2, 4).to_sparse())
    with pytest.raises(InputError, match="device = 'nonsense'"):
        rt.Learner(mlp, input=(4,), device="nonsense")
    # A label may be a tensor without dimensions, and several a list of those.
    learner.learn(torch.zeros(1, 4), torch.tensor(2))
    learner.learn(torch.zeros(2, 4), [torch.tensor(2), torch.tensor(3)])
    assert learner.classes == [2, 3]


def test_a_net_is_needed_for_its_input():
    with pytest.raises(InputError, match="net is missing"):
        Learner(input=(4,))
    with pytest.raises(InputError, match="input is missing"):
        Learner(net=mlp)


# Killed


def go_on(folder, kill):
    torch.set_num_threads(1)
    learner = rt.Learner(Noisy, input=(4,), folder=folder, run_checkpoint_every="2 steps", **SMALL)
    kills.learn(learner, conftest.blobs(kills.STEPS), kill)


def test_killed_ten_times_it_comes_to_the_same_bits(tmp_path):
    kills.check_same_bits(tmp_path, go_on)
