"""More streams of bench/against-streams, by name: drift of several kinds, noise, classes that come late or are rare, rows that
come again or lie class by class. Made to check defaults that were chosen before."""

import datetime
import math
import random

ROWS = 2500


def numbers(draw, count):
    return {"x%d" % i: round(draw.gauss(0, 1), 3) for i in range(count)}


def tree(draw, inputs, depth, classes):
    """A tree that splits normal numbers at random, as a function of a row."""
    def grow(left):
        if not left:
            return draw.randrange(classes)
        return draw.randrange(inputs), draw.gauss(0, 0.6), grow(left - 1), grow(left - 1)
    top = grow(depth)

    def label(row):
        at = top
        while isinstance(at, tuple):
            at = at[2] if row["x%d" % at[0]] < at[1] else at[3]
        return "c%d" % at
    return label


def trees(seed, inputs, depth, count, which):
    """One of `count` trees decides, by the row's number."""
    def rows():
        draw = random.Random(seed)
        of = [tree(draw, inputs, depth, 3) for _ in range(count)]
        for i in range(ROWS):
            row = numbers(draw, inputs)
            yield row, of[which(i)](row)
    return rows


def clusters(seed, classes, inputs, spread, count, most=lambda i: 10 ** 9):
    def rows():
        draw = random.Random(seed)
        centres = [[draw.gauss(0, spread) for _ in range(inputs)] for _ in range(classes)]
        for i in range(count):
            label = draw.randrange(min(classes, most(i)))
            yield {"x%d" % j: round(draw.gauss(c, 1), 3) for j, c in enumerate(centres[label])}, "k%d" % label
    return rows


def gradual():
    """One line gives way to another."""
    draw = random.Random(102)
    lines = [[draw.gauss(0, 1) for _ in range(6)] for _ in range(2)]
    for i in range(ROWS):
        row, line = numbers(draw, 6), lines[draw.random() < i / ROWS]
        yield row, "pos" if sum(a * b for a, b in zip(line, row.values())) + draw.gauss(0, 0.3) > 0 else "neg"


def noisy_labels():
    """Half of the labels are drawn."""
    draw = random.Random(104)
    for _ in range(ROWS):
        row = numbers(draw, 4)
        label = "ab"[row["x0"] * row["x1"] + 0.5 * row["x2"] > 0]
        yield row, draw.choice("ab") if draw.random() < 0.5 else label


def rare():
    """One row in two hundred."""
    draw = random.Random(106)
    for _ in range(4000):
        bad = draw.random() < 0.005
        yield {"x%d" % j: round(draw.gauss(1.5 if bad and j < 3 else 0, 1), 3) for j in range(7)}, "bad" if bad else "good"


def mixed_kinds():
    """A ticket, a date, a shop, a channel, two numbers and a note; a tenth of what matters is missing."""
    draw = random.Random(107)
    words, effect = ["w%d" % i for i in range(500)], {k: draw.gauss(0, 1.5) for k in range(40)}
    for i in range(ROWS):
        when = datetime.datetime(2022, 1, 3) + datetime.timedelta(minutes=53 * i)
        shop, a, b, channel = draw.randrange(40), *numbers(draw, 2).values(), draw.choice(["web", "shop", "phone"])
        sum_of = effect[shop] + a - 0.7 * b + 1.2 * (when.weekday() >= 5) + 0.8 * (channel == "web") - 0.5
        label = "buy" if sum_of + draw.gauss(0, 0.7) > 0 else "leave"
        ticket = "T%06d" % draw.randrange(10 ** 6)
        shop, channel, a, b = ("" if draw.random() < 0.1 else v for v in ("shop%02d" % shop, channel, a, b))
        yield {"ticket": ticket, "when": when.strftime("%d.%m.%Y %H:%M"), "shop": shop, "channel": channel, "a": a, "b": b,
            "note": " ".join(draw.choices(words, k=6))}, label


def much_noise():
    """Five numbers matter, a hundred do not."""
    draw = random.Random(109)
    line = [draw.gauss(0, 1) for _ in range(5)]
    for _ in range(ROWS):
        row = numbers(draw, 105)
        total = sum(w * row["x%d" % i] for i, w in enumerate(line)) + row["x0"] * row["x1"]
        yield row, "u" if total > 0.8 else "v" if total > -0.8 else "w"


def again():
    """Rows come up to six times in a row, and three in ten come back later."""
    draw = random.Random(110)
    label, old, made = tree(draw, 5, 4, 4), [], 0
    while made < ROWS:
        row = numbers(draw, 5)
        if old and draw.random() < 0.3:
            pair = draw.choice(old)
        else:
            pair = row, label(row) if draw.random() < 0.85 else "c%d" % draw.randrange(4)
            old.append(pair)
        for _ in range(min(draw.choice([1, 1, 2, 3, 6]), ROWS - made)):
            made += 1
            yield pair


def turning():
    """Quadrants that turn around three times."""
    draw = random.Random(112)
    for i in range(ROWS):
        angle, x, y = 2 * math.pi * i / 800, draw.gauss(0, 1), draw.gauss(0, 1)
        c, s = math.cos(angle), math.sin(angle)
        label = (x * c + y * s > 0) + 2 * (y * c - x * s > 0)
        yield {"x": round(x, 3), "y": round(y, 3), "z": round(draw.gauss(0, 1), 3)}, "q%d" % label


def machine():
    """Four states in a ring; inputs say something about each."""
    draw, at = random.Random(113), 0
    for _ in range(ROWS):
        at = (at + 1) % 4 if draw.random() < 0.3 else at
        yield {"x": round(draw.gauss(at % 2, 1), 3), "y": round(draw.gauss(at // 2, 1), 3), "z": draw.choice("mnop")}, "st%d" % at


ODD = {
    "abrupt trees": trees(101, 8, 4, 4, lambda i: 4 * i // ROWS),
    "gradual": gradual,
    "recurring": trees(103, 5, 3, 3, lambda i: i // 300 % 3),
    "noisy labels": noisy_labels,
    "births": clusters(105, 10, 6, 1.6, ROWS, lambda i: 1 + i // 220),
    "1 in 200": rare,
    "mixed kinds": mixed_kinds,
    "200 rows": clusters(108, 3, 8, 1, 200),
    "much noise": much_noise,
    "again": again,
    "class by class": lambda: iter(sorted(clusters(111, 6, 5, 1.2, 1800)(), key=lambda pair: pair[1])),
    "turning": turning,
    "machine": machine,
}
