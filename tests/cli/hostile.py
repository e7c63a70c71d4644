"""usage: python3 hostile.py RETAIN

What the world around the command may do to it: standard descriptors that are closed, readers that go
away, files that may not grow; and what users type. Prints TAP.
"""
import csv
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile

import tap

retain = os.path.abspath(sys.argv[1])
SMALL = ["--set", "drift.steps=40", "--set", "eval.count=4", "--threads", "1"]


def run(*words, **more):
    return subprocess.run([retain, *words], capture_output=True, text=True, check=False, **more)


def shell(words):
    return subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False,
                          env={**os.environ, "RETAIN": retain})


def closed_descriptors():
    small = " ".join(SMALL)
    done = shell(f'"$RETAIN" run {small} --out straight >/dev/null 2>&1')
    tap.verdict(done.returncode == 0, "a run with all its descriptors", done.stderr)
    done = shell(f'"$RETAIN" run {small} --out closed <&- >&- 2>&-; echo $?')
    tap.verdict(done.stdout == "1\n", "a summary that nobody can read is an error", done.stdout)
    for name in "metrics.csv", "events.jsonl":
        with open(f"straight/{name}", encoding="utf-8") as one, open(f"closed/{name}", encoding="utf-8") as two:
            strip = (lambda s: [x.rsplit(",", 1)[0] for x in s]) if name == "metrics.csv" else list
            tap.verdict(strip(one) == strip(two), f"no message lands in {name}")
    tap.verdict(os.path.getsize("closed/lock") == 0, "nor in lock")
    live = ("--set stream.source=stdin --set model.classes=2 --set model.input=1 --set model.arch=linear")
    line = '{"id": 1, "input": [1]}'
    done = shell(f"echo '{line}' | \"$RETAIN\" run {live} --out mute >&-")
    tap.verdict(done.returncode == 1 and ("answers" in done.stderr or "standard output" in done.stderr),
              "answers that nobody can read are an error", done.stderr)
    done = shell(f'"$RETAIN" run {live} --out deaf <&-')
    tap.verdict(done.returncode == 2 and "standard input cannot be read" in done.stderr,
              "a closed standard input is told", done.stderr)


def a_full_disk_behind_a_redirection():
    """Short output fails when it is flushed at the end, long output before."""
    for words in "config", "list", "show straight", "version", "help", "config --json":
        for to in ">/dev/full", ">&-":
            done = shell(f'"$RETAIN" {words} {to}')
            tap.verdict(done.returncode == 1 and "standard output: " in done.stderr,
                      f"retain {words} {to} is an error", f"{done.returncode} {done.stderr}")


def readers_that_go_away():
    done = shell(f'{{ "$RETAIN" run {" ".join(SMALL)} --out piped; echo $? >code; }} | true')
    with open("code", encoding="utf-8") as file:
        code = int(file.read())
    tap.verdict(code == 1 and os.path.exists("piped/model.safetensors"),
              "a run goes on for its folder when its reader is gone", f"{code} {done.stderr}")
    done = shell('"$RETAIN" list | head -1')
    tap.verdict(done.stderr == "", "a list that is cut short says nothing", done.stderr)


def files_that_may_not_grow():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    done = run("run", *SMALL, "--set", "model.arch=mlp:512", "--out", "limited", preexec_fn=limit)
    tap.verdict(done.returncode == 1 and "File too large" in done.stderr,
              "a file that may not grow is told", f"{done.returncode} {done.stderr}")
    left = [name for _, _, names in os.walk("limited") for name in names if ".tmp" in name]
    tap.verdict(not left, "and leaves no half of one behind", str(left))
    done = run("run", "--resume", "limited")
    tap.verdict(done.returncode == 0 and os.path.exists("limited/model.safetensors"),
              "a run whose weights did not fit is resumed to its end", f"{done.returncode} {done.stderr}")
    done = run("run", "--resume", "limited")
    tap.verdict("limited: is finished" in done.stderr, "and is finished then", done.stderr)


