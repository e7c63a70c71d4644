"""A client of ``retain serve``: predictions, labels whenever they come, versions.

    client = Client("http://127.0.0.1:8080", token=open("token").read())
    answer = client.observe({"age": 33, "city": "Rome"})      # kept until its label comes
    client.label(answer.id, "no")

Requests that fail on their way, or that a busy service refuses (429, 503), are sent again. Samples have ids, so what arrived
twice counts once; only ``rollback`` is not sent again once it may have arrived. ``AsyncClient`` has the same methods for asyncio. Nothing but Python's own library is needed.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import random
import ssl
import threading
import time
import urllib.parse
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

Input = Union[Sequence[float], Mapping[str, Any]]
Label = Union[str, int, float, bool, Sequence[float], Mapping[str, float]]
Id = Union[str, int]
_T = TypeVar("_T")

_AGAIN = (429, 503)
_LONGEST_WAIT = 30.0


class ServiceError(Exception):
    """A refused request: ``status``, and the service's message. ``lost``: the answer to an earlier try never came, so the
    request may have been carried out then."""

    def __init__(self, status: int, sentence: str, *, lost: bool = False) -> None:
        super().__init__(f"{status}: {sentence}")
        self.status = status
        self.sentence = sentence
        self.lost = lost


@dataclass(frozen=True)
class Answer:
    """A prediction. Classes have ``probability``, numbers the interval ``low`` to ``high``; None: unknown."""

    prediction: Any
    probability: float | None = None
    low: Any = None
    high: Any = None
    id: Id | None = None
    top: list[tuple[Any, float]] = field(default_factory=list)


def _read(body: bytes) -> Any:
    """The JSON of an answer, which whoever listens there may have made."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ServiceError(200, f"the answer is not JSON: {body[:80]!r}") from None


def _nonsense(found: Any) -> ServiceError:
    return ServiceError(200, f"the answer is none to what was asked: {str(found)[:80]}")


def _object_of(found: Any, *keys: str) -> dict[str, Any]:
    """What the answer says about one thing; it has these keys."""
    if isinstance(found, dict) and "error" in found:
        raise ServiceError(400, str(found["error"]))
    if not isinstance(found, dict) or any(key not in found for key in keys):
        raise _nonsense(found)
    return found


def _list_of(found: Any, count: int, *keys: str) -> list[dict[str, Any]]:
    """Of so many."""
    if isinstance(found, dict):
        _object_of(found)
    if not isinstance(found, list) or len(found) != count:
        raise _nonsense(found)
    return [_object_of(one, *keys) for one in found]


def _answer(found: Any) -> Answer:
    row = _object_of(found, "prediction")
    named = row.get("top", [])
    best = [_object_of(one, "prediction", "probability") for one in (named if isinstance(named, list) else [named])]
    top = [(one["prediction"], one["probability"]) for one in best]
    return Answer(row["prediction"], row.get("probability"), row.get("low"), row.get("high"), row.get("id"), top)


