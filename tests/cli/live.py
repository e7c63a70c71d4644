#!/usr/bin/env python3
"""usage: tests/cli/live.py RETAIN

`retain run` on a live stream, from outside: answers, stops, bad lines, a reader that
goes away. Prints TAP. Works in a folder of its own.
"""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import tap
from producer import PATIENCE, RETAIN, Producer, command, file_of, lines_of, printed, \
    rows_of, straight
from tap import verdict

def order():
    """A prediction comes before its label is known, and does not depend on it."""
    lines = lines_of(160, 0)
    _, answers, _ = straight("order", lines)
    where = {}
    for at, answer in enumerate(answers):
        where.setdefault((answer["id"], "prediction" in answer), at)
    verdict(all(where[line["id"], True] < where[line["id"], False] for line in lines),
            "a prediction comes before what is said of its label")
    other = [dict(line, label=(line["label"] + 1) % 5) for line in lines[:8]] + lines[8:]
    _, changed, _ = straight("order-other", other)
    verdict(answers[:8] == changed[:8] and answers[24:] != changed[24:],
            "the first time step's predictions do not know its labels")
    code, answers, _ = straight("order", [{"id": "new", "input": [0, 0, 0, 0]}], resume=True)
    verdict(code == 0 and len(answers) == 1 and answers[0]["id"] == "new",
            "a stream that has ended goes on", code, answers)
    code, answers, _ = straight("order", [{"id": "new", "label": 2}], resume=True)
    verdict(code == 0 and answers == [{"id": "new", "label": 2, "sample": 160}],
            "a label comes in another process than its input", code, answers)


def sent_again():
    """What was answered is answered again in the same words, whatever was learned since."""
    lines = lines_of(64, 0)
    waits = {"id": "waits", "input": [1, 2, 3, 4]}
    other = dict(waits, input=[1, 2, 3, 5])
    code, answers, said = straight("again", lines)
    first = printed(answers)
    code, answers, said = straight("again", lines[:9] + [waits] + lines, resume=True)
    again = printed(answers)
    del again["waits"]
    verdict(code == 0 and again == first, "a line that is sent again gets its first prediction",
            code, said, [key for key in first if first[key] != again.get(key)])
    code, answers, said = straight("again-waits", [waits] + lines + [waits, other, waits])
    mine = [answer for answer in answers if answer["id"] == "waits"]
    verdict(code == 0 and len(mine) == 4 and mine[0] == mine[1] and mine[0] != mine[3],
            "so does an input that waits, until another replaces it", code, said, mine)
    code, answers, said = straight(
        "again-late", [waits] + lines + [{"id": "waits", "label": 1}, waits])
    mine = [answer for answer in answers if answer["id"] == "waits"]
    verdict(code == 0 and len(mine) == 3 and mine[0] in mine[1:],
            "so does one whose label has come since", code, said, mine)


def used_again():
    """An id that has its label is not taken for another input."""
    lines = lines_of(20, 0)
    both = [dict(lines[at], input=[9, 9, 9, at]) for at in (2, 18)]
    alone = {"id": lines[3]["id"], "input": [9, 9, 9, 9]}
    # The first of them is no longer in the pool, nor on disk.
    code, answers, said = straight("used", lines + both + [alone] + lines[:1], [
        "replay.pool=fifo", "replay.limit=8", "run.checkpoint_every=1 steps"])
    errors = [answer for answer in answers if "error" in answer]
    verdict(code == 0 and [error["error"] for error in errors] ==
            ["line %d: id %s is that of another input, which has its label" % (
                21 + at, json.dumps(line["id"], ensure_ascii=False))
             for at, line in enumerate(both + [alone])],
            "another input under an id that has its label is refused", code, said, errors)
    samples = sorted(answer["sample"] for answer in answers if "sample" in answer)
    verdict(samples == [0] + list(range(20)) and len(answers) == 2 * 21 + 3,
            "nothing else of these lines is answered", samples, len(answers))
    code, answers, said = straight("used", both, resume=True)
    verdict(code == 0 and all("error" in answer for answer in answers), "nor in the next process",
            code, said, answers)
    code, answers, said = straight("used", [
        {"id": "x", "label": 1}, {"id": "x", "input": [1, 2, 3, 4]}, {"id": "x", "label": 2}],
        resume=True)
    verdict(code == 0 and [answer.get("label", answer.get("line")) for answer in answers] ==
            [1, None, 2], "a label that comes before its input is refused, the input is taken",
            code, said, answers)


