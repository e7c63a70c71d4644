#!/usr/bin/env python3
"""usage: tests/cli/predict.py RETAIN [LIBRARY]

Models that are used: the same rows get the same answers from a table, from lines of JSON and of CSV, and
through LIBRARY (libretain.so), whose inputs are compared with what Python's csv reads; data that does not
fit a model is refused with what is wrong. Prints TAP. Works in a folder of its own.
"""
import ctypes
import csv
import io
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

import tap
from tap import verdict

RETAIN = os.path.abspath(sys.argv[1])
LIBRARY = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
N, SLOTS, WORDS = 300, 4, 16
COLUMNS = ["age", "city", "paid", "review", "late"]
SETTINGS = ["model.arch=mlp:16", "run.batch=16", "stream.per_step=10", "stream.eval=none",
            f"schema.slots={SLOTS}", f"schema.words={WORDS}"]


def make_rows():
    draws = random.Random(5)
    for i in range(N):
        age = draws.choice([None, draws.uniform(1, 99), 40, 1e38])
        city = draws.choice(["Rome", "Oslo", 'the "Big", one', "Köln", None, "x%d" % draws.randrange(9)])
        paid = draws.random() < 0.5
        review = draws.choice(["a great phone, but far too small", "It never worked at all, a shame", None])
        late = None if i < 3 else draws.choice([None, draws.gauss(0, 1)])
        label = "yes" if paid and (age or 0) > 30 else "no, never"
        yield dict(zip(COLUMNS, [age, city, paid, review, late]), label=label)


ROWS = list(make_rows())
ROWS[0].update(age=33.5, city="Rome", review="a great phone, but far too small")


def write_csv(path, columns, rows=ROWS):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows([["" if row[c] is None else row[c] for c in columns] for row in rows])


def write_lines(path, make):
    with open(path, "w", encoding="utf-8") as file:
        for i, row in enumerate(ROWS):
            file.write(json.dumps(make(i, row)) + "\n")


def retain(*words, feed=None):
    stdin = open(feed, "rb") if feed else subprocess.DEVNULL
    done = subprocess.run([RETAIN, *words], stdin=stdin, capture_output=True, check=False)
    if feed:
        stdin.close()
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def train(source, out, *settings):
    words = ["run", "--quiet", "--out", out]
    for setting in ["stream.source=" + source, *settings]:
        words += ["--set", setting]
    done = retain(*words)
    if done.returncode:
        sys.exit("run: " + done.stderr)


def answers(*words, feed=None):
    """Predictions and probabilities, whatever the columns before them say."""
    done = retain("predict", *words, feed=feed)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return [row[rows[0].index("prediction"):] for row in rows[1:]], done


def load_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + size].decode())  # a literal that the test's own program wrote
    return header["shape"], data[10 + size:]


