"""Plugins for Avalanche, under its own strategies."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("avalanche", reason="there is no Avalanche (avalanche-lib)")
    from avalanche.benchmarks import tensors_benchmark
    from avalanche.models import IncrementalClassifier, SimpleMLP
    from avalanche.training import Naive

from pyretain import torch as rt  # noqa: E402
from pyretain.torch.avalanche import AMA, MALR, Replay  # noqa: E402
from test_torch_parts import one_thread  # noqa: E402, F401


def benchmark(stream, tasks=3):
    """One class after the other: without replay the first are forgotten."""
    data = [tuple(map(torch.from_numpy, one)) for one in stream(30, count=32)]
    x, y = (torch.cat(part) for part in zip(*data))
    parts = [(x[y == c], y[y == c]) for c in range(tasks)]
    return tensors_benchmark(train_tensors=parts, test_tensors=parts, task_labels=[0] * tasks)


def accuracy(model, world):
    data = [(x, y) for experience in world.test_stream for x, y, *_ in experience.dataset]
    x, y = torch.stack([one for one, _ in data]), torch.tensor([int(one) for _, one in data])
    with torch.no_grad():
        return float((model.eval()(x).argmax(1) == y).float().mean())


def strategy(model, plugins, optimizer):
    return Naive(
        model=model, optimizer=optimizer, criterion=torch.nn.CrossEntropyLoss(), train_mb_size=16, train_epochs=3,
        eval_mb_size=64, plugins=plugins, evaluator=None,
    )


def learn(stream, folder=None, model=None):
    torch.manual_seed(1)
    world = benchmark(stream)
    model = model or SimpleMLP(num_classes=3, input_size=4, hidden_size=16, drop_rate=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    plugins, ama = [], None
    if folder:
        replay = Replay(rt.Memory(folder, pool="reservoir", limit=200, holdout=0.1), 32)
        ama = AMA(validation=replay.validation, every=2, schedule_validate_every=5)
        plugins = [replay, ama, MALR(ama, optimizer, window=20, patience=60, schedule_c3=False)]
    made = strategy(model, plugins, optimizer)
    for experience in world.train_stream:
        made.train(experience)
    return model, ama, made, world, plugins


def test_replay_from_disk_keeps_what_naive_forgets(tmp_path, stream):
    model, *_, world, _ = learn(stream)
    forgot = accuracy(model, world)
    model, ama, made, world, plugins = learn(stream, tmp_path)
    assert accuracy(model, world) > forgot + 0.2
    assert plugins[0].memory.facts.training == 200 and ama.rates.rate < 0.05
    # Evaluation is of what serves; afterwards the model has its own weights.
    plain = {name: one.clone() for name, one in model.state_dict().items()}
    seen = []
    model.register_forward_pre_hook(lambda *_: seen.append(next(model.parameters()).detach().clone()))
    made.eval(world.test_stream)
    assert torch.equal(seen[0], next(iter(ama.ama.weights().values())))
    assert all(torch.equal(one, plain[name]) for name, one in model.state_dict().items())
    plugins[0].memory.close()


def test_averages_follow_a_head_that_grows(tmp_path, stream):
    class Growing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = torch.nn.Linear(4, 16), IncrementalClassifier(16, initial_out_features=1)

        def forward(self, x):
            return self.head(torch.relu(self.body(x)))

    model, ama, made, world, plugins = learn(stream, tmp_path, Growing())
    assert all(one["head.classifier.weight"].shape[0] == 3 for one in ama.ama.params)
    assert accuracy(ama.ama.net, world) > 0.9
    plugins[0].memory.close()
