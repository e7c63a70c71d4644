"""usage: ranks.py RETAIN [RANKED [--long]]

`mpirun -n N retain run` from outside: the files of a run are those of one process, whatever is
trained; a killed rank ends the run, which goes on with another number of ranks; ranks that
hang, differ or are alone by mistake are named. RANKED is a command that is built with MPI, if
there is one. 2 ranks and 2 kills; --long: 1 to 4 ranks, more kinds of runs, and 20 kills.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from tap import plan, skip, verdict

plain = os.path.abspath(sys.argv[1])
retain = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
long = "--long" in sys.argv
counts = [1, 2, 3, 4] if long else [2]
kills = 20 if long else 2
environment = dict(os.environ, LC_ALL="C", OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_btl_vader_single_copy_mechanism="none")
mpirun = shutil.which("mpirun")
files = ["model.safetensors", "matrix.csv", "classes.json", "events.jsonl"]


def open_mpi():
    return mpirun and "Open MPI" in run([mpirun, "--version"])[1]


def launch(count, words):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [mpirun, *root, "--oversubscribe", "--bind-to", "none", "-n", str(count), retain, *words]


def run(words, seconds=300, **more):
    """Exit code and all that was said."""
    done = subprocess.run(words, env=dict(environment, **more), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def rows(path):
    """metrics.csv without its last column, the seconds."""
    with open(path) as file:
        return [line.rsplit(",", 1)[0] for line in file]


def same(one, other):
    """The names of files that differ."""
    wrong = [] if rows(one + "/metrics.csv") == rows(other + "/metrics.csv") else ["metrics.csv"]
    for name in files:
        with open(os.path.join(one, name), "rb") as a, open(os.path.join(other, name), "rb") as b:
            if a.read() != b.read():
                wrong.append(name)
    return wrong


def settings(*words):
    return [part for word in words for part in ("--set", word)]


small = ["run", "--quiet", "--ranks-anyway", "--threads", "1"]
drift = settings("drift.steps=60", "run.iterations=4", "run.micro_batch=8", "eval.count=3",
                 "schedule.window=20", "schedule.patience=60", "schedule.validate_every=5")
# A ResNet-18 takes a second for 20 pictures; a rate at which it stays sane, since tiny numbers are slow.
pictures = settings("stream.source=photos", "photos.steps=%d" % (3 if long else 2),
                    "photos.per_step=%d" % (24 if long else 10), "run.batch=%d" % (16 if long else 4),
                    "run.iterations=%d" % (2 if long else 1), "run.micro_batch=%d" % (4 if long else 2),
                    "eval.count=1", "photos.classes=4", "schedule.rate=0.01",
                    "schedule.validate_every=%d" % (2 if long else 1),
                    "schedule.validation_batch=%d" % (8 if long else 4),
                    "average.statistics_every=2", "model.arch=resnet18-cifar")


def photos_on_disk():
    """A folder of classes with pictures from the tests' own, or nothing."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/images")
    found = sorted(name for name in os.listdir(here) if name.endswith((".jpg", ".jpeg", ".png")))
    for i in range(40):
        place = os.path.join("set", "train", "ab"[i % 2])
        os.makedirs(place, exist_ok=True)
        name = found[i % len(found)]
        shutil.copy(os.path.join(here, name), "%s/%02d%s" % (place, i, os.path.splitext(name)[1]))


