#!/usr/bin/env python3
"""usage: tests/serve/serve.py RETAIN

`retain serve` as its clients see it. Prints TAP.
"""
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from service import CONFIG, Service, new
from tap import plan, skip, verdict


def answers_and_learns(service):
    status, got = service.post("/v1/predict", {"id": 17, "input": [0.5, -1.25]})
    verdict(status == 200 and got["id"] == 17 and 0 <= got["prediction"] < 3, "an input with an id is predicted", got)
    again = service.post("/v1/predict", {"id": 17, "input": [0.5, -1.25]})
    verdict(again == (200, got), "sent again it gets the same answer", again)
    status, got = service.post("/v1/predict?top=2", {"input": [0.5, -1.25]})
    verdict(status == 200 and "id" not in got and len(got["top"]) == 2 and
            got["top"][0]["probability"] >= got["top"][1]["probability"], "one without an id, the two most probable", got)
    status, got = service.post("/v1/predict?for=ever", [{"input": [0.5, 1]}, {"input": [1, 1]}])
    verdict(status == 200 and len(got) == 2, "a list of them", got)
    status, got = service.post("/v1/predict?top=2&for=ever", {"id": "t", "input": [0.5, -1.25]})
    verdict(status == 200 and got["id"] == "t" and len(got["top"]) == 2, "also with an id, of all that ever was", got)
    status, got = service.post("/v1/predict?top=2", [{"id": "u", "input": [1, 1], "top": 3}, {"id": "v", "input": [1, 1]}])
    verdict(status == 200 and [len(one["top"]) for one in got] == [3, 2], "an object may say how many it wants", got)
    status, got = service.post("/v1/predict", [{"input": [1, 1], "for": "ever", "top": 1}, {"input": [1, 1]}])
    verdict(status == 200 and ["top" in one for one in got] == [True, False], "one without an id, too", got)
    status, _, body = service.ask("POST", "/v1/samples?top=1",
                                  '[{"id": "w1", "input": [1, 1]}, {"id": "w2", "input": [1, 2], "label": 1}]\n')
    got = [json.loads(line) for line in body.splitlines()]
    verdict(status == 200 and [len(one.get("top", [])) for one in got] == [1, 1, 0] and got[2]["sample"] == 0,
            "a line may be a list", got)
    status, got = service.post("/v1/label", {"id": 17, "label": 2})
    verdict((status, got) == (200, {"id": 17, "label": 2, "sample": 1}), "a label", got)
    status, got = service.post("/v1/label", {"id": 17, "label": 2})
    verdict((status, got["sample"]) == (200, 1), "a label sent again", got)
    status, got = service.post("/v1/label", {"id": 17, "label": 1})
    verdict(status == 400 and "was labelled 2 before" in got["error"], "another label is refused", got)
    status, got = service.post("/v1/predict", '[{"id": 18, "input": [1, 2]},\n {"id": "a,]", "input": [1,\n 2]}]')
    verdict(status == 200 and [one["id"] for one in got] == [18, "a,]"], "a list with ids", got)
    lines = "".join('{"id": %d, "input": [%d, %d], "label": %d}\n' % (100 + i, i % 3, i, i % 3) for i in range(20))
    status, _, body = service.ask("POST", "/v1/samples", lines + '{"id": 130, "label": 1}\nno JSON\n')
    got = [json.loads(line) for line in body.splitlines()]
    verdict(status == 200 and sum("sample" in one for one in got) == 20 and sum("prediction" in one for one in got) == 20
            and sum("error" in one for one in got) == 2, "lines with inputs and labels", got)
    state = json.loads(service.get("/v1/state")[1])
    verdict(state["state"] == "learns", "the state", state)


