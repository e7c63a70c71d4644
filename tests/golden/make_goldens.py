#!/usr/bin/env python3
"""Computes with PyTorch what retain's nets and optimizers must compute too.

    make_goldens.py [--out FOLDER] [--check] [CASE ...]    small files, kept in this folder
    make_goldens.py --whole FOLDER CASE                    everything, for `retain model trace`

Weights, inputs and labels are not stored: both sides make them from the formula below,
exactly. The models run in float64, so that a golden's own error does not count; the
optimizers run in float32, loop form, as PyTorch does by default.

The formula. All arithmetic on 32-bit unsigned integers wraps around.

  key(text)  = FNV-1a: h = 2166136261; for each byte: h = (h ^ byte) * 16777619
  mix(x)     = x ^= x >> 16; x *= 0x85ebca6b; x ^= x >> 13; x *= 0xc2b2ae35; x ^= x >> 16
  hash(t, i) = mix(mix(i) + key(t))
  u(t, i)    = (hash(t, i) >> 8) * 2^-23 - 1, in [-1, 1) and exact in float32

Element i (row-major, in PyTorch's shape) of the tensor called t is, in float32:

  convolution, dense weight   sqrtf(3 / fan_in) * u(t, i), where fan_in is the number of
                              weights that feed one output: the quotient, the root and the
                              product are each rounded to float32
  norm scale                  1 + u(t, i) / 4
  norm shift                  u(t, i) / 4 + 1, or - 1 where u(t, i) < 0: most channels are
                              then mostly on or mostly off, so few activations come so close
                              to the kink of ReLU that rounding decides their gradient
  both, where t is *.bn3.*    an eighth of that: deep nets would amplify rounding errors
  bias of a dense layer       u(t, i) / 4
  running_mean                u(t, i) / 4        before the step
  running_var                 1 + u(t, i) / 4    before the step
  input                       u("input", i) + 2 * u("offset", i / pixels), where pixels is
                              height * width, so that samples and channels differ in level;
                              for vectors pixels is 1
  label of sample n           hash("label", n) mod classes

The files hold, all in float32:

  logits, loss, losses        training mode; loss is the mean of losses (cross-entropy)
  eval_logits                 afterwards: evaluation mode, same weights, and for batch norm
                              the running statistics that the step has left
  grad.NAME                   10 numbers about the gradient g of loss by parameter NAME:
                              its L2 norm; the sum of g[i] * u("projection", i); and the
                              eight elements g[hash("sample", k) mod count], k = 0..7
  stat.NAME                   the same 10 numbers about running_mean and running_var after
                              the step (momentum 0.1, unbiased variance)

The file losses: for LOSS_BATCH samples of LOSS_CLASSES classes, logits 3 * u("logits", i) and
what a loss compares them with, 3 * u("teacher", i); labels as above. KIND.loss and KIND.grad
are each sample's loss and its gradient by the logits. ace: the first three samples are new.

Optimizer files: 1000 parameters, p[i] = u("param", i) before the first of 100 steps; the
gradient of step s = 0..99 is u("noise", 1000 * s + i) + u("drift", i). They hold the
parameters (`param`) and the state after the last step: `momentum` for SGD, `mean` and
`square` for Adam. Their settings are in the metadata.
"""

import argparse
import collections
import json
import os
import struct
import sys

import numpy as np
import torch
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
import torch_models  # noqa: E402

Case = collections.namedtuple("Case", "name arch norm channels height width classes batch")
CASES = [
    Case("resnet50-gn-ws", "resnet50", "gn-ws", 3, 64, 64, 10, 2),
    Case("resnet50-bn", "resnet50", "bn", 3, 64, 64, 10, 4),
    Case("resnet18-gn-ws", "resnet18", "gn-ws", 3, 64, 64, 10, 2),
    Case("resnet18-gn-ws-odd", "resnet18", "gn-ws", 3, 65, 63, 7, 3),
    Case("resnet18-bn-odd", "resnet18", "bn", 3, 65, 63, 7, 5),
    Case("resnet18-cifar-gn-ws", "resnet18-cifar", "gn-ws", 3, 32, 32, 10, 2),
    Case("resnet20-cifar-gn-ws", "resnet20-cifar", "gn-ws", 3, 32, 32, 10, 2),
    Case("resnet20-cifar-bn", "resnet20-cifar", "bn", 3, 32, 32, 10, 4),
    Case("resnet20-cifar-none", "resnet20-cifar", "none", 3, 32, 32, 10, 2),
    Case("mlp-24-17", "mlp:24,17", "none", 13, 1, 1, 5, 7),
    Case("linear", "linear", "none", 13, 1, 1, 5, 7),
]

