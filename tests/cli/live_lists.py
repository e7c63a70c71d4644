#!/usr/bin/env python3
"""usage: tests/cli/live_lists.py RETAIN

Several samples in a line, and what a line may wish to know: the most probable classes, what is now or
ever was. Prints TAP. Works in a folder of its own.
"""
import json
import os
import sys
import tempfile

import tap
from producer import file_of, lines_of, straight
from tap import verdict

FAST = ["run.method=schedule-free+recency+fast"]


def lists():
    """Lists are taken apart: what comes of them is what comes of their objects."""
    lines = lines_of(60, 9)
    code, answers, said = straight("one", lines)
    for size in 3, 200:
        groups = [json.dumps(lines[i:i + size]) + "\n" for i in range(0, len(lines), size)]
        code2, answers2, said2 = straight("some%d" % size, groups)
        verdict(code == 0 and code2 == 0 and answers2 == answers and
                file_of("one", "model.safetensors") == file_of("some%d" % size, "model.safetensors"),
                "lists of %d are answered as their objects are" % size, said, said2, answers2[:2])
    zero = [0, 0, 0, 0]
    code, answers, said = straight("bad", [
        json.dumps([{"id": 1, "input": zero}, 5, {"id": 1, "label": 9}, {"id": 2, "label": 0}, {"id": 3, "input": [1]}]) + "\n",
        "[]\n", '[{"id": 4, "input": [0, 0, 0, 0]}\n', '[{"id": 5, "input": [0, 0, 0, 0]}, ]\n'])
    found = sorted((one["line"], one["error"].partition(": ")[2] or one["error"]) for one in answers if "error" in one)
    verdict(code == 0 and [text for at, text in found if at == 1] == [
        "object 2: is not a JSON object", "object 3: label: 9 is not from 0 to 4, the classes there are",
        "object 4: no input waits under id 2", "object 5: input: has 1 numbers, the model takes 4"],
            "what is wrong with an object is said; the others are taken", said, found)
    verdict([at for at, _ in found[4:]] == [2, 3, 4] and [one["id"] for one in answers if "prediction" in one] == [1],
            "a list that is empty or broken is one bad line", found)
    auto = ["model.classes=auto", "model.input=auto"]
    code, answers, said = straight("first", [json.dumps([{"id": 1, "label": 1}]) + "\n",
                                             json.dumps([{"id": 1, "label": 1}, {"id": 2, "input": {"a": 1}}]) + "\n",
                                             json.dumps({"id": 2, "label": "x"}) + "\n"], auto)
    verdict(code == 0 and len(answers) == 4 and "object 1: no input waits" in answers[0]["error"] and
            sum("error" in one for one in answers) == 2 and answers[-1] == {"id": 2, "label": "x", "sample": 0},
            "the first input may be in a list", said, answers)


def wishes():
    lines = lines_of(200, 0)
    asked = {"id": "q", "input": lines[0]["input"]}
    code, answers, said = straight("top", lines + [dict(asked, top=3), dict(asked, id="r", top=100), dict(asked, id="p")], FAST)
    got, all_of, plain = [one for one in answers if one["id"] in ("q", "r", "p")]
    verdict(code == 0 and len(got["top"]) == 3 and got["top"][0] ==
            {"prediction": got["prediction"], "probability": got["probability"]} and
            [one["probability"] for one in got["top"]] == sorted((one["probability"] for one in got["top"]), reverse=True),
            "top: the most probable classes, the first as predicted", said, got)
    verdict(len(all_of["top"]) == 5 and abs(sum(one["probability"] for one in all_of["top"]) - 1) < 1e-5 and
            "top" not in plain, "at most all there are; without top none", all_of, plain)
    code, answers, said = straight("top", [dict(asked, top=2)], resume=True)
    verdict(code == 0 and answers == [plain | {"id": "q"}], "sent again: the first answer, without top", said, answers)
    code, answers, said = straight("all", lines + [asked], FAST + ["stdin.top=2"])
    verdict(code == 0 and len(answers[-1]["top"]) == 2, "stdin.top is for all lines", said, answers[-1])

    shifted = [dict(line, label=(line["label"] + 1) % 5, id="s%s" % line["id"]) for line in lines]
    ask = [dict(asked, id="now", **{"for": "now"}), dict(asked, id="ever", **{"for": "ever"}), dict(asked, id="none")]
    code, answers, said = straight("for", lines * 1 + shifted + ask, FAST)
    now, ever, none = answers[-3:]
    verdict(code == 0 and (none["prediction"], none["probability"]) == (now["prediction"], now["probability"]) and
            (ever["prediction"], ever["probability"]) != (now["prediction"], now["probability"]),
            "for: now and ever are two questions", said, answers[-3:])
    code, answers, said = straight("bad-wish", [dict(asked, id=1, top=0), dict(asked, id=2, top="all"), dict(asked, id=3, top=101),
                                                dict(asked, id=4, **{"for": "always"})])
    verdict([one["error"].partition(": ")[2] for one in answers] ==
            3 * ["top: must be a whole number from 1 to 100"] + ["for: must be now or ever"],
            "what is no wish is said", said, answers)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lists()
        wishes()
        os.chdir("/")
    return tap.plan()


sys.exit(main())
