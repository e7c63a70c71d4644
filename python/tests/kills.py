"""Learners that are killed again and again must come to the bits of one that was not."""

import multiprocessing
import os
import signal

KILLS = 10
STEPS = 2 * KILLS + 4  # of a stream: each of them gets one further, and the last one to the end


def learn(learner, stream, kill):
    """Goes on where the learner's folder is, to the end of the stream; or is killed within the second time step."""
    begin = learner.metrics().steps
    for number, (inputs, labels) in enumerate(stream):
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


def check_same_bits(path, target, *more):
    """target(folder, kill, *more) learns in a process of its own."""
    # Forked by a process that has computed nothing: autograd's threads do not survive a fork of this one.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["torch", "torchvision", "pyretain.torch"])

    def run(folder, kill=""):
        child = processes.Process(target=target, args=(os.fspath(path / folder), kill, *more))
        child.start()
        child.join()
        return child.exitcode

    assert run("straight") == 0
    for turn in range(KILLS):
        assert run("broken", "train" if turn % 2 else "reveal") == -signal.SIGKILL
    assert run("broken") == 0
    one, other = ((path / folder / "model.safetensors").read_bytes() for folder in ("straight", "broken"))
    assert one == other