Optimizer = collections.namedtuple("Optimizer", "name make settings state")
OPTIMIZERS = [
    Optimizer("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9, weight_decay=1e-4),
        {"momentum": "momentum_buffer"}),
    Optimizer("adam", torch.optim.Adam,
        dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0),
        {"mean": "exp_avg", "square": "exp_avg_sq"}),
    Optimizer("adam-l2", torch.optim.Adam,
        dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2),
        {"mean": "exp_avg", "square": "exp_avg_sq"}),
]
PARAMETERS = 1000
STEPS = 100
SAMPLES = 8


def key(text):
    h = 2166136261
    for byte in text.encode():
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    return h


def mix(x):
    x = x ^ x >> np.uint32(16)
    x = x * np.uint32(0x85EBCA6B)
    x = x ^ x >> np.uint32(13)
    x = x * np.uint32(0xC2B2AE35)
    return x ^ x >> np.uint32(16)


def hashes(name, count, first=0):
    index = np.arange(first, first + count, dtype=np.uint32)
    return mix(mix(index) + np.full(1, key(name), dtype=np.uint32))


def u(name, count, first=0):
    top = (hashes(name, count, first) >> np.uint32(8)).astype(np.float32)
    return top * np.float32(2**-23) - np.float32(1)


def tensor(name, shape):
    """The parameter or running statistic called name, as float32."""
    one, quarter = np.float32(1), np.float32(0.25)
    values = u(name, int(np.prod(shape)))
    if len(shape) > 1:
        fan_in = np.float32(np.prod(shape[1:]))
        values = np.sqrt(np.float32(3) / fan_in) * values
    elif name.endswith(("running_var", ".weight")):
        values = quarter * values + one
    elif name.endswith(".bias") and ("bn" in name or "downsample" in name):
        values = quarter * values + np.where(values < 0, -one, one)
    else:
        values = quarter * values
    if name.endswith((".bn3.weight", ".bn3.bias")):
        values = values / np.float32(8)
    assert values.dtype == np.float32
    return values.reshape(shape)


def inputs(case):
    pixels = case.height * case.width
    planes = case.batch * case.channels
    x = u("input", planes * pixels) + np.float32(2) * np.repeat(u("offset", planes), pixels)
    y = hashes("label", case.batch) % np.uint32(case.classes)
    shape = (case.batch, case.channels, case.height, case.width)
    return x.reshape(shape if pixels > 1 else shape[:2]), y.astype(np.int64)


def digest(values):
    """The ten numbers that stand for a tensor."""
    values = values.detach().double().numpy().ravel()
    places = hashes("sample", SAMPLES) % np.uint32(values.size)
    return np.concatenate([[np.sqrt(np.dot(values, values)),
        np.dot(values, u("projection", values.size).astype(np.float64))], values[places]])


def fill(model):
    for name, value in list(model.named_parameters()) + list(statistics(model)):
        with torch.no_grad():
            value.copy_(torch.from_numpy(tensor(name, tuple(value.shape))))


def statistics(model):
    return ((name, value) for name, value in model.named_buffers() if "running_" in name)


def passes(case):
    """Returns the model after a training pass, and what that pass and an evaluation gave."""
    model = torch_models.build(case.arch, case.norm, case.classes, case.channels, case.height,
        case.width)
    fill(model)
    model = model.double().train()
    x, y = (torch.from_numpy(v) for v in inputs(case))
    x = x.double()
    logits = model(x)
    losses = F.cross_entropy(logits, y, reduction="none")
    loss = losses.mean()
    loss.backward()
    with torch.no_grad():
        eval_logits = model.eval()(x)
    return model, {"logits": logits, "loss": loss.reshape(1), "losses": losses,
        "eval_logits": eval_logits}


def facts(case):
    return {k: str(v) for k, v in case._asdict().items()}


def net_golden(case):
    model, results = passes(case)
    tensors = {name: value.detach().numpy() for name, value in results.items()}
    for name, parameter in model.named_parameters():
        tensors["grad." + name] = digest(parameter.grad)
    for name, value in statistics(model):
        tensors["stat." + name] = digest(value)
    return {k: v.astype(np.float32) for k, v in tensors.items()}, facts(case)


def optimizer_golden(row):
    parameter = torch.from_numpy(u("param", PARAMETERS)).requires_grad_()
    optimizer = row.make([parameter], foreach=False, **row.settings)
    drift = u("drift", PARAMETERS)
    for step in range(STEPS):
        parameter.grad = torch.from_numpy(u("noise", PARAMETERS, PARAMETERS * step) + drift)
        optimizer.step()
    tensors = {"param": parameter.detach().numpy()}
    for ours, theirs in row.state.items():
        tensors[ours] = optimizer.state[parameter][theirs].numpy()
    return tensors, {"optimizer": row.name, **{k: str(v) for k, v in row.settings.items()}}


LOSS_BATCH, LOSS_CLASSES = 6, 7
ACE_NEW = 3


