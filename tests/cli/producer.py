"""A producer of a live stream: lines, the run that they go to, and what it answers."""
import json
import os
import random
import subprocess
import sys
import threading

RETAIN = os.path.abspath(sys.argv[1])
SETTINGS = ["stream.source=stdin", "model.classes=5", "model.input=4", "stdin.per_step=8",
            "eval.every=10", "schedule.window=40", "schedule.patience=200", "engine.threads=1",
            "run.checkpoint_every=7 steps"]
PATIENCE = 60  # seconds, for a machine that is busy


def lines_of(count, late, seed=1, both=0.0):
    """Inputs and labels, a label up to `late` inputs after its own; late 0, and so many of the
    others: in one line."""
    draws = random.Random(seed)
    lines, waiting = [], []
    for i in range(count):
        label = draws.randrange(5)
        values = [round(label * (d + 2) * 7 % 5 - 2 + draws.gauss(0, 0.6), 4) for d in range(4)]
        key = i if i % 3 else "n\u00f6 %d\"" % i
        if late and draws.random() >= both:
            lines.append({"id": key, "input": values})
            waiting.append({"id": key, "label": label})
            if len(waiting) > late:
                lines.append(waiting.pop(draws.randrange(len(waiting))))
        else:
            lines.append({"id": key, "input": values, "label": label})
    return lines + waiting


def command(folder, resume=False, settings=(), force=False):
    if resume:
        return [RETAIN, "run", "--quiet", "--resume", folder]
    words = [RETAIN, "run", "--quiet", "--out", folder] + ["--force"] * force
    for setting in SETTINGS + list(settings):
        words += ["--set", setting]
    return words


def straight(folder, lines, settings=(), resume=False):
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(command(folder, resume, settings), input=text.encode(),
                          capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], \
        done.stderr.decode()


def file_of(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def rows_of(folder):
    """metrics.csv without its last column, the seconds."""
    return [line.rsplit(b",", 1)[0] for line in file_of(folder, "metrics.csv").splitlines()]


def printed(answers):
    """Of each id all predictions that were printed, with their probabilities."""
    found = {}
    for answer in answers:
        if "prediction" in answer:
            found.setdefault(answer["id"], set()).add((answer["prediction"], answer["probability"]))
    return found


class Producer:
    """Sends lines in order, notes what was answered, and sends the rest again when asked to."""

    def __init__(self, lines):
        self.lines = lines
        self.answers = []  # all that came whole
        self.predicted, self.samples, self.errors = {}, {}, []
        self.twice = []  # ids that became two samples, samples of two ids

    def read_answers(self, process, at=None, then=None):
        owner = {sample: key for key, sample in self.samples.items()}
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break  # the process was killed in the middle of a write
            answer = json.loads(line)
            self.answers.append(answer)
            if "error" in answer:
                self.errors.append(answer)
            elif "prediction" in answer:
                self.predicted.setdefault(answer["id"], answer["prediction"])
            else:
                key, sample = answer["id"], answer["sample"]
                if self.samples.setdefault(key, sample) != sample or \
                        owner.setdefault(sample, key) != key:
                    self.twice.append(answer)
                if len(self.samples) == at:
                    then(process)

    def unanswered(self, line):
        return "input" in line and line["id"] not in self.predicted or \
            "label" in line and line["id"] not in self.samples

    def send(self, words, at=None, then=None, after=PATIENCE, again=0, ends=True):
        """The exit code. Unanswered lines are sent, and up to so many before the first of them
        again. When `at` labels are acknowledged in all `then` is called with the process, and
        it is killed so many seconds after its start. A file that is too large to grow is no
        signal to it. `ends`: its input ends after the last line, not after the process."""
        first = next((i for i, line in enumerate(self.lines) if self.unanswered(line)), 0)
        rest = self.lines[max(first - again, 0):first] + \
            [line for line in self.lines[first:] if self.unanswered(line)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, restore_signals=False) as process:
            reader = threading.Thread(target=self.read_answers, args=(process, at, then))
            reader.start()
            timer = threading.Timer(after, process.kill)
            timer.start()
            try:
                for line in rest:
                    process.stdin.write(json.dumps(line).encode() + b"\n")
                    process.stdin.flush()
                if ends:
                    process.stdin.close()
            except BrokenPipeError:
                pass
            source, process.stdin = process.stdin, None
            self.said = process.stderr.read().decode()
            process.wait()
            timer.cancel()
            reader.join()
            try:
                source.close()
            except BrokenPipeError:
                pass
            return process.returncode
