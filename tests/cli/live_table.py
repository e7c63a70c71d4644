#!/usr/bin/env python3
"""usage: tests/cli/live_table.py RETAIN

Rows of a table through a pipe, `cat clicks.csv | retain run -`: nothing is set. The kind of lines is found out, columns
have names, the label is found, rows are numbered, and a run that is killed goes on. Prints TAP. Works in a folder
of its own.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import tap
from producer import PATIENCE, RETAIN, file_of
from tap import verdict

CITIES = ["Rome", "Oslo", "Lima"]
CLASSES = ["UP", "DOWN", "flat"]


def rows_of(count, seed=1):
    draws = random.Random(seed)
    rows = []
    for _ in range(count):
        label = draws.randrange(3)
        rows.append(["%.3f" % (label * 2 + draws.gauss(0, 0.5)), "%.3f" % draws.gauss(-label, 0.5),
                     CITIES[(label + draws.randrange(2)) % 3], CLASSES[label]])
    return rows


def text_of(rows, heading=("x", "y", "city", "class"), separator=",", end="\n"):
    return "".join(separator.join(row) + end for row in ([list(heading)] if heading else []) + rows)


def run(folder, text, *settings, resume=False, data="-"):
    words = [RETAIN, "run", "--quiet"]
    words += ["--resume", folder] if resume else [data, "--out", folder]
    for setting in settings:
        words += ["--set", setting]
    done = subprocess.run(words, input=text.encode(), capture_output=True, timeout=PATIENCE, check=False)
    lines = done.stdout.decode().splitlines() if data == "-" else []
    return done.returncode, [json.loads(line) for line in lines], done.stderr.decode() + done.stdout.decode() * (data != "-")


def right(answers, rows):
    """The share of rows that were known before their label, of the second half."""
    said = {answer["id"]: answer["prediction"] for answer in answers if "prediction" in answer}
    half = range(len(rows) // 2, len(rows))
    return sum(said[i + 1] == rows[i][-1] for i in half) / len(half)


def last_of(folder):
    """The last row of metrics.csv."""
    return list(csv.DictReader(file_of(folder, "metrics.csv").decode().splitlines()))[-1]


def errors_of(answers):
    return [answer["error"] for answer in answers if "error" in answer]


def nothing_set():
    rows = rows_of(400)
    code, answers, said = run("plain", text_of(rows))
    verdict(code == 0 and len(answers) == 800 and not errors_of(answers), "a table through a pipe needs no setting",
            said, answers[:4])
    verdict([answer["id"] for answer in answers if "label" in answer] == list(range(1, 401)), "rows are numbered",
            answers[:4])
    verdict(right(answers, rows) > 0.9, "and learned", right(answers, rows))
    schema = json.loads(file_of("plain", "schema.json"))
    kinds = {column["name"]: column["kind"] for column in schema["columns"]}
    verdict(kinds == {"x": "number", "y": "number", "city": "category"} and schema["label"] == "class",
            "its columns are found", schema)

    with open("rows.csv", "w", encoding="utf-8") as file:
        file.write(text_of(rows))
    code, _, said = run("file", "", data="rows.csv")
    from_file, from_pipe = (float(last_of(folder)["le"]) for folder in ("file", "plain"))
    verdict(code == 0 and abs(from_file - from_pipe) < 0.03, "as well as from a file", from_file, from_pipe, said)
    tomorrow = text_of([row[:-1] for row in rows], ("x", "y", "city"))
    with open("tomorrow.csv", "w", encoding="utf-8") as file:
        file.write(tomorrow)
    done = subprocess.run([RETAIN, "predict", "plain/model.safetensors", "tomorrow.csv"], capture_output=True,
                          timeout=PATIENCE, check=False)
    verdict(done.returncode == 0 and done.stdout.count(b"UP") > 50, "the model knows its columns and classes",
            done.stderr, done.stdout[:200])


def shapes():
    """Separators, marks, line ends, no heading, label elsewhere, times and keys."""
    rows = rows_of(120)
    want = right(run("comma", text_of(rows))[1], rows)
    for name, text in {
            "tabs": text_of(rows, separator="\t"),
            "semicolons and CR LF": text_of(rows, separator=";", end="\r\n"),
            "a mark of UTF-8 and blank lines": "\ufeff" + text_of(rows).replace("\n", "\n\n", 30),
            "no newline at the end": text_of(rows)[:-1],
            "decimal commas": text_of([[row[0].replace(".", ","), row[1].replace(".", ","), *row[2:]] for row in rows],
                                      separator=";"),
            "units": text_of([["$" + row[0], row[1] + " %", *row[2:]] for row in rows]),
            "quotes": text_of([[f'"{cell}"' for cell in row] for row in rows])}.items():
        code, answers, said = run(name, text)
        verdict(code == 0 and not errors_of(answers) and right(answers, rows) == want, name, said, answers[:3])
    code, answers, said = run("headless", text_of(rows, None))
    verdict(code == 0 and not errors_of(answers) and right(answers, rows) == want,
            "without a heading the label is the last column", said, answers[:3])
    code, answers, said = run("headless", text_of(rows_of(5, 2), None), resume=True)
    verdict(code == 0 and [answer["id"] for answer in answers if "label" in answer] == list(range(121, 126)),
            "and so it is when the stream goes on", said, answers[:3])
    done = subprocess.run([RETAIN, "run", "--resume", "quotes"], input=b"", capture_output=True, timeout=PATIENCE, check=False)
    verdict(done.returncode == 0 and b"a table: 2 numbers, 1 category, label \"class\"" in done.stderr,
            "which says what its columns are", done.stderr)
    moved = [[row[3], "2024-01-%02d" % (i % 28 + 1), row[2], row[1], row[0]] for i, row in enumerate(rows)]
    code, answers, said = run("moved", text_of(moved, ("label", "date", "city", "y", "x")))
    names = [column["name"] for column in json.loads(file_of("moved", "schema.json"))["columns"]]
    verdict(code == 0 and not errors_of(answers) and names == ["date", "city", "y", "x"],
            "a label is found by its name, a date is an input", said, names)
    code, answers, said = run("keyed", text_of(rows), "table.label=city", "table.ignore=class")
    schema = json.loads(file_of("keyed", "schema.json"))
    verdict(code == 0 and schema["label"] == "city" and len(schema["columns"]) == 2, "keys of tables hold", said, schema)
    code, answers, said = run("wrong", text_of(rows), "table.label=clas")
    verdict(code != 0 and "has no column clas, which table.label (--label) names; did you mean class?" in said and
            not errors_of(answers), "a key that fits no column ends the run", said, answers[:2])


def ids():
    """A column of ids: labels may come later, and what is sent again is answered again."""
    rows = rows_of(60)
    lines = [["k%d" % i] + row[:3] + [""] for i, row in enumerate(rows)]
    lines += [["k%d" % i, "", "", "", row[3]] for i, row in enumerate(rows)]
    text = text_of(lines, ("id", "x", "y", "city", "class"))
    code, answers, said = run("ids", text)
    verdict(code == 0 and not errors_of(answers) and sum("sample" in answer for answer in answers) == 60,
            "labels may come later, by their ids", said, answers[:2])
    code, again, said = run("ids", text, resume=True)
    verdict(code == 0 and not errors_of(again) and sorted(map(str, again)) == sorted(map(str, answers)),
            "what is sent again is answered again", said, again[:2])
    code, answers, said = run("ids", text_of([["z", "1", "Oslo", "0.5", "UP"], ["k3", "DOWN?"]],
                                             ("id", "y", "city", "x", "class")), resume=True)
    verdict(code == 0 and answers[0]["id"] == "z" and answers[1] == {"id": "z", "label": "UP", "sample": 60} and
            errors_of(answers) == ["line 3: input: column y: DOWN? is not a number"], "a heading gives a new order", said,
            answers)


def refused():
    """Rows that do not fit are answered with what is wrong, and nothing else is lost."""
    rows = rows_of(40)
    bad = {3: ["1", "2", "Rome"], 7: ["1", "2", "Rome", "UP", "5"], 11: ["one", "2", "Rome", "UP"],
           15: ['"1', "2", "Rome", "UP"]}
    lines = [bad.get(i, row) for i, row in enumerate(rows)]
    code, answers, said = run("refused", text_of(lines))
    verdict(code == 0 and errors_of(answers) == [
        "line 5: has 3 columns, the heading has 4", "line 9: has 5 columns, the heading has 4",
        "line 13: input: column x: one is not a number", "line 17: a quote is never closed"],
        "rows that do not fit are refused by name", said, errors_of(answers))
    verdict([answer["sample"] for answer in answers if "sample" in answer] == list(range(36)),
            "and the others are taken", answers[-1])
    code, answers, said = run("unlabelled", text_of([row[:3] + [""] * (i > 20) + row[3:] * (i <= 20)
                                                     for i, row in enumerate(rows)]))
    verdict(code == 0 and sum("prediction" in answer for answer in answers) == 40 and
            sum("sample" in answer for answer in answers) == 21, "rows without a label are predicted", said)
    code, answers, said = run("words", "hello\nworld\n")
    verdict(code != 0 and len(errors_of(answers)) == 2 and "line 1: is neither a JSON object nor a row of a table" in
            errors_of(answers)[0], "words are neither", said, answers)
    code, answers, said = run("late", "made by hand\n" + text_of(rows))
    verdict(code == 0 and len(errors_of(answers)) == 1 and sum("sample" in answer for answer in answers) == 40,
            "a table may come after a line that is none", said, answers[:2])
    code, answers, said = run("numbers", text_of([["1"] * 4] * 3, ("a", "b", "c", "class")), "model.classes=2",
                              "model.input=3")
    verdict(code == 0 and all("rows of a table come as inputs that have names" in error for error in errors_of(answers))
            and errors_of(answers), "model.input as a number does not go with names", said, answers[:2])


def harmless():
    """A line that is refused, or is no heading though it has a name in it, changes nothing for those that follow."""
    rows = [[row[0], row[1], row[3]] for row in rows_of(60)]
    good, heading = text_of(rows[:30], ("a", "b", "class")), text_of(rows[30:], None)
    want = run("a good table", good + heading)[1]
    for name, line in {"names a column twice": "a,a,class\n", "lacks a column": "a,class\n", "names another twice": "a,b,b\n"}.items():
        code, answers, said = run(name, good + line + heading)
        kept = [answer for answer in answers if "error" not in answer]
        verdict(code == 0 and [answer.get("prediction", answer.get("label")) for answer in kept][:118] ==
                [answer.get("prediction", answer.get("label")) for answer in want][:118] and
                sum("sample" in answer for answer in kept) == 60, "a heading that %s changes nothing" % name, said,
                errors_of(answers))
        code, answers, said = run(name, heading, resume=True)
        verdict(code == 0 and not errors_of(answers) and len(answers) == 60, "and the stream goes on after it", said,
                errors_of(answers)[:2])
    for name, line in {"an object without an input": '{"id": 1}\n', "half an object": "{\n", "a list": "[1, 2]\n"}.items():
        code, answers, said = run(name, line + good + heading)
        verdict(code == 0 and [answer for answer in answers if "error" not in answer] == want,
                "%s before a table does not make it JSON" % name, said, errors_of(answers)[:2])
        run(name + " later", good)
        code, answers, said = run(name + " later", line + heading, resume=True)
        verdict(code == 0 and [answer for answer in answers if "error" not in answer] == want[60:],
                "nor when the stream goes on", said, errors_of(answers)[:2])
    spam = [[row[0], "spam" if row[2] == "UP" else "ham"] for row in rows]
    code, answers, said = run("spam", text_of(spam, ("spam", "class")))
    verdict(code == 0 and sum("sample" in answer for answer in answers) == 60, "a label may be called as a column", said,
            errors_of(answers)[:2])
    ones = [[str(i % 3), "UP" if i % 3 == 1 else "DOWN"] for i in range(30)]
    code, answers, said = run("ones", text_of(ones, None))
    verdict(code == 0 and sum("sample" in answer for answer in answers) == 30,
            "without names a number is no name of a column", said, errors_of(answers)[:2])

    fields = ["%d,%s,%s,%s\n" % (i, row[2], row[0], row[1]) for i, row in enumerate(rows)]
    text = "id,label,a,b\n" + "".join(fields[:30])
    want = run("csv", text + "".join(fields[30:]), "stdin.format=csv")[1]
    code, answers, said = run("csv bad", text + "id,label,a,a\n" + "".join(fields[30:]), "stdin.format=csv")
    verdict(code == 0 and errors_of(answers) == ["line 32: the heading has no column b"] and
            [answer for answer in answers if "error" not in answer] == want, "a refused heading of CSV changes nothing",
            said, errors_of(answers))


def moved_away():
    """A folder that is moved gets no file under its old name."""
    rows = rows_of(20)
    with subprocess.Popen([RETAIN, "run", "-", "--quiet", "--out", "here"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(text_of(rows).encode())
        process.stdin.flush()
        for _ in range(40):
            process.stdout.readline()
        os.rename("here", "there")
        os.mkdir("here")
        process.stdin.write(b"1,2,Tokyo,UP\n")
        process.stdin.flush()
        said = process.communicate(timeout=PATIENCE)[1].decode()
    verdict(process.returncode != 0 and "was moved or removed" in said and not os.listdir("here"),
            "a folder that was moved gets no schema under its old name", said, os.listdir("here"))


def widths():
    """Lines of many columns, and headings and rows that are wider than all before."""
    rows = [[str(i % 5)] * 200 + ["UP" if i % 5 > 2 else "DOWN"] for i in range(60)]
    names = ["c%d" % i for i in range(200)] + ["class"]
    text = text_of(rows, names) + ",".join(["1"] * 900) + "\n" + ",".join(["1"] * 2000) + "\n"
    wide = ["z%d" % i for i in range(800)] + names
    text += text_of([["7"] * 800 + row for row in rows], wide)
    code, answers, said = run("widths", text)
    verdict(code == 0 and errors_of(answers) == ["line 62: has 900 columns, the heading has 201",
                                                 "line 63: has 2000 columns, the heading has 201"] and
            sum("sample" in answer for answer in answers) == 120, "lines are as wide as they come", said, errors_of(answers))
    code, answers, said = run("widths", text_of([["7"] * 800 + row for row in rows], None), resume=True)
    verdict(code == 0 and not errors_of(answers) and sum("sample" in answer for answer in answers) == 60,
            "also when the stream goes on", said, errors_of(answers)[:2])


def pieces():
    """A stream that ends and goes on, with and without its heading, comes to the same as in one go."""
    rows = rows_of(300, 5)
    _, straight, _ = run("straight", text_of(rows))
    _, answers, _ = run("pieces", text_of(rows[:70]))
    answers += run("pieces", text_of(rows[70:150], None), resume=True)[1]
    answers += run("pieces", text_of(rows[150:]), resume=True)[1]
    verdict(answers == straight, "three pieces are answered as one stream", answers[140:142], straight[140:142])
    verdict(file_of("pieces", "model.safetensors") == file_of("straight", "model.safetensors"),
            "and come to the same model")


def comments():
    """Lines before a table are passed over, as those of a file are; a header that begins with # is not one of them."""
    rows = rows_of(60, 7)
    _, plain, _ = run("bare", text_of(rows))
    for i, lead in enumerate(["# made by us\n", "\ufeff# made by us, 2024\n", "# made by us, 2024\n#\n", "# one, two, three, four\n"]):
        code, answers, said = run("comments%d" % i, lead + text_of(rows))
        verdict(code == 0 and answers == plain, "a table may begin with %r" % lead, said, answers[:2])
    code, answers, said = run("hash", text_of(rows, ("#x", "y", "city", "class")))
    verdict(code == 0 and answers == plain, "and so may its header", said, answers[:2])

    for lead in ("", "# made, by, us, too\n"):
        with subprocess.Popen([RETAIN, "run", "-", "--quiet", "--force", "--out", "waits"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            answers = []
            for line in (lead + text_of(rows[:3], ("#x" if not lead else "x", "y", "city", "class"))).splitlines(True):
                process.stdin.write(line.encode())
                process.stdin.flush()
                if line[0] not in "#x":
                    answers += [json.loads(process.stdout.readline()) for _ in range(2)]
            process.stdin.close()
        verdict(answers == plain[:6], "who waits for answers gets them after %r" % (lead or "#x,y,city,class"), answers)


def killed():
    """Killed while it answers: what was acknowledged is there, and rows are numbered on."""
    rows = rows_of(2000, 6)
    with subprocess.Popen([RETAIN, "run", "-", "--quiet", "--out", "killed"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(text_of(rows).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(200)]
        process.kill()
        answers += [json.loads(line) for line in process.stdout if line.endswith(b"\n")]
    sent = max(answer["id"] for answer in answers if "sample" in answer)
    code, more, said = run("killed", text_of(rows[sent:], None), resume=True)
    numbers = [answer["id"] for answer in more if "prediction" in answer]
    verdict(code == 0 and not errors_of(more) and numbers[0] > sent and
            numbers == list(range(numbers[0], numbers[0] + len(rows) - sent)), "rows are numbered on after a kill",
            said, sent, numbers[:2], errors_of(more)[:2])
    samples = [answer["sample"] for answer in answers + more if "sample" in answer]
    verdict(len(set(samples)) == len(samples) == len(rows), "each row became one sample", len(samples))
    run("at once", text_of(rows[:20]))
    for name in os.listdir("at once/checkpoint"):
        os.remove("at once/checkpoint/" + name)
    os.truncate("at once/journal/data.mdb", 0)  # as a kill leaves it before the journal's first transaction
    code, answers, said = run("at once", text_of(rows[:20]), resume=True)
    verdict(code == 0 and sum("sample" in answer for answer in answers) == 20, "killed at once, it begins", said, answers[:2])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (nothing_set, shapes, ids, refused, harmless, moved_away, widths, pieces, comments, killed):
            part()
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
