#!/usr/bin/env python3
"""usage: tests/serve/crowd.py RETAIN [CONNECTIONS]

Many clients at a time, most of them no good: silent, slow, gone in the middle, sending
nonsense. The others must be served. Prints TAP.
"""
import os
import random
import resource
import shutil
import socket
import sys
import tempfile
import threading
import time

from service import new
from tap import plan, skip, verdict


def connect(service):
    return socket.create_connection(("127.0.0.1", service.port), 20)


def nonsense(service, many):
    """Requests with some bytes changed; only whether it survives counts."""
    host = b"Host: 127.0.0.1:%d\r\nConnection: close\r\n" % service.port
    good = [b"POST /v1/predict HTTP/1.1\r\n" + host + b"Content-Length: 17\r\n\r\n{\"input\": [1, 2]}",
            b"POST /v1/samples HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n"
            b"b\r\n{\"id\": 1}\n\r\n\r\n0\r\n\r\n",
            b"GET /metrics?x=%00&y HTTP/1.0\r\n" + host + b"\r\n"]
    random.seed(3)
    for i in range(many):
        words = bytearray(random.choice(good))
        for _ in range(random.randint(1, 6)):
            words[random.randrange(len(words))] = random.randrange(256)
        with connect(service) as s:
            s.sendall(words[:random.randint(1, len(words))])
            s.shutdown(socket.SHUT_WR)
            s.settimeout(0.2)
            try:
                while s.recv(65536):
                    pass
            except (ConnectionError, socket.timeout):
                pass


def main(retain, many):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    folder = tempfile.mkdtemp(prefix="retain-crowd-")
    try:
        if limit < 2 * many + 100:
            skip("a crowd", "only %d descriptors are allowed" % limit)
            return plan()
        service = new(folder, retain, "--set", "serve.idle=20")
        crowd = [connect(service) for _ in range(many)]
        for at, one in enumerate(crowd):
            one.sendall([b"", b"POST /v1/samples HTTP/1.1\r\n",
                         b"POST /v1/samples HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 99\r\n\r\n{"
                         % service.port][at % 3])
        got = [service.post("/v1/predict", {"input": [1, 2]})[0] for _ in range(20)]
        verdict(got == 20 * [200], "%d silent and half-open connections keep nobody out" % many, got)
        for one in crowd[::2]:
            one.close()
        verdict(service.post("/v1/predict", {"id": 1, "input": [1, 2]})[0] == 200, "nor those who leave")

        statuses = []
        clients = [threading.Thread(target=lambda: statuses.append(service.post("/v1/label", {"id": 1, "label": 1})[0]))
                   for _ in range(100)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(60)
        verdict(statuses == 100 * [200], "a hundred at a time are answered", statuses)

        slow = connect(service)
        slow.sendall(b"POST /v1/samples HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 39\r\n\r\n" % service.port)
        for byte in b'{"id": 9, "input": [1, 2], "label": 1}\n':
            slow.sendall(bytes([byte]))
            time.sleep(0.01)
        verdict(b'"sample"' in slow.recv(65536), "one that sends a byte at a time is served")
        slow.close()

        nonsense(service, 500)
        verdict(service.process.poll() is None and service.post("/v1/predict", {"input": [1, 2]})[0] == 200,
                "500 requests that make no sense")
        verdict(service.end() == 0, "it ends in good order", service.errors)
    finally:
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
