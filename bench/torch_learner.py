"""The learner of retain in PyTorch, as fast as PyTorch can reasonably be made to run it:
AMA + MALR on data of the shape and settings of the built-in stream's std preset.

    torch_learner.py [--variant NAME ...] [--seconds S]     prints one line of JSON
    torch_learner.py --variant NAME --serve                 is a worker of against-pytorch

A time step of 32 samples is: predict them with the better average, reveal them (5 % go to
the validation set), draw 8 batches of 64 from all that was revealed, train on each; every
10 iterations both averages move, every 20 SGD and both averages are scored on one batch of
128, every 500 the averages' windows and the rate are reconsidered. All of it is timed, in
blocks of 1000 iterations, from the middle of the stream on.

What helps PyTorch: all samples of the stream are made beforehand and lie in memory, already
parted into training and validation; a step's 8 batches are drawn and gathered at once; nets
are plain functions of their tensors, not modules; nothing waits for a number that Python
does not need.

Variants:
  eager-foreach, eager-fused   operators one by one; the form of torch.optim.SGD
  eager-flat      all parameters in one tensor, SGD and averages over it by hand
  compile         torch.compile of forward pass and loss; SGD fused
  whole           gradient and SGD compiled as one function of parameters and momenta
  unrolled        the same for all iterations of a step up to the next average
  ...-autotune    mode max-autotune-no-cudagraphs
  ...-cpp         Inductor's C++ wrapper, which calls the kernels without Python
"""

import argparse
import json
import sys

import torch
from torch.nn import functional as F

import torch_turns

FEATURES, HIDDEN, CLASSES = 32, 64, 100
BATCH, SAMPLES, ITERATIONS, VALIDATION = 64, 32, 8, 128
STEPS = 20000
HELD_OUT = 0.05
RATE, MOMENTUM, DECAY = 0.2, 0.9, 1e-4
K_M, K_V, K_W, K_R = 10, 20, 500, 3000
GAMMA, DELTA, WINDOW_MAX = 0.99, 5.0, 2500.0
BETA, EPSILON = 0.5, 0.02
BLOCK = 1000


class Stream:
    """A whole stream in memory, parted as it would be revealed: what step t may see of each
    part are its first trained[t] or held[t] samples."""

    def __init__(self):
        generator = torch.Generator().manual_seed(1)
        count = STEPS * SAMPLES
        self.x = torch.randn(count, FEATURES, generator=generator)
        teacher = torch.randn(FEATURES, CLASSES, generator=generator)
        self.y = (self.x @ teacher).argmax(1)
        held = torch.rand(count, generator=generator) < HELD_OUT
        self.train = (self.x[~held], self.y[~held])
        self.valid = (self.x[held], self.y[held])
        held_so_far = held.view(STEPS, SAMPLES).sum(1).cumsum(0)
        self.held = held_so_far.tolist()
        self.trained = (torch.arange(1, STEPS + 1) * SAMPLES - held_so_far).tolist()

    def new(self, t):
        span = slice(t * SAMPLES, (t + 1) * SAMPLES)
        return self.x[span], self.y[span]

    def replay(self, t):
        """A step's batches."""
        rows = torch.randint(self.trained[t], (ITERATIONS * BATCH,))
        x, y = self.train
        return (x.index_select(0, rows).view(ITERATIONS, BATCH, FEATURES),
            y.index_select(0, rows).view(ITERATIONS, BATCH))

    def validation(self, t):
        rows = torch.randint(self.held[t], (VALIDATION,))
        x, y = self.valid
        return x.index_select(0, rows), y.index_select(0, rows)


# --- the net ------------------------------------------------------------------------------

SHAPES = [(HIDDEN, FEATURES), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]


def views(flat):
    """The net's tensors in one flat tensor."""
    sizes = [torch.Size(shape).numel() for shape in SHAPES]
    return [part.view(shape) for part, shape in zip(flat.split(sizes), SHAPES)]


def initial():
    """He initialisation, flat."""
    torch.manual_seed(1)
    parts = [torch.randn(s) * (2 / s[1]) ** 0.5 if len(s) > 1 else torch.zeros(s) for s in SHAPES]
    return torch.cat([part.flatten() for part in parts])


def logits(params, x):
    w1, b1, w2, b2 = params
    return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


def loss(params, x, y):
    return F.cross_entropy(logits(params, x), y)