def ace(z, y, _):
    masked = z.clone()
    present = torch.zeros(LOSS_CLASSES, dtype=torch.bool)
    present[y[:ACE_NEW]] = True
    masked[:ACE_NEW, ~present] = -torch.inf
    return F.cross_entropy(masked, y, reduction="none")


LOSSES = {
    "smooth": lambda z, y, t: F.cross_entropy(z, y, label_smoothing=0.1, reduction="none"),
    "ace": ace,
    "der": lambda z, y, t: 0.5 * F.cross_entropy(z, y, reduction="none")
        + 0.1 * F.mse_loss(z, t, reduction="none").mean(1),
    "distill": lambda z, y, t: F.cross_entropy(z, y, reduction="none")
        + 4 * F.kl_div(F.log_softmax(z / 2, 1), F.softmax(t / 2, 1), reduction="none").sum(1),
}


def losses_golden():
    shape = (LOSS_BATCH, LOSS_CLASSES)
    y = torch.from_numpy((hashes("label", LOSS_BATCH) % np.uint32(LOSS_CLASSES)).astype(np.int64))
    z, t = (torch.from_numpy(np.float32(3) * u(name, LOSS_BATCH * LOSS_CLASSES)).reshape(shape)
        .double() for name in ("logits", "teacher"))
    tensors = {}
    for kind, loss in LOSSES.items():
        point = z.clone().requires_grad_()
        values = loss(point, y, t)
        values.sum().backward()
        tensors[kind + ".loss"] = values.detach().numpy().astype(np.float32)
        tensors[kind + ".grad"] = point.grad.numpy().astype(np.float32)
    return tensors, {}


def write_whole(case, folder):
    """Weights and batch for `retain model trace`, and what it should find, gradients complete."""
    model, results = passes(case)
    weights, expected = {}, {k: v.detach().numpy() for k, v in results.items()}
    for name, parameter in model.named_parameters():
        weights[name] = tensor(name, tuple(parameter.shape))
        expected["grad." + name] = parameter.grad.numpy()
    for name, value in statistics(model):
        weights[name] = tensor(name, tuple(value.shape))
        expected["stat." + name] = value.numpy()
    x, y = inputs(case)
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "weights.safetensors"), weights, {})
    write(os.path.join(folder, "batch.safetensors"), {"label": y, "input": x}, {})
    write(os.path.join(folder, "expected.safetensors"),
        {k: v.astype(np.float32) for k, v in expected.items()}, facts(case))


DTYPES = {"float32": "F32", "int64": "I64"}


def write(path, tensors, metadata):
    """A safetensors file: the length of the header, the header in JSON, the bytes."""
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, value in tensors.items():
        data = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": DTYPES[str(value.dtype)], "shape": list(value.shape),
            "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, row in json.loads(data[8:start]).items():
        if name != "__metadata__":
            a, b = row["data_offsets"]
            values = np.frombuffer(data[start + a:start + b], dtype=np.float32)
            tensors[name] = values.reshape(row["shape"])
    return tensors


def difference(path, tensors):
    """How far a file is from fresh tensors, relative to each tensor's largest element."""
    stored = read(path)
    if sorted(stored) != sorted(tensors):
        return float("inf")
    return max(np.abs(stored[k] - v).max() / max(np.abs(v).max(), 1e-30)
        for k, v in tensors.items())


def main():
    makers = {c.name: lambda c=c: net_golden(c) for c in CASES}
    makers.update({o.name: lambda o=o: optimizer_golden(o) for o in OPTIMIZERS})
    makers["losses"] = losses_golden
    parser = argparse.ArgumentParser(description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=HERE, metavar="FOLDER",
        help="where to write (default: beside this script)")
    parser.add_argument("--check", action="store_true",
        help="compare with the files there instead of writing")
    parser.add_argument("--whole", metavar="FOLDER", help="write one case in full")
    parser.add_argument("case", nargs="*", metavar="CASE",
        help="default: all. " + ", ".join(makers))
    args = parser.parse_args()
    for name in args.case:
        if name not in makers:
            parser.error("unknown case '%s'; there are %s" % (name, ", ".join(makers)))
    if args.whole:
        chosen = [c for c in CASES if c.name in args.case]
        if len(chosen) != 1:
            parser.error("--whole wants exactly one net")
        write_whole(chosen[0], args.whole)
        return 0
    worst = 0
    for name in args.case or makers:
        tensors, metadata = makers[name]()
        path = os.path.join(args.out, name + ".safetensors")
        if args.check:
            far = difference(path, tensors)
            worst = max(worst, far)
            print("%-24s differs by %.1e" % (name, far))
        else:
            write(path, tensors, metadata)
            print("%s: %d tensors" % (path, len(tensors)))
    return int(worst > 1e-5)


if __name__ == "__main__":
    sys.exit(main())
