#!/usr/bin/env python3
"""usage: tests/serve/kafka.py RETAIN

The lines of docs/guide/serve.md for Kafka, with kcat against librdkafka's mock broker: all samples of a topic are learned, and
answers come to another; what is sent once more is answered and not learned again. Prints TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from service import Service
from tap import plan, skip, verdict

COUNT = 200


class Broker:
    """The mock cluster lives in a kcat that waits for its standard input."""
    def __init__(self, log):
        self.errors = open(log, "w+", encoding="utf-8")
        self.process = subprocess.Popen(["kcat", "-P", "-b", "none", "-t", "hold", "-X", "test.mock.num.brokers=1", "-d", "mock"],
                                        stdin=subprocess.PIPE, stderr=self.errors)
        end, found = time.monotonic() + 20, None
        while not found and time.monotonic() < end:
            time.sleep(0.05)
            with open(log, encoding="utf-8") as file:
                found = re.search(r"bootstrap.servers=([\d.:]+)", file.read())
        self.address = found and found[1]

    def end(self):
        self.process.kill()
        self.process.communicate()
        self.errors.close()


def shell(words, seconds, body=None):
    return subprocess.run(["timeout", str(seconds), "sh", "-c", words], input=body, capture_output=True, text=True, check=False)


def predictions(broker):
    got = shell(f"kcat -C -q -e -b {broker.address} -t predictions", 20).stdout
    return [json.loads(line) for line in got.splitlines()]


def learned(service):
    return json.loads(service.get("/v1/state")[1])["samples"]


def main():
    retain = os.path.abspath(sys.argv[1])
    for program in "kcat", "socat":
        if not shutil.which(program):
            skip("Kafka in, Kafka out", "there is no " + program)
            return plan()
    folder = tempfile.mkdtemp(prefix="retain-kafka-")
    broker = Broker(os.path.join(folder, "log"))
    if not broker.address:
        skip("Kafka in, Kafka out", "this kcat has no mock broker")
        return plan()
    lines = os.path.join(folder, "lines")
    service = Service(retain, "--out", os.path.join(folder, "run"), "--listen", "127.0.0.1:0", "--set", "serve.lines=unix:" + lines)
    shell(f"kcat -P -b {broker.address} -t samples", 20, "".join(
        '{"id": %d, "input": [%d, 1], "label": "%s"}\n' % (i, i % 7, "ab"[i % 7 > 3]) for i in range(COUNT)))
    with subprocess.Popen(["sh", "-c", f"exec kcat -q -u -b {broker.address} -G retain -X auto.offset.reset=earliest samples"],
                          stdout=subprocess.PIPE) as group:
        with subprocess.Popen(["sh", "-c", f"socat -t 5 - unix:{lines} | kcat -P -b {broker.address} -t predictions"],
                              stdin=group.stdout) as sink:
            end = time.monotonic() + 40
            while learned(service) < COUNT and time.monotonic() < end:
                time.sleep(0.1)
            group.terminate()
            group.wait(20)
            group.stdout.close()
            sink.wait(20)
    got = predictions(broker)
    verdict(learned(service) == COUNT, "all samples of a topic are learned", learned(service))
    verdict({one["id"] for one in got if "prediction" in one} == set(range(COUNT)) and len(got) == 2 * COUNT,
            "and answered in another", len(got))
    again = shell(f"kcat -C -q -u -e -b {broker.address} -t samples -o -30 | socat -t 5 - unix:{lines} | "
                  f"kcat -P -b {broker.address} -t predictions", 40)
    more = predictions(broker)
    verdict(len(more) > len(got) and all("error" not in one for one in more) and learned(service) == COUNT,
            "what comes once more is answered, and not learned again", len(more), learned(service), again)
    verdict(service.end() == 0, "it ends in good order")
    broker.end()
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