def right(params, x, y):
    """How many are predicted rightly."""
    return (logits(params, x).argmax(1) == y).sum()


def scores(nets, x, y):
    """Loss and accuracy of each net on one batch, as a tensor of rows."""
    rows = []
    for params in nets:
        z = logits(params, x)
        rows += [F.cross_entropy(z, y), (z.argmax(1) == y).float().mean()]
    return torch.stack(rows).view(len(nets), 2)


def move(averages, params, weights):
    """Averages go towards the parameters, each by its weight."""
    for average, weight in zip(averages, weights):
        torch._foreach_lerp_(average, params, weight)


# --- trainers: a few iterations on batches ------------------------------------------------

class Eager:
    """torch.optim.SGD on leaf tensors."""

    def __init__(self, form, criterion=loss):
        self.params = [p.clone().requires_grad_() for p in views(initial())]
        self.optimizer = torch.optim.SGD(self.params, lr=RATE, momentum=MOMENTUM,
            weight_decay=DECAY, **{form: True})
        self.criterion = criterion
        self.plain = [p.detach() for p in self.params]

    def set_rate(self, rate):
        self.optimizer.param_groups[0]["lr"] = rate

    def train(self, xs, ys):
        for x, y in zip(xs.unbind(), ys.unbind()):
            self.optimizer.zero_grad()
            self.criterion(self.params, x, y).backward()
            self.optimizer.step()


class Flat:
    """One tensor for all parameters; gradients by torch.autograd.grad, SGD in three calls."""

    def __init__(self):
        self.flat = initial()
        self.plain = views(self.flat)
        self.params = [p.detach().requires_grad_() for p in self.plain]
        self.momentum = torch.zeros_like(self.flat)
        self.rate = RATE

    def set_rate(self, rate):
        self.rate = rate

    def train(self, xs, ys):
        for x, y in zip(xs.unbind(), ys.unbind()):
            gradients = torch.autograd.grad(loss(self.params, x, y), self.params)
            with torch.no_grad():
                self.momentum.mul_(MOMENTUM).add_(self.flat, alpha=DECAY)
                self.momentum.add_(torch.cat([g.view(-1) for g in gradients]))
                self.flat.add_(self.momentum, alpha=-self.rate)


def sgd_iterations(params, momenta, rate, xs, ys):
    """Gradient and SGD for each batch in turn: what `whole` and `unrolled` compile."""
    for x, y in zip(xs.unbind(), ys.unbind()):
        gradients = torch.func.grad(loss)(params, x, y)
        for param, momentum, gradient in zip(params, momenta, gradients):
            momentum.mul_(MOMENTUM).add_(gradient + DECAY * param)
            param.sub_(rate * momentum)


class Compiled:
    """Gradient and SGD of one iteration, or of all that are asked for at once, in one call."""

    def __init__(self, compiled, at_once):
        self.plain = [p.clone() for p in views(initial())]
        self.momenta = [torch.zeros_like(p) for p in self.plain]
        self.rate = torch.tensor(RATE)
        self.iterations = compiled(sgd_iterations)
        self.at_once = at_once

    def set_rate(self, rate):
        self.rate.fill_(rate)

    def train(self, xs, ys):
        count = len(xs) if self.at_once else 1
        for x, y in zip(xs.split(count), ys.split(count)):
            self.iterations(self.plain, self.momenta, self.rate, x, y)


# --- the learner --------------------------------------------------------------------------

