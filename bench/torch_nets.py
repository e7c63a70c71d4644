"""What bench/torch-nets measures: modules of other people's under retain's methods, on streams that drift.

A ViT and a ResNet-18 of torchvision's see pictures, an LSTM sees tokens. Each learns a stream by
AMA+MALR and by its own SGD at constant rates, with the same seeds, samples and iterations. IR is
accuracy on data of all past time steps, the mean of the evaluations in the second half.
"""

import argparse
import os
import statistics

import numpy as np
import torch

from pyretain import torch as rt

CLASSES, STEP, HELD = 8, 16, 4  # samples of a time step, and of its evaluation
METHODS = ("ama+malr", "sgd+clr")
SIDE, LENGTH, TOKENS = 16, 12, 16


def vit(classes):
    from torchvision.models.vision_transformer import VisionTransformer

    return VisionTransformer(SIDE, 4, 2, 4, 32, 64, dropout=0.1, num_classes=classes)


def resnet(classes):
    """ResNet-18 with the stem and the head of another task."""
    import torchvision

    net = torchvision.models.resnet18()
    net.conv1 = torch.nn.Conv2d(3, 64, 3, stride=2, padding=1, bias=False)
    net.fc = torch.nn.Sequential(torch.nn.Dropout(0.1), torch.nn.Linear(512, classes))
    return net


class LSTM(torch.nn.Module):
    """The last state of an LSTM over tokens."""

    def __init__(self, classes):
        super().__init__()
        self.embed = torch.nn.Embedding(TOKENS, 16)
        self.lstm = torch.nn.LSTM(16, 32, batch_first=True)
        self.head = torch.nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x.long()))[0][:, -1])


def pictures(steps, seed):
    """A class is a place in the space of pictures that wanders, in noise."""
    world = np.random.default_rng(seed)
    places = world.normal(size=(CLASSES, 3, 4, 4))
    for _ in range(steps):
        places = 0.99 * places + 0.14 * world.normal(size=places.shape)
        labels = world.integers(0, CLASSES, STEP + HELD)
        coarse = places[labels] + world.normal(size=(len(labels), 3, 4, 4))
        yield coarse.repeat(SIDE // 4, 2).repeat(SIDE // 4, 3).astype(np.float32), labels


def sentences(steps, seed):
    """A class is a matrix of transitions between tokens that wanders."""
    world = np.random.default_rng(seed)
    places = world.normal(size=(CLASSES, TOKENS, TOKENS)) * 1.5
    for _ in range(steps):
        places = 0.995 * places + 0.15 * world.normal(size=places.shape)
        labels = world.integers(0, CLASSES, STEP + HELD)
        made = np.zeros((len(labels), LENGTH), np.float32)
        made[:, 0] = world.integers(0, TOKENS, len(labels))
        for at in range(1, LENGTH):
            scores = places[labels, made[:, at - 1].astype(int)] + world.gumbel(size=(len(labels), TOKENS))
            made[:, at] = scores.argmax(1)
        yield made, labels


NETS = {  # how it is made, its input, its stream, rate
    "vit": (vit, (3, SIDE, SIDE), pictures, 0.05),
    "resnet18": (resnet, (3, SIDE, SIDE), pictures, 0.02),
    "lstm": (LSTM, (LENGTH,), sentences, 0.3),
}


def learner(name, iterations, part=1.0, **settings):
    """With defaults, but for the rate."""
    make, shape, _, rate = NETS[name]
    said = {"run_batch": 16, "run_iterations": iterations, "schedule_rate": part * rate, "model_classes": CLASSES, **settings}
    return rt.Learner(make, input=shape, name=name, **said)


def retention(name, method, steps, iterations, seed, **settings):
    """The mean IR of the second half, and the accuracy before labels."""
    torch.set_num_threads(1)
    inputs, labels, right = [], [], []
    with learner(name, iterations, run_method=method, run_seed=seed, **settings) as it:
        for number, (x, y) in enumerate(NETS[name][2](steps, seed)):
            it.learn(x[:STEP], y[:STEP])
            inputs.append(x[STEP:])
            labels.append(y[STEP:])
            if 2 * number >= steps and (number + 1) % max(1, steps // 20) == 0:
                right.append(float(np.mean(it.predict(np.concatenate(inputs)) == np.concatenate(labels))))
        return statistics.mean(right), it.metrics().learning_efficacy


def measured(name, method, part, said):
    """(IR, LE) in percent of every seed."""
    made = []
    for seed in range(1, 1 + said.seeds):
        folder = said.out and os.path.join(said.out, f"{name}-{method}-{part:g}-{seed}")
        made.append([100 * one for one in retention(name, method, said.steps, said.iterations, seed, part=part, folder=folder)])
    return np.array(made)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--nets", default=",".join(NETS))
    asked.add_argument("--methods", default=",".join(METHODS), help="the first is compared with the others")
    asked.add_argument("--rates", default="1", help="parts of the net's rate that all are tried with, as 1,0.5")
    asked.add_argument("--steps", type=int, default=1000)
    asked.add_argument("--iterations", type=int, default=4)
    asked.add_argument("--seeds", type=int, default=3)
    asked.add_argument("--out", help="a folder that keeps the runs, with the scores of every window in events.jsonl")
    said = asked.parse_args()
    print(f"{said.steps} time steps of {STEP} samples, {said.iterations} iterations each, {said.seeds} seeds; late IR and LE in %")
    rows = [(float(part), method) for part in said.rates.split(",") for method in said.methods.split(",")]
    for name in said.nets.split(","):
        first = {}  # by rates
        for part, method in rows:
            found = measured(name, method, part, said)
            gains = (first.setdefault(part, found) - found)[:, 0]
            spread = f" ± {statistics.stdev(gains):.1f}" if len(gains) > 1 else ""
            ir, le = found.mean(0)
            told = "" if first[part] is found else f"  gain in IR {gains.mean():+.1f}{spread}, above 0 in {(gains > 0).sum()} of {len(gains)}"
            print(f"{name:9} rate {part * NETS[name][3]:<7g} {method:21} IR {ir:5.1f}  LE {le:5.1f}{told}", flush=True)


if __name__ == "__main__":
    main()