def early_labels():
    """A label need not wait for the rest of its time step, neither when it is killed."""
    lines = lines_of(12, 0)
    samples = []
    for resume in False, True:
        with subprocess.Popen(command("early", resume), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            for line in lines[resume * 3:resume * 3 + 3]:
                process.stdin.write(json.dumps(line).encode() + b"\n")
                process.stdin.flush()
                while True:
                    answer = json.loads(process.stdout.readline())
                    if "sample" in answer:
                        break
                samples.append((answer["id"], answer["sample"]))
            process.kill()
    verdict(samples == [(line["id"], at) for at, line in enumerate(lines[:6])],
            "labels are acknowledged before their time step is full", samples)
    code, answers, said = straight("early", lines[4:], resume=True)
    verdict(code == 0 and {answer["id"]: answer["sample"] for answer in answers if "sample" in answer}
            == {line["id"]: at for at, line in enumerate(lines) if at >= 4},
            "and are known when they are sent again", code, said, answers)
    straight("early-straight", lines)
    verdict(file_of("early", "model.safetensors") == file_of("early-straight", "model.safetensors"),
            "time steps are then those of a straight run")


def stops():
    """SIGTERM and SIGINT while it waits for input; what was answered is kept."""
    lines = lines_of(200, 20)
    producer = Producer(lines)
    for number, (signal_sent, until) in enumerate([(signal.SIGTERM, 100), (signal.SIGINT, 300)]):
        first = len(producer.predicted)
        with subprocess.Popen(command("stops", number > 0), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            reader = threading.Thread(target=producer.read_answers, args=(process,))
            reader.start()
            for line in [line for line in lines[:until] if producer.unanswered(line)]:
                process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            before = len(producer.predicted)
            for _ in range(PATIENCE * 10):
                time.sleep(0.1)
                if before == len(producer.predicted) > first:
                    break
                before = len(producer.predicted)
            process.send_signal(signal_sent)
            code = process.wait(PATIENCE)
            process.stdin.close()
            process.stdin = None
            said = process.stderr.read().decode()
            reader.join()
        verdict(code == 128 + signal_sent and "--resume stops" in said,
                "%s ends it while its input is open" % signal_sent.name, code, said)
    code = producer.send(command("stops", True))
    straight("stops-straight", lines)
    verdict(code == 0 and not producer.errors and file_of("stops", "model.safetensors") ==
            file_of("stops-straight", "model.safetensors"), "it then ends as if never stopped",
            code, producer.errors, producer.said)


def bad_lines():
    good = lines_of(8, 0)
    rows = [
        ('{"id": 1, "input": [1, 2', "line 9 is not valid JSON.*"),
        ("[1]", "line 10: object 1: is not a JSON object"),
        ({"input": [1, 2, 3, 4]}, "line 11: has no id"),
        ({"id": [], "input": [1, 2, 3, 4]}, "line 12: id: must be a text or a whole number"),
        ({"id": "x" * 499, "input": [1, 2, 3, 4]}, "line 13: id: has 501 bytes .*"),
        ({"id": "a"}, "line 14: has neither input nor label"),
        ({"id": "a", "input": [1, 2, 3]}, "line 15: input: has 3 numbers, the model takes 4"),
        ({"id": "a", "input": [1, 2, 3, "4"]}, "line 16: input: number 3 is not a number"),
        ({"id": "a", "input": [1, 2, 3, 1e39]}, "line 17: input: number 3 is too large .*"),
        ('{"id": "a", "input": [1, 2, 3, NaN]}', "line 18 is not valid JSON.*"),
        ({"id": "a", "input": [1, 2, 3, 4], "label": 5}, "line 19: label: 5 is not from 0 to 4.*"),
        ({"id": "a", "label": -1}, "line 20: label: -1 is not .*"),
        ({"id": "a", "label": 1.5}, "line 21: label: must be a whole number"),
        ({"id": "a", "label": 1}, 'line 22: no input waits under id "a"'),
        (dict(good[1], label=(good[1]["label"] + 1) % 5), "line 23: id 1 was labelled . before.*"),
        ('{"id": "' + "x" * 300000 + '"}', "line 24: is too long"),
        ("\xff\xfe{}", "line 25 is not valid JSON.*"),
    ]
    text = [line if isinstance(line, str) else json.dumps(line) for line, _ in rows]
    text = [line + "\n" for line in text] + ["\n", "  \r\n"]
    code, answers, said = straight("bad", good + text + lines_of(16, 0)[8:])
    # Labels are looked at after the lines around them were read.
    errors = sorted((answer for answer in answers if "error" in answer),
                    key=lambda answer: answer["line"])
    verdict(code == 0 and len(errors) == len(rows), "bad lines are skipped", code, said, errors)
    for (line, pattern), error in zip(rows, errors):
        verdict(re.fullmatch(pattern, error["error"]) and
                error["error"].startswith("line %d" % error["line"]),
                "says: " + pattern, line, error)
    facts = json.loads(file_of("bad", "run.json"))
    verdict(facts["bad_lines"] == len(rows) and facts["lines"] == 16 + len(rows),
            "run.json counts them", facts)
    verdict(len([answer for answer in answers if "sample" in answer]) == 16,
            "the lines around them are learned from")
    code, _, said = straight("strict", good + text, ["stdin.on_bad=error"])
    verdict(code == 1 and "line 9" in said, "stdin.on_bad = error ends the run", code, said)
    code, answers, _ = straight("strict", good, resume=True)
    verdict(code == 0 and [answer["sample"] for answer in answers if "sample" in answer] ==
            list(range(8)), "from which it goes on", code, answers)


def no_reader():
    lines = lines_of(160, 0)
    with subprocess.Popen(command("reader"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(lines[0]).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            for line in lines[1:]:
                process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        said = process.stderr.read().decode()
        code = process.wait(PATIENCE)
    verdict(code == 1 and "the reader has gone away" in said,
            "a reader that goes away ends the run", code, said)
    code, answers, said = straight("reader", lines, resume=True)
    samples = sorted(answer["sample"] for answer in answers if "sample" in answer)
    straight("reader-straight", lines)
    verdict(code == 0 and samples == list(range(160)) and file_of("reader", "model.safetensors") ==
            file_of("reader-straight", "model.safetensors"), "which loses nothing", code, said)


def real_time():
    lines = lines_of(64, 0)
    with subprocess.Popen(command("real-time", settings=[
            "stream.budget=real-time", "stream.iterations_most=50"]),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for line in lines[:56]:
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        time.sleep(1)
        for line in lines[56:]:
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.close()
        process.stdin = None
        said = process.stderr.read().decode()
        code = process.wait(PATIENCE)
    iterations = int(rows_of("real-time")[-1].split(b",")[1])
    # Eight steps of at least 1; idle time after the seventh for 49 more, and little after others.
    verdict(code == 0 and 8 + 49 <= iterations <= 8 * 50, "real time: idle time is used",
            code, iterations, said)


def damaged_checkpoint():
    """The newest of two checkpoints is damaged; a small pool has forgotten much in between."""
    settings = ["replay.pool=fifo", "replay.limit=20"]
    lines = lines_of(320, 0)
    straight("damaged-straight", lines, settings)
    producer = Producer(lines)
    producer.lines = lines[:240]
    producer.send(command("damaged", settings=settings))
    newest = sorted(os.listdir("damaged/checkpoint"))[-1]
    path = "damaged/checkpoint/" + newest
    with open(path, "r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    producer.lines = lines
    code = producer.send(command("damaged", True))
    verdict(code == 0 and file_of("damaged", "model.safetensors") ==
            file_of("damaged-straight", "model.safetensors"),
            "the checkpoint before a damaged one goes on", code, newest, producer.said)


def divergence():
    """A rate that is far too large: with run.on_nan = rollback it goes back and on."""
    settings = ["run.on_nan=rollback", "schedule.kind=constant", "schedule.rate=300",
                "run.method=ama+rwp"]
    lines = lines_of(320, 20)
    code, answers, said = straight("nan", lines, settings)
    samples = [answer["sample"] for answer in answers if "sample" in answer]
    events = file_of("nan", "events.jsonl").decode() if code == 0 else ""
    verdict(code == 0 and samples == list(range(320)) and '"event": "rollback"' in events,
            "a diverged learner goes back to a checkpoint and on by the journal", code, said,
            len(samples))


def csv_lines():
    """The same stream as CSV comes to the same answers, metrics and weights."""
    lines = lines_of(240, 5)
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["id", "label", "a", "b", "c", "d"])
    for line in lines:
        rows.writerow([line["id"], line.get("label", "")] + line.get("input", []))
    code, answers, said = straight("csv-json", lines)
    code2, answers2, said2 = straight("csv", [text.getvalue(), "1,2,3\n"], ["stdin.format=csv"])
    errors = [answer for answer in answers2 if "error" in answer]
    verdict(code == 0 and code2 == 0 and answers == answers2[:-1], "CSV is answered as NDJSON is",
            said, said2, answers[:3], answers2[:3])
    verdict(len(errors) == 1 and "has 1 numbers, the model takes 4" in errors[0]["error"],
            "a short row of CSV is answered by what is wrong", errors)
    verdict(rows_of("csv-json") == rows_of("csv") and
            file_of("csv-json", "model.safetensors") == file_of("csv", "model.safetensors"),
            "CSV comes to the metrics and weights of NDJSON")


def two_questions():
    """With fast weights answers are of now, or of ever; a stop in between changes neither."""
    lines = lines_of(320, 0)
    for question in "now", "ever":
        settings = ["run.method=schedule-free+recency+fast", "stdin.answer=" + question]
        name = "question-" + question
        code, answers, said = straight(name, lines, settings)
        straight(name + "-cut", lines[:160], settings)
        code2, answers2, said2 = straight(name + "-cut", lines[160:], resume=True)
        verdict(code == 0 and code2 == 0 and
                file_of(name, "model.safetensors") == file_of(name + "-cut", "model.safetensors"),
                "fast weights go on: " + question, said, said2)
        first = printed(answers)
        verdict(len(answers2) > 0 and all(first[key] == value
                for key, value in printed(answers2).items()),
                "they answer as if nothing had happened: " + question)
        if question == "now":
            now = first
    verdict(file_of("question-now", "model.safetensors") ==
            file_of("question-ever", "model.safetensors") and now != first,
            "the same learner has two answers")


def weights():
    """Samples have weights, also those that a killed process had acknowledged."""
    lines = [dict(line, weight=i % 4 / 2) if "label" in line and i % 3 else line for i, line in enumerate(lines_of(90, 5))]
    code, _, said = straight("weights", lines)
    straight("weights-none", lines_of(90, 5))
    verdict(code == 0 and file_of("weights", "model.safetensors") != file_of("weights-none", "model.safetensors"),
            "samples may have weights", code, said)
    # Time steps have 8 samples, so some of these kills leave labels of an incomplete one.
    producer = Producer(lines)
    for at in 13, 37, 70:
        producer.send(command("weights-killed", resume=at != 13), at=at, then=lambda process: process.kill())
    producer.send(command("weights-killed", resume=True))
    verdict(not producer.errors and file_of("weights-killed", "model.safetensors") == file_of("weights", "model.safetensors"),
            "and keep them through kills, to the same bits", producer.errors)
    first = lines[0]
    for weight, why in (-1, "must be a number from 0 to"), (1e9, "must be a number from 0 to"), ("2", "weight: is not a number"):
        code, answers, said = straight("weights-bad-%s" % weight, [dict(first, label=1, weight=weight)])
        verdict(code == 0 and len(answers) == 1 and why in answers[0].get("error", ""), "refused: weight %s" % weight, answers, said)


def refusals():
    rows = [
        (["--set", "model.classes=-1"], "model.classes"),
        (["--set", "run.form=supervised"], "run.form"),
        (["--set", "stream.iterations_least=2"], "is no longer a key"),
        (["--set", "schedule.kind=cosine"], "schedule.kind"),
        (["--set", "run.step_epochs=1", "--set", "run.budget=1"], "run.step_epochs"),
    ]
    for words, say in rows:
        done = subprocess.run(command("refused") + words, input=b"", capture_output=True,
                              timeout=PATIENCE, check=False)
        verdict(done.returncode == 2 and say.encode() in done.stderr and not done.stdout
                and not os.path.exists("refused"), "refused: " + " ".join(words), done)
    done = subprocess.run([RETAIN, "verify-resume"] + command("x")[5:], input=b"",
                          capture_output=True, timeout=PATIENCE, check=False)
    verdict(done.returncode != 0 and b"standard input cannot be read" in done.stderr,
            "refused: verify-resume", done)
    words = [word for word in command("x") if word not in ("--out", "x")]
    done = subprocess.run(words, input=b"", capture_output=True, timeout=PATIENCE, check=False)
    verdict(done.returncode == 2 and b"--out DIR" in done.stderr, "refused: no folder", done)
    code, _, said = straight("order", [])
    verdict(code == 2 and "--resume order" in said, "refused: a folder that holds a run", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        order()
        sent_again()
        used_again()
        early_labels()
        stops()
        bad_lines()
        no_reader()
        real_time()
        damaged_checkpoint()
        divergence()
        csv_lines()
        two_questions()
        weights()
        refusals()
        os.chdir("/")
    return tap.plan()


sys.exit(main())
