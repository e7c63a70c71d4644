#!/usr/bin/env python3
"""usage: tests/serve/access.py RETAIN

The access log, ids of requests, traceparent, and gzip in both directions, asked by curl: what is packed is learned as if it were
not; a bomb, a cut and a damaged body are refused, and nothing of them is taken. Prints TAP.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from service import Service
from tap import plan, skip, verdict

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Curl:
    def __init__(self, folder, service):
        self.folder, self.url = folder, "http://127.0.0.1:%d" % service.port

    def __call__(self, path, *words, body=None):
        """Status, headers, body as it came."""
        paths = [os.path.join(self.folder, name) for name in ("head", "got", "sent")]
        if body is not None:
            with open(paths[2], "wb") as file:
                file.write(body)
            words += ("--data-binary", "@" + paths[2])
        done = subprocess.run(["curl", "-sS", "-D", paths[0], "-o", paths[1], *words, self.url + path], capture_output=True,
                              text=True, timeout=60, check=False)
        assert not done.returncode, done
        with open(paths[0], encoding="utf-8") as file:
            lines = file.read().strip().split("\n\n")[-1].splitlines()
        with open(paths[1], "rb") as file:
            got = file.read()
        return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line), got


def samples(first, count):
    return "".join('{"id": %d, "input": [%d, %d], "label": "%s"}\n' % (i, i % 7, i % 3, "ab"[i % 7 > 3])
                   for i in range(first, first + count)).encode()


def learned(curl):
    return json.loads(curl("/v1/state")[2])["lines"]


def try_ids(curl):
    got = [curl("/v1/state")[1]["x-request-id"] for _ in range(2)]
    verdict(got[0] != got[1] and len(got[0]) == 16, "a request without an id gets one", got)
    head = curl("/v1/state", "-H", "X-Request-Id: order-17/3", "-H", "traceparent: " + TRACE)[1]
    verdict(head["x-request-id"] == "order-17/3" and head["traceparent"] == TRACE, "its own, and its trace, come back", head)
    head = curl("/v1/state", "-H", "X-Request-Id: a\"b {", "-H", "traceparent: 00-xyz")[1]
    verdict(len(head["x-request-id"]) == 16 and "traceparent" not in head, "odd ones do not", head)


def try_packed_bodies(curl, limit):
    was = learned(curl)
    status, _, got = curl("/v1/samples", "-H", "Content-Encoding: gzip", body=gzip.compress(samples(0, 3000)))
    end = time.monotonic() + 20
    while learned(curl) < was + 3000 and time.monotonic() < end:
        time.sleep(0.05)
    verdict(status == 200 and got.count(b"\n") == 6000 and learned(curl) == was + 3000, "packed samples are learned", status, got[:200])
    for _ in range(50):  # until both are asked of the same weights
        status, _, got = curl("/v1/predict", "-H", "Content-Encoding: gzip", body=gzip.compress(b'{"input": [6, 0]}'))
        plain = curl("/v1/predict", body=b'{"input": [6, 0]}')[2]
        if got == plain:
            break
    verdict(status == 200 and b"prediction" in got and got == plain, "a packed question is answered", status, got, plain)
    was = learned(curl)
    packed = gzip.compress(samples(9000, 3000))
    damaged = packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:]
    for name, body, wanted in (("cut short", packed[:-20], 400), ("damaged", damaged, 400), ("no gzip", b"hello" * 20, 400),
                               ("with more behind it", packed + b"x", 400),
                               ("empty before another", gzip.compress(b"") + packed, 400), ("empty", b"", 400),
                               ("a bomb", gzip.compress(b" " * (limit + 1000000)), 413)):
        status, _, got = curl("/v1/samples", "-H", "Content-Encoding: gzip", body=body)
        verdict(status == wanted and b"error" in got, "a packed body that is %s: %d" % (name, wanted), status, got)
    verdict(learned(curl) == was, "nothing of them was taken", was, learned(curl))
    status, _, got = curl("/v1/samples", "-H", "Content-Encoding: br", body=b"x")
    verdict(status == 415 and b"gzip" in got, "another coding: 415", status, got)


def try_packed_answers(curl):
    plain = curl("/openapi.json")
    status, head, got = curl("/openapi.json", "-H", "Accept-Encoding: br, gzip;q=0.8")
    verdict(status == 200 and head["content-encoding"] == "gzip" and gzip.decompress(got) == plain[2] and
            len(got) < len(plain[2]) / 3 and head["vary"] == "accept-encoding", "a long answer is packed where one asks", head)
    verdict("content-encoding" not in plain[1], "and not where nobody does", plain[1])
    for words in "gzip;q=0", "gzip;q=0.0", "identity", "br":
        head = curl("/openapi.json", "-H", "Accept-Encoding: " + words)[1]
        verdict("content-encoding" not in head, "nor for " + words, head)
    verdict("content-encoding" not in curl("/v2", "-H", "Accept-Encoding: gzip")[1], "nor a short one")
    head = curl("/v1/model.safetensors", "-H", "Accept-Encoding: gzip")[1]
    verdict("content-encoding" not in head, "nor weights", head)


def try_log(curl, path):
    curl("/v1/state?x=secret", "-H", "X-Request-Id: find-me", "-H", "traceparent: " + TRACE, "-H", "Authorization: Bearer hidden")
    curl("/none", "-H", "X-Request-Id: nowhere")
    curl("/v1/state", "-H", "X-Request-Id: long", "-H", "X: " + 9000 * "x")
    curl("/openapi.json", "-H", "X-Request-Id: packed", "-H", "Accept-Encoding: gzip")
    size = len(curl("/v1/config", "-H", "X-Request-Id: file")[2])
    with open(path, encoding="utf-8") as file:
        words = file.read()
    lines = {line["id"]: line for line in map(json.loads, words.splitlines())}
    one = lines.get("find-me", {})
    verdict(set(one) == {"time", "id", "traceparent", "method", "path", "status", "bytes", "us", "remote"} and
            (one["method"], one["path"], one["status"], one["traceparent"]) == ("GET", "/v1/state", 200, TRACE) and
            one["bytes"] > 100 and 0 < one["us"] < 1e7 and one["remote"].startswith("127.0.0.1:"), "a line has it all", one)
    verdict(lines["nowhere"]["status"] == 404 and lines["long"]["status"] == 431, "refusals are there, too",
            lines["nowhere"], lines.get("long"))
    verdict(lines["file"]["bytes"] == size and 0 < lines["packed"]["bytes"] < 20000, "bytes are those that were sent",
            lines["file"], size, lines["packed"])
    verdict("secret" not in words and "hidden" not in words, "neither questions nor tokens are")


def try_triton(service):
    try:
        import numpy
        from tritonclient import http
    except ImportError:
        return skip("tritonclient asks and is answered in gzip", "there is no tritonclient")
    client = http.InferenceServerClient("127.0.0.1:%d" % service.port)
    tensor = http.InferInput("input", [600, 2], "FP32")
    tensor.set_data_from_numpy(numpy.ones((600, 2), numpy.float32), binary_data=True)
    got = [client.infer("retain", [tensor], request_compression_algorithm=how, response_compression_algorithm=how)
           .as_numpy("label").tolist() for how in (None, "gzip")]
    return verdict(got[0] == got[1] and len(got[0]) == 600, "tritonclient asks and is answered in gzip", got[0][:3], got[1][:3])


def main():
    retain = os.path.abspath(sys.argv[1])
    if not shutil.which("curl"):
        skip("the access log", "there is no curl")
        return plan()
    folder = tempfile.mkdtemp(prefix="retain-access-")
    path, limit = os.path.join(folder, "access.log"), 1000000
    service = Service(retain, "--out", os.path.join(folder, "run"), "--listen", "127.0.0.1:0", "--set",
                      "serve.access_log=" + path, "--set", "serve.body=%d" % limit)
    curl = Curl(folder, service)
    try_packed_bodies(curl, limit)
    try_packed_answers(curl)
    try_ids(curl)
    try_log(curl, path)
    try_triton(service)
    verdict(json.loads(curl("/v1/state")[2])["state"] == "learns" and service.end() == 0, "it goes on, and ends in good order")
    done = subprocess.run([retain, "serve", "--out", folder + "/x", "--set", "serve.access_log=/nowhere/log", "--listen", "127.0.0.1:0"],
                          capture_output=True, text=True, timeout=60, check=False)
    verdict(done.returncode and "serve.access_log = /nowhere/log" in done.stderr, "a log that cannot be opened is said", done)
    shutil.rmtree(folder)
    return plan()


if __name__ == "__main__":
    sys.exit(main())