def refuses(service):
    for name, status, path, value in (
            ("no JSON", 400, "/v1/predict", "hello"),
            ("an empty request", 400, "/v1/predict", ""),
            ("an empty list", 400, "/v1/predict", "[]"),
            ("a list that does not end", 400, "/v1/predict", '[{"input": [1, 2]}'),
            ("a list with a gap", 400, "/v1/predict", '[{"input": [1, 2]},,{"input": [1, 2]}]'),
            ("too few numbers", 400, "/v1/predict", {"input": [1]}),
            ("an object of a list", 400, "/v1/predict", [{"input": [1, 2]}, {"input": [1]}]),
            ("a label with a prediction", 400, "/v1/predict", {"input": [1, 2], "label": 1}),
            ("a label of nothing", 400, "/v1/label", {"id": "none", "label": 1}),
            ("an input as a label", 400, "/v1/label", {"id": 5, "input": [1, 2]}),
            ("a picture", 400, "/v1/predict", b"\xff\xd8\xff"),
            ("a question of another kind", 400, "/v1/predict?for=always", {"input": [1, 2]}),
            ("too many classes", 400, "/v1/predict?top=101", {"input": [1, 2]}),
            ("no count of classes", 400, "/v1/predict?top=2x", {"input": [1, 2]}),
            ("a count beyond all", 400, "/v1/predict?top=4294967297", {"input": [1, 2]}),
            ("a path that is none", 404, "/v1/nothing", {}),
            ("a method that is none", 405, "/v1/state", {}),
            ("a model of another name", 404, "/v2/models/another/infer", {}),
            ("no tensor", 400, "/v2/models/retain/infer", {"inputs": []}),
            ("a tensor of another shape", 400, "/v2/models/retain/infer",
             {"inputs": [{"name": "input", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]}]})):
        headers = {"Content-Type": "image/jpeg"} if isinstance(value, bytes) else {}
        got = service.post(path, value, **headers)
        verdict(got[0] == status and len(got[1]["error"]) > 10, "%s: %d" % (name, status), got)
    host = "Host: 127.0.0.1:%d\r\n" % service.port
    for name, status, words in (
            ("another host's name", b"421", "GET / HTTP/1.1\r\nHost: evil.example\r\n"),
            ("two names", b"421", "GET / HTTP/1.1\r\n" + host + "Host: evil.example\r\n"),
            ("a page elsewhere", b"403", "GET / HTTP/1.1\r\n" + host + "Origin: http://evil.example\r\n"),
            ("long headers", b"431", "GET / HTTP/1.1\r\n" + host + "X: " + 9000 * "x" + "\r\n"),
            ("very long headers", b"431", "GET / HTTP/1.1\r\n" + host + "X: " + 90000 * "x" + "\r\n"),
            ("packed lines", b"415", "POST /v1/samples HTTP/1.1\r\n" + host + "Content-Encoding: br\r\nContent-Length: 0\r\n"),
            ("lines that say that they are not packed", b"200",
             "POST /v1/samples HTTP/1.1\r\n" + host + "Content-Encoding: identity\r\nContent-Length: 0\r\n"),
            ("a body that is announced as too long", b"413",
             "POST /v1/samples HTTP/1.1\r\n" + host + "Content-Length: 99999999999\r\n")):
        got = service.raw((words + "Connection: close\r\n\r\n").encode())
        verdict(got.startswith(b"HTTP/1.1 " + status), "%s: %s" % (name, status.decode()), got[:300])
    status, _, body = service.ask("POST", "/v1/samples", (b'{"id": 1}' + b" " * 999 + b"\n") * 20000)
    verdict(status == 413 and b"serve.body" in body, "a body that is too long: 413", body)
    own = service.ask("GET", "/v1/state", headers={"Origin": "http://127.0.0.1:%d" % service.port})
    verdict(own[0] == 200, "a page of its own may ask", own)


def refuses_ambiguity(service):
    """Requests that a proxy in front may end elsewhere: 400, and the connection ends with them."""
    host, body = "Host: 127.0.0.1:%d\r\n" % service.port, '{"input": [1, 2]}'
    chunked = "11\r\n" + body + "\r\n0\r\n\r\n"
    more = "GET /v1/state HTTP/1.1\r\n" + host + "\r\n"
    post = "POST /v1/predict HTTP/1.1\r\n" + host
    for name, words in (
            ("a length and chunks", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked),
            ("chunks and a length", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + chunked),
            ("two lengths", post + "Content-Length: 17\r\nContent-Length: 5\r\n\r\n" + body),
            ("a blank before the colon", post + "Content-Length : 17\r\n\r\n" + body),
            ("a blank in a length", post + "Content-Length: 1 7\r\n\r\n" + body),
            ("a length with a sign", post + "Content-Length: +17\r\n\r\n" + body),
            ("two lengths in one", post + "Content-Length: 17, 17\r\n\r\n" + body),
            ("an unknown coding", post + "Transfer-Encoding: xchunked\r\n\r\n" + chunked),
            ("two codings", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunked),
            ("chunks in HTTP/1.0", post.replace("1.1\r", "1.0\r") + "Transfer-Encoding: chunked\r\n\r\n" + chunked),
            ("a chunk of a negative size", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + body + "\r\n0\r\n\r\n"),
            ("lines that end in LF", more.replace("\r", "")),
            ("a request line that does", more.replace("\r", "", 1)),
            ("a header that does", "GET /v1/state HTTP/1.1\r\nX: a\n" + host + "\r\n"),
            ("a header that ends in a blank and LF", "GET /v1/state HTTP/1.1\r\n" + host + "X: a \n\r\n"),
            ("an empty line that does", "GET /v1/state HTTP/1.1\r\n" + host + "\n"),
            ("the same before a body", post + "Content-Length: 17\r\n\n" + body),
            ("LF without headers", "GET /v1/state HTTP/1.0\r\n\n"),
            ("CR in a header", "GET /v1/state HTTP/1.1\r\n" + host + "X: a\rY: b\r\n\r\n"),
            ("a header over two lines", "GET /v1/state HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n"),
            ("a raw zero byte in a path", "GET /v1/state\0x HTTP/1.1\r\n" + host + "\r\n"),
            ("a raw zero byte in a header", "GET /v1/state HTTP/1.1\r\n" + host + "X: a\0b\r\n\r\n"),
            ("a tab in a path", "GET /v1/state%09 HTTP/1.1\r\n" + host + "\r\n"),
            ("a header without a colon", "GET /v1/state HTTP/1.1\r\n" + host + "Xab\r\n\r\n"),
            ("a zero byte in a path", "GET /v1/state%00x HTTP/1.1\r\n" + host + "\r\n"),
            ("a zero byte in a parameter", "GET /v1/state?a=%00 HTTP/1.1\r\n" + host + "\r\n")):
        begun = time.monotonic()
        got = service.raw((words + more).encode(), 20)
        # libmicrohttpd 1.0 ends a connection with a zero byte in its first line without a word.
        verdict((got.startswith(b"HTTP/1.1 400 ") or (not got and name.endswith("zero byte in a path"))) and
                b"HTTP/1.1 200" not in got and time.monotonic() - begun < 10, "%s: 400, and no more" % name, got[:400])
    for name, words in (
            ("chunks that end in LF", "11\n" + body + "\n0\n\n"),
            ("a chunk's size that does", "11\n" + body + "\r\n0\r\n\r\n"),
            ("a chunk that does", "11\r\n" + body + "\n0\r\n\r\n"),
            ("a last chunk that does", "11\r\n" + body + "\r\n0\n\r\n"),
            ("a trailer that does", "11\r\n" + body + "\r\n0\r\nX: a\n\r\n"),
            ("an end of chunks that does", "11\r\n" + body + "\r\n0\r\n\n")):
        got = service.raw((post + "Transfer-Encoding: chunked\r\n\r\n" + words + more).encode(), 20)
        verdict(got.count(b"HTTP/1.1 ") <= 1, "%s: no request follows" % name, got[:400])
    got = service.raw((post + "Transfer-Encoding: chunked\r\n\r\n" + chunked).encode(), 20)
    verdict(got.startswith(b"HTTP/1.1 200 "), "chunks as they should be are taken", got[:400])
    got = service.raw((more.replace("Host", "A: \r\nB:  b\tb \r\nCookie: a=1; b=2\r\nHost") + "\r\n" + more).encode(), 2)
    verdict(got.count(b"HTTP/1.1 200") == 2, "odd but sound headers are taken, and an empty line between requests", got[:400])