def same_answers():
    """One model, six ways to ask it."""
    write_csv("rows.csv", COLUMNS + ["label"])
    write_csv("turned.csv", ["label"] + COLUMNS[::-1])
    write_csv("bare.csv", COLUMNS)
    write_lines("rows.ndjson", lambda i, row: row)
    write_lines("live.ndjson", lambda i, row: {"id": "n%d" % i, "label": row["label"],
                                               "input": {c: row[c] for c in COLUMNS if row[c] is not None}})
    with open("rows.ndjson", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for name, how in ("rows.json", {}), ("wide.json", {"indent": 2}):
        with open(name, "w", encoding="utf-8") as file:
            json.dump(rows, file, **how)
    train("rows.csv", "run", *SETTINGS)
    models = []
    for data in "rows.csv", "rows.json", "wide.json", "rows.ndjson":
        train(data, "as " + data, *SETTINGS)
        with open("as %s/model.safetensors" % data, "rb") as file:
            models.append(file.read())
    verdict(models.count(models[0]) == 4, "a table in JSON, a list or lines, is learned as that in CSV")
    table, done = answers("run", "rows.csv", "--for", "ever")
    verdict(len(table) == N and {row[0] for row in table} == {"yes", "no, never"}, "a table is predicted",
            done.stderr, table[:3])
    verdict("right: " in done.stderr and "of the 300 that have a label" in done.stderr,
            "its labels say how good that is", done.stderr)
    for words, feed in ((["run/model.safetensors", "turned.csv"], None), (["run", "bare.csv"], None),
                        (["run", "rows.ndjson"], None), (["run", "rows.json"], None),
                        (["run", "wide.json"], None), (["run", "live.ndjson"], None), (["run", "-"], "rows.csv"),
                        (["run", "-"], "turned.csv"), (["run", "-"], "live.ndjson"),
                        (["run", "rows.csv", "--threads", "3"], None)):
        got, done = answers(*words, "--for", "ever", feed=feed)
        verdict(got == table, "the same answers: " + " ".join(words[1:] + ([feed] if feed else [])),
                done.stderr, got[:2], table[:2])
    done = retain("predict", "run", "live.ndjson", "--format", "ndjson", "--top", "2", "--probabilities",
                  "--for", "ever")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    good = len(lines) == N and all(
        line["id"] == "n%d" % i and line["prediction"] == row[0] == line["top"][0]["prediction"] and
        len(line["top"]) == 2 and abs(sum(line["probabilities"].values()) - 1) < 1e-5
        for i, (line, row) in enumerate(zip(lines, table)))
    verdict(good, "NDJSON has ids, the best two, and all probabilities", done.stderr, lines[:1])
    done = retain("predict", "run", "rows.csv", "--out", "p.npy", "--for", "ever")
    shape, data = load_npy("p.npy")
    numbers = struct.unpack("<%df" % (shape[0] * shape[1]), data)
    best = [max(numbers[2 * i:2 * i + 2]) for i in range(N)]
    verdict(shape == (N, 2) and all(abs(b - float(row[1])) < 1e-5 for b, row in zip(best, table)),
            "an array of probabilities", done.stderr, shape)


def expected(rows):
    """Numbers and categories as docs/reference/data.md says, from what Python's csv reads."""
    slots, out = [], []
    for row in rows:
        if row["city"] and row["city"] not in slots and len(slots) < SLOTS:
            slots.append(row["city"])
    for row in rows:
        city = [0.0] * SLOTS
        if row["city"] in slots:
            city[slots.index(row["city"])] = 1.0
        out.append([float(row["age"]) if row["age"] else math.nan] + (city if row["city"] in slots or
                   not row["city"] else [None] * SLOTS) + [float(row["paid"] == "True")])
    return out


def floats_are_what_csv_says():
    if not LIBRARY:
        tap.skip("the library's inputs are what Python's csv reads", "no library")
        return
    library = ctypes.CDLL(LIBRARY)
    model, err = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
    if library.retain_model_open(ctypes.byref(model), b"run", err):
        sys.exit("no model: " + err.raw[4:].split(b"\0")[0].decode())
    width = 1 + SLOTS + 1 + WORDS + SLOTS
    with open("rows.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wrong, inputs = [], (ctypes.c_float * (N * width))()
    for i, (row, wanted) in enumerate(zip(rows, expected(rows))):
        one, text = (ctypes.c_float * width)(), json.dumps(row).encode()
        code = library.retain_model_encode(model, text, ctypes.c_size_t(len(text)), one, ctypes.c_size_t(width), err)
        inputs[i * width:(i + 1) * width] = one[:]
        for k, number in enumerate(wanted):
            rounded = None if number is None else struct.unpack("f", struct.pack("f", number))[0]
            beyond = number is None and sum(one[1:1 + SLOTS]) not in (1, 2)
            if code or beyond or (number is not None and one[k] != rounded and not
                                  (math.isnan(one[k]) and math.isnan(rounded))):
                wrong.append((i, k, code, one[k], number))
    verdict(not wrong, "the library's inputs are what Python's csv reads", wrong[:5])
    predictions, probabilities = (ctypes.c_int32 * (2 * N))(), (ctypes.c_float * (2 * N))()
    library.retain_model_predict(model, inputs, ctypes.c_size_t(N * width), predictions, ctypes.c_size_t(N),
                                 probabilities, ctypes.c_size_t(2 * N), err)
    verdict(bytes(probabilities) == load_npy("p.npy")[1], "and its answers those of the command, to the last bit")
    library.retain_model_close(model)


def bad_data_is_named():
    write_csv("short.csv", ["age", "paid", "label"])
    extra = [dict(row, shoe=7, **{"hat, red": 1}) for row in ROWS]
    write_csv("extra.csv", ["shoe"] + COLUMNS + ["hat, red"], extra)
    wrong = [dict(row) for row in ROWS]
    wrong[7]["age"] = "old"
    write_csv("wrong.csv", COLUMNS, wrong)
    with open("wrong.ndjson", "w", encoding="utf-8") as file:
        file.write('{"id": "a", "input": {"age": 3}}\n{"id": "b", "input": {"age": "old"}}\njunk\n[1, 2\n'
                   '{"age": 4}\n')
    with open("wrong.json", "w", encoding="utf-8") as file:
        file.write('\ufeff[ {"age": 3},\n{"age": "old"}, 7,\n{"age": 4}]\n')
    with open("half.json", "w", encoding="utf-8") as file:
        file.write('[{"age": 3}, {"age": 4}')
    with open("wide.csv", "w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n1,Rome,true,x,1\n1,Rome\n2,Oslo,false,y,2\n")
    for words, status, says in (
            (["run", "short.csv"], 2, "has no columns city, review, late, which run needs"),
            (["rows.csv", "run"], 2, "rows.csv: is neither a weights file (.safetensors) nor the folder of a run; MODEL comes "
                                     "first, then DATA: the two are in the wrong order"),
            (["run", "half.json"], 1, "half.json: the list is not JSON"),
            (["run", "nowhere.csv"], 2, "nowhere.csv"), (["nowhere", "rows.csv"], 1, "nowhere"),
            (["run", "rows.csv", "--top", "3"], 2, "--top 3: the model has 2 classes"),
            (["run", "rows.csv", "--format", "xml"], 2, "--format xml: is not one of csv, ndjson, npy"),
            (["run", "rows.csv", "--out", "p.parquet"], 2, "--out p.parquet: its ending is not one of .csv"),
            (["run", "rows.csv", "--for", "tomorrow"], 2, "--for tomorrow: is neither now nor ever"),
            (["run", "rows.csv", "--format", "npy"], 2, "--format npy: needs --out FILE"), (["run"], 2, "are needed")):
        done = retain("predict", *words)
        verdict(done.returncode == status and says in done.stderr, "refused: " + says, done.returncode, done.stderr)
    good = retain("predict", "run", "rows.csv").stdout.splitlines()
    for words, says, bad in (
            (["wrong.csv"], "wrong.csv, row 9, column age: old is not a number", "1 of 300 rows"),
            (["wrong.ndjson"], "wrong.ndjson, line 2: column age: old is not a number", "3 of 5 rows"),
            (["wrong.json"], "wrong.json, object 2: column age: old is not a number", "2 of 4 rows"),
            (["wide.csv"], "wide.csv, row 3: has 2 columns, and row 1 has 5", "1 of 3 rows")):
        done = retain("predict", "run", *words)
        lines = done.stdout.splitlines()
        empty = [i for i, line in enumerate(lines) if line.endswith(",,")]
        verdict(done.returncode == 1 and says in done.stderr and bad + " made no sense" in done.stderr and
                len(lines) == int(bad.split()[2]) + 1 and len(empty) == int(bad.split()[0]),
                "a row that makes no sense keeps its place: " + says, done.returncode, done.stderr, lines)
        if words == ["wrong.csv"]:
            verdict(lines[:8] + lines[9:] == good[:8] + good[9:] and empty == [8], "and all others are answered as ever",
                    lines[:10])
    done = retain("predict", "run", "wrong.ndjson", "--format", "ndjson")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    verdict(["error" in line for line in lines] == [False, True, True, True, False] and lines[1]["id"] == "b" and
            lines[2]["row"] == 3, "lines that make no sense are answered by what is wrong", lines)
    done = retain("predict", "run", "wrong.ndjson")
    verdict(done.stdout.startswith("id,prediction,"), "ids stand in a column that is called so", done.stdout)
    write_csv("one.csv", COLUMNS + ["label"], ROWS[:1])
    done = retain("predict", "run", "one.csv")
    verdict("1 sample predicted" in done.stderr and "of the 1 that has a label" in done.stderr, "one is one", done.stderr)
    done = retain("predict", "run", "wrong.csv", "--out", "wrong.npy")
    shape, data = load_npy("wrong.npy")
    numbers = struct.unpack("<%df" % (shape[0] * shape[1]), data)
    verdict(shape == (N, 2) and [i for i in range(2 * N) if math.isnan(numbers[i])] == [14, 15],
            "in an array such a row is not a number", shape)
    for name, says in (("wrong.csv", "wrong.csv, row 9, column age"), ("wrong.ndjson", "wrong.ndjson, line 2")):
        done = retain("predict", "run", name, "--set", "stream.on_bad=error")
        verdict(done.returncode and says in done.stderr and "changed" not in done.stderr,
                "with stream.on_bad = error the first one ends it: " + name, done.returncode, done.stderr)
    done = retain("predict", "run", "extra.csv")
    verdict(done.returncode == 0 and "does not know columns shoe, hat, red; ignored" in done.stderr,
            "columns that a model does not know are ignored with a word", done.stderr)


def first_lines_of_a_table():
    """What stands before a header, a mark, and rows without one: as `run` reads them, from files and pipes."""
    with open("rows.csv", "rb") as file:
        rows = file.read()
    table, _ = answers("run", "rows.csv", "--for", "ever")
    for name, lead in (("remarks", b"# made by a logger, on a day\n#\n\n  \r\n# age, paid\n"), ("mark", b"\xef\xbb\xbf"),
                       ("both", b"\xef\xbb\xbf# a title\n"), ("ends", b"\r\n# title\r\n")):
        with open(name + ".csv", "wb") as file:
            file.write(lead + rows)
        for words, feed in (([name + ".csv"], None), (["-"], name + ".csv")):
            got, done = answers("run", *words, "--for", "ever", feed=feed)
            verdict(got == table and "of the 300 that have a label" in done.stderr and "warning" not in done.stderr,
                    "lines before a table: %s, %s" % (name, "a pipe" if feed else "a file"), done.stderr, got[:2])
    with open("no-header.csv", "w", encoding="utf-8") as file:
        file.writelines("%s,%s,%s\n" % (i % 7 + 0.5, i % 3, "up" if i % 7 > 3 else "down") for i in range(N))
    train("no-header.csv", "unnamed")
    table, done = answers("unnamed", "no-header.csv")
    verdict(len(table) == N and "warning" not in done.stderr, "a table without a header", done.stderr)
    got, done = answers("unnamed", "-", feed="no-header.csv")
    verdict(got == table and "of the 300 that have a label" in done.stderr, "and through a pipe", done.stderr, got[:2])
    with subprocess.Popen([RETAIN, "predict", "unnamed", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as asked:
        said = []
        for line in (b"# 1,2\n", b"#\n0.5,1\n", b"1.5,1\n2.5"):
            asked.stdin.write(line)
            asked.stdin.flush()
        said.append(asked.stdout.readline() + asked.stdout.readline())
        asked.stdin.write(b",2\n")
        said.append(asked.communicate(timeout=60)[0])
    verdict(said[0].startswith(b"row,prediction") and b"\n1," in said[0] and said[1].splitlines()[-1].startswith(b"3,"),
            "and as its lines come", said)
    # A value that is also a column's name: who knows the model knows that the first line is a header.
    with open("words.csv", "w", encoding="utf-8") as file:
        file.write("color,2019,class\n" + "".join("%s,%s,%s\n" % (("red", 5, "x"), ("blue", 1, "y"))[i % 2]
                                                 for i in range(N)))
    train("words.csv", "words")
    with open("again.csv", "w", encoding="utf-8") as file:
        file.write("color,2019\nred,5\ncolor,1\n")
    for words, feed in ((["again.csv"], None), (["-"], "again.csv")):
        got, done = answers("words", *words, feed=feed)
        verdict([row[0] for row in got] == ["x", "y"], "names of inputs head a table, %s" % ("a pipe" if feed else "a file"),
                got, done.stderr)
    with open("wide-later.csv", "w", encoding="utf-8") as file:
        file.write('# a title\n\n"age,city\n1,Rome\n')
    done = retain("predict", "run", "-", feed="wide-later.csv")
    verdict(done.returncode and "row 3: a quote is never closed" in done.stderr, "rows are counted with them", done.stderr)


def tables_for_a_model_of_lines():
    """Lines have their label beside the input, so their schema knows no name of it."""
    def lines(name, input_of, label_of):
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": i, "input": input_of(i), "label": label_of(i)}) + "\n" for i in range(N))
    lines("beside.ndjson", lambda i: {"x": i % 7, "time": i % 3}, lambda i: "up" if i % 7 > 3 else "down")
    lines("numbered.ndjson", lambda i: {"x": i % 7}, lambda i: int(i % 7 > 3))
    lines("taken.ndjson", lambda i: {"x": i % 7, "label": i % 3}, lambda i: "up" if i % 7 > 3 else "down")
    for name, heading, row, labelled in (
            ("beside", "x,time,label", lambda i: (i % 7, i % 3, "up" if i % 7 > 3 else "down"), True),
            ("beside", "Label,time,x", lambda i: ("up" if i % 7 > 3 else "down", i % 3, i % 7), True),
            ("beside", "x,time", lambda i: (i % 7, i % 3), False),
            ("numbered", "label,x", lambda i: (int(i % 7 > 3), i % 7), True),
            ("numbered", "x", lambda i: (i % 7,), False),
            ("taken", "x,label", lambda i: (i % 7, i % 3), False)):
        if not os.path.exists(name):
            retain("run", "-", "--out", name, "--quiet", feed=name + ".ndjson")
        with open("asked.csv", "w", encoding="utf-8") as file:
            file.write(heading + "\n")
            file.writelines(",".join(map(str, row(i))) + "\n" for i in range(N))
        wanted, _ = answers(name, name + ".ndjson")
        for words, feed in ((["asked.csv"], None), (["-"], "asked.csv")):
            got, done = answers(name, *words, feed=feed)
            verdict(got == wanted and len(got) == N and ("of the 300 that have a label" in done.stderr) == labelled and
                    "warning" not in done.stderr and "not know" not in done.stderr,
                    "a model of %s.ndjson and a table of %s, %s" % (name, heading, "a pipe" if feed else "a file"),
                    done.stderr, got[:2], wanted[:2])


def now_and_ever():
    """Labels that change their meaning: the run's mixture knows, its net not yet."""
    draws, rows = random.Random(8), []
    for i in range(3000):
        x, y = draws.uniform(-1, 1), draws.uniform(-1, 1)
        rows.append({"x": x, "y": y, "label": "up" if (x > 0) != (i >= 1500) else "down"})
    write_csv("flip.csv", ["x", "y", "label"], rows)
    write_csv("late.csv", ["x", "y", "label"], rows[-500:])
    with open("late.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"x": row["x"], "y": row["y"]}) + "\n" for row in rows[-500:])
    train("flip.csv", "flip")
    before = {name: os.stat(os.path.join(at, name)).st_mtime_ns for at, _, names in os.walk("flip") for name in names}

    def right(*words):
        done = retain("predict", *words)
        found = [float(word.split()[0]) for word in done.stderr.split("right: ")[1:]]
        return found[0] if found else -1, done
    now, done = right("flip", "late.csv")
    verdict(now > 95 and "flip answers with its mixture of iteration" in done.stderr, "a folder answers what is now", done.stderr)
    ever, done = right("flip", "late.csv", "--for", "ever")
    weights, _ = right("flip/model.safetensors", "late.csv")
    verdict(now > ever > 0 and ever == weights and "with its net: what is this, ever?" in done.stderr,
            "and with --for ever what its weights say", now, ever, weights, done.stderr)
    table, _ = answers("flip", "late.csv")
    verdict(table == answers("flip", "late.ndjson", "--threads", "3")[0] == answers("flip", "late.csv", "--for", "now")[0],
            "the mixture says the same of lines, on any number of threads")
    after = {name: os.stat(os.path.join(at, name)).st_mtime_ns for at, _, names in os.walk("flip") for name in names}
    verdict(before == after, "nothing in the folder changes", before, after)
    done = retain("predict", "flip/model.safetensors", "late.csv", "--for", "now")
    verdict(done.returncode == 2 and "name the folder of its run" in done.stderr, "weights alone know ever", done.stderr)
    done = retain("eval", "flip", "late.csv", "--part", "all", "--for", "now", "--json")
    verdict(done.returncode == 0 and abs(json.loads(done.stdout)["accuracy"] - now / 100) < 1e-3, "eval asks either, too",
            done.stdout[:200], done.stderr)
    for name in os.listdir("flip/checkpoint"):
        os.remove("flip/checkpoint/" + name)
    gone, done = right("flip", "late.csv")
    verdict(gone == ever and "flip: has no checkpoint" in done.stderr, "without a checkpoint its net answers", done.stderr)
    done = retain("predict", "flip", "late.csv", "--for", "now")
    verdict(done.returncode == 1 and "flip: has no checkpoint" in done.stderr, "and now is refused", done.stderr)
    for name, settings in (("heads", ["run.method=ama+malr+heads"]), ("plain", ["run.method=ama+malr"]),
                           ("byclass", ["run.method=ama+malr+fast", "fast.mix_by=class"])):
        train("flip.csv", name, *settings)
        now, done = right(name, "late.csv", "--for", "now")
        ever, said = right(name, "late.csv", "--for", "ever")
        verdict(now > 0 and ever > 0 and ("with its net" if name == "plain" else "with its mixture") in done.stderr and
                (name != "heads" or "with its net and heads" in said.stderr), "either question of a run by " + name,
                done.stderr, said.stderr)
    with open("flip.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "input": {"x": row["x"], "y": row["y"]}, "label": row["label"]}) + "\n"
                        for i, row in enumerate(rows))
    retain("run", "-", "--out", "live", feed="flip.ndjson")
    got, done = answers("live", "late.ndjson")
    now = sum(row[0] == sample["label"] for row, sample in zip(got, rows[-500:])) / 5
    got, _ = answers("live", "late.ndjson", "--for", "ever")
    ever = sum(row[0] == sample["label"] for row, sample in zip(got, rows[-500:])) / 5
    verdict(now > 95 and now > ever and "live answers with its mixture" in done.stderr, "a live run answers what is now",
            now, ever, done.stderr)


def write_png(path, colour, side=8):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(colour) * side for _ in range(side))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def images_and_arrays():
    draws = random.Random(2)
    for name, colour in (("red", (200, 20, 20)), ("blue", (20, 20, 200))):
        os.makedirs("pictures/" + name)
        for i in range(30):
            write_png("pictures/%s/%d.png" % (name, i), [max(0, c - draws.randrange(20)) for c in colour])
    os.makedirs("flat")
    write_png("flat/a.png", (190, 15, 25))
    write_png("flat/b.png", (5, 15, 190))
    train("pictures", "looks", "stream.order=random", "stream.per_step=4", "stream.eval=none", "image.size=8",
          "image.transform=plain", "model.arch=linear")
    got, done = answers("looks", "flat")
    verdict([row[0] for row in got] == ["red", "blue"], "a folder of images without classes", got, done.stderr)
    got, done = answers("looks", "flat/b.png")
    verdict([row[0] for row in got] == ["blue"], "one image", got, done.stderr)
    verdict(retain("predict", "looks", "flat").stdout.splitlines()[:2][1].startswith("1,a.png,red,"),
            "answers name the files of images")
    done = retain("predict", "looks", "pictures", "--format", "ndjson")
    files = {json.loads(line)["file"] for line in done.stdout.splitlines()}
    verdict(len(files) == 60 and "red/0.png" in files, "and where in a folder they lie", sorted(files)[:3], done.stderr)
    got, done = answers("looks", "pictures")
    verdict(len(got) == 60 and "100.00 %" in done.stderr, "folders of classes", done.stderr)
    os.makedirs("sizes")
    for side, colour in ((9, (190, 15, 25)), (20, (190, 15, 25)), (3, (5, 15, 190))):
        write_png("sizes/%02d.png" % side, colour, side)
    with open("sizes/99.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\nno picture")
    got, done = answers("looks", "sizes")
    verdict(done.returncode == 1 and [row[0] for row in got] == ["blue", "red", "red", ""] and
            "other sizes than 8 x 8 are resized" in done.stderr and "sizes/99.png" in done.stderr,
            "images of other sizes are resized, what is none is named", got, done.stderr)
    done = retain("predict", "looks", "rows.csv")
    verdict(done.returncode == 2 and "looks takes 3 x 8 x 8" in done.stderr, "a table for a model of images", done.stderr)
    points = [[draws.gauss(c, 0.2), draws.gauss(-c, 0.2)] for c in (0, 1) * 40]
    header = str({"descr": "<f4", "fortran_order": False, "shape": (80, 2)}).ljust(117).encode() + b"\n"
    with open("points.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header +
                   b"".join(struct.pack("<2f", *point) for point in points))
    with open("points-labels.npy", "wb") as file:
        labels = header.replace(b"<f4", b"<i4").replace(b"(80, 2)", b"(80,)  ")
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(labels)) + labels + struct.pack("<80i", *(0, 1) * 40))
    train("points.npy", "array", "stream.per_step=4", "stream.eval=none", "model.arch=linear")
    array, done = answers("array", "points.npy")
    verdict(len(array) == 80 and "of the 80 that have a label" in done.stderr, "an array", done.stderr)
    os.rename("points-labels.npy", "hidden")
    got, done = answers("array", "points.npy")
    verdict(got == array and "label" not in done.stderr, "an array without labels", done.stderr)
    with open("points.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(struct.unpack("2f", struct.pack("2f", *point))) + "\n" for point in points)
    got, done = answers("array", "points.ndjson")
    verdict(got == array, "lists of numbers", done.stderr, got[:2], array[:2])
    done = retain("run", "--set", "stream.source=points.npy", "--out", "none")
    verdict(done.returncode == 1 and "points.npy: has no labels beside it" in done.stderr,
            "nothing is learned without labels", done.stderr)


def main():
    os.environ["LC_ALL"] = "C.UTF-8"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        same_answers()
        floats_are_what_csv_says()
        bad_data_is_named()
        first_lines_of_a_table()
        tables_for_a_model_of_lines()
        now_and_ever()
        images_and_arrays()
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
