#!/usr/bin/env python3
"""usage: tests/serve/mutants.py RETAIN [REQUESTS [SEED]]

Good requests with something wrong in them, by the thousand, against a service that runs: bytes
changed, lost and doubled, lengths that lie, pieces of one request in another, JSON with other
values. Whatever comes back must be HTTP, with a sentence if it is a refusal; what was acknowledged
must be there at the end; and others must be served meanwhile. Prints TAP.
"""
import json
import os
import random
import re
import shutil
import socket
import struct
import sys
import tempfile

from service import Service
from tap import plan, verdict

VALUES = [None, True, -1, 0, 1e400, 1 << 70, "", "x" * 600, "\u0000", [], {}, [[]], {"input": {}}, [1, 2], "now", 0.5, "\ud800"]
WORDS = [b"\r\n", b"\r\n\r\n", b"\x00", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n",
         b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n", b"Host: x\r\n", b"%00", b"?top=5&for=ever&",
         b"/../../", b"[", b"]", b"{", b"}", b"\"", b",", b"1e999", b"\xff\xfe", b"Connection: close\r\n", b"HTTP/9.9",
         b"Inference-Header-Content-Length: 7\r\n", b"Range: bytes=0-1\r\n", b"Upgrade: websocket\r\n", b"Content-Encoding: gzip\r\n"]


def request(service, method, path, body=b"", more=b"", chunked=False):
    head = b"%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s" % (method, path, service.port, more)
    if chunked:
        cut = len(body) // 2
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part) + b"0\r\n\r\n"
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + body
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def objects():
    return [("/v1/predict", {"input": {"a": 1, "b": "x"}, "top": 2, "for": "ever"}),
            ("/v1/predict", [{"id": "m1", "input": {"a": 1, "b": "x"}}, {"id": "m2", "input": {"a": 2}}]),
            ("/v1/label", {"id": "m1", "label": "yes"}),
            ("/v1/label", [{"id": "m2", "label": "no"}]),
            ("/v2/models/retain/infer", {"id": "q", "inputs": [
                {"name": "a", "shape": [2], "datatype": "FP32", "data": [1, 2]},
                {"name": "b", "shape": [2], "datatype": "BYTES", "data": ["x", "y"]}],
                "outputs": [{"name": "class", "parameters": {"binary_data": True}}]})]


def seeds(service):
    made = [request(service, b"POST", path.encode(), json.dumps(value).encode()) for path, value in objects()]
    made += [request(service, b"POST", b"/v1/samples?top=1", b'{"id": "m3", "input": {"a": 3}, "label": "yes"}\n'
                     b'[{"id": "m4", "input": {"a": 4}}, {"id": "m4", "label": "no"}]\n', chunked=chunked) for chunked in (0, 1)]
    binary = json.dumps({"inputs": [{"name": "a", "shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": 4}},
                                    {"name": "b", "shape": [1], "datatype": "BYTES", "parameters": {"binary_data_size": 5}}],
                         "parameters": {"binary_data_output": True}}).encode()
    made.append(request(service, b"POST", b"/v2/models/retain/infer", binary + struct.pack("<fI", 1, 1) + b"x",
                        b"Inference-Header-Content-Length: %d\r\n" % len(binary)))
    made.append(request(service, b"POST", b"/v1/predict", b"\xff\xd8\xff\xe0", b"Content-Type: image/jpeg\r\n"))
    return made + [request(service, b"GET", path) for path in (b"/", b"/metrics", b"/v1/state", b"/v1/config", b"/openapi.json",
                                                               b"/v2", b"/v2/models/retain", b"/retain/v1/state", b"/data.json")]


def spoil(draws, words, others):
    words = bytearray(words)
    for _ in range(draws.choice((1, 1, 1, 2, 4, 9))):
        at = draws.randrange(len(words) + 1)
        how = draws.randrange(7)
        if how == 0 and at < len(words):
            words[at] = draws.randrange(256)
        elif how == 1:
            del words[at:at + draws.choice((1, 2, 9, 99))]
        elif how == 2:
            words[at:at] = words[at:at + draws.choice((1, 4, 40, 400))]
        elif how == 3:
            words[at:at] = draws.choice(WORDS)
        elif how == 4:
            other = draws.choice(others)
            words[at:] = other[draws.randrange(len(other)):]
        elif how == 5:
            found = list(re.finditer(rb"\d+", words))
            if found:
                one = draws.choice(found)
                words[one.start():one.end()] = draws.choice((b"0", b"1", b"-1", b"4096", b"18446744073709551616", b"1e9"))
        elif at < len(words):
            words[at] ^= 1 << draws.randrange(8)
    return bytes(words)


