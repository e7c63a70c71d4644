#!/usr/bin/env python3
"""usage: tests/cli/named.py RETAIN [LIBRARY]

Live lines with named values. The same rows come to the same bits from a table, as NDJSON, as CSV with a
heading and, with LIBRARY (libretain.so), from a program, killed or not; a line that does not fit is
answered with what is wrong, and teaches nothing. Prints TAP. Works in a folder of its own.
"""
import csv
import ctypes
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import tap
from tap import verdict

RETAIN = os.path.abspath(sys.argv[1])
LIBRARY = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
N, STEP = 240, 8
KEYS = {"model.arch": "mlp:16", "run.batch": "16", "run.iterations": "4", "run.seed": "3", "run.method": "ama+malr",
        "schedule.window": "40", "schedule.patience": "80", "schedule.validation_batch": "32",
        "schedule.validate_every": "10", "schedule.rate": "0.05", "schedule.epsilon": "0.02",
        "engine.threads": "1", "schema.slots": "4", "schema.words": "8"}
LIVE = {"stream.source": "stdin", "stdin.per_step": str(STEP), "model.classes": "3"}
COLUMNS = ["age", "city", "paid", "review", "late"]
FLOATS = 1 + 4 + 1 + 8 + 4


def make_rows():
    draws = random.Random(11)
    for i in range(N):
        label = draws.randrange(3)
        yield {"age": None if i % 7 == 3 else round(draws.gauss(40 + 10 * label, 9), 2),
               "city": "Rome" if i == 0 else draws.choice(["Rome", "Oslo", 'a "b", c', None, "x%d" % draws.randrange(6)]),
               "paid": draws.random() < 0.3 * label, "review": "one two three four five six" if i % 2 == 0 else
               draws.choice([None, "five, four", "Two THREE seven"]), "late": None if i < 5 else draws.random()}, label


ROWS = list(make_rows())


def command(folder, settings):
    words = [RETAIN, "run", "--quiet", "--out", folder]
    for key, value in {**KEYS, **settings}.items():
        words += ["--set", f"{key}={value}"]
    return words


def run(folder, settings, feed=None):
    return subprocess.run(command(folder, settings), input=feed, capture_output=True, text=True, check=False)