def same_bytes():
    photos_on_disk()
    kinds = {
        "an MLP, AMA and MALR": drift,
        "weights to start from": drift + settings("model.weights=start.safetensors"),
        "ADAM, EMA": drift + settings("optimizer.kind=adam", "average.kind=ema", "optimizer.decay=0.001"),
        "schedule-free, recency, fast weights": drift + ["--method", "schedule-free+recency+fast"],
        "no average": drift + ["--method", "sgd+rwp"],
        "PoLRS": drift + ["--method", "polrs+adrep"],
        "MIR": drift + ["--method", "mir"],
        "a rate that is too high, rolled back": drift + settings(
            "schedule.rate=100", "run.on_nan=rollback", "run.checkpoint_every=5 steps"),
        "a ResNet-18 with group norm": pictures,
        "batch norm": pictures + settings("model.norm=bn", *[] if long else ["model.arch=resnet20-cifar"]),
        "photos from disk": [*settings(
            "stream.source=folder:set", "stream.per_step=10", "image.size=32",
            "run.batch=8", "run.micro_batch=2", "run.iterations=4", "eval.count=2",
            "model.arch=resnet20-cifar", "schedule.validate_every=5",
            "schedule.validation_batch=4", "replay.holdout=0.2")],
    }
    for name, words in kinds.items():
        code, said = run([retain, *small, *words, "--out", "one"])
        verdict(code == 0, name + ": one process", said)
        if words is drift:
            shutil.copy("one/model.safetensors", "start.safetensors")
        for count in counts:
            code, said = run(launch(count, [*small, *words, "--out", "many"]))
            wrong = same("one", "many") if code == 0 else [code]
            verdict(not wrong, "%s: %d ranks come to the same bytes" % (name, count), wrong, said)
            shutil.rmtree("many", ignore_errors=True)
        shutil.rmtree("one", ignore_errors=True)


def late_numbers(count, late):
    """Labels that are numbers, each known only when `late` more rows were asked about."""
    rows, labels = [], []
    for i in range(count):
        labels.append('{"id": %d, "label": %.3f}\n' % (i, i % 24 + i * 7 % 5 / 10))
        rows.append('{"id": %d, "input": {"hour": %d, "x": %d}}\n' % (i, i % 24, i * 7 % 5))
        if i >= late:
            rows.append(labels[i - late])
    return "".join(rows + labels[count - late:])


