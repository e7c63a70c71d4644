"""How a worker of bench/against-pytorch talks: one line of JSON when it is ready, then one
for every line "run SECONDS" on standard input. "quit" or the end of input ends it."""

import json
import os
import resource
import sys
import time


class Channel:
    """Standard output for the answers alone: libraries write to it as they please."""

    def __init__(self):
        self.file = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def answer(self, **fields):
        self.file.write(json.dumps(fields) + "\n")
        self.file.flush()


def peak_rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(call, seconds):
    """Repeats the call until the time is up, twice at least. Returns what each repeat took."""
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def reason(error):
    """The first line of an exception."""
    lines = str(error).strip().splitlines() or [""]
    return "%s: %s" % (type(error).__name__, lines[0])


def serve(setup, turn):
    """setup() gives what turn(it, seconds) needs and the facts to report; turn gives results."""
    channel = Channel()
    start = time.perf_counter()
    try:
        subject, facts = setup()
    except Exception as error:  # whatever it is, against-pytorch reports it and goes on
        channel.answer(failed=reason(error))
        return 1
    channel.answer(ready=True, setup_s=time.perf_counter() - start, **facts)
    for line in sys.stdin:
        words = line.split()
        if not words or words[0] != "run":
            break
        channel.answer(peak_rss_mb=peak_rss_mb(), **turn(subject, float(words[1])))
    return 0
