#!/usr/bin/env python3
"""usage: tests/serve/ops.py RETAIN OPS

What operators get (ops/) fits the service: rules pass promtool, Prometheus itself scrapes a real service and answers every
query of the board and every rule, and each metric that they name is one the service has. Prints TAP.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from service import Service
from tap import plan, skip, verdict

PROMETHEUS = """global:
  scrape_interval: 1s
rule_files: [%s]
scrape_configs:
  - job_name: retain
    static_configs: [{targets: ["127.0.0.1:%d"]}]
"""


def program(name):
    return shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))


def queries(ops):
    with open(os.path.join(ops, "grafana", "board.json"), encoding="utf-8") as file:
        board = [target["expr"] for panel in json.load(file)["panels"] for target in panel["targets"]]
    with open(os.path.join(ops, "alerts.yml"), encoding="utf-8") as file:
        return board + re.findall(r"^ +expr: (.*)$", file.read(), re.MULTILINE)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, query):
    path = "http://127.0.0.1:%d/api/v1/query?%s" % (port, urllib.parse.urlencode({"query": query}))
    with urllib.request.urlopen(path, timeout=20) as answer:
        return json.load(answer)


def scraped(port):
    for _ in range(300):
        try:
            if ask(port, "retain_samples_total")["data"]["result"]:
                return True
        except OSError:
            pass
        time.sleep(0.1)
    return False


def try_prometheus(folder, service, ops):
    port = free_port()
    config = os.path.join(folder, "prometheus.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(PROMETHEUS % (os.path.join(ops, "alerts.yml"), service.port))
    process = subprocess.Popen([program("prometheus"), "--config.file=" + config, "--storage.tsdb.path=" + folder + "/db",
                                "--web.listen-address=127.0.0.1:%d" % port], stderr=subprocess.DEVNULL)
    try:
        verdict(scraped(port), "Prometheus scrapes the service")
        bad = [query for query in queries(ops) if ask(port, query)["status"] != "success"]
        verdict(not bad, "and answers every query of the board and the rules", bad)
    finally:
        process.terminate()
        process.wait(20)


def of_follower(retain, leader):
    follower = Service(retain, "--follow", "http://127.0.0.1:%d" % leader.port, "--listen", "127.0.0.1:0")
    metrics = follower.get("/metrics")[1]
    follower.end()
    return metrics


def main():
    retain, ops = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = tempfile.mkdtemp(prefix="retain-ops-")
    service = Service(retain, "--out", os.path.join(folder, "shop"), "--listen", "127.0.0.1:0", "--set",
                      "alarm.exec=true")
    lines = "".join('{"id": %d, "input": [%d, 1], "label": "%d"}\n' % (i, i % 7, i % 2) for i in range(200))
    assert service.ask("POST", "/v1/samples", lines)[0] == 200
    metrics = service.get("/metrics")[1]
    names = set(re.findall(rb"^# TYPE (\w+)", metrics + of_follower(retain, service), re.MULTILINE))
    used = {re.sub(rb"_bucket$", b"", name) for name in re.findall(rb"\bretain_\w+", " ".join(queries(ops)).encode())}
    verdict(used <= names, "rules and board name metrics that the service has", used - names)
    if program("promtool"):
        done = subprocess.run([program("promtool"), "check", "rules", os.path.join(ops, "alerts.yml")],
                              capture_output=True, text=True)
        verdict(done.returncode == 0, "promtool accepts the rules", done.stdout + done.stderr)
        done = subprocess.run([program("promtool"), "check", "metrics"], input=metrics, capture_output=True)
        verdict(done.returncode in (0, 3), "promtool reads the metrics", done.stderr)
    else:
        skip("promtool accepts the rules and reads the metrics", "there is no promtool (Debian's package prometheus)")
    if program("prometheus"):
        try_prometheus(folder, service, ops)
    else:
        skip("Prometheus scrapes the service", "there is no prometheus (Debian's package prometheus)")
    service.end()
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
