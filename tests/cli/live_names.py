#!/usr/bin/env python3
"""usage: tests/cli/live_names.py RETAIN

Live streams that are told neither their classes nor their inputs: classes come with their labels, as
numbers or by name, and the first input says what inputs are. Prints TAP. Works in a folder of its own.
"""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import tap
from producer import PATIENCE, RETAIN, command, file_of, lines_of, printed, rows_of, straight
from tap import verdict

AUTO = ["model.classes=auto", "model.input=auto"]
NAMES = ["yes", "no", "n\u00f6 \"quoted\", so", "3 times", "maybe"]


def named(lines):
    return [dict(line, label=NAMES[line["label"]]) if "label" in line else line for line in lines]


def classes_of(folder):
    return [one.get("name", one["label"]) for one in json.loads(file_of(folder, "classes.json"))["classes"]]


def errors_of(answers):
    return [answer["error"] for answer in answers if "error" in answer]


def nothing_set():
    """Not one setting: fields and classes with names."""
    lines = [dict(line, input=dict(zip("abcd", line["input"]))) for line in named(lines_of(60, 0))]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([RETAIN, "run", "-", "--quiet", "--out", "plain"], input=text.encode(),
                          capture_output=True, timeout=PATIENCE, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    verdict(done.returncode == 0 and len(answers) == 120 and not errors_of(answers),
            "a stream needs not one setting", done.stderr, answers[:3])
    verdict(answers[0] == {"id": lines[0]["id"], "prediction": None, "probability": None},
            "before the first label there is nothing to guess", answers[0])
    said = {answer["prediction"] for answer in answers[1:] if "prediction" in answer}
    verdict(said <= {None, *NAMES} and len(said) > 3, "answers are names", said)
    verdict([answer["label"] for answer in answers if "label" in answer] == [line["label"] for line in lines],
            "so are labels that are acknowledged")
    order = list(dict.fromkeys(line["label"] for line in lines))
    verdict(classes_of("plain") == order, "classes are numbered as they came", classes_of("plain"), order)
    done = subprocess.run([RETAIN, "run", "--quiet", "--resume", "plain"], capture_output=True,
                          input=(text + json.dumps(dict(lines[0], id="new")) + "\n").encode(), check=False)
    again = [json.loads(line) for line in done.stdout.splitlines()]
    verdict(done.returncode == 0 and printed(again[:-2]) == printed(answers) and again[-1]["sample"] == 60,
            "what is sent again is answered again, by name", done.stderr, again[-2:])


def numbers():
    """Numbers bring all classes below them, up to a bound; what was told comes to the same classes."""
    lines = lines_of(80, 0)
    code, answers, said = straight("numbers", lines + [{"id": "x", "input": [0, 0, 0, 0], "label": 7},
                                                       {"id": "y", "input": [0, 0, 0, 0], "label": 6}],
                                   AUTO + ["model.classes_most=7"])
    verdict(code == 0 and errors_of(answers) ==
            ["line 81: label: 7 is not from 0 to 6, what model.classes_most allows"],
            "a label above model.classes_most is refused", said, errors_of(answers))
    verdict(set(classes_of("numbers")) == {0, 1, 2, 3, 4, 6}, "classes come with their labels",
            classes_of("numbers"))
    code, answers, said = straight("numbers", [{"id": "z", "input": [0, 0, 0], "label": 1}], resume=True)
    verdict(code == 0 and errors_of(answers) == ["line 1: input: has 3 numbers, the model takes 4"],
            "the folder knows what inputs are", said, answers)


def labels_of_other_kinds():
    """true and false are names, null is no label yet, and a number below 0 makes numbers names."""
    ins = [{"id": i, "input": [i % 2 * 2 - 1, i % 3, 0, 1]} for i in range(40)]
    truths = [dict(line, label=line["id"] % 2 == 1) for line in ins]
    code, answers, said = straight("truths", truths, AUTO)
    verdict(code == 0 and not errors_of(answers) and classes_of("truths") == ["false", "true"] and
            answers[-1]["label"] == "true", "true and false are names", said, answers[-2:])
    code, answers, said = straight("numbered", [dict(ins[0], label=True)], ["model.classes=2", "model.input=4"])
    verdict(errors_of(answers) == ["line 1: label: must be a whole number"], "... where classes may have names", answers)
    nulls = [dict(line, label=None) for line in ins] + [{"id": i, "label": i % 2} for i in range(40)]
    code, answers, said = straight("nulls", nulls, AUTO)
    verdict(code == 0 and not errors_of(answers) and [answer["sample"] for answer in answers[40:]] == list(range(40)),
            "a label that is null comes later", said, errors_of(answers)[:3])
    code, answers, said = straight("nothing", [{"id": 1, "label": None}], ["model.classes=2", "model.input=4"])
    verdict(errors_of(answers) == ["line 1: has neither input nor label"], "and alone says nothing", answers)
    signs = [dict(line, label=line["id"] % 2 * 2 - 1) for line in ins]
    code, answers, said = straight("signs", signs[:20], AUTO + ["stdin.per_step=10"])
    verdict(code == 0 and not errors_of(answers) and classes_of("signs") == ["-1", "1"] and
            {answer["prediction"] for answer in answers if answer.get("prediction")} == {"-1", "1"},
            "after a first label below 0 numbers are names", said, errors_of(answers)[:3])
    code, answers, said = straight("signs", signs[20:] + [{"id": "x", "input": [0, 0, 0, 0], "label": 20000},
                                                         {"id": "y", "input": [0, 0, 0, 0], "label": "-1"}], resume=True)
    verdict(code == 0 and not errors_of(answers) and classes_of("signs") == ["-1", "1", "20000"],
            "also when the stream goes on", said, errors_of(answers)[:3])
    straight("at-once", signs + [{"id": "x", "input": [0, 0, 0, 0], "label": 20000},
                                 {"id": "y", "input": [0, 0, 0, 0], "label": "-1"}], AUTO + ["stdin.per_step=10"])
    verdict(file_of("signs", "model.safetensors") == file_of("at-once", "model.safetensors"),
            "to the same bytes as at once")
    code, answers, said = straight("above", [dict(ins[0], label=1), dict(ins[1], label=-1)], AUTO)
    verdict(errors_of(answers) == ["line 2: label: -1 is a number below 0, and the labels before it are numbers; send "
                                   'labels as names, "-1"'], "after one from 0 on they are not", answers)


def names_are_kept():
    """Names follow from the lines that were taken, however they were gathered."""
    lines = named(lines_of(96, 12))
    text = io.StringIO()
    rows = csv.writer(text)
    for line in lines:
        rows.writerow([line["id"], line.get("label", "")] + line.get("input", []))
    code, answers, said = straight("kept", lines, AUTO)
    code2, answers2, said2 = straight("kept-csv", [text.getvalue()], AUTO + ["stdin.format=csv"])
    verdict(code == 0 and code2 == 0 and answers == answers2 and
            file_of("kept", "model.safetensors") == file_of("kept-csv", "model.safetensors"),
            "CSV without a heading is answered as NDJSON is", said, said2, answers2[:2])
    slow = []
    with subprocess.Popen(command("kept-slow", settings=AUTO), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            slow.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdin = None
    verdict(printed(slow) == printed(answers) and rows_of("kept-slow") == rows_of("kept") and
            file_of("kept", "model.safetensors") == file_of("kept-slow", "model.safetensors"),
            "so it is line by line")
    one = next(line for line in lines if "label" in line)
    other = next(name for name in NAMES if name != one["label"])
    code, answers, said = straight("kept", [dict(one, label=other), dict(one, label="new")], resume=True)
    shown = [json.dumps(one["id"], ensure_ascii=False), one["label"]]
    verdict(code == 0 and errors_of(answers) ==
            ['line %d: id %s was labelled "%s" before, not "%s"' % (at, *shown, name)
             for at, name in ((1, other), (2, "new"))], "another name for a sample is refused",
            said, answers)
    verdict("new" not in classes_of("kept"), "and is no class")


def mixtures():
    """The first label that is kept decides what labels are."""
    zero = [0, 0, 0, 0]
    code, answers, said = straight("mixed", [
        {"id": "ghost", "label": 1}, {"id": 1, "input": zero, "label": "yes"},
        {"id": 2, "input": zero, "label": 1}, {"id": 3, "input": zero, "label": ""},
        {"id": 4, "input": zero, "label": "x" * 501}, {"id": 5, "input": zero, "label": 1.5},
        {"id": 6, "input": zero, "label": "no"}, {"id": 7, "input": zero, "label": "third"},
        {"id": 7, "label": "no"}, {"id": "ghost", "label": "spook"}], AUTO + ["model.classes_most=2"])
    found = sorted((answer["line"], answer["error"].partition(": ")[2]) for answer in answers if "error" in answer)
    verdict(code == 0 and found == [
        (1, 'no input waits under id "ghost"'),
        (3, "label: 1 is a number, and the labels before it are names"),
        (4, "label: the name of a class is empty"),
        (5, "label: the name of a class has 501 bytes; at most 500 can be"),
        (6, "label: must be a whole number, a text, true or false"),
        (8, 'label: class "third": there are 2 classes already, as many as model.classes_most allows; '
            "if this is one more, set it higher"),
        (10, 'no input waits under id "ghost"')], "what is wrong with a label is said", said, found)
    verdict([answer["id"] for answer in answers if "sample" in answer] == [1, 6, 7], "the rest is taken", answers)
    verdict(classes_of("mixed") == ["yes", "no"], "names that were refused are no classes", classes_of("mixed"))
    code, answers, said = straight("mixed", [{"id": 8, "input": zero, "label": 0}], resume=True)
    verdict(code == 0 and len(errors_of(answers)) == 1 and "labels before it are names" in answers[0]["error"],
            "the next process knows that labels are names", said, answers)
    code, answers, said = straight("digits", ["1,0,1,2,3,4\n", "2,yes,1,2,3,4\n", "3,1,1,2,3,4\n"],
                                   AUTO + ["stdin.format=csv"])
    verdict(code == 0 and errors_of(answers) ==
            ['line 2: label: "yes" is a name, and the labels before it are numbers'],
            "a name among numbers is refused", said, answers)
    code, answers, said = straight("told", [{"id": 1, "input": zero, "label": "yes"}])
    verdict(code == 0 and errors_of(answers) == ["line 1: label: must be a whole number"],
            "where model.classes is a number labels are numbers", said, answers)


def no_input():
    """Nothing is made before the first input."""
    for text in [], ['{"id": 1, "label": 2}\n', "nonsense\n", '{"id": 1, "input": []}\n']:
        code, answers, said = straight("none", text, AUTO)
        verdict(code == 2 and "the stream has no input" in said, "a stream without an input is refused", code, said)
    code, answers, said = straight("none", ['{"id": 0, "label": 1}\n', "nonsense\n", '{"id": 1, "input": [[1], [2]]}\n'],
                                   AUTO)
    verdict(code == 0 and len(errors_of(answers)) == 2 and answers[-1]["prediction"] is None and
            answers[-1]["probability"] is None, "lines before the first input are answered", said, answers)
    with subprocess.Popen(command("steps", settings=AUTO), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        answers = []
        for line in ("nonsense", '{"id": "a", "label": 1}', '{"id": 1, "input": []}', '{"id": 2, "input": {"a": {}}}',
                     '{"id": 3, "input": [1, "x"]}', '{"id": 4, "input": {"a": 1}}'):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
    found = [answer.get("error", answer) for answer in answers]
    verdict("neither a JSON object nor a row" in found[0] and "no input waits" in found[1] and "has no numbers" in found[2] and
            "line 4: input: " in found[3] and "number 1 is not a number" in found[4] and
            found[5] == {"id": 4, "prediction": None, "probability": None},
            "a sender that waits for each answer gets it", found)
    facts = json.loads(file_of("steps", "run.json"))
    verdict(facts["lines"] == 6 and facts["bad_lines"] == 5, "run.json counts the lines before the first input", facts)
    code, answers, said = straight("words", ["1,yes,red,2\n", "id,label,colour,size\n", "1,yes,red,2\n"],
                                   AUTO + ["stdin.format=csv"])
    verdict(code == 0 and errors_of(answers) ==
            ["line 1: input: not all columns are numbers, and no heading names them"] and
            answers[-1] == {"id": 1, "label": "yes", "sample": 0}, "a heading names the columns of those below it",
            said, answers)
    with subprocess.Popen(command("waits", settings=AUTO), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        for _ in range(PATIENCE * 10):
            if os.path.exists("waits/lock"):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE)
        said = process.stderr.read().decode()
    verdict(code == 128 + signal.SIGTERM and "before the first input" in said, "SIGTERM ends the wait for it",
            code, said)


def late_fields():
    """A field that the first row lacks is learned; where inputs must not grow, that is said."""
    rows = [{"a": i % 7, **({"coupon": i // 3 % 2, "city": ("Rome", "Oslo")[i // 3 % 2]} if i else {})} for i in range(120)]
    lines = [{"id": i, "input": row, "label": i // 3 % 2} for i, row in enumerate(rows)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    for grow, ignored in (0, ["coupon", "city"]), (1, ["city"]), (4096, []):
        done = subprocess.run([RETAIN, "run", "-", "--quiet", "--out", "late-%d" % grow, "--set", "schema.grow=%d" % grow],
                              input=text.encode(), capture_output=True, timeout=PATIENCE, check=False)
        said = [name for name in ("coupon", "city") if done.stderr.count(b"field %s: is ignored" % name.encode()) == 1]
        verdict(done.returncode == 0 and said == ignored and done.stderr.count(b"is ignored") == len(ignored),
                "with %d new inputs, fields that are ignored are told, once each" % grow, done.stderr)
    right = [float(rows_of(folder)[-1].split(b",")[12]) for folder in ("late-0", "late-1", "late-4096")]
    verdict(min(right[1:]) > right[0] + 0.2, "a field that comes late is learned", right)
    text = "a,class\n" + "".join("%d,%d\n" % (i % 7, i % 2) for i in range(4)) + "coupon,a,class\n" + "".join(
        "%d,%d,%d\n" % (i % 2, i % 7, i % 2) for i in range(40))
    for grow in 0, 1:
        done = subprocess.run([RETAIN, "run", "-", "--quiet", "--out", "column-%d" % grow, "--set", "schema.grow=%d" % grow],
                              input=text.encode(), capture_output=True, timeout=PATIENCE, check=False)
        verdict(done.returncode == 0 and (b"field coupon: is ignored" in done.stderr) == (not grow),
                "so are columns that a later heading names, with %d new inputs" % grow, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        nothing_set()
        numbers()
        labels_of_other_kinds()
        names_are_kept()
        mixtures()
        no_input()
        late_fields()
        os.chdir("/")
    return tap.plan()


sys.exit(main())
