"""Learners that are killed again and again must come to the bits of one that was not."""

import multiprocessing
import os
import random
import signal
import time

KILLS = 12
STEPS = 2 * KILLS + 4  # of a stream: each of them gets some further, and the last one to the end


def learn(learner, stream, kill):
    """Goes on where the learner's folder is, to the end of the stream; or is killed in the second time step. Whoever is to kill it
    some time after it began gives an event."""
    begin = learner.metrics().steps
    if hasattr(kill, "set"):
        kill.set()
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

    def run(folder, kill=None, within=None):
        """How it ended, and the seconds since it began."""
        began = processes.Event()
        child = processes.Process(target=target, args=(os.fspath(path / folder), kill or began, *more))
        child.start()
        while kill is None and child.is_alive() and not began.wait(0.1):
            pass
        start = time.monotonic()
        if within is not None:  # in a pass, a step, a checkpoint that is written
            time.sleep(random.uniform(0, within))
            child.kill()
        child.join()
        return child.exitcode, time.monotonic() - start

    code, seconds = run("straight")
    assert code == 0
    ends = [run("broken", kill, None if kill else 1.5 * seconds / STEPS)[0] for kill in KILLS // 3 * ["reveal", "train", None]]
    # One that is killed late may have come to its end.
    assert set(ends) <= {0, -signal.SIGKILL} and ends.count(-signal.SIGKILL) >= KILLS - 2, ends
    assert run("broken")[0] == 0
    one, other = ((path / folder / "model.safetensors").read_bytes() for folder in ("straight", "broken"))
    assert one == other