def other_values(draws, value):
    """The same JSON with some of its values exchanged."""
    if draws.random() < 0.15:
        return draws.choice(VALUES)
    if isinstance(value, dict):
        return {(draws.choice(("id", "input", "label", "top", "shape")) if draws.random() < 0.05 else key):
                other_values(draws, one) for key, one in value.items()}
    if isinstance(value, list):
        return [other_values(draws, one) for one in value] * draws.choice((1, 1, 1, 0, 2))
    return value


def mutant(draws, service, good):
    if draws.random() < 0.35:
        path, value = draws.choice(objects())
        words = json.dumps(other_values(draws, value)).encode()
        return request(service, b"POST", path.encode(), words, b"Connection: close\r\n", draws.random() < 0.2)
    return spoil(draws, draws.choice(good), good)


def send(service, words):
    """All that comes back, until it ends or is silent for a moment."""
    got = b""
    with socket.create_connection(("127.0.0.1", service.port), 20) as s:
        try:
            s.sendall(words)
            s.shutdown(socket.SHUT_WR)
            s.settimeout(0.5)
            while True:
                part = s.recv(1 << 20)
                if not part:
                    break
                got += part
        except (ConnectionError, socket.timeout):
            pass
    return got


def wrong(got):
    """What is wrong with an answer; None: it is one, or there is none."""
    if not got:
        return None
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", got)
    if not found:
        return "no HTTP"
    status = int(found[1])
    if status >= 500 and status not in (501, 503, 505):
        return "our fault"
    body = got.partition(b"\r\n\r\n")[2]
    if status >= 400 and b"application/json" in got.partition(b"\r\n\r\n")[0] and b'"error"' not in body and b"HEAD" not in body:
        return "no sentence" if body else None
    return None


def main(retain, count, seed):
    folder = tempfile.mkdtemp(prefix="retain-mutants-")
    service = None
    try:
        service = Service(retain, "--out", os.path.join(folder, "run"), "--listen", "127.0.0.1:0", "--set", "serve.idle=5")
        draws = random.Random(seed)
        service.post("/v1/predict", {"id": "first", "input": {"a": 1, "b": "x"}})
        service.post("/v1/label", {"id": "first", "label": "yes"})
        good, bad, answered, acknowledged, refused = seeds(service), [], 0, {0}, 0
        for i in range(count):
            words = mutant(draws, service, good)
            got = send(service, words)
            answered += bool(got)
            why = wrong(got)
            if why:
                bad.append((why, words[:600], got[:400]))
            acknowledged.update(int(one) for one in re.findall(rb'"sample": (\d+)', got))
            if i % 100 == 99 and service.post("/v1/predict", {"input": {"a": 1}})[0] != 200:
                refused += 1
        verdict(service.process.poll() is None and not bad, "%d requests with something wrong, seed %d" % (count, seed), *bad[:5])
        verdict(answered > count // 3, "many of them are answered", answered)
        verdict(not refused, "good ones are served in between", refused)
        verdict(service.end() == 0, "it ends in good order", service.errors)
        verdict("Sanitizer" not in service.errors and "runtime error" not in service.errors, "no sanitizer says a word", service.errors)
        with open(os.path.join(folder, "run", "run.json")) as file:
            samples = json.load(file)
        service = Service(retain, "--out", os.path.join(folder, "run"), "--listen", "127.0.0.1:0")
        found = json.loads(service.get("/v1/state")[1])["samples"]
        verdict(max(acknowledged) < found, "what was acknowledged is there", max(acknowledged), found, samples.get("lines"))
    finally:
        if service:
            service.end()
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000,
              int(sys.argv[3]) if len(sys.argv) > 3 else 1))
