"""usage: strangers.py RETAIN
Data of strangers, without settings: what is odd gets a sentence and loses nothing. And what
the derived settings promise: rows held out are not trained on, an average that lags does not
serve, a run with windows that grow goes on to the same bits. Prints TAP.
"""
import csv
import gzip
import json
import os
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import tap
from tap import verdict

RETAIN = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
os.environ["LC_ALL"] = "C"
draws = random.Random(7)


def run(*words, feed=None):
    done = subprocess.run([RETAIN, *words], input=feed, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def table(name, rows):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def rows_of(n, label):
    return [[round(draws.gauss(0, 1), 3), round(draws.gauss(0, 1), 3), label(i)] for i in range(n)]


def told(out):
    return json.loads(out.splitlines()[-1])


def metrics(folder):
    with open(folder + "/metrics.csv", newline="") as file:
        return list(csv.DictReader(file))


def on_a_terminal(*words, typed=""):
    """The lines that a terminal would get, with what was typed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([RETAIN, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=dict(os.environ, TERM="dumb")) as process:
        os.close(theirs)
        os.write(ours, typed.encode() + b"\x04")
        said = b""
        try:
            while more := os.read(ours, 4096):
                said += more
        except OSError:  # the other end is closed
            pass
        os.close(ours)
    return process.returncode, said.decode().replace("\r", "").splitlines()


def eighty_columns():
    table("wide.csv", [["a_column_with_a_long_name", "b", "town", "label"]] +
          [row[:2] + ["Llanfairpwll %d" % (i % 7)] + row[2:] for i, row in enumerate(rows_of(90, lambda i: "xy"[i % 3 == 0]))])
    for name, words, code in (
            ("a run", ["run", "wide.csv", "--out", "runs/wide"], 0),
            ("a folder that is taken", ["run", "wide.csv", "--out", "runs/wide"], 2),
            ("a column that is not there", ["run", "wide.csv", "--label", "a_column_with_a_lng_name"], 2),
            ("a comparison", ["compare", "wide.csv", "--seeds", "1,2"], 0),
            ("its table again", ["compare", "wide.csv", "--seeds", "1,2"], 0),
            ("what is known of data", ["data", "info", "wide.csv"], 0),
            ("the list of architectures", ["model", "archs"], 0),
            ("the list of experiments", ["compare", "--list"], 0),
            ("what a comparison will cost", ["compare", "wide.csv", "--out", "runs/dry", "--dry-run", "--measure", "0.1"], 0),
            ("what weights are", ["model", "info", "runs/wide/model.safetensors"], 0),
            ("a version", ["version", "runs/wide", "make", "monday"], 0),
            ("the versions of a learner", ["version", "runs/wide"], 0),
            ("the bound by simulation", ["theory", "--runs", "100", "--iterations", "300"], (0, 1)),
            ("a run that is killed", ["verify-resume", "--kills", "1", "--set", "stream.source=wide.csv"], 0),
            ("the help of a verb of many words", ["version", "--help"], 0),
            ("the help of a verb with verbs", ["model", "--help"], 0)):
        got, lines = on_a_terminal(*words)
        broad = [line for line in lines if len(line) > 80 and " it/s" not in line]  # no progress of dumb terminals
        verdict(got in (code if isinstance(code, tuple) else (code,)) and lines and not broad, f"{name} fits 80 columns", got, broad or lines)
    code, lines = on_a_terminal("show", "runs/wide")
    verdict(code == 0 and any("accuracy before the label" in line for line in lines) and not any("last 1 000" in line for line in lines),
            "90 rows have no curve of the last 1 000", code, lines)
    code, lines = on_a_terminal("run", "-", "--out", "runs/typed", typed="a,label\n" + "1,x\n2,y\n" * 9)
    verdict(code == 0 and "retain: reads lines that you type; Ctrl-D ends them" in lines,
            "who types lines is told how to end", code, lines)
    out = run("compare", "wide.csv", "--seeds", "1,2")[1]
    verdict(re.search(r"accuracy \(LE\) +retention \(IR\).* cost\n", out), "a pipe gets whole rows", out)
    verdict("\n  late FT         forward transfer, mean of the last quarter" in out, "a table says what its columns are", out)


def picture_of(folder):
    run("report", folder, "--svg", "le")
    with open("le.svg") as file:
        return file.read()


def few_samples():
    """A handful of samples has no share; the latest 1 000 are said where there are more."""
    table("few.csv", [["a", "b", "label"]] + rows_of(150, lambda i: "xy"[i % 3 == 0]))
    out = run("compare", "few.csv", "--seeds", "1", "--methods", "er", "--out", "few")[1]
    cells = dict(zip(re.split(r"  +", out.splitlines()[2].strip()), re.split(r"  +", out.splitlines()[3].strip())[1:]))
    with open("few/er/seed-1/run.json") as file:
        samples = json.load(file)["ft_samples"]
    verdict(0 < samples < 5 and cells["next (FT)"] == "–" != cells["retention (IR)"], "no FT of a handful of samples",
            samples, out)
    code, _, why = run("run", "few.csv", "--out", "handful", "--set", "eval.count=40")
    shares = re.findall(r"retention +([0-9.]+)", why)
    verdict(code == 0 and shares and not {"100.0", "66.7", "33.3"} & set(shares), "no retention of a handful", shares, why)
    said = picture_of("handful")
    verdict("<title>Before the label: all, guess (dotted)</title>" in said and "1 000" not in said and
            "stroke-dasharray=\"7 4\"" not in said, "a picture of 150 rows is not of the last 1 000", said[:400])
    rows = rows_of(1001, lambda i: "xy"[i % 3 == 0])
    for count in 1000, 1001:
        table("thousand.csv", [["a", "b", "label"]] + rows[:count])
        out = run("run", "thousand.csv", "--quiet", "--out", "thousand-%d" % count)[1]
        verdict(("of the last 1 000" in out) == (count > 1000), f"{count} rows and the last 1 000", out)
    said = picture_of("thousand-1001")
    verdict("last 1 000 (thick), all (thin), guess (dotted)" in said and 'stroke-width="0.8"' in said and
            'stroke-dasharray="7 4"' not in said, "dashed is the plain model only", said[:400])


def many_columns():
    """A row of 50 000 columns is a row."""
    with open("broad.csv", "w") as file:
        file.write(",".join("c%d" % i for i in range(50000)) + ",label\n")
        for i in range(24):
            file.write(",".join("%d" % draws.randrange(9) for _ in range(49999)) + ",%d,%s\n" % (i % 2, "xy"[i % 2]))
    code, out, why = run("run", "broad.csv", "--json", "--out", "broad")
    verdict(code == 0 and told(out)["samples"] == 24, "a CSV of 50 000 columns is learned", code, out[-500:], why)
    code, out, why = run("predict", "broad", "broad.csv")
    verdict(code == 0 and len(out.splitlines()) >= 24, "and predicted", code, out[-500:], why)
    shutil.rmtree("broad")  # half a gigabyte


def json_that_is_no_table():
    for name, line in ("inputs.jsonl", {"input": {"a": 1}, "label": 0}), ("deep.jsonl", {"a": {"b": 1}, "label": 0}):
        with open(name, "w") as file:
            file.write((json.dumps(line) + "\n") * 9)
        code, _, why = run("run", name)
        verdict(code == 2 and "which have an id and an input" in why and "run -" not in why,
                f"{name} is refused without advice that fails", code, why)


def words_that_miss_the_verb():
    """Of data, folders and formats: what to say instead."""
    table("shop.csv", [["a", "b", "label"]] + rows_of(40, lambda i: "xy"[i % 2]))
    verdict(run("run", "shop.csv", "--quiet")[0] == 0, "a table is learned")
    with open("frame.parquet", "wb") as file:
        file.write(b"PAR1" + bytes(40))
    for words, says in ((["run", "runs/shop"], "--resume runs/shop"), (["run", "--resume", "nowhere"], "nowhere: holds no run"),
                        (["serve", "shop.csv"], "retain run shop.csv"), (["run", "frame.parquet"], "python -m pyretain run frame.parquet")):
        code, _, why = run(*words)
        verdict(code == 2 and says in why, f"retain {' '.join(words)} says {says}", code, why)


def columns_that_change():
    table("change.csv", [["a", "b", "label"]] + rows_of(50, lambda i: "xy"[i % 2]) +
          [[1, 2, 3, "x"], [1, 2, 3, "y"]])
    code, _, why = run("run", "change.csv")
    verdict(code == 1 and "change.csv, row 52: has 4 columns, and row 1 has 3" in why,
            "a table that changes its columns is told by its row", code, why)
    code, _, why = run("run", "change.csv", "--set", "table.label=nothing")
    verdict(code == 2 and "nothing" in why, "a label column that is not there is named", code, why)


def one_class():
    table("one.csv", [["a", "b", "label"]] + rows_of(120, lambda i: "x"))
    code, out, why = run("run", "one.csv", "--json")
    verdict(code == 0 and told(out)["le"] == 1 and told(out)["ir"] == 1, "a stream of one class is learned",
            code, out, why)


def numbers_that_are_none():
    odd = ["nan", "inf", "-inf", "1e38", "-3e38", "1e300", "", "NA"]
    rows = []
    for i in range(600):
        label = draws.randrange(2)
        clean = round(draws.gauss(3 * label, 1), 3)
        rows.append([draws.choice(odd + [clean] * 8), draws.choice(["1e38", "3e38"]), clean, "xy"[label]])
    table("nan.csv", [["a", "b", "c", "label"]] + rows)
    code, out, why = run("run", "nan.csv", "--json", "--out", "nan")
    verdict(code == 0 and told(out)["le"] > 0.8, "NaN and 1e38 among numbers are survived", code, out, why)


def classes_without_end():
    table("ids.csv", [["a", "b", "label"]] + rows_of(300, lambda i: "user%d" % i))
    code, out, why = run("run", "ids.csv")
    verdict(code == 0 and "300 classes, nearly one for each" in out + why,
            "a class for each row is said to be odd", code, out, why)
    lines = "".join(json.dumps({"id": i, "input": [i, 1], "label": "u%d" % i}) + "\n" for i in range(12))
    code, out, why = run("run", "-", "--set", "model.classes_most=8", "--out", "live-ids", feed=lines)
    answers = [json.loads(line) for line in out.splitlines()]
    verdict(code == 0 and sum("sample" in answer for answer in answers) == 8 and
            sum("as many as model.classes_most allows" in answer.get("error", "") for answer in answers) == 4,
            "labels beyond model.classes_most are refused one by one", code, out, why)


def points(n, decimal="."):
    rows = []
    for _ in range(n):
        label = draws.randrange(2)
        rows.append([("%.3f" % draws.gauss(3 * label, 1.2)).replace(".", decimal),
                     ("%.3f" % draws.gauss(0, 1)).replace(".", decimal), "xy"[label]])
    return rows


def write(name, lines, between=","):
    with open(name, "w") as file:
        file.write("".join(line if isinstance(line, str) else between.join(map(str, line)) + "\n"
                           for line in lines))


def few_odd_cells():
    """One odd cell costs one cell, whatever it is."""
    rows, head = points(400), [["a", "b", "label"]]
    write("clean.csv", head + rows)
    _, out, _ = run("run", "clean.csv", "--json")
    clean = told(out)["le"]
    for odd, says in (("-", ""), ("n.a.", ""), ("#N/A", ""), ("broken", '"broken" in row 18; it counts as missing'),
                      ('"1,2345"', 'odd.csv: column a: 1 cell of 400 is not a number, "1,2345" in row 18')):
        write("odd.csv", head + rows[:16] + [[odd] + rows[16][1:]] + rows[17:])
        code, out, why = run("run", "odd.csv", "--json", "--out", "odd", "--force")
        verdict(code == 0 and told(out)["le"] > clean - 0.01 and says in why and bool(says) == bool(why),
                "a cell %s among numbers costs no more than that" % odd, code, out, why, clean)
    _, out, _ = run("predict", "odd", "odd.csv")
    with open("odd.csv") as file:
        _, piped, why = run("predict", "odd", "-", feed=file.read())
    verdict(out == piped and len(out) > 400, "predict takes it so from a file and from lines", out[:200], piped[:200], why)
    write("twice.csv", ["# two files\n", "\n"] + head + rows[:200] + head + rows[200:])
    code, out, why = run("run", "twice.csv", "--json")
    verdict(code == 0 and told(out)["le"] == clean and "its header comes again in row 204; it is skipped" in why,
            "a header in the midst is skipped", code, out, why)
    write("bars.txt", head + rows, "|")
    code, out, why = run("run", "bars.txt", "--json")
    verdict(code == 0 and told(out)["le"] == clean and not why, "bars part columns, whatever the file's name", code,
            out, why)
    commas = [[cell.replace(".", ",") for cell in row] for row in rows]
    write("commas.csv", head + commas, ";")
    code, out, why = run("run", "commas.csv", "--json", "--out", "commas")
    verdict(code == 0 and told(out)["le"] == clean and "columns" not in out and
            "column a" not in why.replace("columns a and 1 more: numbers have decimal commas", "") and
            "columns a and 1 more: numbers have decimal commas" in why, "decimal commas are read", code, out, why)


def names_of_files():
    rows = [["a", "b", "label"]] + points(60)
    write("zipped.csv", rows)
    with open("zipped.csv", "rb") as file, gzip.open("zipped.tsv.gz", "wb") as zipped:
        zipped.write(file.read().replace(b",", b"\t"))
    code, out, why = run("run", "zipped.tsv.gz", "--json")
    verdict(code == 0 and told(out)["le"] > 0.5, "a gzipped table is one", code, out, why)
    write("lines.ndjson", ['{"id": 1, "input": [1, 2]}\n'])
    code, _, why = run("run", "lines.ndjson")
    verdict(code == 2 and "retain run - < lines.ndjson" in why, "lines of a live stream get their command", code, why)
    for name, words in (("map.json", '{"type": "FeatureCollection", "features": []}'), ("one.jsonl", '{"a": 1}\n'),
                        ("split.json", '{"columns": ["a"], "data": [[1]]}'), ("cut.json", '{"id": 1')):
        write(name, [words])
        code, _, why = run("run", name)
        verdict(code == 2 and "run - <" not in why and "neither a table" in why, "%s gets none that would not help" % name,
                code, why)
    write("blanks.dat", rows, " ")
    code, _, why = run("run", "blanks.dat")
    verdict(code == 2 and "blanks.dat: neither a config" in why and "nor data that retain can read" in why,
            "what is neither config nor table is told so", code, why)
    with open("wide.csv", "wb") as file:
        file.write("".join("%s,%s,%s\n" % tuple(row) for row in rows).encode("utf-16"))
    code, _, why = run("run", "wide.csv")
    verdict(code == 1 and "iconv -f UTF-16 -t UTF-8" in why, "UTF-16 gets the command that helps", code, why)


def what_looks_wrong_is_said():
    """At most five lines before the run; --quiet: what costs accuracy."""
    rows = [["id", "same", "a", "label"]] + [[i, "q", row[0], row[2]] for i, row in enumerate(points(60))]
    table("wrong.csv", rows)
    id_like, constant = "wrong.csv: column id: counts up", "wrong.csv: column same: is always q"
    code, _, why = run("run", "wrong.csv")
    verdict(code == 0 and id_like in why and constant in why, "a run says what looks wrong", code, why)
    code, _, why = run("run", "wrong.csv", "--quiet", "--force")
    verdict(code == 0 and id_like in why and constant not in why, "--quiet leaves out what costs nothing", code, why)
    names = ["id%d" % i for i in range(9)]
    table("wronger.csv", [names + ["label"]] + [[i + k for k in range(9)] + [row[2]] for i, row in enumerate(points(60))])
    code, _, why = run("run", "wronger.csv", "--quiet", "--set", "table.ids=keep")
    verdict(code == 0 and why.count("as an id does") == 5 and "4 more things look odd; see retain data info" in why,
            "no more than five lines", code, why)


def dates_that_are_none():
    table("dates.csv", [["date", "a", "label"]] + [["1/2/20%02d" % (i % 20), row[0], row[2]]
                                                    for i, row in enumerate(points(60))])
    code, _, why = run("run", "dates.csv")
    verdict(code == 0 and "column date is not the time" in why and "--ignore date" in why,
            "a date that may mean two days is an input, not the time", code, why)
    table("gaps.csv", [["date", "a", "label"]] + [["NA" if i == 30 else "2020-01-%02d" % (i % 28 + 1), row[0], row[2]]
                                                   for i, row in enumerate(points(60))])
    code, _, why = run("run", "gaps.csv")
    verdict(code == 0 and "because of row 32: NA is not a date" in why, "a missing time does not end a run", code, why)
    table("words.csv", [["date", "a", "label"]] + [[i % 7 == 0 and 1 or 0, row[0], row[2]] for i, row in enumerate(points(60))])
    code, out, why = run("run", "words.csv")
    verdict(code == 0 and "0 is less than in the row before" in why and "in the order of its rows" in out,
            "numbers that fall are not the time", code, why)
    table("hours.csv", [["timestamp", "a", "label"]] + [["2020-01-%02d %02d:00" % (i // 24 + 1, i % 24), row[0], row[2]]
                                                         for i, row in enumerate(points(60))])
    code, out, why = run("run", "hours.csv")
    verdict(code == 0 and "1 number, 1 time" in out and "in the order of time" in out,
            "a date is the time, and an input", code, why)
    code, _, why = run("run", "dates.csv", "--set", "table.ignore=date", "--quiet", "--force")
    verdict(code == 0 and not why, "an ignored column is not a time", code, why)


def pictures_in_an_array():
    """(N, H, W) and labels beside it: bright above or bright below."""
    count, labels, pixels = 200, [], []
    for _ in range(count):
        labels.append(draws.randrange(2))
        pixels += [draws.gauss(3 * (row // 2 == labels[-1]), 1) for row in range(4) for _ in range(4)]
    for name, kind, shape, data in (("d.npy", "<f4", f"({count}, 4, 4)", struct.pack(f"<{count * 16}f", *pixels)),
                                    ("d-labels.npy", "<i4", f"({count},)", struct.pack(f"<{count}i", *labels))):
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
        head += " " * (117 - len(head)) + "\n"
        with open(name, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
    code, out, why = run("run", "d.npy", "--json")
    verdict(code == 0 and told(out)["le"] > 0.85, "small pictures in an array are learned", code, out, why)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_grey(path, side, pixel):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = b"".join(b"\0" + bytes(pixel(row, column) for column in range(side)) for row in range(side))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def folder_of_pictures(name, side, count):
    """PNG files in two folders: bright above or bright below."""
    dots = random.Random(side)
    for i in range(count):
        write_grey("%s/%s/%d.png" % (name, "ab"[i % 2], i), side,
                   lambda row, _, i=i: dots.randrange(128) + 127 * ((2 * row >= side) == i % 2))


def config_of(folder):
    with open(folder + "/config.ini") as file:
        return file.read().splitlines()


def arch_of(folder):
    return [line.split(" = ")[1].strip() for line in config_of(folder) if line.startswith("arch = ")]


def pictures_in_folders():
    """A few small pictures are learned as they come; the net of large ones is another."""
    folder_of_pictures("small", 12, 120)
    folder_of_pictures("large", 97, 8)
    code, out, why = run("run", "small", "--json", "--out", "small-run")
    verdict(code == 0 and told(out)["le"] > 0.75 and arch_of("small-run")[0].startswith("cnn:"),
            "120 small pictures are learned as they come", code, out, why)
    once = ["--set", "run.iterations=1", "--set", "run.batch=1", "--set", "fast.parts=none"]
    code, _, why = run("run", "small", *once, "--set", "image.size=8", "--out", "smaller-run")
    verdict(code == 0 and "size = 8" in config_of("smaller-run"), "pictures of one size may be seen smaller", code, why)
    code, _, why = run("run", "large", *once, "--out", "few-run")
    verdict(code == 0 and arch_of("few-run")[0].startswith("cnn:") and "size = 32" in config_of("few-run"),
            "a few large pictures are seen small", code, why)
    code, _, why = run("run", "large", *once, "--set", "image.size=97", "--out", "large-run")
    verdict(code == 0 and arch_of("large-run") == ["resnet18"], "those that are seen large have a larger net", code, why)


def gists_of_few_pictures():
    """Which way waves run is seen at a glance; beside a slow net that stays as it is."""
    dots = random.Random(5)
    for i in range(96):
        across, down, shift = (6, 2, -2, -6)[i % 4], (2, 6, 6, 2)[i % 4], dots.randrange(20)
        write_grey("waves/%s/%d.png" % ("abcd"[i % 4], i), 20, lambda row, column, by=(across, down, shift):
                   80 + 4 * abs((by[0] * column + by[1] * row + by[2]) % 20 - 10) + dots.randrange(60))
    told_of = {}
    for heads in "gist", "none":
        code, out, why = run("run", "waves", "--json", "--set", "fast.heads=" + heads, "--out", "waves-" + heads)
        told_of[heads] = told(out) if code == 0 else {"le": 0, "why": why}
    code, out, why = run("run", "waves", "--json", "--out", "waves-run")
    verdict(code == 0 and told(out)["le"] == told_of["gist"]["le"], "few pictures have gists by default", code, out, why)
    verdict(told_of["gist"]["le"] > told_of["none"]["le"] + 0.1, "and are learned sooner by them", told_of)
    nets = []
    for heads in told_of:
        with open("waves-" + heads + "/model.safetensors", "rb") as file:
            nets.append(file.read())
    verdict(nets[0] == nets[1] and told_of["gist"]["le_ever"] == told_of["none"]["le_ever"], "the slow net stays", told_of)
    code, out, why = run("verify-resume", "--kills", "2", "--set", "stream.source=waves")
    verdict(code == 0, "gists, killed and resumed, come to the same bits", code, out, why)


def pictures_that_cannot_be_read():
    """Ten of a small collection, as is said before, each counted once; the eleventh ends the run."""
    folder_of_pictures("album", 8, 183)
    paths = sorted(os.path.join("album", "ab"[i % 2], "%d.png" % i) for i in range(183))
    quick = ["--set", "run.iterations=1", "--set", "fast.parts=none", "--set", "image.size=8"]
    for count in 10, 11:
        for path in draws.sample([path for path in paths if os.path.getsize(path) > 9], count - (count > 10) * 10):
            with open(path, "w") as file:
                file.write("no PNG")
        code, out, why = run("run", "album", *quick, "--set", "replay.holdout=0.5", "--out", "album-%d" % count)
        if count == 10:
            with open("album-10/events.jsonl") as file:
                bad = [json.loads(line) for line in file if '"bad"' in line]
            verdict(code == 0 and "up to 10 of them" in out + why and len(bad) == 10 and
                    len({event["why"] for event in bad}) == 10, "10 unreadable pictures of 183 are left out", code, out, why)
        else:
            verdict(code == 1 and "more than the 10 that stream.max_bad" in why, "11 are too many", code, out, why)


def pictures_without_classes():
    os.mkdir("flat")
    for i in range(3):
        with open("flat/%d.jpg" % i, "w") as file:
            file.write("no picture")
    code, _, why = run("run", "flat")
    verdict(code == 2 and "flat: holds pictures, and nothing says of which classes" in why,
            "a folder of pictures without classes is told what is missing", code, why)


def another_schema():
    table("other.csv", [["c", "label"], [1, "x"]])
    code, out, why = run("predict", "nan", "other.csv")
    verdict(code == 2 and not out and "has no columns a, b, which nan needs" in why,
            "a model of another schema says what it needs", code, out, why)


def held_rows_are_not_trained_on():
    """Labels that only memory can know: of rows that were trained on it knows nearly all."""
    rows = [[round(draws.gauss(0, 1), 3) for _ in range(40)] + [draws.choice("xy")] for _ in range(300)]
    table("memory.csv", [["x%d" % i for i in range(40)] + ["label"]] + rows)
    code, out, why = run("run", "memory.csv", "--json", "--out", "memory", "--set", "replay.holdout=0.3",
                         "--set", "run.step_epochs=320")
    verdict(code == 0 and told(out)["ir"] < 0.7, "rows that are held out are not known", code, out, why)
    code, _, why = run("predict", "memory", "memory.csv", "--for", "ever")
    share = float(why.split("right: ")[1].split(" ")[0]) if "right: " in why else 0
    verdict(code == 0 and share > 75, "the others are", code, why)


def averages_that_lag_do_not_serve():
    own = random.Random(11)  # few samples measure it: others of them may be right by chance
    points = [(round(own.gauss(0, 1), 3), round(own.gauss(0, 1), 3)) for _ in range(400)]
    table("lag.csv", [["a", "b", "label"]] + [[a, b, "xy"[a > 0]] for a, b in points])
    early = {}
    for serve in ("best", "average"):
        code, out, why = run("run", "lag.csv", "--method", "ama+malr", "--set", "average.serve=" + serve,
                             "--set", "eval.count=50", "--out", serve)
        early[serve] = metrics(serve)[:2] if code == 0 else [{"ft": why, "ft_sgd": out}]
    verdict(all(row["ft"] == row["ft_sgd"] for row in early["best"]), "before it is validated the plain model serves",
            early["best"])
    verdict(any(row["ft"] != row["ft_sgd"] for row in early["average"]), "unless the average is asked for",
            early["average"])


def windows_that_grow_resume():
    words = ["verify-resume", "--kills", "3", "--method", "ama+malr", "--set", "stream.source=table:lag.csv",
             "--set", "run.step_epochs=320"]
    code, out, why = run(*words)
    verdict(code == 0, "a run with windows that grow, killed and resumed, comes to the same bits", code, out, why)


eighty_columns()
few_samples()
many_columns()
json_that_is_no_table()
words_that_miss_the_verb()
columns_that_change()
one_class()
numbers_that_are_none()
classes_without_end()
few_odd_cells()
names_of_files()
what_looks_wrong_is_said()
dates_that_are_none()
pictures_in_an_array()
pictures_in_folders()
gists_of_few_pictures()
pictures_that_cannot_be_read()
pictures_without_classes()
another_schema()
held_rows_are_not_trained_on()
averages_that_lag_do_not_serve()
windows_that_grow_resume()
sys.exit(tap.plan())
