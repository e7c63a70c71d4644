#!/usr/bin/env python3
"""usage: tests/serve/described.py RETAIN

What /openapi.json says against what the service does: routes, parameters, bodies, answers and statuses.
Prints TAP.
"""
import json
import os
import re
import shutil
import sys
import tempfile
import time

from service import Service, new
from tap import plan, skip, verdict

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/reference/http.md")
TENSOR = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
LINES = '{"id": "l1", "input": [1, 2], "label": 1}\n{"id": "l2", "input": [1, 2]}\n'
# A good body of each route that takes one, by the end of its path.
BODIES = {"/v1/predict": [{"input": [1, 2]}, {"id": "p1", "input": [1, 2], "top": 2, "for": "ever"},
                          [{"input": [1, 2]}, {"input": [2, 1]}], [{"id": "p2", "input": [1, 2]}]],
          "/v1/label": [{"id": "p1", "label": 1}, [{"id": "p2", "label": 2}, {"id": "nobody", "label": 1}]],
          "/v1/samples": [LINES], "/infer": [{"inputs": [TENSOR]}],
          "/v1/versions": [{"name": "v1"}, {"name": "v2"}]}


def bodies_of(path, method):
    if method == "PUT":
        return [{"id": "p1", "label": 2}]
    return next((some for end, some in BODIES.items() if path.endswith(end) and method == "POST"), [None])


def check(described, name, value):
    """What is wrong with a value; None where it is fine, or nobody can tell."""
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    schema = {"$ref": "#/components/schemas/" + name, "components": described["components"]}
    return next((error.message for error in Draft202012Validator(schema).iter_errors(value)), None)


def schema_name(entry):
    return entry["schema"]["$ref"].rpartition("/")[2]


def operations(described):
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def responses(described, operation):
    return {code: described["components"]["responses"][code] if "$ref" in one else one
            for code, one in operation["responses"].items()}


def fill(path, operation):
    for one in operation["parameters"]:
        if one["in"] == "path" and one["name"] == "version":
            path = path.replace("{version}", "v1" if path.endswith("/v1/versions/{version}") else "live")
        elif one["in"] == "path" and one["name"] == "id":
            path = path.replace("{id}", "gone")
        elif one["in"] == "path":
            path = path.replace("{%s}" % one["name"], one["schema"]["enum"][0])
    return path


def ask(service, described, path, method, operation, body=None, headers=None, query=""):
    """Status, and what is not as described."""
    where = fill(path, operation) + query
    if path.endswith("/samples/{id}"):  # which there must be
        service.post(where.partition("/v1/")[0] + "/v1/predict", {"id": "gone", "input": [1, 2]})
    if path.endswith("/v1/events"):
        connection = service.connection(10)
        connection.request(method, where, headers=headers or {})
        answer = connection.getresponse()
        status, fields, got = answer.status, answer.headers, answer.read(1 if answer.status == 200 else None)
        connection.close()
    else:
        status, fields, got = service.ask(method, where, body if body is None or isinstance(body, (str, bytes))
                                          else json.dumps(body), headers)
    known = responses(described, operation)
    if str(status) not in known:
        return status, "status %d is not described" % status
    content = known[str(status)]["content"]
    if fields["Content-Type"] not in content:
        return status, "%s is not described" % fields["Content-Type"]
    if "headers" in known[str(status)] and "Retry-After" not in fields:
        return status, "no Retry-After"
    wrong = None
    if fields["Content-Type"] == "application/json":
        wrong = check(described, schema_name(content["application/json"]), json.loads(got))
    return status, wrong


def good_requests(service, described, what):
    bad = []
    for path, method, operation in operations(described):
        bodies = bodies_of(path, method)
        if ("requestBody" in operation) != (bodies != [None]):
            bad.append((path, "takes a body, or none"))
        for body in bodies:
            if body is not None and not isinstance(body, str):
                name = schema_name(operation["requestBody"]["content"]["application/json"])
                if check(described, name, body):
                    bad.append((path, "the body", check(described, name, body)))
            got = ask(service, described, path, method, operation, body)
            if got != (200, None):
                bad.append((path, body, got))
    service.post("/v1/resume", "")
    verdict(not bad, "%s: each route answers as described" % what, *bad)


def parameters(service, described):
    bad, seen = [], set()
    for path, method, operation in operations(described):
        body = bodies_of(path, method)[0]
        for one in operation["parameters"]:
            seen.add(one["name"])
            values = [(value, 200) for value in one["schema"].get("enum", [])]
            if "minimum" in one["schema"] and one["in"] == "query":
                values += [(one["schema"]["minimum"], 200), (one["schema"]["maximum"], 200),
                           (one["schema"]["minimum"] - 1, 400), (one["schema"]["maximum"] + 1, 400)]
            if one["in"] != "query":
                continue
            values += [("always", 400)] if "enum" in one["schema"] else []
            for value, expected in values:
                got = ask(service, described, path, method, operation, body, query="?%s=%s" % (one["name"], value))
                if got != (expected, None):
                    bad.append((path, one["name"], value, got))
    verdict(not bad, "each parameter takes what its schema says, and nothing else", *bad)
    verdict({"top", "for", "id", "from", "Last-Event-ID", "name", "Inference-Header-Content-Length"} <= seen,
            "all parameters are described", seen)


