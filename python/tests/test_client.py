"""The client against a real service: predictions, late labels, retries, versions, and what the service describes."""

import asyncio
import http.client
import itertools
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest

import pyretain
from pyretain import AsyncClient, Client, ServiceError

COMMAND = [sys.executable, "-m", "pyretain"]


def start(folder, *words, listen="127.0.0.1:0"):
    process = subprocess.Popen(
        [*COMMAND, "serve", "--out", str(folder), "--listen", listen, *words], stdout=subprocess.PIPE, text=True
    )
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found
    return process, found[0]


@pytest.fixture
def service(tmp_path):
    process, url = start(tmp_path / "shop")
    yield Client(url)
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()


def rows(count, first=0):
    for i in range(first, first + count):
        yield {"age": 20 + i * 7 % 50, "city": ("Rome", "Oslo")[i % 2]}, "yes" if i % 2 else "no"


def taught(client, count=200):
    inputs, labels = zip(*rows(count))
    return list(client.learn(inputs, labels, range(count), batch=64))


def samples(client, count):
    """Whether it has so many; the state is that of a moment ago."""
    for _ in range(200):
        if client.state()["samples"] == count:
            return True
        time.sleep(0.1)
    return False


def test_samples_are_predicted_before_their_labels(service):
    answers = taught(service)
    assert len(answers) == 200 and answers[0].prediction is None
    assert [answer.id for answer in answers] == list(range(200))
    answer = service.predict({"age": 30, "city": "Oslo"}, top=2)
    assert answer.prediction == "yes" and 0.5 < answer.probability <= 1
    assert [name for name, _ in answer.top] == ["yes", "no"]
    assert len(service.predict_many([row for row, _ in rows(5)])) == 5


def test_samples_that_arrive_twice_count_once(service):
    taught(service, 50)
    taught(service, 50)
    service.save()
    assert samples(service, 50)


def test_labels_come_whenever_they_are_known(service):
    taught(service)
    waiting = [service.observe(row) for row, _ in rows(4)]
    assert len({answer.id for answer in waiting}) == 4
    numbers = service.labels({answer.id: label for answer, (_, label) in zip(waiting, rows(4))})
    assert numbers == [200, 201, 202, 203]
    assert service.label(waiting[0].id, "no") == 200
    with pytest.raises(ServiceError, match="nobody") as refused:
        service.label("nobody", "no")
    assert refused.value.status == 400


def test_versions_and_the_rest(service):
    taught(service)
    service.make_version("monday")
    service.serve_version("monday")
    assert service.state()["serving"] == "monday"
    service.rollback()
    service.drop_version("monday")
    service.pause()
    service.resume()
    assert "retain_samples_total" in service.metrics() and "[model]" in service.config()
    assert os.path.isdir(service.backup())
    assert len(service.weights()) > 1000