def runs_that_go_on_have_not_ended():
    """What says that a run has ended is the first thing to go when it goes on, or begins anew."""
    run("run", *SMALL, "--out", "again")
    os.unlink("again/matrix.csv")
    os.mkdir("again/matrix.csv")
    done = run("run", *SMALL, "--out", "again", "--force")
    tap.verdict(done.returncode == 1 and "again/matrix.csv" in done.stderr, "a folder that cannot be cleared is told",
              f"{done.returncode} {done.stderr}")
    os.rmdir("again/matrix.csv")
    done = run("run", "--resume", "again")
    tap.verdict(done.returncode == 0 and "finished" not in done.stderr and os.path.exists("again/matrix.csv"),
              "and is not taken for a finished run", f"{done.returncode} {done.stderr}")

    line = '{"input": [1], "label": 0}\n'
    words = [retain, "run", "--set", "stream.source=stdin", "--set", "model.classes=2", "--set", "model.input=1",
             "--set", "model.arch=linear", "--quiet", "--out", "onward"]
    subprocess.run(words, input=line, text=True, capture_output=True, check=True)
    ended = run("show", "onward").stdout
    with subprocess.Popen([retain, "run", "--resume", "onward", "--quiet"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(line)
        process.stdin.flush()
        process.stdout.readline()
        going = run("show", "onward").stdout
        process.kill()
    killed = run("show", "onward").stdout
    tap.verdict("ended" in ended, "a live stream that has ended", ended)
    tap.verdict("still going" in going, "goes on", going)
    tap.verdict("broken off" in killed, "and is broken off, whatever was at its first end", killed)


def too_little_memory():
    """Whatever it is that does not fit, the net's convolutions in oneDNN among it."""
    words = ["stream.source=photos", "photos.steps=2", "photos.per_step=4", "photos.size=8", "photos.classes=2",
             "run.iterations=1", "run.batch=4", "eval.count=1", "model.arch=resnet20-cifar"]
    words = ["run", "--threads", "1"] + [word for setting in words for word in ("--set", setting)]

    def limited(mebibytes, *words):
        size = mebibytes << 20
        return run(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))

    start = next((size for size in range(32, 512, 8) if limited(size, "--version").returncode == 0), None)
    if start is None: # the sanitizers' shadows are larger
        tap.skip("too little memory is told", "the command itself needs more than 512 MiB")
        return
    ends = {size: limited(size, *words) for size in range(start, start + 60)}
    bad = [f"{size} MiB: {done.returncode} {done.stderr}" for size, done in ends.items()
           if done.returncode and not (done.returncode == 1 and "out of memory" in done.stderr)]
    told = sum("oneDNN" in done.stderr for done in ends.values())
    with open(retain, "rb") as file:
        has_onednn = b"libdnnl" in file.read()
    tap.verdict(not bad and (told or not has_onednn), f"too little memory is told, {told} times of 60 before oneDNN fails", *bad)


def bad_rows_without_a_folder():
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write("a,b,label\n1,2,x\n1,2,y\n1,2,3,4,5,x\n2,1,x\n2,2,y\n3,1,x\n3,2,y\n")
    words = ["run", "--set", "stream.source=table:t.csv", "--set", "stream.per_step=2", "--set",
             "stream.on_bad=skip", "--set", "stream.max_bad=1", "--set", "model.arch=linear"]
    for more in [], ["--out", "bad"]:
        done = run(*words, *more)
        tap.verdict(done.returncode == 0 and "left out" in done.stderr,
                  f"bad rows are left out {'with' if more else 'without'} a folder",
                  f"{done.returncode} {done.stderr}")
    for count, others in (1, ""), (2, "; 1 other record is bad, too"), (3, "; 2 other records are bad, too"):
        with open("odd.csv", "w", encoding="utf-8") as file:
            file.write("a,b,label\n1,2,x\n1,2,y\n" + "1,2,3,4,5,x\n" * count + "2,1,x\n2,2,y\n" * 4)
        odd = ["stream.source=table:odd.csv", "stream.per_step=2", "stream.on_bad=skip"]
        odd = ["run", "--set", "model.arch=linear"] + [word for setting in odd for word in ("--set", setting)]
        done = run(*odd, "--set", "stream.max_bad=1")
        told = f"row 4: has 6 columns, and row 1 has 3{others}; left out\n"
        tap.verdict(done.returncode == 0 and told in done.stderr, f"{count} without a class, in one sentence", done.stderr)
        done = run(*odd)
        told = f"row 4: has 6 columns, and row 1 has 3{others}; that is more than stream.max_bad = "
        tap.verdict(done.returncode and told in done.stderr, f"{count} without a class are too many", done.stderr)
    done = run(*words, "--set", "stream.per_step=4")
    tap.verdict("do not fill a time step" in done.stderr, "so are samples after the last whole time step",
              done.stderr)


def files_that_speak_to_the_terminal():
    """A terminal obeys escape sequences; those of a file must not reach it by messages about the file."""
    esc = "\x1b[2J\x1b]0;owned\x07\u009b31m"
    rows = "".join(f"{i % 5},{i % 3},{'x' if i % 5 > 2 else 'y'}\n" for i in range(100))
    texts = {"name.csv": f"a,b{esc},label\n{rows}", "label.csv": f"a,b,la{esc}bel\n{rows}", "sane.csv": f"a,b,label\n{rows}",
             "cell.csv": f"a,b,label\n{rows}{esc},2,x\n", "class.csv": f"a,b,label\n{rows}1,2,{esc}\n", "bare.csv": "a,label\n1,x\n",
             "head.csv": f"{esc}\na,b\n", esc + ".csv": "a,b,label\n"}
    for name, text in texts.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    for words in (["run", "sane.csv", "--out", "sane"], ["run", "name.csv", "--out", "named"], ["run", "label.csv"],
                  ["run", "cell.csv", "--set", "table.categorical="], ["run", "class.csv", "--set", "table.labels=numbers"],
                  ["run", "head.csv"], ["run", esc + ".csv"], ["run", "sane.csv", "--set", "table.label=" + esc],
                  ["predict", "sane", "name.csv"], ["predict", "named", "sane.csv"], ["predict", "sane", "cell.csv"],
                  ["predict", "sane", "class.csv"], ["predict", "sane", "nowhere" + esc], ["predict", "named", "bare.csv"],
                  [esc], ["run", "--" + esc]):
        done = run(*words, stdin=subprocess.DEVNULL)
        said = done.stderr + ("" if words[0] == "predict" else done.stdout)
        tap.verdict(said and not any(c in said for c in "\x1b\x07\u009b"), "no escape sequence of a file is passed on: " +
                    " ".join(words).encode("unicode_escape").decode(), repr(said))


def names_that_terminals_obey():
    """Names of classes come from files; neither a terminal nor a spreadsheet is to obey them."""
    evil = "\x1b]0;owned\x07evil"
    with open("evil.csv", "w") as file:
        file.write("a,b,class\n")
        for i in range(60):
            file.write(f"{i * 7 % 10},{i * 3 % 10},{('=1+1', evil, '-1')[i % 3]}\n")
    tap.verdict(run("run", "evil.csv", "--out", "evil", "--quiet").returncode == 0, "strange names are learned")
    for words in (["show", "evil"], ["eval", "evil", "evil.csv", "--part", "all"], ["data", "info", "evil.csv"],
                  ["model", "info", "evil/model.safetensors"]):
        done = run(*words)
        tap.verdict(done.returncode == 0 and "\x1b" not in done.stdout + done.stderr and "\x07" not in done.stdout,
                    f"retain {words[0]} shows them tamed", done.stdout, done.stderr)
    plain = run("predict", "evil", "evil.csv", "--probabilities").stdout
    safe = run("predict", "evil", "evil.csv", "--probabilities", "--safe-csv").stdout
    tap.verdict(",=1+1" in plain and ",'=1+1" not in plain, "answers have names as they are", plain[:200])
    tap.verdict(",=1+1" not in safe and safe.replace("'=", "=") == plain and ",-1" in safe,
                "unless a spreadsheet would run them", safe[:200])
    run("eval", "evil", "evil.csv", "--part", "all", "--confusion", "c.csv", "--out", "p.csv", "--safe-csv")
    run("report", "evil", "--csv", "tables", "--safe-csv")
    for name in "c.csv", "p.csv", "tables/classes.csv":
        with open(name) as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        tap.verdict("'=1+1" in cells and "=1+1" not in cells, f"nor do they begin so in {name}", cells[:20])


def numbers_that_are_none():
    """A net of NaNs has no probabilities, and JSON no NaN."""
    with open("evil/model.safetensors", "rb") as file:
        words = bytearray(file.read())
    head = 8 + int.from_bytes(words[:8], "little")
    for name, about in json.loads(words[8:head]).items():
        if name.endswith("bias"):
            begin, end = (head + at for at in about["data_offsets"])
            words[begin:end] = struct.pack("<f", float("nan")) * ((end - begin) // 4)
    with open("nan.safetensors", "wb") as file:
        file.write(words)
    done = run("predict", "nan.safetensors", "evil.csv", "--format", "ndjson", "--probabilities")

    def refuse(word):
        raise ValueError(word)

    answers = [json.loads(line, parse_constant=refuse) for line in done.stdout.splitlines()]
    tap.verdict(len(answers) == 60 and answers[0]["probability"] is None, "NaN is null in JSON", done.stdout[:200])


def what_users_type():
    done = run("run", *SMALL, "--set", "run.checkpoint_every=soon", "--out", "soon")
    tap.verdict(done.returncode == 2 and not os.path.exists("soon"),
              "a bad interval is refused before anything is made", done.stderr)
    done = run("run", "--resume", "straight")
    tap.verdict(done.returncode == 0 and "straight: is finished" in done.stderr and not done.stdout,
              "a finished run is not made again", done.stderr)
    os.mkdir("photos")
    done = run("run", "--set", "stream.source=photos")
    tap.verdict(done.returncode == 2 and "./photos is the folder" in done.stderr,
              "a folder named like a built-in stream is told apart", done.stderr)
    for words in ["run", "photos"], ["tune", "photos"], ["data", "info", "photos"]:
        done = run(*words)
        tap.verdict(done.returncode == 2 and "retain: photos: " in done.stderr and "--set stream.preset=photos-small" in
                  done.stderr, f"retain {' '.join(words)} says what was typed, and the way to the stream", done.stderr)
    done = run("run", "--set", "stream.preset=photos-small", "--set", "photos.steps=10", "--set", "model.arch=linear",
               "--set", "eval.count=1", "--threads", "1")
    tap.verdict(done.returncode == 0, "which leads there", done.stderr)
    done = run("run", "--set", "model=linear")
    tap.verdict("model: is a section, whose keys are model." in done.stderr and "model.arch" in done.stderr,
              "a section is no key", done.stderr)
    for option in "--lr", "--learning-rate", "--learning_rate":
        done = run("run", option, "0.1")
        tap.verdict(f"{option}: no such option; did you mean --set schedule.rate=VALUE?" in done.stderr,
                  f"{option} is known by another name", done.stderr)
    done = run("run", "photos/")
    tap.verdict(done.returncode == 2 and "cannot tell what kind of data" in done.stderr,
              "an empty folder is no config", done.stderr)
    os.rmdir("photos")
    with open("empty.ndjson", "wb"), open("empty.ini", "wb"):
        pass
    done = run("run", "empty.ndjson")
    tap.verdict(done.returncode == 2 and "is empty, neither data nor a config" in done.stderr,
              "nor is an empty file", done.stderr)
    for name, words, why in (
            ("empty.ini", b"", "empty.ini: sets no key"),
            ("headings.ini", b"# nothing yet\n[run]\n", "headings.ini: sets no key"),
            ("typo.ini", b"[rum]\n", "typo.ini:1: [rum]: no such section; did you mean [run]?"),
            ("behind.ini", b"[run] seed = 1\n", "behind.ini:1: [run] is followed by seed = 1"),
            ("records.json", b'[{"a":1,"class":["x"]},{"a":2,"class":"y"}]', "records.json: is a JSON array, and its first"),
            ("indented.txt", b'\xef\xbb\xbf [\n {"a": 1}\n]\n', "indented.txt: is a JSON array, and its first value"),
            ("numbers.txt", b"[1,2,3]\n", "numbers.txt: is a JSON array, and its first value is not a row"),
            ("lines.json", b'{"a":1}\n{"a":2}\n', "lines.json: is JSON, but neither a table"),
            ("live.json", b'{"id":1,"input":[1]}\n', "retain run - < live.json"),
            ("array.ini", b"[1,2,3]\n", "array.ini:1: [1,2,3]: no such section"),
            ("zeros.bin", bytes(100), "zeros.bin: neither a config, which starts with a [section]"),
            ("prose.txt", b"Dear all,\n", "prose.txt: neither a config"),
            ("pairs.txt", b"seed = 1\n", "pairs.txt: neither a config")):
        with open(name, "wb") as file:
            file.write(words)
        done = run("run", name, "--quiet")
        tap.verdict(done.returncode == 2 and why in done.stderr, f"{name} runs nothing", done.stderr)
    with open("any.name", "w") as file:
        file.write("[run]\nseed = 2\n")
    tap.verdict(run("run", "any.name", *SMALL, "--quiet").returncode == 0, "a config may have any name")
    for typed, meant in ("schedule.lr=1", "schedule.rate"), ("schedule.learning_rate=1", "schedule.rate"):
        done = run("run", "--set", typed)
        tap.verdict(done.returncode == 2 and f"did you mean {meant}?" in done.stderr, f"{typed}: {meant}",
                  done.stderr)
    done = run("run", "--source", "t.csv")
    tap.verdict(done.returncode == 2 and "--set stream.source=VALUE" in done.stderr, "--source: its key is named",
              done.stderr)


def what_may_not_be_read():
    os.mkdir("locked", 0)
    who = {"user": 65534} if os.geteuid() == 0 else {}
    os.chmod(".", 0o755)
    try:
        done = run("version", **who)
    except OSError as why:
        tap.skip("a folder that may not be read is told", str(why))
        return
    if done.returncode:
        tap.skip("a folder that may not be read is told", done.stderr)
        return
    done = run("data", "info", "locked", **who)
    tap.verdict(done.returncode == 1 and "locked: Permission denied" in done.stderr,
              "a folder that may not be read is told", done.stderr)


def resuming_from_elsewhere():
    os.mkdir("elsewhere")
    words = ["run", "--set", "stream.source=table:t.csv", "--set", "stream.on_bad=skip", "--set",
             "stream.max_bad=1", "--set", "model.arch=linear", "--set", "stream.per_step=1", "--set",
             "run.iterations=100", "--set", "run.checkpoint_every=1 steps", "--out", "far"]
    with subprocess.Popen([retain, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as going:
        while not os.path.isdir("far/checkpoint") and going.poll() is None:
            pass
        going.send_signal(signal.SIGKILL)
    done = run("run", "--resume", "../far", cwd="elsewhere")
    tap.verdict(done.returncode == 0, "a relative stream.source can be resumed from elsewhere", done.stderr)


def damage_is_told_under_quiet():
    words = ["run", *SMALL, "--set", "run.checkpoint_every=10 steps", "--out", "hurt", "--quiet"]
    run(*words)
    os.remove("hurt/run.json")
    newest = sorted(os.listdir("hurt/checkpoint"))[-1]
    with open(f"hurt/checkpoint/{newest}", "r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\xff" * 50)
    done = run("run", "--resume", "hurt", "--quiet")
    tap.verdict(done.returncode == 0 and "is damaged" in done.stderr,
              "--quiet does not hide a damaged checkpoint", done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    closed_descriptors()
    a_full_disk_behind_a_redirection()
    readers_that_go_away()
    files_that_may_not_grow()
    runs_that_go_on_have_not_ended()
    too_little_memory()
    bad_rows_without_a_folder()
    files_that_speak_to_the_terminal()
    what_users_type()
    names_that_terminals_obey()
    numbers_that_are_none()
    what_may_not_be_read()
    resuming_from_elsewhere()
    damage_is_told_under_quiet()
    os.chdir("/")
sys.exit(tap.plan())
