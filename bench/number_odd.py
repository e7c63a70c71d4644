"""More streams of bench/number_sets.py, by name and seed: made after all constants were chosen, to check them.

A step is step(dice, t, x, memory) -> label, or (inputs, label) where its inputs are its own.
"""

import math

ROWS = 10000


def poisson(dice, mean):
    if mean > 30:
        return max(0, round(dice.gauss(mean, math.sqrt(mean))))
    count, product = 0, dice.random()
    while product > math.exp(-mean):
        count, product = count + 1, product * dice.random()
    return count


def regimes(dice, t, x, memory):
    """An autoregression of order 2 whose coefficients, level and noise change now and then."""
    if not t or dice.random() < 1 / 800:
        radius, angle = dice.uniform(0.3, 0.97), dice.uniform(0, math.pi)
        memory["of"] = (2 * radius * math.cos(angle), -radius * radius, dice.uniform(-30, 30), dice.uniform(0.5, 3))
    a, b, level, noise = memory["of"]
    one, two = memory.get("state", (0, 0))
    memory["state"] = (a * one + b * two + noise * dice.gauss(0, 1), one)
    return level + memory["state"][0]


def multiplied(dice, t, x, memory):
    """Trend times season of the day times season of the week, and noise in proportion."""
    day, week = 1 + 0.6 * math.sin(2 * math.pi * t / 24), 0.5 if t // 24 % 7 >= 5 else 1
    return ({"hour": t % 24, "day": t // 24 % 7}, 50 * math.exp(t / 5000) * day * week * math.exp(dice.gauss(0, 0.15)))


def demand(dice, t, x, memory):
    """Mostly nothing is sold; sizes are lognormal; offers help."""
    offer, day = int(dice.random() < 0.1), t % 7
    sold = dice.random() < 0.08 + 0.4 * offer + 0.05 * (day == 5)
    return ({"offer": offer, "day": day, "price": round(10 + dice.gauss(0, 1) - 2 * offer, 2)},
        round(math.exp(dice.gauss(1.5 + 0.5 * offer, 0.8))) if sold else 0)


def sensor(dice, t, x, memory):
    """Warmth that follows power and the day; inputs drop out, the reading sticks, or is -999."""
    power = memory["power"] = dice.choice((0, 1, 2)) if dice.random() < 0.05 else memory.get("power", 1)
    true = 20 + 5 * math.sin(2 * math.pi * t / 144)
    warm = memory["warm"] = 0.95 * memory.get("warm", 20) + 0.05 * (true + 10 * power)
    if memory.get("stuck", 0):
        memory["stuck"] -= 1
    elif dice.random() < 0.003:
        memory["stuck"], memory["at"] = dice.randrange(20, 60), round(warm, 1)
    read = memory["at"] if memory.get("stuck", 0) else round(warm + dice.gauss(0, 0.2), 1)
    out = lambda value: "" if dice.random() < 0.15 else value
    return {"power": out(power), "outside": out(round(true + dice.gauss(0, 0.5), 1))}, -999 if dice.random() < 0.002 else read


def thousands(dice, t, x, memory):
    """Counts of some thousand by hour and day, more spread than Poisson's, and holidays."""
    if t % 24 == 0:
        memory["holiday"] = dice.random() < 0.04
    mean = 3000 * (1 + 0.7 * math.sin(2 * math.pi * (t % 24 - 8) / 24)) * (0.6 if t // 24 % 7 >= 5 or memory["holiday"] else 1)
    return ({"hour": t % 24, "day": "mon tue wed thu fri sat sun".split()[t // 24 % 7], "holiday": int(memory["holiday"])},
        poisson(dice, mean * math.exp(dice.gauss(0, 0.1))))


def queue(dice, t, x, memory):
    """How long customers wait, by Lindley."""
    gap, serve = dice.expovariate(1), dice.expovariate(1 / (0.8 + 0.15 * math.sin(t / 700)))
    wait = memory["wait"] = max(0, memory.get("wait", 0) + memory.get("served", 0) - gap)
    memory["served"] = serve
    return {"gap": round(gap, 3), "people": 1 + dice.randrange(3)}, round(wait, 3)


def tank(dice, t, x, memory):
    """A level that falls by what is used, and is filled again at once."""
    level = memory.get("level", 100) - dice.uniform(0, 1)
    memory["level"] = dice.uniform(80, 100) if level < 10 else level
    return memory["level"] + dice.gauss(0, 0.3)


def prices(dice, t, x, memory):
    """Lognormal, by kind and size, in no order of time."""
    kind = dice.choice("abcdefgh")
    size = math.exp(dice.gauss(4, 0.5))
    return {"kind": kind, "size": round(size, 1)}, round(200 * size * (1 + "abcdefgh".index(kind) / 4) * math.exp(dice.gauss(0, 0.3)))


def used(dice, t, x, memory):
    """Percent, cut off at 0 and at 100."""
    load = memory["load"] = 0.9 * memory.get("load", 0) + dice.gauss(0, 8)
    return max(0, min(100, 85 + load + 10 * x[0]))


def delayed(dice, t, x, memory):
    """What an input said five rows ago."""
    past = memory.setdefault("past", [0] * 5)
    past.append(x[0])
    return 10 * past.pop(0) + dice.gauss(0, 1)


def two_ways(dice, t, x, memory):
    """Either here or there, by nothing that is known."""
    return dice.choice((-10, 10)) + dice.gauss(0, 1)


def long_season(dice, t, x, memory):
    return 20 * math.sin(2 * math.pi * t / 1000) + 8 * math.sin(2 * math.pi * t / 37) + dice.gauss(0, 2)


def announced(dice, t, x, memory):
    """Once in 300 rows an input announces something large."""
    alarm = int(dice.random() < 1 / 300)
    return {"alarm": alarm, "x0": round(x[0], 4)}, 5 + x[0] + 400 * alarm + dice.gauss(0, 1)


def flips(dice, t, x, memory):
    """Signs change every 300 rows."""
    return (10 if t // 300 % 2 else -10) * x[0] + 3 * x[1] + dice.gauss(0, 1)


def crossed(dice, t, x, memory):
    return (10 if x[0] * x[1] > 0 else -10) + dice.gauss(0, 2)


def chaos(dice, t, x, memory):
    """The logistic map, seen with noise."""
    state = memory["state"] = 3.9 * memory.get("state", 0.3) * (1 - memory.get("state", 0.3))
    return 100 * state + dice.gauss(0, 1)


def ticks(dice, t, x, memory):
    """A price in whole cents that mostly stays, and bounces between two sides."""
    if dice.random() < 0.1:
        memory["middle"] = memory.get("middle", 10000) + dice.choice((-1, 1))
    return memory.get("middle", 10000) + (dice.random() < 0.5) * 2


def lazy(dice, t, x, memory):
    """A walk that rests in nine rows of ten."""
    if dice.random() < 0.1:
        memory["level"] = memory.get("level", 0) + dice.gauss(0, 1)
    return memory.get("level", 0)


def cauchy(dice, t, x, memory):
    return math.tan(math.pi * (dice.random() - 0.5))


def pareto(dice, t, x, memory):
    return dice.paretovariate(1.2)


def wandering(dice, t, x, memory):
    """Even noise around a level that moves slowly."""
    memory["level"] = memory.get("level", 0) + dice.gauss(0, 0.01)
    return memory["level"] + dice.uniform(-1, 1)


def against(dice, t, x, memory):
    """Differences of noise: what came last is the wrong way."""
    now, memory["noise"] = memory.get("noise", 0), dice.gauss(0, 1)
    return memory["noise"] - now


def shops(dice, t, x, memory):
    """Ten shops by turns, with levels of their own that wander."""
    levels = memory.setdefault("levels", [dice.uniform(10, 200) for _ in range(10)])
    k = t % 10
    levels[k] *= math.exp(dice.gauss(0, 0.02))
    return {"shop": "s%d" % k}, levels[k] * math.exp(dice.gauss(0, 0.1))


def mixed_shops(dice, t, x, memory):
    """Fifty shops in any order."""
    levels = memory.setdefault("levels", [dice.uniform(10, 200) for _ in range(50)])
    k = dice.randrange(50)
    levels[k] *= math.exp(dice.gauss(0, 0.02))
    return {"shop": "s%d" % k, "open": dice.randrange(2)}, levels[k] * math.exp(dice.gauss(0, 0.1))


def squared(dice, t, x, memory):
    """Parts of a plane, whose sizes are a curve."""
    return (x[0] ** 2 + math.exp(x[1]) + abs(x[2])) * (1 + t / ROWS) + dice.gauss(0, 0.3)


def freezing(dice, t, x, memory):
    """For a quarter of the time nothing moves at all."""
    if t // 1250 % 4 != 1:
        memory["level"] = 0.9 * memory.get("level", 0) + dice.gauss(0, 3) + 5 * x[0]
    return memory["level"]


STEPS = [regimes, multiplied, demand, sensor, thousands, queue, tank, prices, used, delayed, two_ways, long_season, announced,
    flips, crossed, chaos, ticks, lazy, cauchy, pareto, wandering, against, shops, mixed_shops, squared, freezing]


def rows(step, seed):
    import random

    dice, memory = random.Random("%s %d" % (step.__name__, seed)), {}
    for t in range(ROWS):
        x = [dice.gauss(0, 1) for _ in range(3)]
        said = step(dice, t, x, memory)
        inputs, label = said if isinstance(said, tuple) else ({"x%d" % k: round(value, 4) for k, value in enumerate(x)}, said)
        yield {**inputs, "y": "%.7g" % label}


ODD = {"%s%d" % (step.__name__, seed): (lambda step=step, seed=seed: rows(step, seed)) for step in STEPS for seed in (1, 2, 3)}
