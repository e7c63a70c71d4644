"""Replay with Avalanche (the avalanche-lib package): what an iteration costs there.

    avalanche_learner.py [--variant NAME ...] [--seconds S]   prints one line of JSON
    avalanche_learner.py --variant NAME --serve               is a worker of against-pytorch

Naive and ReplayPlugin with ReservoirSamplingBuffer on the net and batch of torch_learner.py:
MLP 32-64-100, 64 samples a batch, 32 new and 32 replayed, 8 iterations for 32 new samples,
SGD with momentum and decay, no metrics and no loggers. It does less than retain's learner:
no averages, no validation, no prediction of new samples, and a bounded memory. The memory is
small because every epoch walks through all of it in Python.

Variants:
  steps       an experience per time step of 32 samples, 8 epochs of one batch each
  experience  one long experience: iterations alone, the memory is never updated
"""

import argparse
import json
import sys
import warnings

import avalanche
import torch
from avalanche.benchmarks import benchmark_from_datasets
from avalanche.benchmarks.utils import as_classification_dataset
from avalanche.training.plugins import EvaluationPlugin, ReplayPlugin
from avalanche.training.storage_policy import ReservoirSamplingBuffer
from avalanche.training.supervised import Naive

import torch_turns

FEATURES, HIDDEN, CLASSES = 32, 64, 100
NEW, REPLAYED, ITERATIONS = 32, 32, 8
LONG = 100  # batches of new samples in the long experience
STEPS = 5  # in a block of `steps`


class Labelled(torch.utils.data.TensorDataset):
    """Avalanche wants to know the labels without reading the samples."""

    def __init__(self, x, y):
        super().__init__(x, y)
        self.targets = y.tolist()


def experiences(sizes):
    """A stream of random samples, so many in each experience."""
    torch.manual_seed(1)
    datasets = []
    for size in sizes:
        x, y = torch.randn(size, FEATURES), torch.randint(CLASSES, (size,))
        datasets.append(as_classification_dataset(Labelled(x, y)))
    return list(benchmark_from_datasets(train=datasets).train_stream)


def make_strategy(memory, epochs):
    """The learner, on a memory that has room for so many samples."""
    net = torch.nn.Sequential(torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, CLASSES))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4,
        fused=True)
    replay = ReplayPlugin(mem_size=memory, batch_size=NEW, batch_size_mem=REPLAYED,
        storage_policy=ReservoirSamplingBuffer(memory))
    return Naive(model=net, optimizer=optimizer, train_mb_size=NEW, train_epochs=epochs,
        plugins=[replay], evaluator=EvaluationPlugin())


class Steps:
    """Time steps as the learner takes them; the memory is full from the start."""

    iterations = STEPS * ITERATIONS

    def __init__(self, memory):
        self.strategy = make_strategy(memory, ITERATIONS)
        first, *self.rest = experiences([memory] + [NEW] * 200)
        self.strategy.train_epochs = 1
        self.strategy.train(first)
        self.strategy.train_epochs = ITERATIONS
        self.next = 0

    def block(self):
        before = self.strategy.clock.train_iterations
        for _ in range(STEPS):
            self.strategy.train(self.rest[self.next])
            self.next = (self.next + 1) % len(self.rest)
        assert self.strategy.clock.train_iterations - before == self.iterations


class Experience:
    """One experience after the one that filled the memory."""

    iterations = LONG

    def __init__(self, memory):
        self.strategy = make_strategy(memory, 1)
        first, self.second = experiences([memory, NEW * LONG])
        self.strategy.train(first)

    def block(self):
        before = self.strategy.clock.train_iterations
        self.strategy.train(self.second)
        assert self.strategy.clock.train_iterations - before == self.iterations


VARIANTS = {"steps": Steps, "experience": Experience}


def warm(learner):
    learner.block()
    return learner


def measure(learner, seconds):
    times = sorted(torch_turns.timed(learner.block, seconds))
    return {"us_per_iteration": 1e6 * times[0] / learner.iterations,
        "median_us_per_iteration": 1e6 * times[len(times) // 2] / learner.iterations,
        "blocks": len(times)}


def measure_all(names, memory, seconds):
    results = {name: measure(warm(VARIANTS[name](memory)), seconds) for name in names}
    return dict(facts(), memory=memory, variants=results)


def facts():
    return {"avalanche": avalanche.__version__, "torch": torch.__version__}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", choices=VARIANTS, metavar="NAME",
        help="only this one; may be repeated")
    parser.add_argument("--memory", type=int, default=1000, metavar="N",
        help="samples the reservoir holds (default 1000)")
    parser.add_argument("--seconds", type=float, default=3, metavar="S",
        help="of each variant (default 3)")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--serve", action="store_true",
        help="obey \"run SECONDS\" on standard input")
    args = parser.parse_args()
    if args.serve and len(args.variant or []) != 1:
        parser.error("--serve needs one --variant")
    return args


def main():
    args = arguments()
    warnings.showwarning = lambda *ignored, **too: None  # one per experience, whatever the filter
    torch.set_num_threads(args.threads)
    if not args.serve:
        print(json.dumps(measure_all(args.variant or VARIANTS, args.memory, args.seconds)))
        return 0
    return torch_turns.serve(
        lambda: (warm(VARIANTS[args.variant[0]](args.memory)), facts()), measure)


if __name__ == "__main__":
    sys.exit(main())