def refusals(service, described):
    """Statuses that any request can be made to get, each with a sentence."""
    bad, seen = [], set()
    for path, method, operation in operations(described):
        body = bodies_of(path, method)[0]
        tries = [(421, {"Host": "evil.example"}), (403, {"Origin": "http://evil.example"}), (431, {"X": 9000 * "x"})]
        if method == "POST":
            tries += [(413, {"Content-Length": str(1 << 40)})]
        if "415" in operation["responses"]:
            tries += [(415, {"Content-Encoding": "br"})]
        for status, headers in tries:
            got = ask(service, described, path, method, operation, body, headers) if status != 413 else (413, None)
            if status == 413:
                raw = service.raw(("POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n" % (
                    fill(path, operation), service.port, 1 << 40)).encode())
                got = (413, None) if raw.startswith(b"HTTP/1.1 413") and b'"error"' in raw else (raw[:99], "no 413")
            seen.add(status)
            if got != (status, None):
                bad.append((path, status, got))
        if "requestBody" in operation and not path.endswith("/v1/samples"):
            got = ask(service, described, path, method, operation, "no JSON")
            if got != (400, None):
                bad.append((path, "no JSON", got))
        other = service.ask("PATCH", fill(path, operation))
        if other[0] != 405 or other[1]["Allow"] != ", ".join(map(str.upper, described["paths"][path])) or b'"error"' not in other[2]:
            bad.append((path, "the other method", other[0]))
    verdict(not bad and seen == {421, 403, 431, 413, 415}, "each route refuses as described", *bad)


def documented(described):
    """The table of docs/reference/http.md has the same routes."""
    with open(DOCS) as file:
        rows = [line for line in file if line.startswith("| `")]
    words = " ".join(re.findall(r"`[^`]+`", " ".join(row.split("|")[1] for row in rows)))
    told = set(re.findall(r"/[\w./…{}]*", words))
    ours = {path for path in described["paths"]}
    missing = [path for path in ours if path not in told and not path.startswith("/v2") and path != "/data.json"]
    extra = [path for path in told if path not in ours and not path.startswith("/v2")]
    verdict(not missing and not extra, "the docs have the same routes", missing, extra)


def valid(described, what):
    try:
        from openapi_spec_validator import validate
    except ImportError:
        skip("%s: is valid OpenAPI" % what, "Python's openapi-spec-validator is not here")
        return
    try:
        validate(described)
        verdict(True, "%s: is valid OpenAPI" % what)
    except Exception as why:
        verdict(False, "%s: is valid OpenAPI" % what, why)


def describe(service, **headers):
    return json.loads(service.get("/openapi.json", **headers)[1])


def several(retain, folder, weights):
    with open(os.path.join(folder, "fixed.safetensors"), "wb") as file:
        file.write(weights)
    path = os.path.join(folder, "several.ini")
    with open(path, "w") as file:
        file.write("[learner a]\nmodel.input = 2\nmodel.classes = 3\n[learner b]\nmodel.input = 2\nmodel.classes = 3\n")
    service = Service(retain, path, "--out", os.path.join(folder, "several"), "--listen", "127.0.0.1:0")
    described = describe(service)
    valid(described, "several learners")
    verdict("/{learner}/v1/predict" in described["paths"] and "/metrics" in described["paths"] and
            "/v1/predict" not in described["paths"], "paths begin with a learner's name where there are several",
            list(described["paths"]))
    bad = []
    for path, method, operation in operations(described):
        bodies = bodies_of(path, method)
        got = ask(service, described, path, method, operation, bodies[0])
        # A label for an input that nobody has sent is wrong.
        # The only version has been dropped by then.
        if got != (400 if path.endswith("/v1/label") else 409 if path.endswith("/rollback") else 200, None):
            bad.append((path, got))
    verdict(not bad, "and all of them answer", *bad)
    service.end()
    service = Service(retain, os.path.join(folder, "fixed.safetensors"), "--listen", "127.0.0.1:0")
    described, bad = describe(service), []
    for path, method, operation in operations(described):
        bodies = bodies_of(path, method)
        got = ask(service, described, path, method, operation, bodies[0])
        if got[1] or got[0] not in (200, 404, 503):
            bad.append((path, got))
    verdict(not bad, "a fixed model refuses as described", *bad)
    service.end()


