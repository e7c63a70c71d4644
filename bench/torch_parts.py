"""What bench/torch-parts measures; seconds of the processor, the least of several turns."""

import tempfile
import time

import numpy as np
import torch

from pyretain import torch as rt

BATCH, COUNT, TURNS = 64, 10_000, 7
PICTURE = (3, 32, 32)


def least(work, times, turns=TURNS):
    """Seconds of one call of work(k), by the quickest of several turns."""
    best = float("inf")
    for turn in range(turns):
        start = time.process_time()
        for k in range(times):
            work(turn * times + k + 1)
        best = min(best, (time.process_time() - start) / times)
    return best


def resnet():
    """torchvision's ResNet-18 with a stem for small pictures."""
    import torchvision

    net = torchvision.models.resnet18(num_classes=10)
    net.conv1 = torch.nn.Conv2d(3, 64, 3, padding=1, bias=False)
    net.maxpool = torch.nn.Identity()
    return net


def iteration():
    net = resnet().train()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    inputs, labels = torch.randn(BATCH, *PICTURE), torch.randint(0, 10, (BATCH,))
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        best = min(best, time.process_time() - start)
    return best


def parts(memory):
    """Draw, guide and record, without what the net itself computes."""
    guide, run = rt.Guide(run_method="ama+malr"), rt.Run(budget=4)
    labels = np.random.default_rng(1).integers(0, 10, BATCH)
    scores = [(1.0, 0.5), (0.9, 0.6), (0.8, 0.6)]

    def guided(k):
        due = guide.due()
        guide.done(scores if due.validate else None)

    def recorded(k):
        run.spent(iterations=1, trained=BATCH, updates=1)
        assert run.left is not None

    def stepped(k):
        run.revealed(run.predicted(labels), labels)

    return {
        "draw": least(lambda k: memory.draw_ids(k, BATCH), 300),
        "guide": least(guided, 300),
        "record, an iteration": least(recorded, 300),
        "record, a step": least(stepped, 300),
        "read": least(lambda k: memory.read(memory.draw_ids(k, BATCH)[0]), 100),
    }


def averaged(net, times):
    """Seconds of AMA.step, which moves two averages in every tenth iteration; nothing is validated."""
    ama = rt.AMA(net)
    rt.MALR(torch.optim.SGD(net.parameters(), lr=0.1), ama)
    return least(lambda k: ama.step(samples=BATCH), times)


class Least(torch.nn.Module):
    """As little of a net as can be, so that an iteration is what surrounds it."""

    def __init__(self, classes):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(classes))
        self.classes = classes

    def forward(self, x):
        return x[:, 0, 0, : self.classes] * self.scale


def learner(pictures, labels, iterations=200):
    """Seconds of an iteration of a learner around such a net, less what the net itself takes."""
    settings = {"run_method": "ama+malr", "run_batch": BATCH, "model_classes": 10, "engine_threads": 1, "replay_holdout": 0.05}
    with rt.Learner(Least, input=pictures.shape[1:], **settings) as it, torch.no_grad():
        step = it.observe(pictures[:1000].astype(np.float32))
        it.reveal(step, labels[:1000])
        whole = least(lambda k: it.train(iterations), 1, 40) / iterations
    net, inputs = Least(10), torch.randn(BATCH, *pictures.shape[1:])

    def alone(k):
        net.scale.grad = None
        output = net(inputs)
        output.backward(torch.ones_like(output))

    return whole - least(alone, iterations, 40)


def avalanche(pictures, labels):
    """Seconds per picture of Avalanche's replay buffer, through its own loader; None without it."""
    try:
        from avalanche.benchmarks.utils.data_loader import ReplayDataLoader
        from avalanche.training.storage_policy import ReservoirSamplingBuffer
        from avalanche.benchmarks.utils.classification_dataset import _make_taskaware_tensor_classification_dataset as make
    except ImportError as missing:
        return None, f"Avalanche is not measured: {missing}"
    data = make(torch.from_numpy(pictures), torch.from_numpy(labels), task_labels=0)
    buffer = ReservoirSamplingBuffer(max_size=len(data))
    buffer.update_from_dataset(data)
    loader = ReplayDataLoader(data, buffer.buffer, batch_size=BATCH, batch_size_mem=BATCH, shuffle=True)
    best, batches = float("inf"), 20
    for _ in range(3):
        start = time.process_time()
        for at, _ in enumerate(loader):
            if at + 1 == batches:
                break
        # Half of what it serves is the buffer's.
        best = min(best, (time.process_time() - start) / (2 * BATCH * batches))
    return best, ""


def main():
    torch.set_num_threads(1)
    world = np.random.default_rng(1)
    pictures = world.integers(0, 256, (COUNT, *PICTURE), dtype=np.uint8)
    labels = world.integers(0, 10, COUNT)
    with tempfile.TemporaryDirectory() as folder, rt.Memory(folder, pool="reservoir", limit=COUNT, holdout=0.05) as memory:
        for first in range(0, COUNT, 1000):
            memory.add(pictures[first : first + 1000], labels[first : first + 1000])
        print(f"{memory.facts.bytes / COUNT / 1024:.2f} KiB on disk for a picture of {PICTURE}")
        costs = parts(memory)
        for name, seconds in costs.items():
            print(f"{name:22} {seconds * 1e6:8.1f} us")
        own = costs["draw"] + costs["guide"] + costs["record, an iteration"]
        whole = iteration()
        print(f"{'draw, guide, record':22} {own * 1e6:8.1f} us, {100 * own / whole:.2f} % of an iteration of ResNet-18 "
              f"(batch {BATCH}, {whole * 1e3:.0f} ms, one thread)")
        for name, net, times in (
            ("AMA.step, 10 numbers", Least(10), 300),
            ("... of 11 million", torch.nn.Linear(3343, 3343), 20),  # as many as ResNet-18's
        ):
            step = averaged(net, times)
            print(f"{name:22} {step * 1e6:8.1f} us, {100 * step / whole:.2f} %")
        for name, inputs in ("learner around a net", pictures), ("... of 10 numbers", pictures[:, :1, :1, :10]):
            around = learner(inputs, labels)
            print(f"{name:22} {around * 1e6:8.1f} us, {100 * around / whole:.2f} %")
        mine = costs["read"] / BATCH
        theirs, why = avalanche(pictures, labels)
        print(why or f"a picture drawn and read: {mine * 1e6:.2f} us, by Avalanche's replay {theirs * 1e6:.1f} us: {theirs / mine:.1f} times")


main()
