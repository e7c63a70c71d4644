"""Modules of other people's learn streams that drift: a ViT, a ResNet-18, an LSTM (bench/torch_nets.py)."""

import multiprocessing
import os
import signal

import pytest

pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("torchvision", reason="there is no torchvision")
pytest.importorskip("safetensors", reason="there is no safetensors")

import torch  # noqa: E402
import torch_nets  # noqa: E402

KILLS = 10


@pytest.mark.parametrize("name, steps, iterations", [("vit", 120, 4), ("resnet18", 20, 2), ("lstm", 60, 4)])
def test_it_keeps_more_than_its_own_sgd(name, steps, iterations):
    ours, sgd = (torch_nets.retention(name, method, steps, iterations, 1) for method in torch_nets.METHODS)
    guess = 1 / torch_nets.CLASSES
    assert ours[0] > sgd[0] + 0.01 and ours[0] > 2 * guess and ours[1] > 1.5 * guess, (ours, sgd)


def go_on(name, folder, steps, kill):
    """Opens the folder and learns to the end, or is killed within the second time step."""
    torch.set_num_threads(1)
    learner = torch_nets.learner(name, steps, 1, folder=folder, run_method="ama+malr", run_checkpoint_every="4 steps")
    begin = learner.metrics().steps
    for number, (inputs, labels) in enumerate(torch_nets.NETS[name][2](steps, 1)):
        if number < begin:
            continue
        step = learner.observe(inputs)
        learner.reveal(step, labels)
        if kill == "reveal" and number > begin:
            os.kill(os.getpid(), signal.SIGKILL)
        learner.train()
        if kill == "train" and number > begin:
            os.kill(os.getpid(), signal.SIGKILL)
    learner.close()


@pytest.mark.parametrize("name", torch_nets.NETS)
def test_killed_ten_times_it_comes_to_the_same_bits(name, tmp_path):
    # Forked by a process that has computed nothing: autograd's threads do not survive a fork of this one.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["torch", "torchvision", "pyretain.torch"])

    def run(folder, kill=""):
        child = processes.Process(target=go_on, args=(name, os.fspath(tmp_path / folder), 2 * KILLS + 2, kill))
        child.start()
        child.join()
        return child.exitcode

    assert run("straight") == 0
    for turn in range(KILLS):
        assert run("broken", "train" if turn % 2 else "reveal") == -signal.SIGKILL
    assert run("broken") == 0
    one, other = ((tmp_path / folder / "model.safetensors").read_bytes() for folder in ("straight", "broken"))
    assert one == other
