#!/usr/bin/env python3
"""usage: tests/serve/stranger.py RETAIN

`retain serve --out DIR` and nothing else: the first input says what inputs are, classes come with
their labels, by name. And several such learners in one service. Prints TAP.
"""
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time

from service import Service
from tap import plan, skip, verdict

ROWS = [{"age": 33, "city": "Rome"}, {"age": 5, "city": "Oslo"}, {"age": 60, "city": "Lima"}]
NAMES = ["yes", "no", "n\u00f6 \"quoted\""]


def start(retain, folder, *words):
    return Service(retain, *words, "--out", folder, "--listen", "127.0.0.1:0")


def sent(count, first=0):
    return "".join(json.dumps({"id": first + i, "input": dict(ROWS[i % 3], age=ROWS[i % 3]["age"] + i % 5),
                               "label": NAMES[i % 3]}) + "\n" for i in range(count))


def before_the_first(service):
    verdict(json.loads(service.get("/v1/state")[1])["state"] == "waits", "it waits for its first input")
    page = service.get("/")[1].decode()
    verdict("waits for its first input" in page and "curl" in page, "the page says so, and what to do", page)
    got = service.post("/v1/predict", [{"input": {"age": 3}}, {"input": [1, 2]}])
    verdict(got == (200, 2 * [{"prediction": None, "probability": None}]), "nothing is known of anything", got)
    for name, status, path in (("weights", 404, "/v1/model.safetensors"), ("a model", 404, "/v2/models/retain")):
        verdict(service.get(path)[0] == status, "there is no %s yet" % name)
    verdict(service.get("/v2/health/ready")[0] == 200, "but it is ready")
    for name, value, says in (
            ("a label of nothing", {"id": 1, "label": "x"}, "no input waits"),
            ("an input where labels are taken", {"id": 1, "input": {"wrong": 1}}, "only labels are taken")):
        got = service.post("/v1/label", value)
        verdict(got[0] == 400 and says in got[1]["error"], name, got)
    for name, line, says in (
            ("a sample without an id", {"input": {"wrong": 1}, "label": "x"}, "has no id"),
            ("one with a label that cannot be", {"id": 1, "input": {"wrong": 1}, "label": {}}, "label: must be"),
            ("two that are wrong", [{"input": {"wrong": 1}}, {"id": 2, "input": [1, 2], "label": ""}], "object 2: label")):
        body = service.ask("POST", "/v1/samples", json.dumps(line) + "\n")[2].decode()
        verdict(says in body and "prediction" not in body, "%s teaches nothing" % name, body)
    for name, value, says in (
            ("a first input that is none", {"id": 1, "input": {}}, "input: "),
            ("a first input of too many numbers", {"id": 1, "input": [0] * 600000}, "too long"),
            ("one of many texts", {"id": 1, "input": {"t%d" % i: 30 * "words " for i in range(4096)}}, "must be asked for"),
            ("one of nothing", {"id": 1, "input": []}, "has no numbers"),
            ("one with a table in it", {"id": 1, "input": {"a": {}}}, "input: ")):
        got = service.post("/v1/predict", value)
        verdict(got[0] == 400 and says in got[1]["error"], name, got)
    verdict(json.loads(service.get("/v1/state")[1])["state"] == "waits", "it still waits")


def learns_names(service):
    got = service.post("/v1/predict", {"id": "q", "input": ROWS[0]})
    verdict(got == (200, {"id": "q", "prediction": None, "probability": None}), "the first input is taken", got)
    got = service.post("/v1/label", {"id": "q", "label": "yes"})
    verdict(got == (200, {"id": "q", "label": "yes", "sample": 0}), "the first label is a name", got)
    status, _, body = service.ask("POST", "/v1/samples", sent(300))
    got = [json.loads(line) for line in body.splitlines()]
    verdict(status == 200 and {one["prediction"] for one in got if "prediction" in one} >= set(NAMES) and
            [one["label"] for one in got if "label" in one] == [NAMES[i % 3] for i in range(300)],
            "classes come with their labels, and answers are names", got[-2:])
    time.sleep(0.5)
    status, got = service.post("/v1/predict?top=3", [{"input": row} for row in ROWS])
    verdict(status == 200 and [one["prediction"] for one in got] == NAMES and
            all({two["prediction"] for two in one["top"]} == set(NAMES) for one in got),
            "so are those of questions that nobody remembers", got)
    status, got = service.post("/v1/predict", {"input": {"age": "old"}})
    verdict(status == 400 and "old" in got["error"], "a field that does not fit is named", got)
    got = service.post("/v1/predict", {"input": dict(ROWS[0], hat=True)})
    verdict(got[0] == 200, "new fields and values do no harm", got)
    got = service.post("/v1/label", {"id": 3, "label": "no"})
    verdict(got[0] == 400 and 'was labelled "yes" before, not "no"' in got[1]["error"], "names in sentences, too", got)