def standard_clients(service):
    try:
        from prometheus_client.parser import text_string_to_metric_families
        until = time.monotonic() + 10  # numbers are of a moment ago
        while True:
            families = {family.name: family for family in
                        text_string_to_metric_families(service.get("/metrics")[1].decode())}
            if families["retain_lines"].samples[0].value > 20 or time.monotonic() > until:
                break
            time.sleep(0.1)
        values = {sample.labels["route"]: sample.value for sample in families["retain_requests"].samples}
        verdict(families["retain_lines"].samples[0].value > 20 and values["/v1/predict"] > 1 and
                families["retain_request_seconds"].type == "histogram", "prometheus_client reads the metrics",
                families["retain_lines"].samples, values, families["retain_request_seconds"].type)
        le, same, kappa = [families["retain_" + name].samples[0].value for name in ("le", "same", "kappa")]
        verdict(abs(kappa - (le - same) / (1 - same)) < 1e-9, "kappa temporal is among them", le, same, kappa)
    except ImportError:
        skip("prometheus_client reads the metrics", "Python's prometheus_client is not here")
    try:
        import numpy
        import tritonclient.http as triton
        client = triton.InferenceServerClient("127.0.0.1:%d" % service.port)
        inputs = numpy.array([[0.5, -1.25], [1, 2]], numpy.float32)
        results = []
        for binary in True, False:
            tensor = triton.InferInput("input", [2, 2], "FP32")
            tensor.set_data_from_numpy(inputs, binary_data=binary)
            results.append(client.infer("retain", [tensor], outputs=[
                triton.InferRequestedOutput("probabilities", binary_data=binary),
                triton.InferRequestedOutput("label", binary_data=not binary)]))
        ours = service.post("/v1/predict", {"input": [0.5, -1.25]})[1]
        one, other = (result.as_numpy("probabilities") for result in results)
        verdict(client.is_server_live() and client.is_server_ready() and client.is_model_ready("retain"),
                "tritonclient finds it ready")
        verdict(client.get_model_metadata("retain")["inputs"][0]["shape"] == [-1, 2], "and knows its shape")
        verdict(numpy.allclose(one, other) and abs(one[0].max() - ours["probability"]) < 1e-5 and
                results[0].as_numpy("label")[0] == ours["prediction"], "and infers, by binary tensors and JSON",
                one, other, ours)
    except ImportError:
        skip("tritonclient infers", "Python's tritonclient is not here")
    if shutil.which("curl"):
        got = subprocess.run(["curl", "-s", "-d", '{"input": [1, 2]}', "http://localhost:%d/v1/predict" % service.port],
                             capture_output=True, text=True)
        verdict("prediction" in got.stdout, "curl predicts", got)
    else:
        skip("curl predicts", "curl is not here")