def live():
    """Lines as they come: rank 0 reads and answers, both train; and one process goes on where two stopped."""
    classes = "".join('{"id": %d, "input": {"x": %d, "y": %d}, "label": "%s"}\n' % (
        i, i % 7, i * 3 % 11, "ab"[i % 7 > 3]) for i in range(300))
    kinds = {
        "lines as they come": (classes, settings("run.iterations=2", "stream.per_step=4")),
        "numbers whose labels come late": (late_numbers(300, 12), ["--target", "number"]),
    }
    for name, (lines, more) in kinds.items():
        words = ["--quiet", "--ranks-anyway", "--threads", "1", *settings("run.batch=16", "run.micro_batch=4"), *more]
        half = lines.index("\n", len(lines) // 2) + 1
        turns = {
            "one": [([retain], words + ["--out", "one"], lines)],
            "many": [(launch(2, []), words + ["--out", "many"], lines)],
            "turns": [(launch(2, []), words + ["--out", "turns"], lines[:half]),
                      ([retain], ["--quiet", "--resume", "turns"], lines[half:])],
        }
        said = {}
        for out, parts in turns.items():
            said[out] = b""
            for command, arguments, part in parts:
                done = subprocess.run([*command, "run", "-", *arguments], env=environment, input=part.encode(),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
                said[out] += done.stdout if done.returncode == 0 else done.stderr
            with open("one/model.safetensors", "rb") as a, open(out + "/model.safetensors", "rb") as b:
                verdict(said[out] == said["one"] and said[out].count(b"prediction") == 300 and a.read() == b.read(),
                        name + ": the same answers and the same model: " + out, said[out][-300:])
        for out in turns:
            shutil.rmtree(out)


def serving():
    """The service: rank 0 answers, both train; it stops in good order."""
    child = begin(2, ["serve", "--out", "served", "--listen", "unix:" + os.path.abspath("socket"),
                      "--ranks-anyway", *settings("run.batch=16", "run.micro_batch=4")])
    until = time.time() + 60
    while not os.path.exists("socket") and time.time() < until:
        time.sleep(0.05)
    answers = []
    for i in range(40):
        body = '{"id": %d, "input": [%d, 1], "label": %d}\n' % (i, i % 5, i % 2)
        answers.append(post("socket", "/v1/samples", body))
    child.send_signal(signal.SIGUSR1)
    said = child.communicate(timeout=60)[0].decode()
    verdict(all("prediction" in answer for answer in answers) and "Saved." in said,
            "a service on two ranks answers, learns and saves", answers[:2], said)


def post(path, route, body):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        link.sendall(("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
                      "application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s" % (
                          route, len(body), body)).encode())
        return b"".join(iter(lambda: link.recv(4096), b"")).decode()


def ranks_of(parent):
    """The processes below mpirun, by rank."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as file:
                above = int(file.read().rsplit(")", 1)[1].split()[1])
            with open("/proc/%s/environ" % name, "rb") as file:
                rank = [word for word in file.read().split(b"\0")
                        if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
        except OSError:
            continue
        if above == parent and rank:
            found[int(rank[0].split(b"=")[1])] = int(name)
    return found


def begin(count, words):
    """Starts ranks and waits until all of them are there."""
    child = subprocess.Popen(launch(count, words), env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until = time.time() + 60
    while len(ranks_of(child.pid)) < count and child.poll() is None and time.time() < until:
        time.sleep(0.01)
    return child


def wait_for(child):
    """Open MPI's mpirun may lock itself up in PMIx when a rank was killed: that is not the ranks' fault, if none is left."""
    try:
        child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        if ranks_of(child.pid):
            raise
        child.kill()
        child.communicate()


def killed():
    """Kills a random rank at random moments; each process goes on with another number of ranks."""
    words = drift + settings("run.checkpoint_every=5 steps")
    chance = random.Random(7)
    code, said = run([retain, *small, *words, "--out", "one"])
    verdict(code == 0, "a run to compare with", said)
    start, done = ["--out", "broken", *words], 0
    for _ in range(10 * kills):
        if done == kills:
            break
        child = begin(chance.choice([1, 2, 3]), [*small, *start])
        time.sleep(chance.uniform(0, 1.5 if long else 0.5))
        there = ranks_of(child.pid)
        if child.poll() is None and there:
            try:
                os.kill(there[chance.choice(sorted(there))], signal.SIGKILL)
            except OSError:
                pass
        wait_for(child)
        done += child.returncode != 0
        if child.returncode == 0:  # it was too late: the next ones begin anew
            if same("one", "broken"):
                break
            shutil.rmtree("broken")
        start = (["--resume", "broken"] if os.path.exists("broken/config.ini")
                 else ["--out", "broken", "--force", *words])
    code, said = run(launch(2, [*small, *start]))
    wrong = same("one", "broken") if code == 0 else [code]
    verdict(not wrong and done == kills, "%d kills of a rank, then the same bytes" % kills, wrong, said)


def hang():
    """Two ranks, the second of which is stopped. A busy machine must not look like a rank that hangs."""
    words = drift + settings("engine.patience=10", "drift.steps=100000", "run.checkpoint_every=5 steps")
    child = begin(2, [*small, *words, "--out", "hanging"])
    until = time.time() + 120
    while not os.path.isdir("hanging/checkpoint") and child.poll() is None and time.time() < until:
        time.sleep(0.05)
    there = ranks_of(child.pid)
    if 1 in there:
        os.kill(there[1], signal.SIGSTOP)
    return child


def hung(child):
    try:
        said = child.communicate(timeout=120)[0].decode()
    except subprocess.TimeoutExpired:
        child.kill()
        said = child.communicate()[0].decode()
    host = os.uname().nodename
    verdict(child.returncode != 0 and "rank 1 on %s does not answer" % host in said,
            "a rank that hangs is named, and ends the run", child.returncode, said)
    verdict(os.listdir("hanging/checkpoint"), "and the last checkpoint stays")


def strangers():
    os.makedirs("there/0")
    os.makedirs("there/1")
    for rank in "01":
        with open("there/%s/data.csv" % rank, "w") as file:
            file.write("x,y,class\n" + "".join(
                "%d,%d,%d\n" % (i, i * 7 % 5 + int(rank), i % 3) for i in range(400)))
    script = os.path.abspath("each")
    with open(script, "w") as file:
        file.write("#!/bin/sh\ncd there/$OMPI_COMM_WORLD_RANK && exec \"$@\"\n")
    os.chmod(script, 0o755)
    words = launch(2, ["run", "/proc/self/cwd/data.csv", "--quiet", "--ranks-anyway", "--out",
                       os.path.abspath("stranger"), *settings("run.micro_batch=8")])
    at = words.index(retain)
    code, said = run([*words[:at], script, *words[at:]])
    verdict(code != 0 and "rank 1 on" in said and "other data" in said,
            "a rank with other data is named", code, said)
    with open(retain, "rb") as file:
        program = file.read()
    code, said = run([retain, "version"])
    version = said.split()[1].encode()
    with open("other", "wb") as file:
        file.write(program.replace(version + b"\0", version[:-1] + b"9\0"))
    os.chmod("other", 0o755)
    with open(script, "w") as file:
        file.write("#!/bin/sh\ntest $OMPI_COMM_WORLD_RANK = 0 || exec ./other run\nexec \"$@\"\n")
    words = launch(2, [*small, *drift])
    at = words.index(retain)
    code, said = run([*words[:at], script, *words[at:]])
    verdict(code != 0 and "rank 1 on" in said and "is retain" in said,
            "a rank of another version is named", code, said)


def refusals():
    # What srun says without PMI; Open MPI would end the process before retain has a word.
    code, said = run([retain, "run"], SLURM_JOBID="1", SLURM_STEPID="0", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="4")
    verdict(code == 2 and said.startswith("retain: 4 processes were started, but each is alone") and "pmix" in said,
            "four processes that cannot see each other refuse", code, said)
    code, said = run([retain, "run"], SLURM_STEP_NUM_TASKS="4", PMIX_RANK="0")
    verdict(code == 2 and "4 processes were started, but each is alone" in said,
            "also if MPI believes that it is among others", code, said)
    code, said = run(launch(2, ["run", "--quiet", *drift, *settings("model.arch=linear", "run.batch=16")]))
    verdict(code != 0 and "--ranks-anyway" in said, "a small net is refused", code, said)
    code, said = run(launch(2, ["run", "--quiet", "--set", "drift.steps=60"]))
    verdict(code != 0 and "run.micro_batch" in said, "a batch that is not cut is refused", code, said)
    code, said = run(launch(2, ["list"]))
    verdict(code != 0 and "only run and serve" in said, "other verbs are refused", code, said)
    code, said = run(launch(2, ["run", "--set", "run.batchs=3"]))
    verdict(code != 0 and "run.batch?" in said, "a mistake is told once", code, said)


def stops():
    words = drift + settings("drift.steps=100000")
    child = begin(2, [*small, *words, "--out", "stopped"])
    until = time.time() + 60
    while not os.path.exists("stopped/config.ini") and time.time() < until:
        time.sleep(0.05)
    time.sleep(1)
    child.send_signal(signal.SIGUSR1)
    said = child.communicate(timeout=60)[0].decode()
    verdict("Go on with: retain run --resume" in said, "SIGUSR1 stops in good order", said)
    verdict(os.path.isdir("stopped/checkpoint"), "and saves")


def main():
    code, said = run([plain, "run"], SLURM_STEP_NUM_TASKS="4")
    verdict(code == 2 and "4 processes were started" in said,
            "one of four that is alone refuses", code, said)
    if not retain or not open_mpi():
        skip("several ranks", "the build found no Open MPI (./bootstrap test)" if not retain
             else "there is no mpirun of Open MPI")
        return
    same_bytes()
    live()
    serving()
    killed()
    child = hang()  # it takes its time
    strangers()
    refusals()
    hung(child)
    stops()


folder = tempfile.mkdtemp()
try:
    os.chdir(folder)
    main()
finally:
    os.chdir("/")
    shutil.rmtree(folder)
sys.exit(plan())
