"""Who takes part in bench/against-pytorch: PyTorch in its variants, Avalanche, and retain.

A contestant has a name, takes turns, collects their results and tells what processor time
it has used. PyTorch's and Avalanche's are processes that live from turn to turn and obey
torch_turns.py; retain is started anew for every turn.
"""

import collections
import json
import os
import resource
import select
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "torch_worker.py")
LEARNER = os.path.join(HERE, "torch_learner.py")
AVALANCHE = os.path.join(HERE, "avalanche_learner.py")
SETUP_LIMIT = 1800  # seconds a worker may take to compile and warm up
RUN_LIMIT = 600
MICRO_BATCH = 32
# Of retain through the stream of its learner; each block of it counts by its fastest.
PASSES = 3

Variant = collections.namedtuple("Variant", "how layout malloc")

# Of torch_learner.py and avalanche_learner.py; a race with --quick takes the first ones only.
EAGER_LEARNERS = ["eager-foreach", "eager-fused", "eager-flat"]
COMPILED_LEARNERS = ["compile", "whole", "unrolled", "unrolled-cpp"]
OTHER_LEARNERS = ["compile-autotune", "compile-cpp", "whole-autotune", "whole-cpp",
    "unrolled-autotune"]
AVALANCHE_LEARNERS = ["steps", "experience"]

# A contestant to be started. slow: it compiles.
Entry = collections.namedtuple("Entry", "name command environment slow")

# Memory that is given back to the kernel comes back as page faults, hundreds of thousands a
# step: the tuned form keeps it, in huge pages.
TUNED_MALLOC = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 38),
    "MALLOC_TOP_PAD_": str(1 << 28),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


class Failure(Exception):
    pass


# --- PyTorch ------------------------------------------------------------------------------

PROBE = """
import json, torch
maps = open("/proc/self/maps").read()
blas = sorted({l.split()[-1] for l in maps.splitlines() if "openblas" in l})
print(json.dumps({"version": torch.__version__, "openblas": blas}))
"""