def describes_itself(service, folder):
    described = json.loads(service.get("/openapi.json")[1])
    verdict("/v1/predict" in described["paths"] and described["openapi"].startswith("3."), "the description")
    verdict(b"[serve]" in service.get("/v1/config")[1], "the config")
    status, body = service.get("/v1/model.safetensors")
    size = int.from_bytes(body[:8], "little")
    verdict(status == 200 and "retain.arch" in json.loads(body[8:8 + size])["__metadata__"], "the weights")
    verdict(not [name for name in os.listdir(folder) if name.startswith("serve-")], "which leave nothing behind")
    status, body = service.get("/")
    verdict(status == 200 and body.rstrip().endswith(b"</html>"), "the dashboard", body[-200:])
    verdict(json.loads(service.get("/data.json")[1])["watch"] is True, "and its data")


def read_events(service, start, count):
    """So many events from there on, as pairs of id and name."""
    connection = service.connection(30)
    connection.request("GET", "/v1/events", headers={"Last-Event-ID": start})
    answer = connection.getresponse()
    got = []
    until = time.monotonic() + 20
    while (len(got) < count or len(got[-1]) < 3) and time.monotonic() < until:
        line = answer.readline().decode().strip()
        if line.startswith("id: "):
            at = line[4:]
        elif line.startswith("event: "):
            got.append([at, line[7:]])
        elif line.startswith("data: "):
            got[-1].append(json.loads(line[6:]))
    connection.close()
    return got


def tells_events(service, first):
    lines = "".join('{"id": "e%d", "input": [%d, %d], "label": %d}\n' % (first + i, i % 3, i, i % 3) for i in range(1000))
    service.ask("POST", "/v1/samples", lines)
    got = read_events(service, "0-0", 4)
    verdict({one[1] for one in got} <= {"window", "evaluation", "cut", "lead", "part", "alarm", "warning"} and "warning" in {one[1] for one in got}, "events have names", got)
    again = read_events(service, got[0][0], 3)
    verdict(again == got[1:] and len({one[0] for one in got}) == 4,
            "a client that comes back goes on behind the last it saw", got, again)


def tells_events_again(retain, folder):
    """A killed learner makes lines of its files once more, with other seconds in them: what a client saw stays seen."""
    def told(start, count):
        return [[at, name, {key: value for key, value in data.items() if key != "seconds"}]
                for at, name, data in read_events(service, start, count)]
    words = retain, "--out", os.path.join(folder, "again"), "--listen", "127.0.0.1:0", "--set", "eval.every=5"
    service = Service(*words)
    lines = "".join('{"id": %d, "input": [%d, %d], "label": %d}\n' % (i, i % 3, i % 5, i % 3) for i in range(300))
    service.ask("POST", "/v1/samples", lines)
    before = told("0-0", 60)
    service.end(signal.SIGKILL)
    service = Service(*words)
    after = told(before[19][0], 40)
    verdict(len(before) == 60 and after == before[20:], "a client that comes back after a kill goes on there, too",
            before[18:22], after[:3])
    service.end()


def answers_in_order(service, lines):
    """Whatever became of the objects of a list."""
    service.post("/v1/predict", [{"id": "o2", "input": [1, 2]}, {"id": "o7", "input": [1, 7]}, {"id": "o9", "input": [1, 9]}])
    service.post("/v1/label", {"id": "o9", "label": 1})
    ids = ["o1", "o2", "o3", "o9", "o4"]
    status, got = service.post("/v1/predict", [{"id": one, "input": [1, int(one[1]) if one != "o9" else 8]} for one in ids])
    verdict(status == 200 and [one["id"] for one in got] == ids and "error" in got[3], "a list of inputs: known, new and bad",
            got)
    ids = ["o1", "none", "o9", "o2", "o1", "o3", "other", "o7"]
    status, got = service.post("/v1/label", [{"id": one, "label": 1} for one in ids])
    verdict(status == 200 and [one["id"] for one in got] == ids and ["sample" in one for one in got] ==
            [True, False, True, True, True, True, False, True], "a list of labels: new, known and bad", got)
    place = lines.rpartition(":")
    with socket.create_connection(("127.0.0.1", int(place[2])), 20) as s:
        ids = ["p1", "o2", "p2", "o9", "p3"]
        s.sendall(json.dumps([{"id": one, "input": [1, int(one[1]) if one != "o9" else 8]} for one in ids]).encode() + b"\n")
        reader = s.makefile()
        got = [json.loads(reader.readline())["id"] for _ in ids]
        verdict(got == ids, "a list in a line", got)
        ids = ["p1", "none", "p2", "o1", "p3"]
        s.sendall("".join('{"id": "%s", "label": 1}\n' % one for one in ids).encode())
        got = [json.loads(reader.readline())["id"] for _ in ids]
        verdict(got == ids, "lines", got)


