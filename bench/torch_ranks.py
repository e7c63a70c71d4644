"""What bench/torch-ranks measures: iterations of two processes around a net that computes next to nothing."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import torch

from pyretain import torch as rt
from pyretain.torch import ranks

PHOTO, BATCH, ITERATIONS = (3, 224, 224), 64, 20


class Least(torch.nn.Module):
    """Reads a pixel of each photo."""

    def __init__(self, classes):
        super().__init__()
        self.layer = torch.nn.Linear(3, classes)

    def forward(self, x):
        return self.layer(x[:, :, 0, 0])


def worker(way):
    torch.set_num_threads(1)
    if way == "gloo":
        ranks.SHARED = None
    settings = {"run_method": "sgd+clr", "run_batch": BATCH, "model_classes": 3, "engine_threads": 1}
    learner = rt.Learner(Least, input=PHOTO, device="cpu", **settings)
    step = learner.observe(np.zeros((BATCH, *PHOTO), np.float32))
    learner.reveal(step, np.arange(BATCH) % 3)
    learner.train(3)
    best = [float("inf")] * 2
    for _ in range(10):
        start = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        learner.train(ITERATIONS)
        spent = resource.getrusage(resource.RUSAGE_SELF)
        cpu = spent.ru_utime + spent.ru_stime - start[1].ru_utime - start[1].ru_stime
        best = [min(pair) for pair in zip(best, (time.perf_counter() - start[0], cpu))]
    print(json.dumps([1e3 * one / ITERATIONS for one in best]), flush=True)
    learner.close()


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--turns", type=int, default=5)
    asked.add_argument("--worker")
    said = asked.parse_args()
    if said.worker:
        return worker(said.worker)
    best = {way: [float("inf")] * 2 for way in ("shared", "gloo")}
    for way in said.turns * list(best):
        words = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", __file__, "--worker", way]
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)
        best[way] = [min(pair) for pair in zip(best[way], json.loads(done.stdout.splitlines()[-1]))]
    for way, (wall, cpu) in best.items():
        print(f"{way:7} {wall:6.1f} ms an iteration, {cpu:6.1f} ms of the first process's processor")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
