#!/usr/bin/env python3
"""Checks that retain and the safetensors package read each other's files.

usage: tools/check-safetensors.py RETAIN

RETAIN is the command. Prints TAP; exits 77, "skipped", where the package is
not installed. With torch and torchvision it also checks that weights travel
both ways and give the same results.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import safetensors
    import safetensors.numpy
except ImportError as error:
    print(f"the safetensors package cannot be used: {error}")
    sys.exit(77)
try:
    import torch
    import torchvision
    import safetensors.torch
    no_torch = None
except ImportError as error:
    no_torch = str(error)

TOLERANCE = 1e-4

DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
    "I32": np.int32, "I16": np.int16, "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_,
}


def retain(*words):
    done = subprocess.run([RETAIN, "model", *words], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"retain model {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def info(path):
    said = json.loads(retain("info", "--json", path))
    return said, {tensor["name"]: (tensor["dtype"], tensor["shape"]) for tensor in said["tensors"]}


def near(what, ours, theirs, tolerance=TOLERANCE):
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, expected {theirs.shape}"
    error = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
    assert error <= tolerance, f"{what}: differs by {error:.2e}, allowed {tolerance:.0e}"


def reads_every_dtype():
    """retain reads what the package writes"""
    shapes = [(), (0,), (3,), (2, 3), (2, 0, 4), (1, 2, 3, 4, 5)]
    tensors = {
        f"{name} {len(shape)} {'é' if name == 'F32' else ''}": np.ones(shape, dtype)
        for name, dtype in DTYPES.items() for shape in shapes
    }
    notes = {"format": "pt", 'quoted "key"': "two\nlines"}
    safetensors.numpy.save_file(tensors, "theirs", metadata=notes)
    said, listed = info("theirs")
    assert said["metadata"] == notes, said["metadata"]
    assert listed == {
        name: (name.split()[0], list(tensor.shape)) for name, tensor in tensors.items()
    }, listed


def writes_for_the_package():
    """the package reads what retain writes"""
    retain("init", "--arch", "resnet20-cifar", "--norm", "bn", "--classes", "7", "--out", "ours")
    tensors = safetensors.numpy.load_file("ours")
    with safetensors.safe_open("ours", framework="numpy") as file:
        notes = file.metadata()
    said, listed = info("ours")
    assert notes == said["metadata"] and notes["retain.arch"] == "resnet20-cifar", notes
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    assert listed == {
        name: (names[tensor.dtype], list(tensor.shape)) for name, tensor in tensors.items()
    }
    assert tensors["bn1.num_batches_tracked"].shape == ()
    assert (tensors["bn1.running_var"] == 1).all() and tensors["fc.weight"].shape == (7, 64)


def traces_an_mlp():
    """a trace of an MLP agrees with numpy"""
    draw = np.random.default_rng(1)
    inputs = draw.standard_normal((5, 6)).astype(np.float32)
    labels = np.array([0, 2, 1, 2, 0])
    retain("init", "--arch", "mlp:8", "--classes", "3", "--input", "6,1,1", "--out", "mlp")
    weights = safetensors.numpy.load_file("mlp")
    assert set(weights) == {"0.weight", "0.bias", "2.weight", "2.bias"}, set(weights)
    safetensors.numpy.save_file({"input": inputs, "label": labels}, "batch")
    retain("trace", "--weights", "mlp", "--batch", "batch", "--out", "trace")
    trace = safetensors.numpy.load_file("trace")

    hidden = np.maximum(inputs @ weights["0.weight"].T + weights["0.bias"], 0)
    logits = hidden @ weights["2.weight"].T + weights["2.bias"]
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    losses = -np.log(chances[range(5), labels])
    slope = (chances - np.eye(3)[labels]) / 5
    back = slope @ weights["2.weight"] * (hidden > 0)
    near("logits", trace["logits"], logits)
    near("losses", trace["losses"], losses)
    near("loss", trace["loss"], losses.mean())
    near("grad.2.weight", trace["grad.2.weight"], slope.T @ hidden)
    near("grad.2.bias", trace["grad.2.bias"], slope.sum(0))
    near("grad.0.weight", trace["grad.0.weight"], back.T @ inputs)
    near("grad.0.bias", trace["grad.0.bias"], back.sum(0))


def loads_into_torchvision():
    """torchvision loads what retain writes, strictly"""
    for arch in "resnet18", "resnet50":
        retain("init", "--arch", arch, "--norm", "bn", "--classes", "10", "--out", arch)
        net = getattr(torchvision.models, arch)(num_classes=10)
        net.load_state_dict(safetensors.torch.load_file(arch), strict=True)


def traces_torchvision():
    """a trace of torchvision's resnet18 agrees with torch"""
    torch.manual_seed(1)
    net = torchvision.models.resnet18(num_classes=10).train()
    inputs, labels = torch.randn(4, 3, 64, 64), torch.tensor([3, 1, 4, 1])
    safetensors.torch.save_file(net.state_dict(), "resnet")
    safetensors.torch.save_file({"input": inputs, "label": labels}, "batch")
    retain("trace", "--arch", "resnet18", "--norm", "bn", "--classes", "10",
           "--weights", "resnet", "--batch", "batch", "--out", "trace")
    trace = safetensors.torch.load_file("trace")

    logits = net(inputs)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    near("logits", trace["logits"], logits.detach())
    near("loss", trace["loss"], loss.detach())
    # Below the last ReLU one activation next to zero, on the other side of it for
    # rounding, changes a gradient by a percent: those are compared elsewhere.
    near("grad.fc.weight", trace["grad.fc.weight"], net.fc.weight.grad)
    for name, statistic in net.state_dict().items():
        if name.endswith(("running_mean", "running_var")):
            near("stat." + name, trace["stat." + name], statistic)
    assert {name[5:] for name in trace if name.startswith("grad.")} == {
        name for name, _ in net.named_parameters()
    }


CHECKS = [
    (reads_every_dtype, None),
    (writes_for_the_package, None),
    (traces_an_mlp, None),
    (loads_into_torchvision, no_torch),
    (traces_torchvision, no_torch),
]

RETAIN = os.path.abspath(sys.argv[1])
failed = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for number, (check, missing) in enumerate(CHECKS, 1):
        if missing:
            print(f"ok {number} - {check.__doc__} # SKIP {missing}", flush=True)
            continue
        try:
            check()
            print(f"ok {number} - {check.__doc__}", flush=True)
        except Exception as error:
            failed += 1
            print(f"not ok {number} - {check.__doc__}: {error}", flush=True)
    os.chdir("/")
print(f"1..{len(CHECKS)}")
sys.exit(failed != 0)
