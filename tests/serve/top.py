#!/usr/bin/env python3
"""usage: tests/serve/top.py RETAIN

retain top: one look at a service, a follower, a folder; what it says when nothing is there; and a terminal of 80 columns, which
is drawn anew and comes back as it was. Prints TAP.
"""
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from service import Service
from tap import plan, skip, verdict


def top(retain, *words):
    done = subprocess.run([retain, "top", *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def row(words, label):
    """The value beside a label."""
    found = re.search(r"(?:^|  )%s +(\d+(?: \d{3})*(?:\.\d+)?)" % re.escape(label), words, re.MULTILINE)
    return found and float(found[1].replace(" ", ""))


def teach(service, first, count, number=False):
    lines = [json.dumps({"id": i, "input": [i % 7, 1], "label": i % 7 if number else "ab"[i % 7 > 3]})
             for i in range(first, first + count)]
    assert service.ask("POST", "/v1/samples", "\n".join(lines) + "\n", AUTH)[0] == 200
    while json.loads(service.ask("GET", "/v1/state", headers=AUTH)[2])["samples"] < first + count:
        time.sleep(0.02)


AUTH = {"Authorization": "Bearer " + "t" * 20}


def in_terminal(retain, url, token, service):
    """Screens that were drawn in some seconds while samples come, and the exit code after Ctrl-C."""
    process, terminal = pty.fork()
    if not process:
        os.environ.update(TERM="xterm", LANG="C.UTF-8")
        os.environ.pop("COLUMNS", None)
        os.execv(retain, [retain, "top", url, "--token", token])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    got, end, first = b"", time.monotonic() + 20, 1000
    while got.count(b"\x1b[H\x1b[J") < 5 and time.monotonic() < end:
        teach(service, first, 50)
        first += 50
        got += os.read(terminal, 1 << 16)
    os.kill(process, signal.SIGINT)
    try:
        while part := os.read(terminal, 1 << 16):
            got += part
    except OSError:
        pass
    return got.decode().split("\x1b[H\x1b[J"), os.waitpid(process, 0)[1]


def try_terminal(retain, url, token, service):
    screens, code = in_terminal(retain, url, token, service)
    verdict(code == 0 and screens[0].startswith("\x1b[?1049h") and screens[-1].rstrip().endswith("\x1b[?1049l"),
            "Ctrl-C ends it and leaves the terminal as it was", code, screens[-1:])
    lines = "".join(screens[1:-1]).splitlines()
    verdict(len(screens) > 4 and max(map(len, lines)) <= 80, "it fits 80 columns", [x for x in lines if len(x) > 80])
    verdict(re.search(r"samples +\d[\d ]* +[\d.]+/s", screens[-2]), "with samples a second", screens[-2:])
    verdict("accuracy since here" in screens[-2] and "│" in screens[-2], "and a curve", screens[-2:])


def try_folder(retain, folder):
    code, words, errors = top(retain, folder)
    verdict(code == 0 and row(words, "samples") == 1000 and row(words, "accuracy now") is not None, "a folder",
            code, words, errors)


def main():
    retain = os.path.abspath(sys.argv[1])
    if not shutil.which("curl"):
        skip("retain top", "there is no curl")
        return plan()
    folder = tempfile.mkdtemp(prefix="retain-top-test-")
    token = os.path.join(folder, "token")
    with open(token, "w", encoding="utf-8") as file:
        file.write("t" * 20)
    guarded = ["--listen", "127.0.0.1:0", "--set", "serve.token_file=" + token]
    service = Service(retain, "--out", os.path.join(folder, "a"), *guarded)
    url = "http://127.0.0.1:%d" % service.port
    code, words, errors = top(retain, url, "--token", token)
    verdict(code == 0 and "waits" in words, "a service before its first input", code, words, errors)
    teach(service, 0, 1000)
    code, words, errors = top(retain, url + "/", "--token", token, "--once")
    state = json.loads(service.ask("GET", "/v1/state", headers=AUTH)[2])
    verdict(code == 0 and row(words, "samples") == 1000 and row(words, "accuracy now") == round(100 * state["recent"], 1) and
            row(words, "queue") == 0 and "answers with live" in words and "/s" not in words, "one look at a service", words, errors)
    verdict(all(len(line) <= 80 and line == line.rstrip() for line in words.splitlines()), "in lines of 80 columns", words)
    code, words, errors = top(retain, url)
    verdict(code == 1 and not words and "token" in errors, "without the token: what the service says", code, words, errors)
    try_folder(retain, os.path.join(folder, "a"))
    follower = Service(retain, "--follow", url, *guarded)
    code, words, errors = top(retain, "http://127.0.0.1:%d" % follower.port, "--token", token)
    verdict(code == 0 and row(words, "samples") == 1000 and row(words, "lag, labels") == 0 and "follows " + url in words,
            "a follower, with its lag", words, errors)
    try_terminal(retain, url, token, service)
    follower.end()
    service.end()
    code, words, errors = top(retain, url, "--token", token)
    verdict(code == 1 and not words and url in errors, "nobody there", code, words, errors)
    verdict(top(retain)[0] == 2 and top(retain, os.path.join(folder, "none"))[0] == 1, "no operand, no folder")
    numbers = Service(retain, "--out", os.path.join(folder, "b"), "--target", "number", "--listen", "127.0.0.1:0")
    teach(numbers, 0, 500, number=True)
    code, words, errors = top(retain, "http://127.0.0.1:%d" % numbers.port)
    verdict(code == 0 and row(words, "error now (MAE)") is not None and "accuracy" not in words, "numbers have an error",
            words, errors)
    numbers.end()
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
