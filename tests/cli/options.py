"""usage: python3 options.py RETAIN [KEY...]

Every key that `retain config` lists, with each of its choices or with numbers at and within its range, in a
tiny run of a source that the key is about: without a folder and with one. A run may end well or with
a sentence, never by a signal. Prints TAP, a case per key.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
# Whatever source a key brings in is tiny.
TINY = {"drift.steps": 12, "drift.per_step": 8, "drift.classes": 4, "drift.dim": 4, "photos.steps": 3,
        "photos.per_step": 4, "photos.classes": 2, "photos.size": 8, "stream.per_step": 4, "eval.count": 2,
        "run.iterations": 1, "run.batch": 4, "model.arch": "linear"}
DRIFT = {**TINY, "model.arch": "mlp:3"}
PHOTOS = {**TINY, "stream.source": "photos"}
TABLE = {**TINY, "stream.source": "table:t.csv", "stream.on_bad": "skip", "stream.max_bad": 0.5}
IMAGES = {**TINY, "stream.source": "train-images-idx3-ubyte", "stream.drift": "true"}
LIVE = {**TINY, "stream.source": "stdin", "model.input": 2, "model.classes": 3, "stdin.per_step": 2, "eval.every": 2}
LINES = "".join('{"id": %d, "input": [%d, 0.5], "label": %d}\n' % (i, i % 5, i % 3) for i in range(12)) + \
    '{"id": 99, "input": [1, "x"]}\nnot JSON\n\0\xff\n{"id": 1, "input": [3, 3], "label": 0}\n'

SOURCES = {"photos": [PHOTOS], "drift": [DRIFT], "table": [TABLE], "image": [IMAGES], "wander": [IMAGES],
           "stdin": [LIVE], "stream": [DRIFT, TABLE, IMAGES, LIVE]}
OTHERS = [DRIFT, LIVE]

# Words for keys that take any text; all others get what no key expects.
WORDS = {"stream.source": ["drift", "photos", "stdin", "table:t.csv", "t.csv", "none.csv", "."],
         "stream.order": ["given", "random", "tasks:2", "tasks:0"], "stream.eval": ["given", "every:2", "none"],
         "stream.preset": ["small"], "run.method": ["sgd+clr", "er", "gdumb", "polrs+adrep", "schedule-free"],
         "run.checkpoint_every": ["1 steps", "never", "1s", "0 steps"], "model.arch": ["linear", "mlp:3,3", "mlp:0"],
         "model.input": ["2", "1,2,1", "0", "-1"], "optimizer.decay": ["pool", "0"],
         "image.mean": ["0.5", "0.5,0.5,0.5", "nan"], "image.std": ["0.5", "0"]}
KEYS_MOST = 190
STRANGE = ["nan", "", "no such thing", "-1", "9999999999999999999999"]


def keys():
    """(section.key, default, row) of every key."""
    done = subprocess.run([retain, "config", "--json"], capture_output=True, text=True, check=True)
    for row in json.loads(done.stdout):
        yield row["key"], row["default"], row


def numbers(default, whole, low, high, closed):
    """The least value, one within the range that is not the default."""
    least = float(low)
    if not closed:
        least = least + 1e-3 if least else 1e-6
    middle = [2.0, 3.0, 0.25, 0.5, 1.5, least + 1, least + 0.125]
    most = float(high)
    found = [least] + [n for n in middle if least < n < most and f"{n:g}" != default][:1]
    return [str(int(n)) if whole else f"{n:g}" for n in found]


def values(name, default, row):
    number = re.match(r"([\[(])([^,]+), ([^\])]+)[\])]", row["allowed"] or "")
    if row["type"] == "choice":
        found = row["allowed"].split(" | ")
    elif row["type"] == "bool":
        found = ["true", "false"]
    elif number:
        found = numbers(default, row["type"] == "int", number.group(2), number.group(3), number.group(1) == "[")
    else:
        found = []
    return found + WORDS.get(name, [])


def run(folder, settings, out):
    """The exit code, None if it does not end; what was said."""
    words = [retain, "run", "--threads", "1"]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    try:
        done = subprocess.run(words + (["--out", out] if out else []), cwd=folder, input=LINES.encode("latin-1"),
                              capture_output=True, check=False, timeout=100)
    except subprocess.TimeoutExpired:
        return None, "does not end"
    return done.returncode, done.stderr.decode("utf-8", "replace")[-500:]


def try_one(folder, settings, out):
    """What went wrong, or None."""
    code, said = run(folder, settings, out)
    if code not in (0, 1, 2) or (code and "retain: " not in said):
        return f"{settings}, {out}: exit code {code}, {said}"
    if out and code == 2 and os.path.exists(os.path.join(folder, out)):
        return f"{settings}, {out}: refused after its folder was made: {said}"
    return None


def try_key(folder, name, default, row):
    """What went wrong, and how many runs were tried."""
    sources = SOURCES.get(name.split(".", maxsplit=1)[0], OTHERS)
    fit = values(name, default, row)
    tries = [({**sources[0], name: value}, None) for value in STRANGE[:1 if fit else None]]
    for i, source in enumerate(sources):
        for j, value in enumerate(fit):
            tries += [({**source, name: value}, f"{name}-{i}-{j}")]
            if source is not LIVE: # which needs a folder
                tries += [({**source, name: value}, None)]
    return [fault for fault in (try_one(folder, *one) for one in tries) if fault], len(tries)


def write_data(folder):
    with open(os.path.join(folder, "t.csv"), "w", encoding="utf-8") as file:
        file.write("time,a,b,label\n")
        for i in range(24):
            file.write(f"{i},{i % 5},{'red' if i % 2 else 'blue'},{'xyz'[i % 3]}\n" if i != 7 else "1,2,3,4,5\n")
    with open(os.path.join(folder, "train-images-idx3-ubyte"), "wb") as file:
        file.write(bytes([0, 0, 8, 3, 0, 0, 0, 24, 0, 0, 0, 8, 0, 0, 0, 8]) + bytes(i % 251 for i in range(24 * 64)))
    with open(os.path.join(folder, "train-labels-idx1-ubyte"), "wb") as file:
        file.write(bytes([0, 0, 8, 1, 0, 0, 0, 24]) + bytes(i % 3 for i in range(24)))


def main():
    chosen = sys.argv[2:]
    total = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as team:
        write_data(folder)
        for i, source in enumerate((DRIFT, PHOTOS, TABLE, IMAGES, LIVE)):
            code, said = run(folder, source, f"first-{i}")
            tap.verdict(code == 0, f"the run of {source.get('stream.source', 'drift')} itself", said)
        everyone = list(keys())
        tap.verdict(len(everyone) <= KEYS_MOST, f"at most {KEYS_MOST} keys: a new one takes the place of another", len(everyone))
        rows = [row for row in everyone if not chosen or row[0] in chosen]
        for row, job in [(row, team.submit(try_key, folder, *row)) for row in rows]:
            wrong, ran = job.result()
            total += ran
            tap.verdict(not wrong, f"{row[0]}, {ran} runs", *wrong[:4])
    print(f"# {total} runs")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