def lets_pages_ask(retain, folder):
    """Pages of serve.origins send JSON and tokens, which a browser asks for first."""
    with open(os.path.join(folder, "token"), "w") as file:
        file.write(20 * "x" + "\n")
    os.makedirs(os.path.join(folder, "pages"))
    page = "https://shop.example"
    service = new(os.path.join(folder, "pages"), retain, "--set", "serve.origins=" + page, "--set",
                  "serve.token_file=" + os.path.join(folder, "token"))
    asks = {"Origin": page, "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type"}
    status, headers, body = service.ask("OPTIONS", "/v1/predict", headers=asks)
    allowed = headers.get("Access-Control-Allow-Headers", "").lower()
    verdict(status == 204 and not body and headers["Access-Control-Allow-Origin"] == page and
            "POST" in headers["Access-Control-Allow-Methods"] and "authorization" in allowed and "content-type" in allowed,
            "a preflight needs no token", status, dict(headers))
    status, headers, _ = service.ask("POST", "/v1/predict", '{"input": [1, 2]}',
                                     {"Origin": page, "Content-Type": "application/json", "Authorization": "Bearer " + 20 * "x"})
    verdict(status == 200 and headers["Access-Control-Allow-Origin"] == page and headers["Vary"] == "Origin",
            "then the page asks", status, dict(headers))
    status, headers, _ = service.ask("POST", "/v1/predict", '{"input": [1, 2]}', {"Origin": page})
    verdict(status == 401 and headers["Access-Control-Allow-Origin"] == page, "and sees why it may not", status)
    status, headers, _ = service.ask("OPTIONS", "/v1/predict", headers=dict(asks, Origin="https://evil.example"))
    verdict(status == 403 and "Access-Control-Allow-Origin" not in headers, "other pages may not", status)
    status, headers, _ = service.ask("OPTIONS", "/v1/state")
    verdict(status == 204 and headers["Allow"] == "GET, HEAD, OPTIONS", "who is no page sees the methods", dict(headers))
    verdict(service.ask("OPTIONS", "/v1/nothing")[0] == 404, "of a path that there is")
    service.end()


def pauses(service):
    service.post("/v1/pause", "")
    status, headers, body = service.ask("POST", "/v1/label", json.dumps({"id": 18, "label": 1}))
    verdict(status == 503 and "Retry-After" in headers and b"paused" in body, "paused, it refuses labels", body)
    verdict(service.post("/v1/predict", {"input": [1, 2]})[0] == 200, "and predicts")
    service.post("/v1/resume", "")
    got = service.post("/v1/label", {"id": 18, "label": 1})
    verdict(got[0] == 200, "until it goes on", got)


def wants_tokens(retain, folder):
    tokens = {}
    for name in "token", "read_token":
        tokens[name] = name + 20 * "x"
        with open(os.path.join(folder, name), "w") as file:
            file.write(tokens[name] + "\n")
    got = subprocess.run([retain, "serve", "--out", os.path.join(folder, "open"), "--listen", "0.0.0.0:0", "--set",
                          "model.classes=2", "--set", "model.input=2"], capture_output=True, text=True)
    verdict(got.returncode == 2 and "serve.token_file" in got.stderr, "others may not reach it without a token", got)
    service = Service.__new__(Service)
    Service.wait_ready, wait = lambda self: None, Service.wait_ready
    Service.__init__(service, retain, os.path.join(folder, "shop.ini"), "--out", os.path.join(folder, "tokens"), "--listen",
                     "127.0.0.1:0", "--set", "serve.token_file=" + os.path.join(folder, "token"), "--set",
                     "serve.read_token_file=" + os.path.join(folder, "read_token"))
    Service.wait_ready = wait
    service.wait_ready()
    said = lambda name: {"Authorization": "Bearer " + tokens[name]}
    for name, status, path, value, headers in (
            ("no token", 401, "/v1/predict", {"input": [1, 2]}, {}),
            ("a wrong one", 401, "/v1/predict", {"input": [1, 2]}, {"Authorization": "Bearer " + tokens["token"][:-1]}),
            ("the token", 200, "/v1/predict", {"id": 1, "input": [1, 2]}, said("token")),
            ("the second predicts", 200, "/v1/predict", {"input": [1, 2]}, said("read_token")),
            ("and keeps nothing", 403, "/v1/predict", {"id": 1, "input": [1, 2]}, said("read_token")),
            ("nor labels", 403, "/v1/label", {"id": 1, "label": 1}, said("read_token")),
            ("nor pauses", 403, "/v1/pause", "", said("read_token")),
            ("as a password", 200, "/v1/predict", {"input": [1, 2]},
             {"Authorization": "Basic " + __import__("base64").b64encode(
                 ("me:" + tokens["token"]).encode()).decode()})):
        got = service.post(path, value, **headers)
        verdict(got[0] == status, "%s: %d" % (name, status), got)
    verdict(service.get("/v2/health/live")[0] == 200, "health needs none")
    service.end()


