"""Modules of other people's learn streams that drift: a ViT, a ResNet-18, an LSTM (bench/torch_nets.py)."""

import pytest

pytest.importorskip("torch", reason="there is no PyTorch")
pytest.importorskip("torchvision", reason="there is no torchvision")
pytest.importorskip("safetensors", reason="there is no safetensors")

import kills  # noqa: E402
import torch  # noqa: E402
import torch_nets  # noqa: E402


SHORT = {  # so that averages and rate follow within some hundred iterations
    "replay_holdout": 0.1,
    "average_gamma": 0.9,
    "schedule_validate_every": 10,
    "schedule_validation_batch": 64,
    "schedule_window": 20,
    "schedule_patience": 40,
}


@pytest.mark.parametrize("name, steps, iterations", [("vit", 120, 4), ("resnet18", 40, 2), ("lstm", 60, 4)])
def test_it_keeps_more_than_its_own_sgd(name, steps, iterations):
    ours, sgd = (torch_nets.retention(name, method, steps, iterations, 1, **SHORT) for method in torch_nets.METHODS)
    guess = 1 / torch_nets.CLASSES
    assert ours[0] > sgd[0] + 0.01 and ours[0] > 2 * guess and ours[1] > 1.5 * guess, (ours, sgd)


def go_on(folder, kill, name):
    torch.set_num_threads(1)
    learner = torch_nets.learner(name, 1, folder=folder, run_method="ama+malr", run_checkpoint_every="4 steps")
    kills.learn(learner, torch_nets.NETS[name][2](kills.STEPS, 1), kill)


@pytest.mark.parametrize("name", torch_nets.NETS)
def test_killed_ten_times_it_comes_to_the_same_bits(name, tmp_path):
    kills.check_same_bits(tmp_path, go_on, name)