def test_a_service_that_is_killed_and_started_again_is_waited_for(tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        listen = "127.0.0.1:%d" % s.getsockname()[1]
    process, url = start(tmp_path / "shop", listen=listen)
    client = Client(url, retries=20)
    taught(client, 60)
    process.kill()
    process.wait()
    process.stdout.close()
    again = []
    timer = threading.Timer(1, lambda: again.append(start(tmp_path / "shop", listen=listen)[0]))
    timer.start()
    try:
        inputs, labels = zip(*rows(40, first=60))
        assert len(list(client.learn(inputs, labels, range(60, 100)))) == 40
        assert samples(client, 100)
    finally:
        timer.join()
        again[0].terminate()
        assert again[0].wait(60) == 0
        again[0].stdout.close()


def test_requests_of_asyncio_run_together(service):
    taught(service)

    async def ask():
        client = AsyncClient(service._parts.geturl())
        return await asyncio.gather(*(client.predict(row) for row, _ in rows(20)), client.state())

    *answers, state = asyncio.run(ask())
    assert {answer.prediction for answer in answers} <= {"yes", "no"} and len(answers) == 20
    assert state["learner"] == "retain"


def test_every_path_is_one_that_the_service_describes(service):
    with open(pyretain.client.__file__, encoding="utf-8") as file:
        used = set(re.findall(r'"(/(?:v1|metrics|openapi)[^"]*)"', file.read()))
    described = service.openapi()["paths"]
    patterns = [re.sub(r"\{[^}]*\}", "[^/]+", path) + "$" for path in described]
    for path in used:
        path = re.sub(r"\{[^}]*\}", "x", path)
        assert any(re.match(pattern, path) for pattern in patterns), path


def test_bad_input_is_named(service):
    with pytest.raises(ValueError, match="ftp://x: must be http"):
        Client("ftp://x")
    taught(service, 20)
    with pytest.raises(ServiceError, match="400"):
        service.predict_many([{"age": [1, 2]}])
    with pytest.raises(ValueError):
        service.observe([float("nan")])


def test_what_was_said_is_exported(service):
    answers = taught(service, 50)
    service.observe({"age": 33, "city": "Rome"}, "waits")
    found = list(service.export())
    inputs, labels = zip(*rows(50))
    assert [(row["id"], row["input"], row["label"]) for row in found[:50]] == list(zip(range(50), inputs, labels))
    assert [row["prediction"] for row in found[:50]] == [answer.prediction for answer in answers]
    assert found[50]["id"] == "waits" and "label" not in found[50]
    assert list(service.export(until="2000-01-01")) == []
    assert len(list(service.export(since=time.time() - 600))) == 51
    with pytest.raises(ServiceError, match="400: --since soon: is neither a date"):
        list(service.export(since="soon"))


def sham(*answers):
    """A server that gives these bytes, one answer a connection, whatever it is asked."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        for words in answers:
            with listening.accept()[0] as connection:
                connection.recv(1 << 16)
                connection.sendall(words)
        listening.close()

    threading.Thread(target=serve, daemon=True).start()
    return Client("http://127.0.0.1:%d" % listening.getsockname()[1], timeout=5, retries=len(answers) - 1)


def said(body, status="200 OK", fields=""):
    body = body if isinstance(body, bytes) else body.encode()
    head = f"HTTP/1.1 {status}\r\n{fields}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    "body",
    ["", "x", "null", "7", "[]", "{}", "[null]", '["x"]', '[{"prediction": 1, "top": [7]}]', '[{"prediction": 1}, {"prediction": 2}]',
     "[" * 100000, '[{"sample": null}]', '[{"error": 7}]', b"\xff\xfe", '{"error": null}'],
)  # fmt: skip
def test_answers_that_make_no_sense_are_named(body):
    with pytest.raises(ServiceError):
        sham(said(body)).predict([1.0])
    with pytest.raises(ServiceError):
        sham(said(body)).label("a", 1)
    with pytest.raises(ServiceError):
        sham(said(body)).backup()
    with pytest.raises(ServiceError):
        list(sham(said(body)).learn([[1.0]], [1]))


def test_other_statuses_are_errors():
    for status, fields in (("302 Found", "Location: file:///etc/passwd\r\n"), ("204 No Content", ""), ("999 What", "")):
        with pytest.raises(ServiceError):
            sham(said("", status, fields)).state()


@pytest.mark.parametrize("wait", ["Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-5", "nan", "", "1e-3"])
def test_retry_after_may_be_anything(wait):
    client = sham(said('{"error": "busy"}', "503 Busy", f"Retry-After: {wait}\r\n"), said('{"samples": 3}'))
    assert client.state() == {"samples": 3}


@pytest.mark.parametrize("words", [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200])
def test_broken_answers_are_asked_for_again(words):
    assert sham(words, said('{"samples": 3}')).state() == {"samples": 3}


def test_labels_are_corrected_and_samples_forgotten(service):
    taught(service, 50)
    service.observe({"age": 33, "city": "Rome"}, "a/b c")
    assert service.correct(7, "no")["samples"] == 1
    assert next(row for row in service.export() if row["id"] == 7)["label"] == "no"
    assert service.forget(8) == {"samples": 1, "waiting": 0, "versions_dropped": 0, "retrain_at_next_start": False}
    assert service.forget("a/b c")["waiting"] == 1
    assert [row["id"] for row in service.export()] == [i for i in range(50) if i != 8]
    for refused in (lambda: service.forget(8), lambda: service.correct(8, "no"), lambda: service.correct(7, "maybe")):
        with pytest.raises(ServiceError, match="no sample|no class"):
            refused()
    assert service.forget(9, retrain=True)["retrain_at_next_start"] is True
    assert service.label("new", "yes") if service.observe({"age": 1, "city": "Oslo"}, "new") else False


def whole_request(client):
    """Its head and its body, which may come one after the other."""
    words = b""
    while b"\r\n\r\n" not in words:
        words += client.recv(1 << 16)
    head, _, body = words.partition(b"\r\n\r\n")
    size = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < size:
        body += client.recv(1 << 16)
    return head + b"\r\n\r\n" + body


def losing(url, lost):
    """Passes requests on to a service, and drops the first so many answers."""
    listening, place = socket.create_server(("127.0.0.1", 0)), urllib.parse.urlsplit(url)

    def serve():
        for i in itertools.count():
            with listening.accept()[0] as client, socket.create_connection((place.hostname, place.port)) as service:
                here, there = (b":%d\r\n" % port for port in (listening.getsockname()[1], place.port))
                service.sendall(whole_request(client).replace(here, there + b"Connection: close\r\n"))
                answer = b"".join(iter(lambda: service.recv(1 << 16), b""))
                if i >= lost:
                    client.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return Client("http://127.0.0.1:%d" % listening.getsockname()[1], timeout=10)


def test_what_was_done_though_its_answer_was_lost(service):
    url = service._parts.geturl()
    taught(service, 50)
    assert losing(url, 1).forget(8) == {"answer_lost": True}
    assert 8 not in [row["id"] for row in service.export()]
    with pytest.raises(ServiceError, match="404") as error:
        losing(url, 0).forget("never came")
    assert not error.value.lost
    assert losing(url, 2).make_version("monday")["name"] == "monday"
    with pytest.raises(ServiceError, match="400"):
        losing(url, 0).make_version("monday")
    service.make_version("tuesday")
    for name in ("monday", "live", "tuesday"):
        service.serve_version(name)
    with pytest.raises((OSError, http.client.HTTPException)):
        losing(url, 1).rollback()
    assert service.versions()["serving"] == "live"
    assert losing(url, 1).correct(9, "no")["samples"] == 1
    service.make_version("gone")
    losing(url, 1).drop_version("gone")
    with pytest.raises(ServiceError, match="404"):
        service.drop_version("gone")


LINE = b'{"id": 1, "label": "a"}\n'
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n18\r\n" + LINE + b"\r\n"


@pytest.mark.parametrize("end", [b"", b"1", b"a\r\n" + LINE[:10] + b"\r\n", b"a\r\n" + LINE[:10] + b"\r\n0\r\n\r\n", b"30\r\n" + LINE])
def test_an_export_that_was_cut_short_is_none(end):
    with pytest.raises(ServiceError, match="cut short"):
        list(sham(CHUNKED + end).export())
    assert list(sham(CHUNKED + b"0\r\n\r\n").export()) == [{"id": 1, "label": "a"}]
    with pytest.raises(ServiceError, match="cut short"):
        list(sham(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + LINE).export())