def weights(folder):
    """The bytes of a model without its metadata, and its schema."""
    with open(folder + "/model.safetensors", "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return data[8 + size:], json.loads(header["__metadata__"]["retain.schema"])


def csv_text(rows, columns=COLUMNS, lead=(), header=True):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow([*lead, *columns] if lead else [*columns, "label"])
    for i, (row, label) in rows:
        cells = ["" if row[c] is None else row[c] for c in columns]
        writer.writerow([i, label, *cells] if lead else [*cells, label])
    return out.getvalue()


def ndjson(rows):
    return "".join(json.dumps({"id": i, "input": row, "label": label}) + "\n" for i, (row, label) in rows)


def same_bits():
    numbered = list(enumerate(ROWS))
    with open("rows.csv", "w", encoding="utf-8") as file:
        file.write(csv_text(numbered))
    done = run("file", {"stream.source": "rows.csv", "stream.eval": "none", "stream.per_step": STEP, "eval.count": 1})
    verdict(done.returncode == 0, "a table", done.stderr)
    want, schema = weights("file")
    done = run("json", LIVE, ndjson(numbered))
    bits, learned = weights("json")
    verdict(bits == want, "the same bits from lines of named values", done.stderr, done.stdout[:300])
    verdict(learned["columns"] == schema["columns"], "and the same schema", learned, schema)
    done = run("csv", {**LIVE, "stdin.format": "csv"}, csv_text(numbered, lead=("id", "label")))
    verdict(weights("csv")[0] == want, "the same bits from CSV with a heading", done.stderr, done.stdout[:300])
    turned = csv_text(numbered[:100], lead=("id", "label")) + \
        csv_text(numbered[100:], columns=COLUMNS[::-1], lead=("id", "label"))
    done = run("turned", {**LIVE, "stdin.format": "csv"}, turned)
    verdict(weights("turned")[0] == want, "a later heading has another order", done.stderr, done.stdout[:300])
    answers = retain_predict("json", "rows.csv")
    verdict(answers == retain_predict("file", "rows.csv") and len(answers.splitlines()) == N + 1,
            "the model of lines answers for the table")
    return want


def retain_predict(model, data):
    done = subprocess.run([RETAIN, "predict", model, data], capture_output=True, text=True, check=False)
    return done.stdout


def cut_in_two(want):
    """It ends in the midst, and begins anew where it was; then it is killed, with lines sent again."""
    numbered = list(enumerate(ROWS))
    run("two", LIVE, ndjson(numbered[:120]))
    words = [RETAIN, "run", "--quiet", "--resume", "two"]
    done = subprocess.run(words, input=ndjson(numbered[120:]), capture_output=True, text=True, check=False)
    verdict(weights("two")[0] == want, "the same bits in two parts", done.stderr)
    process = subprocess.Popen(command("killed", LIVE), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write(ndjson(numbered[:97]))
    process.stdin.flush()
    answered = 0
    while answered < 2 * 90:
        answered += bool(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    done = subprocess.run([RETAIN, "run", "--quiet", "--resume", "killed"], input=ndjson(numbered[80:]),
                          capture_output=True, text=True, check=False)
    verdict(weights("killed")[0] == want, "the same bits after a kill", done.returncode, done.stderr)


def bad_lines(want):
    good = ndjson(list(enumerate(ROWS))).splitlines()
    bad = [('{"id": "a", "input": {"age": "old", "city": "nowhere"}}', "input: column age: old is not a number"),
           ('{"id": "b", "input": {"city": "nowhere", "age": [1]}}', "input: field age: is a list"),
           ('{"id": "c", "input": {"hat": 1}}', "input: has none of the columns age, city"),
           ('{"id": "d", "input": [1, 2]}', "input: must be a table of named values"),
           ('{"id": "e", "input": {"city": "nowhere"}, "label": 7}', "label: 7 is not from 0 to 2"),
           ('{"id": 3, "input": {"city": "nowhere"}}', "id 3 is that of another input")]
    mixed = good[:60] + [line for line, _ in bad] + good[60:]
    done = run("bad", LIVE, "\n".join(mixed) + "\n")
    errors = [json.loads(line)["error"] for line in done.stdout.splitlines() if "error" in line]
    verdict(len(errors) == len(bad) and all(says in error for (_, says), error in zip(bad, sorted(
        errors, key=lambda error: int(error.split(":")[0].split()[1])))), "bad lines are told what is wrong", errors)
    bits, schema = weights("bad")
    verdict(bits == want and "nowhere" not in schema["columns"][1]["values"], "and teach nothing", schema)
    done = run("numbers", {**LIVE, "model.input": "2"}, '{"id": 1, "input": {"a": 1}}\n')
    verdict("has names, and the model takes numbers" in done.stdout, "names where numbers are wanted", done.stdout)
    done = run("given", {**LIVE, "schema.from": "file"}, '{"id": 1, "input": {"paid": true, "city": "Rome"}}\n')
    verdict('"prediction"' in done.stdout, "a schema that is given", done.stdout, done.stderr)
    done = run("off", {**LIVE, "schema.from": "file", "model.scale": "off"},
               '{"id": 1, "input": {"paid": true, "city": "Rome"}}\n')
    verdict("column age is missing, and inputs are not scaled" in done.stdout, "nothing may be missing unscaled",
            done.stdout, done.stderr)


def program(want):
    if not LIBRARY:
        tap.skip("the same bits from a program", "no library")
        return
    retain, err = ctypes.CDLL(LIBRARY), ctypes.create_string_buffer(1024)
    retain.retain_config_new.restype = ctypes.c_void_p
    size = ctypes.c_size_t
    config, learner = ctypes.c_void_p(retain.retain_config_new()), ctypes.c_void_p()
    codes = [retain.retain_config_set(config, key.encode(), value.encode(), err)
             for key, value in {**KEYS, "model.classes": "3", "model.input": str(FLOATS)}.items()]
    for at in range(0, N, STEP):
        if at % 80 == 0:
            retain.retain_learner_close(learner)
            codes.append(retain.retain_learner_open(ctypes.byref(learner), config, b"program", err))
        inputs = (ctypes.c_float * (STEP * FLOATS))()
        for i in range(STEP):
            one, row = (ctypes.c_float * FLOATS)(), json.dumps(ROWS[at + i][0]).encode()
            codes.append(retain.retain_learner_encode(learner, row, size(len(row)), one, size(FLOATS), err))
            inputs[i * FLOATS:(i + 1) * FLOATS] = one[:]
        ticket, said = ctypes.c_uint64(), (ctypes.c_int32 * (2 * STEP))()
        labels = (ctypes.c_int32 * STEP)(*(label for _, label in ROWS[at:at + STEP]))
        codes += [retain.retain_learner_observe(learner, inputs, size(STEP * FLOATS), said, size(STEP),
                                                ctypes.byref(ticket), err),
                  retain.retain_learner_reveal(learner, ticket, labels, size(STEP), err),
                  retain.retain_learner_train(learner, -1, err)]
    bad = retain.retain_learner_encode(learner, b'{"age": "old"}', size(14), one, size(FLOATS), err)
    verdict(bad == -2 and b"retain_learner_encode: column age: old is not a number" in err.raw, "a bad row is named", err.raw[:90])
    retain.retain_learner_close(learner)
    retain.retain_config_free(config)
    verdict(not any(codes) and weights("program")[0] == want, "the same bits from a program", codes[:20], err.raw[:90])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        want = same_bits()
        cut_in_two(want)
        bad_lines(want)
        program(want)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