def most_memory(service):
    """kB, the most that it has taken so far."""
    with open("/proc/%d/status" % service.process.pid, encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def inference_protocol(service):
    model = json.loads(service.get("/v2/models/retain")[1])
    verdict([(one["name"], one["datatype"]) for one in model["inputs"]] == [("age", "FP32"), ("city", "BYTES")] and
            model["outputs"][0]["shape"] == [-1, -1] and model["parameters"]["classes"] == NAMES,
            "the Open Inference Protocol sees columns and classes", model)
    question = {"inputs": [{"name": "age", "shape": [3, 1], "datatype": "INT64", "data": [row["age"] for row in ROWS]},
                           {"name": "city", "shape": [3, 1], "datatype": "BYTES", "data": [row["city"] for row in ROWS]}]}
    status, got = service.post("/v2/models/retain/infer", question)
    verdict(status == 200 and got["outputs"][2] == {"name": "class", "datatype": "BYTES", "shape": [3], "data": NAMES} and
            got["outputs"][1]["data"] == [0, 1, 2], "columns in, names out", got)
    own = service.post("/v1/predict", {"input": ROWS[0], "for": "ever"})[1]
    got = service.post("/v2/models/retain/infer", dict(question, parameters={"for": "ever"}))[1]
    verdict(abs(got["outputs"][0]["data"][0] - own["probability"]) < 1e-5, "for asks the same there", got, own)
    for name, changed in (("columns of two lengths", [question["inputs"][0], dict(question["inputs"][1], shape=[2], data=["a", "b"])]),
                          ("a column without a name", [dict(question["inputs"][0], name=None)]), ("no columns", []),
                          ("more rows than bytes", [dict(question["inputs"][0], shape=[1 << 29])]),
                          ("a list in a column", [dict(question["inputs"][0], data=[[1], [2], [3]])]),
                          ("words for a number", [dict(question["inputs"][0], datatype="BYTES", data=["a", "b", "c"])])):
        got = service.post("/v2/models/retain/infer", {"inputs": changed})
        verdict(got[0] == 400 and len(got[1]["error"]) > 10, "%s: 400" % name, got)
    before = most_memory(service)
    for column in dict(question["inputs"][0], shape=[1 << 19]), dict(question["inputs"][1], shape=[1 << 19], data=[]):
        got = service.post("/v2/models/retain/infer", json.dumps({"inputs": [column]}) + " " * (1 << 19))
        verdict(got[0] == 400 and len(got[1]["error"]) > 10, "a shape of more rows than there are: 400", got)
    more = most_memory(service) - before
    verdict(more < 32 << 10, "and no memory for rows that are not there", "%d kB" % more)
    for name, text in ("zero bytes", b"R\0me"), ("what is not UTF-8", b"R\xffme"):
        head = json.dumps({"inputs": [{"name": "city", "shape": [1], "datatype": "BYTES",
                                       "parameters": {"binary_data_size": 4 + len(text)}}]}).encode()
        got = service.post("/v2/models/retain/infer", head + len(text).to_bytes(4, "little") + text,
                           **{"Inference-Header-Content-Length": str(len(head))})
        verdict(got[0] == 400 and "UTF-8" in got[1]["error"], "a text with %s: 400" % name, got)
    try:
        import numpy
        import tritonclient.http as triton
    except ImportError:
        skip("tritonclient", "tritonclient is not installed")
        return
    client = triton.InferenceServerClient("127.0.0.1:%d" % service.port)
    age, city = triton.InferInput("age", [3], "FP32"), triton.InferInput("city", [3], "BYTES")
    age.set_data_from_numpy(numpy.array([row["age"] for row in ROWS], dtype=numpy.float32))
    city.set_data_from_numpy(numpy.array([row["city"].encode() for row in ROWS], dtype=object))
    got = client.infer("retain", [age, city])
    names = [name.decode() for name in got.as_numpy("class")]
    verdict(names == NAMES and got.as_numpy("probabilities").shape == (3, 3), "tritonclient: rows as binary columns", names)
    client.close()


def goes_on(retain, folder):
    service = start(retain, folder)
    try:
        before_the_first(service)
        service.end(signal.SIGKILL)
        service = start(retain, folder)
        learns_names(service)
        inference_protocol(service)
        before = service.post("/v1/predict", {"input": ROWS[1]})[1]
        service.end(signal.SIGKILL)
        service = start(retain, folder)
        got = service.post("/v1/predict", {"input": ROWS[1]})[1]
        verdict(got == before, "after a kill, with the same command, it knows the same", before, got)
        got = service.post("/v1/label", {"id": 3, "label": "yes"})[1]
        verdict(got == {"id": 3, "label": "yes", "sample": 4}, "and whose label is whose", got)
        many = [{"id": "m%d" % i, "input": ROWS[i % 3], "label": "class %d" % i} for i in range(40)]
        status, _, body = service.ask("POST", "/v1/samples", json.dumps(many) + "\n")
        verdict(body.count(b'"sample"') == 40, "forty classes more, in one line", body[-200:])
        verdict(service.end() == 0, "it ends in good order", service.errors)
        service = Service(retain, folder, "--listen", "127.0.0.1:0")
        model = json.loads(service.get("/v2/models/retain")[1])
        verdict(len(model["parameters"]["classes"]) == 43, "the folder has all classes", model)
        with open(os.path.join(folder, "model.safetensors"), "rb") as file:
            verdict(b"class 39" in file.read(), "and so has the weights file")
    finally:
        service.end()


def several(retain, folder):
    config = os.path.join(folder, "several.ini")
    with open(os.path.join(folder, "mail.ini"), "w") as file:
        file.write("[model]\nclasses = 2\ninput = 2\n")
    with open(config, "w") as file:
        file.write("[serve]\nqueue = 99\n[learner shop]\nstdin.per_step = 1\nserve.lines = unix:%s/lines\n"
                   "[learner mail]\nconfig = %s/mail.ini\nout = %s/post\n" % (folder, folder, folder))
    service = Service(retain, config, "--out", os.path.join(folder, "many"), "--listen", "127.0.0.1:0")
    try:
        service.ask("POST", "/shop/v1/samples", sent(30))
        got = service.post("/mail/v1/predict", {"id": 1, "input": [1, 2]})
        verdict(got[0] == 200 and got[1]["prediction"] in (0, 1), "each learner has its own inputs", got)
        verdict(service.post("/mail/v1/label", {"id": 1, "label": 1})[1].get("sample") == 0, "and samples")
        time.sleep(0.5)  # the state is one of a moment ago
        got = service.post("/v1/predict", {"input": [1, 2]})
        verdict(got[0] == 404 and "/shop/v1/predict" in got[1]["error"], "without a name nobody is meant", got)
        names = [json.loads(service.get(path)[1])["name"] for path in ("/v2/models/mail", "/v2/models/shop")]
        verdict(names == ["mail", "shop"] and service.get("/v2/models/other")[0] == 404, "the protocol has names for them", names)
        state = json.loads(service.get("/shop/v1/state")[1])
        verdict(state["learner"] == "shop" and state["learners"] == ["shop", "mail"] and state["samples"] == 30, "a state each", state)
        status, headers, _ = service.ask("GET", "/")
        verdict(status == 307 and headers["Location"] == "/shop/" and service.get("/mail/")[0] == 200 and
                service.ask("GET", "/mail")[1]["Location"] == "/mail/", "the dashboard is one of theirs")
        metrics = service.get("/metrics")[1].decode()
        verdict('retain_samples_total{learner="shop"} 30' in metrics and 'retain_samples_total{learner="mail"} 1' in metrics and
                metrics.count("# TYPE retain_samples_total") == 1, "metrics have their names", metrics[:300])
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(os.path.join(folder, "lines"))
            s.sendall(json.dumps({"id": 0, "label": "yes"}).encode() + b"\n")
            got = s.makefile().readline()
        verdict('"sample": 0' in got, "lines are for one of them", got)
        verdict(service.end() == 0, "all are saved", service.errors)
        verdict(os.path.exists(os.path.join(folder, "many/shop/report.html")) and
                os.path.exists(os.path.join(folder, "post/model.safetensors")), "each in its folder")
    finally:
        service.end()
    for name, words, says in (
            ("a name that is a path's", "[learner v1]\nout = x\n", "is not a name"),
            ("a name with a slash", "[learner a/b]\nout = x\n", "is not a name"),
            ("a section of nobody", "[learner a]\nout = x\n[model]\nclasses = 2\n", "go into its section"),
            ("a key that is none", "[learner a]\nmodel.clases = 2\n", "did you mean model.classes"),
            ("a word that is none", "[learner a]\nfolder = 2\n", "no such key")):
        with open(config, "w") as file:
            file.write(words)
        try:
            Service(retain, config, "--out", os.path.join(folder, "many")).end()
            said = ""
        except RuntimeError as error:
            said = str(error)
        verdict(says in said and "several.ini" in said, "%s is refused by name" % name, said)


def main(retain):
    folder = tempfile.mkdtemp(prefix="retain-stranger-")
    try:
        goes_on(retain, os.path.join(folder, "runs"))
        several(retain, folder)
    finally:
        shutil.rmtree(folder)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1])))
