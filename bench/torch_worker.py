"""One PyTorch contestant of bench/against-pytorch: a process that holds one model in
one configuration and runs it when told to.

Start-up, compilation and warm-up are paid once. Then it obeys the lines on its standard
input, as torch_turns.py says. While it waits it sleeps in read(2): OpenMP's threads have
gone to sleep too, after the short spin that against-pytorch allows them.

A training iteration is all of zero_grad, forward pass, cross-entropy, backward pass
and SGD with momentum and weight decay, on one fixed random batch. Of the ways in
which this PyTorch can run the optimizer (loop, foreach, fused, compiled) the worker
tries each and keeps the fastest. Inference runs in evaluation mode under
inference_mode, with standardised weights computed once beforehand.

--how eager    operators one by one
      compile  torch.compile of model and loss; for inference with frozen weights
      whole    torch.compile of the whole iteration, optimizer included, as one function
               of parameters and momenta: what a patient user could write
      jit      torch.jit.trace and optimize_for_inference; inference only
"""

import argparse
import sys
import time

import torch
from torch.nn import functional as F

import torch_models
import torch_turns

SGD = dict(lr=0.01, momentum=0.9, weight_decay=1e-4)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--norm", default="none")
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--size", type=int, default=224, help="height and width of the input")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--mode", choices=("train", "infer"), default="train")
    parser.add_argument("--layout", choices=("nchw", "channels_last"), default="nchw")
    parser.add_argument("--how", choices=("eager", "compile", "whole", "jit"), default="eager")
    return parser.parse_args()


def check_versions(args):
    if args.how in ("compile", "whole") and int(torch.__version__.split(".")[0]) < 2:
        raise RuntimeError("torch.compile needs PyTorch 2")
    if args.how == ("jit" if args.mode == "train" else "whole"):
        raise RuntimeError("--how %s does not go with --mode %s" % (args.how, args.mode))


def make_data(args):
    is_image = args.size > 1
    shape = (args.channels, args.size, args.size) if is_image else (args.channels,)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(args.batch, *shape, generator=generator)
    y = torch.randint(args.classes, (args.batch,), generator=generator)
    if args.layout == "channels_last":
        x = x.contiguous(memory_format=torch.channels_last)
    return x, y


def make_model(args):
    torch.manual_seed(1)
    model = torch_models.build(args.arch, args.norm, args.classes, args.channels, args.size,
        args.size)
    if args.layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    return model


def best_time(call, count):
    best = float("inf")
    for _ in range(count):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def optimizer_kinds(model, how):
    """Every form of SGD this PyTorch has, as (name, maker of a step function)."""
    parameters = list(model.parameters())
    kinds = {"loop": "foreach", "foreach": "foreach", "fused": "fused"}
    for name, switch in kinds.items():
        try:
            optimizer = torch.optim.SGD(parameters, **SGD, **{switch: name != "loop"})
        except (TypeError, RuntimeError, ValueError):
            continue
        yield name, optimizer.step
    if how == "compile":
        yield "compiled", torch.compile(torch.optim.SGD(parameters, **SGD).step)


def fastest_optimizer(model, how):
    """Gradients are in place. Returns (name, step function)."""
    best = None
    for name, step in optimizer_kinds(model, how):
        try:
            step()  # makes its state
            step()
            seconds = best_time(step, 5)
        except Exception as error:  # a form that does not work here is no candidate
            print("optimizer %s: %s" % (name, error), file=sys.stderr)
            continue
        if best is None or seconds < best[0]:
            best = (seconds, name, step)
    return best[1:]


def training(args):
    model = make_model(args).train()
    x, y = make_data(args)

    def loss():
        return F.cross_entropy(model(x), y)

    if args.how == "compile":
        loss = torch.compile(loss)
    parameters = list(model.parameters())
    loss().backward()
    name, step = fastest_optimizer(model, args.how)

    def iteration():
        for parameter in parameters:
            parameter.grad = None
        loss().backward()
        step()

    return iteration, name


def whole_training(args):
    from torch.func import functional_call, grad

    model = make_model(args).train()
    x, y = make_data(args)
    parameters = {name: p.detach().clone() for name, p in model.named_parameters()}
    momenta = {name: torch.zeros_like(p) for name, p in parameters.items()}

    def loss(parameters, x, y):
        return F.cross_entropy(functional_call(model, parameters, (x,)), y)

    @torch.compile
    def step(parameters, momenta, x, y):
        gradients = grad(loss)(parameters, x, y)
        for name, parameter in parameters.items():
            gradient = gradients[name] + SGD["weight_decay"] * parameter
            momenta[name].mul_(SGD["momentum"]).add_(gradient)
            parameter.sub_(SGD["lr"] * momenta[name])

    return lambda: step(parameters, momenta, x, y), "inside"


def inference(args):
    model = torch_models.bake_standardisation(make_model(args)).eval()
    x, _ = make_data(args)
    if args.how == "compile":
        model = torch.compile(model, options={"freezing": True})
    elif args.how == "jit":
        model = torch.jit.optimize_for_inference(torch.jit.trace(model, x))

    def iteration():
        with torch.inference_mode():
            model(x)

    return iteration, None


def maker(args):
    if args.mode == "infer":
        return inference
    return whole_training if args.how == "whole" else training


def setup(args):
    check_versions(args)
    torch.set_num_threads(args.threads)
    iteration, optimizer = maker(args)(args)
    iteration()
    return iteration, {"torch": torch.__version__, "optimizer": optimizer}


def turn(args, iteration, seconds):
    times = sorted(torch_turns.timed(iteration, seconds))
    return {"images_per_s": args.batch / times[0], "steps": len(times),
        "median_images_per_s": args.batch / times[len(times) // 2]}


def main():
    args = arguments()
    return torch_turns.serve(lambda: setup(args),
        lambda iteration, seconds: turn(args, iteration, seconds))


if __name__ == "__main__":
    sys.exit(main())