def numbers(retain, folder, names, label):
    """A service of one number, or of several by name: answers as described, and what clients make of them."""
    below = os.path.join(folder, "numbers-" + names.replace(",", "-"))
    os.makedirs(below)
    service = new(below, retain, config="[model]\ninput = 2\ntarget = number\nnumbers = %s\n" % names)
    described, bad = describe(service), []
    routes = {path: operation for path, method, operation in operations(described) if method == "POST"}
    several = "," in names

    def tried(path, body, name):
        wrong = check(described, schema_name(routes[path]["requestBody"]["content"]["application/json"]), body)
        got = ask(service, described, path, "POST", routes[path], body)
        if wrong or got != (200, None):
            bad.append((path, body, wrong, got))

    valid(described, "numbers " + names)
    tried("/v1/predict", {"input": [1, 2]}, "Prediction")
    for i in range(30):
        tried("/v1/predict", {"id": i, "input": [i % 3, i % 2]}, "Prediction")
        tried("/v1/label", {"id": i, "label": label(i)}, "Sample")
    tried("/v1/predict", [{"input": [1, 2]}, {"input": [2, 1], "for": "ever"}], "Predictions")
    verdict(not bad, "numbers %s: answers are as described" % names, *bad[:3])
    got = service.post("/v1/predict", {"input": [1, 0]})[1]
    first = names.split(",")[0]
    value = got["prediction"][first] if several else got["prediction"]
    verdict(set(got) == {"prediction", "low", "high"} and 5 < value < 15, "numbers %s: by value and bounds" % names, got)
    verdict(service.post("/v1/label", {"id": 1, "label": "word"})[0] == 400, "numbers %s: a word is refused" % names)
    verdict([service.post(path, {"input": [1, 2], **more})[0] for path, more in (("/v1/predict?top=2", {}), ("/v1/predict", {"top": 2}))]
            == [400, 400], "numbers %s: the most probable are of classes" % names)
    clients(service, names, len(names.split(",")) if several else 1)
    service.end()


def clients(service, names, width):
    try:
        from prometheus_client.parser import text_string_to_metric_families as parse
        until, error = time.monotonic() + 30, None
        while not (error and error > 0) and time.monotonic() < until:  # metrics are of a moment ago; NaN at first
            families = {family.name: family for family in parse(service.get("/metrics")[1].decode())}
            error = families["retain_mae"].samples[0].value
            time.sleep(0.05)
        verdict(error > 0, "numbers %s: prometheus_client reads the error" % names, error)
    except ImportError:
        skip("numbers %s: prometheus_client" % names, "Python's prometheus_client is not here")
    try:
        import numpy
        import tritonclient.http as triton
    except ImportError:
        skip("numbers %s: tritonclient" % names, "Python's tritonclient is not here")
        return
    client = triton.InferenceServerClient("127.0.0.1:%d" % service.port)
    model = client.get_model_metadata("retain")
    rows = numpy.array([[1, 0], [2, 1], [0, 1]], numpy.float32)
    tensor = triton.InferInput(model["inputs"][0]["name"], list(rows.shape), "FP32")
    tensor.set_data_from_numpy(rows)
    result = client.infer("retain", [tensor])
    found = [result.as_numpy(name) for name in ("PREDICTION", "LOW", "HIGH")]
    shape = (3, width) if width > 1 else (3,)
    verdict(all(one.shape == shape for one in found) and (found[1] <= found[0]).all() and (found[0] <= found[2]).all() and
            all(one["shape"] == [-1] + list(shape[1:]) for one in model["outputs"]),
            "numbers %s: tritonclient infers values within bounds" % names, found, model["outputs"])
    client.close()


def tokens(retain, folder):
    path = os.path.join(folder, "token")
    with open(path, "w") as file:
        file.write(20 * "t" + "\n")
    service = new(os.path.join(folder, "guarded"), retain, "--set", "serve.token_file=" + path)
    described = describe(service, Authorization="Bearer " + 20 * "t")
    valid(described, "with a token")
    bad = []
    for path, method, operation in operations(described):
        open_to_all = operation.get("security") == []
        got = ask(service, described, path, method, operation)
        if got != (200 if open_to_all else 401, None):
            bad.append((path, got))
    verdict(not bad and "token" in described["components"]["securitySchemes"], "who needs a token is described", *bad)
    service.end()


def main(retain):
    folder = tempfile.mkdtemp(prefix="retain-described-")
    try:
        os.makedirs(os.path.join(folder, "guarded"))
        service = new(folder, retain)
        described = describe(service)
        valid(described, "a learner")
        documented(described)
        good_requests(service, described, "a learner")
        parameters(service, described)
        refusals(service, described)
        weights = service.get("/v1/model.safetensors")[1]
        verdict(service.end() == 0, "it ends in good order", service.errors)
        several(retain, folder, weights)
        tokens(retain, folder)
        numbers(retain, folder, "1", lambda i: 10.5 + i % 2)
        numbers(retain, folder, "load,price", lambda i: [10.5 + i % 2, 100 + i % 3] if i % 2 else
                {"load": 10.5, "price": 100.25})
    finally:
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1])))
