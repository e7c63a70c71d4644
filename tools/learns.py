"""usage: PYTHON tools/learns.py

Fails unless the pyretain that is installed learns a rule; leaves rows.csv, a table for the command to learn. By it
tools/wheels, tools/packages and tools/release try what they made.
"""
import numpy as np
import pyretain

world, learner = np.random.default_rng(1), pyretain.Learner(run_seed=1)
for _ in range(500):
    x = world.normal(size=(1, 4)).astype(np.float32)
    learner.learn(x, [bool(x[0, 0] > 0)])
assert learner.metrics().learning_efficacy > 0.9, learner.metrics()
with open("rows.csv", "w", encoding="utf-8") as file:
    file.write("a,b,label\n" + "".join(f"{a},{b},{int(a > b)}\n" for a, b in world.random((500, 2))))
print("pyretain", pyretain.__version__, "learns")