def _plain(value: Any) -> Any:
    """NumPy's scalars and arrays as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def _input(row: Input) -> Any:
    if isinstance(row, Mapping):
        return {str(name): _plain(value) for name, value in row.items()}
    return _plain(row) if hasattr(row, "tolist") else list(row)


class Client:
    """A client of a service's learner. Many threads may share it; each has a connection of its own.

    ``learner`` names one of several; ``retries`` is the number of retries of a request, with growing pauses.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        token: str | None = None,
        learner: str | None = None,
        timeout: float = 30.0,
        retries: int = 8,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url}: must be http://HOST:PORT or https://HOST")
        self._parts = parts
        self._path = parts.path.rstrip("/") + (f"/{urllib.parse.quote(learner)}" if learner else "")
        self._headers = {"Authorization": f"Bearer {token.strip()}"} if token else {}
        self._timeout, self._retries, self._context = timeout, retries, context
        self._own = threading.local()

    # Predictions

    def predict(self, row: Input, *, top: int = 0, ask: str = "") -> Answer:
        """Predicts a row. Nothing is kept. ``ask`` is ``"now"`` or ``"ever"``."""
        return self.predict_many([row], top=top, ask=ask)[0]

    def predict_many(self, rows: Iterable[Input], *, top: int = 0, ask: str = "") -> list[Answer]:
        """The same for many rows, in one request."""
        asked = [{"input": _input(row)} for row in rows]
        return [_answer(one) for one in _list_of(self._post("/v1/predict", asked, top=top, ask=ask), len(asked))]

    def observe(self, row: Input, id: Id | None = None, *, top: int = 0, ask: str = "") -> Answer:
        """Predicts a row and keeps it until its label comes. Without an id it gets a new one: see ``Answer.id``."""
        name = str(uuid.uuid4()) if id is None else id
        return _answer(self._post("/v1/predict", {"id": name, "input": _input(row)}, top=top, ask=ask))

    # Labels and samples

    def label(self, id: Id, label: Label, *, weight: float = 1) -> int:
        """Sends the label of an observed input; returns its sample number."""
        said: dict[str, Any] = {"id": id, "label": _plain(label)}
        if weight != 1:
            said["weight"] = float(weight)
        return self._numbers([said])[0]

    def labels(self, labels: Mapping[Id, Label]) -> list[int]:
        return self._numbers([{"id": id, "label": _plain(label)} for id, label in labels.items()])

    def _numbers(self, labels: list[dict[str, Any]]) -> list[int]:
        found = self._post("/v1/label", labels)
        numbers = [one["sample"] for one in _list_of(found, len(labels), "sample")]
        if not all(isinstance(number, int) for number in numbers):
            raise _nonsense(found)
        return numbers

    def correct(self, id: Id, label: Label, *, retrain: bool = False) -> dict[str, Any]:
        """Corrects the label of the latest sample of an id for later replay. What was learned from the old one stays,
        unless ``retrain`` relearns all samples at the next start of the service."""
        body = json.dumps({"id": id, "label": _plain(label)}, allow_nan=False).encode()
        return _object_of(_read(self._ask("PUT", "/v1/label" + ("?retrain=1" if retrain else ""), body)))

    def forget(self, id: Id, *, retrain: bool = False) -> dict[str, Any]:
        """Forgets all samples of an id, and its waiting input; returns how many. The net's weights stay, unless ``retrain``
        relearns all other samples at the next start of the service. If the answer is lost and nothing of the id is left
        on the retry, the number is unknown: ``{"answer_lost": True}``."""
        name = urllib.parse.quote(json.dumps(id), safe="")
        try:
            path = f"/v1/samples/{name}" + ("?retrain=1" if retrain else "")
            return _object_of(_read(self._ask("DELETE", path, fresh=True)))
        except ServiceError as error:
            if error.status != 404 or not error.lost:
                raise
            return {"answer_lost": True}

    def learn(
        self, rows: Iterable[Input], labels: Iterable[Label], ids: Iterable[Id] | None = None, *, batch: int = 500
    ) -> Iterator[Answer]:
        """Sends samples, ``batch`` at a time, and yields the predictions made before each label. Use ids of your own to send
        samples again after a crash of yours: those that had arrived count once."""
        names = ids if ids is not None else (str(uuid.uuid4()) for _ in iter(int, 1))
        waiting: list[dict[str, Any]] = []
        for row, label, name in zip(rows, labels, names):
            waiting.append({"id": name, "input": _input(row), "label": _plain(label)})
            if len(waiting) == batch:
                yield from self._send(waiting)
                waiting = []
        if waiting:
            yield from self._send(waiting)

    # The service

    def state(self) -> dict[str, Any]:
        return self._object("GET", "/v1/state")

    def config(self) -> str:
        return self._ask("GET", "/v1/config").decode()

    def metrics(self) -> str:
        """For Prometheus."""
        return self._ask("GET", "/metrics").decode()

    def openapi(self) -> dict[str, Any]:
        return self._object("GET", "/openapi.json")

    def weights(self) -> bytes:
        """The weights that answer, as the bytes of a safetensors file."""
        return self._ask("GET", "/v1/model.safetensors")

    def pause(self) -> None:
        _object_of(self._post("/v1/pause", None))

    def resume(self) -> None:
        _object_of(self._post("/v1/resume", None))

    def save(self) -> None:
        """Writes a checkpoint; returns when it is on disk."""
        _object_of(self._post("/v1/save", None))

    def backup(self) -> str:
        """Copies the learner's folder; returns the copy's path on the service's machine."""
        return str(_object_of(self._post("/v1/backup", None), "folder")["folder"])

    def export(self, *, since: str | float | None = None, until: str | float | None = None) -> Iterator[dict[str, Any]]:
        """All samples, then inputs that wait for their labels: input, label, prediction, id, times. ``since`` and
        ``until`` are dates, or seconds since 1970, of the label. Rows are streamed; memory does not grow with them.
        A truncated answer raises an error at its end."""
        times = {name: str(time) for name, time in (("since", since), ("until", until)) if time is not None}
        connection = self._connect()
        try:
            path = self._path + "/v1/export" + ("?" + urllib.parse.urlencode(times) if times else "")
            connection.request("GET", path, headers=self._headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise ServiceError(answer.status, _sentence(answer.read()))
            yield from (_object_of(_read(line)) for line in _lines(answer))
        finally:
            connection.close()

    # Versions

    def versions(self) -> dict[str, Any]:
        return self._object("GET", "/v1/versions")

    def make_version(self, name: str) -> dict[str, Any]:
        try:
            return _object_of(_read(self._ask("POST", "/v1/versions", json.dumps({"name": name}).encode(), fresh=True)))
        except ServiceError as error:
            if error.status != 400 or not error.lost:
                raise
            return self._object("GET", f"/v1/versions/{urllib.parse.quote(name)}")

    def serve_version(self, name: str) -> dict[str, Any]:
        """Makes a version answer, or ``"live"``, the learner itself."""
        return _object_of(self._post(f"/v1/versions/{urllib.parse.quote(name)}/serve", None))

    def drop_version(self, name: str) -> None:
        try:
            self._ask("DELETE", f"/v1/versions/{urllib.parse.quote(name)}", fresh=True)
        except ServiceError as error:
            if error.status != 404 or not error.lost:
                raise

    def rollback(self) -> dict[str, Any]:
        """Returns to the version that answered before. Twice would go back one step further, so a lost answer is
        raised as an error: ``versions()["serving"]`` says what answers."""
        return _object_of(_read(self._ask("POST", "/v1/rollback", b"", fresh=True, once=True)))

    def close(self) -> None:
        """Closes this thread's connection; the next request opens another."""
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection:
            connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Below: requests

    def _send(self, samples: list[dict[str, Any]]) -> Iterator[Answer]:
        body = "".join(json.dumps(sample, allow_nan=False) + "\n" for sample in samples).encode()
        lines = [_object_of(_read(line)) for line in self._ask("POST", "/v1/samples", body).splitlines()]
        found = [line for line in lines if "prediction" in line]
        yield from (_answer(line) for line in _list_of(found, len(samples)))

    def _post(self, path: str, value: Any, *, top: int = 0, ask: str = "") -> Any:
        wishes = {name: str(wish) for name, wish in (("top", top), ("for", ask)) if wish}
        path += "?" + urllib.parse.urlencode(wishes) if wishes else ""
        body = b"" if value is None else json.dumps(value, allow_nan=False).encode()
        return _read(self._ask("POST", path, body))

    def _object(self, method: str, path: str) -> dict[str, Any]:
        return _object_of(_read(self._ask(method, path)))

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if not connection:
            connection = self._own.connection = self._connect()
        return connection

    def _connect(self) -> http.client.HTTPConnection:
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _ask(self, method: str, path: str, body: bytes | None = None, *, fresh: bool = False, once: bool = False) -> bytes:
        """The body of a good answer. All that is asked may be asked again, for inputs and labels have ids, but what is for
        ``once``: that is not sent again when it may have arrived. Over a ``fresh`` connection, one that the service closed
        meanwhile is not taken for an answer that was lost."""
        sent = lost = False
        if fresh:
            self.close()
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            wait = min(_LONGEST_WAIT, 0.05 * 2**attempt) * (0.5 + random.random() / 2)
            try:
                connection = self._connection()
                if not connection.sock:
                    connection.connect()
                sent = True
                connection.request(method, self._path + path, body, self._headers)
                answer = connection.getresponse()
                got = answer.read()
            except (OSError, http.client.HTTPException):
                self.close()
                lost, sent = lost or sent, False
                if last or (once and lost):
                    raise
            else:
                if answer.status == 200:
                    return got
                if answer.status not in _AGAIN or last:
                    raise ServiceError(answer.status, _sentence(got), lost=lost)
                sent = False
                wait = max(wait, _retry_after(answer.headers.get("Retry-After", "")))
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _lines(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """The lines of an answer as they come. Iterating over it would take one that was cut off between two for a whole one."""
    rest = b""
    try:
        while piece := answer.read1(1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
    except http.client.IncompleteRead:
        rest = b"-"
    if rest or answer.length:
        raise ServiceError(200, "the answer was cut short; what came of it is not all")


def _retry_after(words: str) -> float:
    """Seconds; a date, or anything else, says nothing to us."""
    return min(_LONGEST_WAIT, float(words)) if words.isascii() and words.isdigit() else 0.0


def _sentence(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return body.decode(errors="replace").strip()[:500]


def _in_a_thread(method: Callable[..., _T]) -> Callable[..., Awaitable[_T]]:
    @functools.wraps(method)
    async def run(self: AsyncClient, *words: Any, **wishes: Any) -> _T:
        return await asyncio.to_thread(method, self.client, *words, **wishes)

    return run


class AsyncClient:
    """``Client`` for asyncio: the same methods, to be awaited. Requests run on threads of the event loop's own."""

    def __init__(self, url: str = "http://127.0.0.1:8080", **wishes: Any) -> None:
        self.client = Client(url, **wishes)

    predict = _in_a_thread(Client.predict)
    predict_many = _in_a_thread(Client.predict_many)
    observe = _in_a_thread(Client.observe)
    label = _in_a_thread(Client.label)
    labels = _in_a_thread(Client.labels)
    correct = _in_a_thread(Client.correct)
    forget = _in_a_thread(Client.forget)
    state = _in_a_thread(Client.state)
    metrics = _in_a_thread(Client.metrics)
    weights = _in_a_thread(Client.weights)
    pause = _in_a_thread(Client.pause)
    resume = _in_a_thread(Client.resume)
    save = _in_a_thread(Client.save)
    backup = _in_a_thread(Client.backup)
    versions = _in_a_thread(Client.versions)
    make_version = _in_a_thread(Client.make_version)
    serve_version = _in_a_thread(Client.serve_version)
    drop_version = _in_a_thread(Client.drop_version)
    rollback = _in_a_thread(Client.rollback)

    async def export(self, **times: Any) -> list[dict[str, Any]]:
        """As ``Client.export``, with all rows at once."""
        return await asyncio.to_thread(lambda: list(self.client.export(**times)))

    async def learn(
        self, rows: Iterable[Input], labels: Iterable[Label], ids: Iterable[Id] | None = None, *, batch: int = 500
    ) -> list[Answer]:
        """As ``Client.learn``, with all answers at once."""
        return await asyncio.to_thread(lambda: list(self.client.learn(rows, labels, ids, batch=batch)))