class Python:
    """An interpreter with PyTorch, and the environment in which its workers do best."""

    def __init__(self, path):
        self.path = path
        self.environment = {}
        try:
            out = subprocess.run([path, "-c", PROBE], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure("%s: %s" % (path, error))
        if out.returncode:
            raise Failure("%s: %s" % (path, (out.stderr.strip().splitlines() or ["failed"])[-1]))
        facts = json.loads(out.stdout.splitlines()[-1])
        self.version = facts["version"]
        self.label = "torch " + self.version.split("+")[0]
        self.major = int(self.version.split(".")[0])
        self.notes = self.mend_blas(facts["openblas"])

    def mend_blas(self, libraries):
        """OpenBLAS with its own threads fights with PyTorch's: take its OpenMP build, if any."""
        for library in libraries:
            folder = os.path.dirname(os.path.realpath(library))
            if not folder.endswith("openblas-pthread"):
                continue
            better = folder[:-len("pthread")] + "openmp"
            if not os.path.isdir(better):
                return ["its OpenBLAS brings threads of its own (install libopenblas0-openmp)"]
            paths = [better] + [p for p in [os.environ.get("LD_LIBRARY_PATH")] if p]
            self.environment["LD_LIBRARY_PATH"] = ":".join(paths)
            return ["runs with OpenBLAS from openblas-openmp"]
        return []

    def variants(self, case):
        ways = ["eager"]
        if self.major >= 2:
            ways.append("compile")
            if case.size == 1:
                ways.append("whole")
        if case.mode == "infer":
            ways.append("jit")
        layouts = ["nchw", "channels_last"] if case.size > 1 else ["nchw"]
        return [Variant(w, l, m) for w in ways for l in layouts for m in ("plain", "tuned")]

    def learners(self, quick):
        if self.major < 2:
            return EAGER_LEARNERS
        return EAGER_LEARNERS + COMPILED_LEARNERS + ([] if quick else OTHER_LEARNERS)

    def worker_entry(self, variant, case, threads):
        """An entry for a training step or inference."""
        environment = dict(thread_environment(threads), **self.environment)
        if variant.malloc == "tuned":
            environment.update(TUNED_MALLOC)
        command = [self.path, WORKER, "--arch", case.arch, "--norm", case.norm,
            "--channels", str(case.channels), "--size", str(case.size),
            "--classes", str(case.classes), "--batch", str(case.batch),
            "--threads", str(threads), "--mode", case.mode, "--layout", variant.layout,
            "--how", variant.how]
        return Entry(worker_name(self, variant, case), command, environment,
            variant.how in ("compile", "whole"))

    def learner_entry(self, variant):
        environment = dict(thread_environment(1), **self.environment)
        return Entry("%s %s" % (self.label, variant),
            [self.path, LEARNER, "--serve", "--variant", variant], environment,
            variant not in EAGER_LEARNERS)


def avalanche_entry(path, variant):
    return Entry("avalanche " + variant, [path, AVALANCHE, "--serve", "--variant", variant],
        thread_environment(1), False)


def thread_environment(threads):
    """Threads stay on their cores and spin for some milliseconds between parallel regions,
    which is enough to win and ends soon after a turn: who waits must not burn his rivals' time."""
    cpus = physical_cores()[:threads]
    environment = {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "KMP_BLOCKTIME": "20",
    }
    if len(cpus) == threads > 1:  # one alone may go where there is room
        environment["KMP_AFFINITY"] = "granularity=fine,compact,1,0"
        environment["GOMP_CPU_AFFINITY"] = " ".join(str(c) for c in cpus)
    return environment


def physical_cores():
    """The processors we may use, one of each core first."""
    first, others, seen = [], [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu) as file:
                core = file.read().strip()
        except OSError:
            core = str(cpu)
        (others if core in seen else first).append(cpu)
        seen.add(core)
    return first + others


class Worker:
    """A contestant: one PyTorch in one variant, kept alive between its turns."""

    def __init__(self, entry):
        self.name = entry.name
        self.results = []
        self.facts = {}
        self.errors = tempfile.TemporaryFile("w+")
        try:
            self.process = subprocess.Popen(entry.command, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=self.errors,
                env=dict(os.environ, **entry.environment))
        except OSError as error:
            self.errors.close()
            raise Failure("%s: %s" % (entry.command[0], error))
        try:
            self.facts = self.answer(SETUP_LIMIT)
        except Failure:
            self.close()
            raise

    def answer(self, limit):
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        if not ready:
            raise Failure("no answer within %d s" % limit)
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            lines = self.errors.read().strip().splitlines() or ["no message"]
            raise Failure("the worker died: " + lines[-1])
        answer = json.loads(line)
        if "failed" in answer:
            raise Failure(answer["failed"])
        return answer

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def turn(self, seconds):
        self.process.stdin.write(b"run %f\n" % seconds)
        self.process.stdin.flush()
        self.results.append(self.answer(RUN_LIMIT))

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def worker_name(python, variant, case):
    words = [python.label, variant.how]
    if case.size > 1:
        words.append(variant.layout)
    if variant.malloc == "tuned":
        words.append("malloc+")
    return " ".join(words)


# --- retain -------------------------------------------------------------------------------

class Retain:
    def __init__(self, args, case):
        self.name = "retain"
        self.results = []
        self.whole = case.mode == "learn"
        if self.whole:
            self.command = [args.retain, "bench", "learn", "--threads", "1", "--json"]
        else:
            self.command = train_command(args, case)
        if args.isa:
            self.command += ["--isa", args.isa]

    def cpu_seconds(self):
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def turn(self, seconds):
        """A learner goes through its whole stream, since its iterations are not all alike."""
        length = ["--passes", str(PASSES)] if self.whole else ["--seconds", "%g" % seconds]
        out = subprocess.run(self.command + length, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=RUN_LIMIT)
        if out.returncode:
            reason = out.stderr.strip() or "exit status %d" % out.returncode
            raise Failure("%s: %s" % (" ".join(self.command), reason))
        result = json.loads(out.stdout.splitlines()[-1])
        if self.whole:
            result["fastest_us_per_iteration"] = result["us_per_iteration"]
            result["us_per_iteration"] = result["whole_us_per_iteration"]
        self.results.append(result)


def train_command(args, case):
    command = [args.retain, "bench", "train", "--arch", case.arch, "--norm", case.norm,
        "--batch", str(case.batch), "--threads", str(args.threads),
        "--classes", str(case.classes), "--json"]
    if case.size > 1:
        command += ["--channels", str(case.channels), "--size", str(case.size)]
    else:
        command += ["--size", str(case.channels)]
    if case.mode == "memory":
        return command + ["--micro", str(MICRO_BATCH), "--repeat", "1"]
    return command + ["--mode", case.mode]


def has_verb(args, case):
    """Whether this retain can run the case at all."""
    if case.mode != "learn":
        return True
    out = subprocess.run([args.retain, "bench", "learn", "--help"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=RUN_LIMIT)
    return out.returncode == 0