def takes_lines(retain, folder):
    service = new(os.path.join(folder, "lines"), retain, "--set", "serve.lines=unix:" + os.path.join(folder, "socket"),
                  listen="unix:" + os.path.join(folder, "http"))
    verdict(service.get("/v1/state")[0] == 200, "HTTP over a Unix socket")
    sent, results = 200, {}

    def stream(name):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(os.path.join(folder, "socket"))
            reader = s.makefile()
            got = []
            for i in range(sent):
                s.sendall(b'{"id": "%s%d", "input": [%d, 1], "label": %d}\n' % (name, i, i % 3, i % 3))
                if i % 50 == 49:
                    got += [json.loads(reader.readline()) for _ in range(100)]
            s.shutdown(socket.SHUT_WR)
            got += [json.loads(line) for line in reader]
            results[name] = got

    names = [b"a", b"b", b"c", b"d"]
    threads = [threading.Thread(target=stream, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    own = all(one["id"].startswith(name.decode()) for name in names for one in results.get(name, [{"id": ""}]))
    samples = [one["sample"] for got in results.values() for one in got if "sample" in one]
    verdict(own and sorted(samples) == list(range(4 * sent)), "four streams of lines are answered each on its own",
            len(samples))
    verdict(service.end() == 0 and not os.path.exists(os.path.join(folder, "socket")), "and leave no socket behind")


def leaves_files_alone(retain, folder):
    """Only a socket that nobody listens on is replaced."""
    path, data = os.path.join(folder, "only"), os.path.join(folder, "data.csv")
    with open(data, "w") as file:
        file.write("a,b\n1,2\n")
    service = Service(retain, "--out", os.path.join(folder, "first"), "--listen", "unix:" + path)
    try:
        for name, words, says in (
                ("a second service", ("--listen", "unix:" + path), "another process listens"),
                ("one of the same folder", ("--out", os.path.join(folder, "first"), "--listen", "unix:" + path), ""),
                ("lines at that path", ("--listen", "127.0.0.1:0", "--set", "serve.lines=unix:" + path), "another process"),
                ("a service at a file", ("--listen", "unix:" + data), "not a socket"),
                ("lines at a file", ("--listen", "127.0.0.1:0", "--set", "serve.lines=unix:" + data), "not a socket")):
            got = subprocess.run([retain, "serve", "--out", os.path.join(folder, "second"), *words], capture_output=True,
                                 text=True)
            verdict(got.returncode and says in got.stderr, "%s does not start" % name, got)
        verdict(service.get("/v1/state")[0] == 200 and os.path.getsize(data) == 8, "and takes nothing away")
        service.end(signal.SIGKILL)
        service = Service(retain, "--out", os.path.join(folder, "second"), "--listen", "unix:" + path)
        verdict(service.get("/v1/state")[0] == 200, "the socket of a killed one is replaced")
        os.remove(path)
        with open(path, "w") as file:
            file.write("another's")
        verdict(service.end() == 0 and os.path.exists(path), "what somebody else put there stays")
    finally:
        service.end()


def serves_a_model(retain, folder, weights):
    path = os.path.join(folder, "fixed.safetensors")
    with open(path, "wb") as file:
        file.write(weights)
    service = Service(retain, path, "--listen", "127.0.0.1:0")
    verdict(service.post("/v1/predict", {"input": [1, 2]})[0] == 200, "a file of weights predicts")
    verdict(service.post("/v1/predict", {"id": 1, "input": [1, 2]})[0] == 400, "and keeps nothing")
    verdict(service.post("/v1/label", {"id": 1, "label": 1})[0] == 404, "nor learns")
    verdict(service.get("/v1/model.safetensors")[1] == weights, "and gives itself")
    os.rename(path, path + ".old")
    os.symlink("/etc/hostname", path)
    verdict(service.get("/v1/model.safetensors")[1] == weights, "though another file has its name by now")
    os.remove(path)
    verdict(service.get("/v1/model.safetensors")[1] == weights, "or none")
    verdict(service.end() == 0, "SIGTERM ends it")


def answers_together(retain, folder):
    """A net that is large enough for it: many clients at a time get what each gets alone."""
    os.makedirs(os.path.join(folder, "together"))
    service = new(os.path.join(folder, "together"), retain, config=CONFIG.replace("mlp:16", "mlp:512,512"))
    service.ask("POST", "/v1/samples", "".join('{"id": %d, "input": [%d, %d], "label": %d}\n' % (i, i % 3, i % 5, i % 3)
                                               for i in range(64)))
    path = os.path.join(folder, "large.safetensors")
    with open(path, "wb") as file:
        file.write(service.get("/v1/model.safetensors")[1])
    service.end()
    service = Service(retain, path, "--listen", "127.0.0.1:0")  # whose weights stay as they are
    questions = [("/v1/predict?top=3" + ("&for=ever" if i % 2 else ""), {"input": [i / 7, -i / 3]}) for i in range(40)]
    alone = [service.post(*one) for one in questions]
    counts = lambda: [int(line.split()[1]) for line in service.get("/metrics")[1].decode().splitlines()
                      if line.startswith("retain_gathered_")]
    before, together = counts(), {}

    def ask(first):
        connection = service.connection()
        for round in range(20):
            at = (first + 7 * round) % len(questions)
            connection.request("POST", questions[at][0], json.dumps(questions[at][1]))
            answer = connection.getresponse()
            together.setdefault(at, []).append((answer.status, json.loads(answer.read())))
        connection.close()

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    after = counts()
    inputs, batches = (b - a for a, b in zip(before, after))
    verdict(inputs == 320 and batches < inputs, "requests that arrive together are answered together", inputs, batches)
    other = [(at, got) for at, some in together.items() for got in some if got != alone[at]]
    verdict(len(together) > 30 and not other, "by what they are answered alone", other[:3])
    verdict(service.end() == 0, "and it ends in good order", service.errors)


def refusal(got):
    """Status, headers and sentence of an answer that is a refusal; what else there is, if it is none."""
    head, _, body = got.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    try:
        return int(lines[0].split()[1]), fields, json.loads(body)["error"]
    except (IndexError, KeyError, ValueError):
        return 0, {}, got[:300]


def is_refused(name, got, status, words, later=False):
    code, fields, sentence = refusal(got)
    verdict(code == status and fields.get("Content-Type") == "application/json" and words in sentence and
            int(fields.get("Content-Length", -1)) >= len(sentence) and ("Retry-After" in fields) == later,
            "%s: %d" % (name, status), got[:500])


def bounds(retain, folder):
    os.makedirs(os.path.join(folder, "bounds"))
    service = new(os.path.join(folder, "bounds"), retain, "--set", "serve.connections=20", "--set", "serve.idle=1",
                  "--set", "serve.body=2000", "--set", "serve.queue=2", "--set", "serve.lines=127.0.0.1:0")
    host = b"Host: 127.0.0.1:%d\r\n" % service.port
    crowd = [socket.create_connection(("127.0.0.1", service.port), 10) for _ in range(20)]
    for one in crowd:
        one.sendall(b"GET / HTTP/1.1\r\n")
    time.sleep(0.3)
    got = service.raw(b"GET /v1/state HTTP/1.1\r\n" + host + b"\r\n")
    is_refused("too many connections", got, 429, "serve.connections = 20", later=True)
    is_refused("half a request", b"".join(one.recv(1000) for one in crowd[:1]), 408, "did not arrive")
    for one in crowd:
        one.close()
    body = service.raw(b"POST /v1/samples HTTP/1.1\r\n" + host + b"Content-Length: 100\r\n\r\n{\"id\":")
    is_refused("half a body", body, 408, "did not arrive")
    slow = socket.create_connection(("127.0.0.1", service.port), 30)
    slow.sendall(b"POST /v1/samples HTTP/1.1\r\n" + host + b"Content-Length: 1000\r\n\r\n")
    begun = time.monotonic()
    try:
        while time.monotonic() - begun < 25 and not select.select([slow], [], [], 0.5)[0]:
            slow.sendall(b" ")
    except ConnectionError:
        pass
    is_refused("a byte now and then", slow.recv(1000), 408, "did not arrive")
    slow.close()
    post = b"POST /v1/predict HTTP/1.1\r\n" + host
    end = b"Connection: close\r\n\r\n"
    is_refused("a body that is announced as too long", service.raw(post + b"Content-Length: 2001\r\n" + end + 2001 * b" "), 413,
               "serve.body = 2000")
    is_refused("one that comes in pieces", service.raw(post + b"Transfer-Encoding: chunked\r\n" + end +
                                                       3 * (b"3e8\r\n" + 1000 * b" " + b"\r\n") + b"0\r\n\r\n"), 413,
               "serve.body = 2000")
    is_refused("long headers", service.raw(post + b"X: " + 9000 * b"x" + b"\r\n" + end), 431, "more than 8192 bytes")
    is_refused("many headers", service.raw(post + b"X: y\r\n" * 70 + end), 431, "64 names")
    is_refused("long questions", service.raw(b"GET /v1/state?x=" + 9000 * b"y" + b" HTTP/1.1\r\n" + host + end), 431,
               "more than 8192 bytes")
    verdict(service.post("/v1/predict", {"input": [1, 2]})[0] == 200, "others are served")

    service.post("/v1/predict", [{"id": i, "input": [1, 2]} for i in range(9)])
    service.post("/v1/pause", "")
    waits = [socket.create_connection(("127.0.0.1", int(service.lines.rpartition(":")[2])), 20) for _ in range(2)]
    for i, one in enumerate(waits):
        one.sendall(b'{"id": %d, "label": 1}\n' % i)
    until = time.monotonic() + 20
    while json.loads(service.get("/v1/state")[1])["queue"] < 2 and time.monotonic() < until:
        time.sleep(0.02)
    full = json.dumps({"id": 5, "label": 1}).encode()
    got = service.raw(b"POST /v1/label HTTP/1.1\r\n" + host + b"Content-Length: %d\r\n" % len(full) + end + full)
    is_refused("a full queue", got, 503, "serve.queue = 2", later=True)
    verdict(service.post("/v1/predict", {"input": [1, 2]})[0] == 200, "and predicts all the same")
    service.post("/v1/resume", "")
    late = [one.makefile().readline() for one in waits]
    verdict(["sample" in json.loads(one) for one in late] == [True, True], "lines that waited are taken", late)
    for one in waits:
        one.close()
    status, got = service.post("/v1/label", {"id": 5, "label": 1})
    verdict(status == 200, "and who tries again", got)
    verdict(service.end() == 0, "SIGTERM ends it", service.errors)


def ends(retain, folder):
    """With half a request there, which has much time left."""
    os.makedirs(os.path.join(folder, "ends"))
    service = new(os.path.join(folder, "ends"), retain)
    half = socket.create_connection(("127.0.0.1", service.port), 20)
    half.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n\r\n{" % service.port)
    time.sleep(0.2)
    service.process.terminate()
    is_refused("half a request at the end", half.recv(1000), 503, "the service ends", later=True)
    half.close()
    code = service.process.wait(30)  # a second signal would end it at once
    service.end()
    verdict(code == 0, "SIGTERM ends it", code, service.errors)


def answers_while_it_opens(retain, folder):
    """After a kill, by what it knew at its last checkpoint."""
    os.makedirs(os.path.join(folder, "opens"))
    words = "--set", "run.iterations=600", "--set", "model.arch=mlp:256,256"
    service = new(os.path.join(folder, "opens"), retain, *words)

    def send(first, count):
        return service.ask("POST", "/v1/samples", "".join(
            '{"id": %d, "input": [%d, %d], "label": %d}\n' % (i, i % 3, i % 5, i % 3) for i in range(first, first + count)))
    send(0, 16)
    service.post("/v1/save", "")
    send(16, 80)
    service.end(signal.SIGKILL)
    Service.opens, opens = lambda self: False, Service.opens
    try:
        service = new(os.path.join(folder, "opens"), retain, *words)
        state = json.loads(service.get("/v1/state")[1])
        status, got = service.post("/v1/predict", {"input": [1, 2]})
        metrics = service.get("/metrics")[1].decode()
        behind = [int(line.split()[1]) for line in metrics.splitlines() if line.startswith("retain_behind{")]
        verdict(state["state"] == "opens" and status == 200 and "prediction" in got and behind and behind[0] > 0 and
                'state="opens"} 1' in metrics, "it answers while it learns again what it had not saved", state, got, behind)
        begun = time.monotonic()
        code = service.end()
        verdict(code == 0 and time.monotonic() - begun < 20, "and ends when it is told to", code, service.errors)
        service = new(os.path.join(folder, "opens"), retain, *words)
    finally:
        Service.opens = opens
    got = service.post("/v1/label", {"id": 95, "label": 2})[1]
    verdict(got.get("sample") == 95 and json.loads(service.get("/v1/state")[1])["behind"] == 0, "nothing is lost by it", got)
    service.end()


def gives_way(service):
    """The learner's thread, and it alone, is nicer than the rest."""
    nice = []
    for task in os.listdir("/proc/%d/task" % service.process.pid):
        with open("/proc/%d/task/%s/stat" % (service.process.pid, task)) as file:
            nice.append(int(file.read().rpartition(")")[2].split()[16]))
    verdict(sorted(nice)[-1] == min(19, min(nice) + 5) and nice.count(min(nice)) == len(nice) - 1,
            "training gives way to predictions", nice)


def has_a_good_unit(retain, folder):
    if not shutil.which("systemd-analyze"):
        skip("systemd takes the unit", "systemd-analyze is not here")
        return
    unit = os.path.join(folder, "retain-serve.service")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../ops/retain-serve.service")) as file:
        words = file.read().replace("/usr/local/bin/retain", retain).replace("Documentation=man:retain(1)\n", "")
    with open(unit, "w") as file:
        file.write(words)
    got = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    verdict(got.returncode == 0 and unit not in got.stderr, "systemd takes the unit", got)


def main(retain):
    folder = tempfile.mkdtemp(prefix="retain-serve-")
    try:
        service = new(folder, retain, "--set", "serve.lines=127.0.0.1:0")
        answers_and_learns(service)
        answers_in_order(service, service.lines)
        refuses(service)
        refuses_ambiguity(service)
        standard_clients(service)
        describes_itself(service, os.path.join(folder, "shop"))
        tells_events(service, 0)
        pauses(service)
        gives_way(service)
        weights = service.get("/v1/model.safetensors")[1]
        time.sleep(0.5)  # the state is one of a moment ago
        before = json.loads(service.get("/v1/state")[1])
        verdict(service.end() == 0, "SIGTERM ends it", service.errors)
        service = Service(retain, os.path.join(folder, "shop"), "--listen", "127.0.0.1:0")
        after = json.loads(service.get("/v1/state")[1])
        verdict(after["samples"] == before["samples"] > 900,
                "and its folder goes on", before, after)
        verdict(service.post("/v1/label", {"id": 17, "label": 2})[1].get("sample") == 1, "with what it knew")
        service.end()
        tells_events_again(retain, folder)
        wants_tokens(retain, folder)
        lets_pages_ask(retain, folder)
        os.makedirs(os.path.join(folder, "lines"))
        takes_lines(retain, folder)
        leaves_files_alone(retain, folder)
        serves_a_model(retain, folder, weights)
        answers_together(retain, folder)
        bounds(retain, folder)
        ends(retain, folder)
        answers_while_it_opens(retain, folder)
        has_a_good_unit(retain, folder)
    finally:
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1])))
