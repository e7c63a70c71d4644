#!/usr/bin/env python3
"""usage: tests/cli/backups.py RETAIN [TIMES]

`retain backup` of a folder in which a live stream is being learned, so many times, and `retain
restore`: every copy comes to the bytes of a run that had seen as much. Copies that were damaged,
cut short or changed are refused. Prints TAP. Works in a folder of its own.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import tap
from producer import PATIENCE, RETAIN, command, file_of, lines_of, rows_of, straight
from tap import verdict

TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 6
BOUNDED = ["replay.pool=reservoir", "replay.limit=100"]
OFTEN = ["run.checkpoint_every=2 steps"]


def retain(*words):
    done = subprocess.run([RETAIN, *words], capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Load:
    """Lines that come as fast as they are learned, until told to stop."""

    def __init__(self, folder, lines, settings):
        self.process = subprocess.Popen(command(folder, settings=settings), stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.lines, self.over = lines, False
        self.thread = threading.Thread(target=self.feed)
        self.thread.start()

    def feed(self):
        try:
            for line in self.lines:
                if self.over:
                    break
                self.process.stdin.write(json.dumps(line).encode() + b"\n")
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def end(self):
        self.over = True
        self.thread.join()
        said = self.process.stderr.read().decode()
        self.process.stderr.close()
        return self.process.wait(), said


def learned(folder):
    return int(rows_of(folder)[-1].split(b",")[2])


def under_load(name, settings, times):
    lines = lines_of(60000, 0)
    load = Load(name, lines, settings + OFTEN)
    made, said = [], []
    while not os.path.exists(name + "/metrics.csv") or len(rows_of(name)) < 2:
        time.sleep(0.01)
    for i in range(times):
        code, out, err = retain("backup", "--quiet", name, "copies/%s-%d" % (name, i))
        made.append(code)
        said.append(err)
    running = load.process.poll() is None and load.thread.is_alive()
    code, err = load.end()
    verdict(running and code == 0, name + ": the stream went on all the while", code, err)
    verdict(made == [0] * times, "%s: %d copies were made" % (name, times), made, said)
    wrong = []
    for i in range(times):
        copy, folder = "copies/%s-%d" % (name, i), "%s-restored-%d" % (name, i)
        code, out, err = retain("restore", "--quiet", copy, folder)
        if code:
            wrong.append((i, code, err))
            continue
        code, _, err = straight(folder, [], resume=True)
        found = learned(folder) if not code else 0
        if code or not found:
            wrong.append((i, code, found, err))
            continue
        same = "%s-straight-%d" % (name, i)
        straight(same, lines[:found], settings + OFTEN)
        for part in "model.safetensors", "events.jsonl":
            if file_of(folder, part) != file_of(same, part):
                wrong.append((i, found, part))
        if rows_of(folder) != rows_of(same):
            wrong.append((i, found, rows_of(folder)[-2:], rows_of(same)[-2:]))
        if i:
            shutil.rmtree(folder)
        shutil.rmtree(same)
    verdict(not wrong, name + ": each comes to the bytes of a run that had seen as much", wrong[:5])
    code, _, err = straight("copies/%s-0" % name, [], resume=True)
    verdict(code == 0 and file_of("copies/%s-0" % name, "model.safetensors") ==
            file_of(name + "-restored-0", "model.safetensors"), name + ": a start opens the copy itself", code, err)
    code, _, err = retain("restore", "copies/%s-0" % name, name + "-again")
    verdict(code == 1 and "is not what was backed up" in err and not os.path.exists(name + "-again"),
            name + ": which is then no copy any more, and is refused", code, err)


def refusals():
    code, _, err = straight("still", lines_of(200, 0), OFTEN)
    code, out, err = retain("backup", "still", "still-copy")
    verdict(code == 0 and "still-copy" in out, "a folder that nobody works in is copied", code, out, err)
    code, _, err = retain("backup", "still", "still-copy")
    verdict(code == 2 and "still-copy: is there already" in err, "refused: a place that is taken", code, err)
    code, _, err = retain("backup", "copies", "other")
    verdict(code == 2 and "copies: holds no run" in err, "refused: no run's folder", code, err)
    code, _, err = retain("restore", "still", "other")
    verdict(code == 2 and "still: is not a complete backup" in err, "refused: no backup", code, err)
    with open("still-copy/backup.json", encoding="utf-8") as file:
        names = [each["name"] for each in json.load(file)["files"]]
    verdict("journal/data.mdb" in names and names[-1] == "config.ini" and "lock" not in names and
            any(name.startswith("checkpoint/") for name in names), "backup.json lists the files", names)
    for name in names:
        if not os.path.getsize("still-copy/" + name):
            continue
        shutil.copytree("still-copy", "spoilt")
        with open("spoilt/" + name, "r+b") as file:
            file.seek(os.path.getsize("spoilt/" + name) // 2)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 1]))
        code, _, err = retain("restore", "spoilt", "other")
        verdict(code == 1 and "spoilt/" + name in err and not os.path.exists("other"),
                "refused: another bit in " + name, code, err)
        shutil.rmtree("spoilt")
    shutil.copytree("still-copy", "spoilt")
    with open("spoilt/backup.json", encoding="utf-8") as file:
        listed = json.load(file)
    for name in "../out", "/tmp/out", "a/../../out", "", ".":
        listed["files"][0]["name"] = name
        with open("spoilt/backup.json", "w", encoding="utf-8") as file:
            json.dump(listed, file)
        code, _, err = retain("restore", "spoilt", "other")
        verdict(code == 1 and "spoilt/backup.json" in err, "refused: a list that leads elsewhere, %r" % name, code, err)
    shutil.copytree("still-copy", "half.part")
    os.remove("half.part/backup.json")
    os.remove("half.part/config.ini")
    code, _, err = retain("restore", "half.part", "other")
    verdict(code == 2 and "half.part: is not a complete backup" in err, "refused: a half-made copy", code, err)
    code, _, err = straight("half.part", [], resume=True)
    verdict(code == 2 and "half.part" in err, "refused: a start in it", code, err)


def killed():
    """Whenever it is killed: TO is whole or not there, and the next one is made."""
    states = []
    for i in range(8):
        with subprocess.Popen([RETAIN, "backup", "--quiet", "still", "killed"]) as process:
            time.sleep(0.001 * (1 + 3 * i))
            process.send_signal(signal.SIGKILL)
        states.append(os.path.exists("killed"))
        if states[-1]:
            code, _, err = retain("restore", "killed", "killed-restored")
            shutil.rmtree("killed-restored", ignore_errors=True)
            shutil.rmtree("killed")
            if code:
                states.append(err)
    code, _, err = retain("backup", "still", "killed")
    verdict(code == 0 and not os.path.exists("killed.part") and all(isinstance(state, bool) for state in states),
            "a killed backup is whole or not there, and does not stand in the way", states, code, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        under_load("all", [], (TIMES + 1) // 2)
        under_load("bounded", BOUNDED, TIMES // 2)
        refusals()
        killed()
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