class Malr:
    """Cuts the rate when the better average and its lead no longer grow, and the lead is large."""

    def __init__(self):
        self.rate = RATE
        self.restart(0)

    def restart(self, k):
        self.best = [(-float("inf"), k), (-float("inf"), k)]
        self.leads = []

    def window(self, k, score, lead):
        """Returns True if the rate was cut."""
        self.leads = (self.leads + [lead])[-(K_R // K_W):]
        for i, value in enumerate((score, lead)):
            if value > self.best[i][0]:
                self.best[i] = (value, k)
        stuck = all(k - since >= K_R for _, since in self.best)
        if not stuck or sum(self.leads) / len(self.leads) <= EPSILON:
            return False
        self.rate *= BETA
        self.restart(k)
        return True


class Learner:
    """The protocol on a trainer. Its own work is never compiled: it gained nothing."""

    def __init__(self, stream, trainer):
        self.stream = stream
        self.trainer = trainer
        self.averages = [[p.clone() for p in trainer.plain] for _ in range(2)]
        self.set_window(1 / (1 - GAMMA))
        self.malr = Malr()
        self.sums = torch.zeros(3, 2)
        self.hits = torch.zeros((), dtype=torch.long)
        self.best = 1
        self.accuracy = 0.0
        self.k, self.t = 0, STEPS // 2

    def set_window(self, window):
        self.span = min(max(window, DELTA), WINDOW_MAX)
        self.weights = [1 / self.span, DELTA / self.span]

    def step(self):
        with torch.inference_mode():
            self.hits += right(self.averages[self.best], *self.stream.new(self.t))
        xs, ys = self.stream.replay(self.t)
        done = 0
        while done < ITERATIONS:
            count = min(ITERATIONS - done, K_M - self.k % K_M)
            self.trainer.train(xs[done:done + count], ys[done:done + count])
            done += count
            self.k += count
            if self.k % K_M == 0:
                self.housekeeping()
        self.t = self.t + 1 if self.t + 1 < STEPS else STEPS // 2

    def housekeeping(self):
        with torch.inference_mode():
            move(self.averages, self.trainer.plain, self.weights)
            if self.k % K_V == 0:
                nets = [self.trainer.plain] + self.averages
                self.sums += scores(nets, *self.stream.validation(self.t))
                self.best = 0 if self.sums[1, 1] > self.sums[2, 1] else 1
            if self.k % K_W == 0:
                self.window()

    def window(self):
        rows = (self.sums / (K_W // K_V)).tolist()
        better, other = self.averages[self.best], self.averages[1 - self.best]
        mean_loss, accuracy = rows[1 + self.best]
        if self.malr.window(self.k, -mean_loss, accuracy - rows[0][1]):
            self.trainer.set_rate(self.malr.rate)
        torch._foreach_copy_(other, better)
        self.set_window(self.span * DELTA if self.best == 0 else self.span / DELTA)
        self.accuracy = accuracy
        self.sums.zero_()

    def block(self):
        for _ in range(BLOCK // ITERATIONS):
            self.step()


def compiler(options):
    return lambda function: torch.compile(function, dynamic=False, fullgraph=True, **options)


OPTIONS = {
    "": {},
    "autotune": {"mode": "max-autotune-no-cudagraphs"},
    "cpp": {"options": {"cpp_wrapper": True}},
}


def make_learner(stream, variant):
    how, _, option = variant.partition("-")
    if how == "eager":
        trainer = Flat() if option == "flat" else Eager(option)
        return Learner(stream, trainer)
    compiled = compiler(OPTIONS[option])
    if how == "compile":
        trainer = Eager("fused", compiled(loss))
    else:
        trainer = Compiled(compiled, at_once=how == "unrolled")
    return Learner(stream, trainer)


VARIANTS = ["eager-foreach", "eager-fused", "eager-flat"] + [
    how + ("-" + option if option else "") for how in ("compile", "whole", "unrolled")
    for option in OPTIONS]


def warm(learner):
    """Compiles whatever will be needed and lets the averages part."""
    learner.block()
    learner.block()
    return learner


def measure(learner, seconds):
    times = sorted(torch_turns.timed(learner.block, seconds))
    return {"us_per_iteration": 1e6 * times[0] / BLOCK,
        "median_us_per_iteration": 1e6 * times[len(times) // 2] / BLOCK,
        "blocks": len(times), "accuracy": learner.accuracy}


def measure_all(names, seconds):
    stream, results = Stream(), {}
    for name in names:
        try:
            results[name] = measure(warm(make_learner(stream, name)), seconds)
        except Exception as error:  # a variant that does not work here is no candidate
            results[name] = {"failed": torch_turns.reason(error)}
        print(name, results[name], file=sys.stderr)
    return {"torch": torch.__version__, "variants": results}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", choices=VARIANTS, metavar="NAME",
        help="only this one; may be repeated")
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
    torch.set_num_threads(args.threads)
    if not args.serve:
        print(json.dumps(measure_all(args.variant or VARIANTS, args.seconds)))
        return 0
    return torch_turns.serve(
        lambda: (warm(make_learner(Stream(), args.variant[0])), {"torch": torch.__version__}),
        measure)


if __name__ == "__main__":
    sys.exit(main())
