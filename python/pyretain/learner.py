"""The learner: observe, reveal, train; predict at any time."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Hashable, Iterable, Literal, NamedTuple, Optional, Sequence, Union, cast

import numpy as np
import numpy.typing as npt

from pyretain import labels as naming
from pyretain import rows as named
from pyretain._core import (
    FLOATS,
    NULL,
    Floats,
    InputError,
    Progress,
    ProgressFunction,
    RetainError,
    StateError,
    Watch,
    check,
    ffi,
    here,
    lib,
    rows_of,
    text,
)
from pyretain.command import continue_file
from pyretain.config import Config, describe, key_of, value_of
from pyretain.nets import Nets, undisturbed
from pyretain.targets import CLASS, NUMBER, Target, intervals, target_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyretain._settings import Settings
    from pyretain.rows import Rows
    from pyretain.runs import Page

Question = Literal["now", "ever"]
QUESTIONS = {"now": lib.RETAIN_NOW, "ever": lib.RETAIN_EVER}
WEIGHTS = {
    "serving": lib.RETAIN_WEIGHTS_SERVING,
    "plain": lib.RETAIN_WEIGHTS_PLAIN,
    "average_1": lib.RETAIN_WEIGHTS_AVERAGE_1,
    "average_2": lib.RETAIN_WEIGHTS_AVERAGE_2,
}
_open: weakref.WeakSet[Learner] = weakref.WeakSet()


class Shape(NamedTuple):
    """The shape of a learner's inputs and labels; 0 while unknown."""

    channels: int
    height: int
    width: int
    classes: int
    floats: int


class Metrics(NamedTuple):
    """Current metrics; nan while unknown. Shares are in [0, 1].

    Where labels are numbers, the share of right answers is replaced by the share of
    variance explained, in [-1, 1].
    """

    steps: int
    samples: int
    iterations: int
    learning_efficacy: float  # observed inputs whose prediction was right
    blind: float  # the same for whoever guesses the latest frequent label
    retention: float  # of what it saw, on samples held out from training
    retention_plain: float  # the same of the model without averages
    gap: float
    learning_rate: float
    loss: float
    learning_efficacy_ever: float
    accuracy_recent: float  # learning_efficacy over the latest 1 000
    drift_alarms: float  # so far
    mae: float  # of numbers: mean absolute error of the predictions of observed inputs
    rmse: float  # root mean square of the same
    mae_last: float  # mae of whoever says the last label
    mae_mean: float  # mae of whoever says the mean of all before
    coverage: float  # labels within their intervals
    width: float  # of intervals, in the mean
    balanced_accuracy: float  # of uneven classes: mean over classes of the share recognised
    f1: float  # mean of their F1
    f1_rare: float  # of two: F1 of the rarer one
    auc: float  # of two, over the latest 10 000
    alert_recall: float  # of two: recall of the rarer one if this share raises an alert:
    alert_share: float
    same: float  # of classes: learning_efficacy of whoever says the last label
    most: float  # ... the most frequent label so far
    chain: float  # ... what followed the last two labels before
    kappa: float  # kappa temporal: 0 is no better than the last label


class Step:
    """An observed time step: its predictions, and the handle for one reveal or drop."""

    __slots__ = ("count", "labels", "_of", "_predicted", "_target", "_ticket")

    def __init__(
        self, ticket: Any, of: object, target: Target, predicted: npt.NDArray[Any], labels: npt.NDArray[Any]
    ) -> None:
        self._ticket = ticket
        self._of = of
        self._target = target
        self._predicted = predicted
        self.count = len(predicted)
        self.labels = labels

    @property
    def ticket(self) -> int:
        """A number that identifies the step, also to another process that opens its folder."""
        return int(self._ticket.number)

    @property
    def probabilities(self) -> Floats:
        """Probabilities of the predicted classes."""
        self._target.needs(CLASS, "probabilities")
        return cast("Floats", self._predicted["probability"])

    @property
    def intervals(self) -> Floats:
        """Low and high of predicted numbers, a row per input; for several numbers at once, a row per number."""
        self._target.needs(NUMBER, "intervals")
        return intervals(self._predicted)

    def __repr__(self) -> str:
        return f"Step(labels={self.labels!r})"


def _bar() -> ProgressFunction:
    from tqdm.auto import tqdm  # type: ignore[import-untyped]

    bar: Any = None

    def show(now: Progress) -> None:
        nonlocal bar
        if bar is None or now.done < bar.n:
            bar = tqdm(total=now.total, unit="it", leave=False)
        bar.total = now.total
        bar.update(now.done - bar.n)

    return show


def _close(called: Any, learner: Any) -> None:
    """Ends a learner; what it calls is alive until then."""
    lib.retain_learner_close(learner)


class Learner:
    """A net that predicts, receives labels later, and trains.

    Labels are classes, or numbers: ``Learner(model_target="number", model_coverage=0.9)``.

    With a folder it outlives the process: once ``reveal`` returns, the labels are on disk, and
    opening the folder again resumes where it stopped. Without one it is in memory. A folder may also
    come from ``retain run`` or ``retain serve``.

    Settings are keywords: ``Learner(run_method="sgd+clr")`` is the key ``run.method`` of the
    library. A learner in a folder keeps its original settings.

    ``net`` is a PyTorch module, or a function that makes one for a number of classes; ``input``
    is then the shape of a sample, and ``device`` where the module computes (``pyretain.torch``).

    ``progress`` is True for a bar (tqdm), or a callback that gets a ``Progress`` about
    ten times a second; if it returns true, the call stops with ``StoppedError``.

    Any thread may use it. Calls take turns; ``predict`` for "ever" does not wait for
    training. After a fork only the parent may use it.
    """

    def __init__(
        self,
        folder: Union[str, "os.PathLike[str]", None] = None,
        *,
        net: Optional[Any] = None,
        input: Optional[Sequence[int]] = None,
        device: Optional[Any] = None,
        progress: Union[bool, ProgressFunction, None] = None,
        **settings: Unpack[Settings],
    ) -> None:
        path = None if folder is None else os.fspath(folder)
        self._begin(path, progress, *self._bring(net, input, {"device": device}, None, dict(settings)))

    @staticmethod
    def _bring(
        net: Any, input: Optional[Sequence[int]], how: dict[str, Any], name: Optional[str], settings: dict[str, Any]
    ) -> tuple[dict[str, Any], Optional[Nets]]:
        """Settings, and the nets of a module if there is one."""
        if net is None:
            if input is not None or how.get("device") is not None:
                raise InputError("input and device are for a net of your own: net is missing")
            return settings, None
        if input is None:
            raise InputError("input is missing: the shape of a sample, as input=(3, 32, 32)")
        from pyretain.torch.net import Brought

        brought = Brought(net, input, **how)
        return {**brought.settings(), **settings}, brought.nets(net, name)

    def _begin(
        self,
        folder: Optional[str],
        progress: Union[bool, ProgressFunction, None],
        settings: dict[str, Any],
        nets: Optional[Nets] = None,
        packed: Optional[str] = None,
    ) -> None:
        self._watch = Watch(_bar() if progress is True else progress or None)
        self._open(folder, ffi.new_handle(self._watch), nets, settings, packed)

    def _open(
        self, folder: Optional[str], handle: Any, nets: Optional[Nets], settings: dict[str, Any], packed: Optional[str] = None
    ) -> None:
        self._nothing(folder)
        self._config = Config(handle)
        if folder is not None and os.path.exists(os.path.join(folder, "config.ini")):
            continue_file(folder)
            check(lib.retain_config_load(self._config.it, os.fsencode(folder), here.err))
        if nets is not None:
            self._config.bring(nets)
        self._config.set(settings)
        made, config = ffi.new("struct retain_learner **"), self._config.it
        if packed is not None:
            code = lib.retain_learner_unpack(made, config, os.fsencode(packed), here.err)
        elif folder is not None:
            code = lib.retain_learner_open(made, config, os.fsencode(folder), here.err)
        else:
            code = lib.retain_learner_new(made, config, here.err)
        check(code)
        self._adopt(made[0], (handle, nets))

    def _nothing(self, folder: Optional[str]) -> None:
        """A learner that knows nothing."""
        self._it: Any = None
        self.folder = folder
        self._called: Any = (None, None)
        self._shape = ffi.new("struct retain_shape *")
        self._target = CLASS
        self._places = named.Places(lib.retain_learner_encode_known)
        self._former: set[int] = set()  # numbers of an input before fields came
        self._numbers: dict[Hashable, int] = {}  # label -> the library's number
        self._labels: list[Hashable] = []  # number -> label
        self._named: set[int] = set()  # numbers whose class has a name
        self._table: npt.NDArray[Any] = np.empty(0, dtype=object)

    def _identity(self) -> object:
        # Of what steps are: a folder stays the same if it is moved or opened again.
        if self.folder is None:
            return object()
        facts = os.stat(self.folder)
        return facts.st_dev, facts.st_ino

    def _adopt(self, made: Any, called: Any) -> None:
        self._called = called
        # Whoever drops the last reference ends it: close, or the last call that is under way.
        self._it = ffi.gc(made, lambda learner: _close(called, learner))
        self._me = self._identity()
        self._refresh()
        _open.add(self)

    def _undisturbed(self) -> contextlib.AbstractContextManager[None]:
        """What Python computes is not interrupted anywhere; the library's own nets look after themselves."""
        return undisturbed() if self._called[1] is not None else contextlib.nullcontext()

    # Life

    def __enter__(self) -> Learner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "in memory" if self.folder is None else f"in {self.folder!r}"
        return f"<Learner {where}{', closed' if self.closed else ''}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Learner cannot be pickled or sent to another process: open its folder there, "
            "after it was closed here"
        )

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._it is None

    def save(self) -> None:
        """Saves now, so that opening after a crash takes less time."""
        check(lib.retain_learner_save(self._alive(), here.err))

    def backup(self, to: str | os.PathLike[str]) -> None:
        """Copies the folder as it is now to a new folder, which opens like any other."""
        check(lib.retain_learner_backup(self._alive(), os.fsencode(to), here.err))

    def make_version(self, name: str) -> None:
        """Saves the learner as it is under a name, in its folder; ``pyretain.versions`` lists versions."""
        check(lib.retain_learner_make_version(self._alive(), name.encode(), here.err))

    def serve_version(self, name: Optional[str] = "live") -> None:
        """Makes a version answer, or the learner itself ("live"); None: the one that answered before.

        The learner continues to learn, whichever answers.
        """
        check(lib.retain_learner_serve(self._alive(), NULL if name is None else name.encode(), here.err))

    @property
    def serving(self) -> str:
        """Which version answers; "live" is the learner itself."""
        name = ffi.new("char[72]")
        check(lib.retain_learner_serving(self._alive(), name, 72, here.err))
        return text(name)

    def serve(self, listen: Optional[str] = None, *, quiet: bool = False, **settings: Any) -> None:
        """Serves it over HTTP from this process, as ``retain serve`` does, until SIGINT or SIGTERM.

        ``listen`` is HOST:PORT or unix:PATH, as ``serve("127.0.0.1:8080")``; ``quiet`` does not print the
        address. Settings are keys of the service: ``serve_lines``. The learner is busy meanwhile, and
        afterwards it knows what the service learned. It needs a folder.
        """
        from pyretain import command

        self._alive()
        if self.folder is None:
            raise StateError("a learner in memory cannot be served: make it in a folder")
        words = ["serve", self.folder, *(["--listen", listen] if listen else []), *(["--quiet"] if quiet else [])]
        for word, value in settings.items():
            words += ["--set", f"{key_of(word)}={value_of(value)}"]
        handle, nets = self._called
        self._it = None
        try:
            ended = command.run(words, nets)
        finally:
            self._open(self.folder, handle, nets, {})
        if ended.status:
            raise RetainError(f"serve: {ended.complaint}")

    def close(self) -> None:
        """Saves and closes it, after running calls in other threads."""
        self._it = None

    def pack(self) -> bytes:
        """A learner in memory as bytes: its exact state, except steps that wait for labels."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "packed.state")
            check(lib.retain_learner_pack(self._alive(), os.fsencode(path), here.err))
            with open(path, "rb") as file:
                return pickle.dumps((self._config.values(), file.read()))

    @classmethod
    def unpack(cls, packed: bytes) -> Learner:
        """Restores a packed learner; trust the bytes as you would a pickle."""
        settings, state = pickle.loads(packed)
        made = cls.__new__(cls)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "packed.state")
            with open(path, "wb") as file:
                file.write(state)
            made._begin(None, None, settings, packed=path)
        return made

    def setting(self, word: str) -> str:
        """The value of a setting, as ``setting("run_batch")``."""
        return self._config.get(word)

    def _alive(self) -> Any:
        if self._it is None:
            raise StateError("the learner is closed")
        return self._it

    # Classes

    def _refresh(self) -> None:
        """What the learner has become: its shape, and classes that it met."""
        check(lib.retain_learner_shape(self._alive(), self._shape, here.err))
        self._target = target_of(self._shape.numbers)
        if len(self._labels) >= self._shape.classes:
            return
        name = ffi.new("const char **")
        for number in range(len(self._labels), self._shape.classes):
            check(lib.retain_learner_class_name(self._it, number, name, here.err))
            named = name[0] != NULL
            self._know(naming.read(text(name[0])) if named else number, number, named)

    def _know(self, label: Hashable, number: int, named: bool) -> None:
        """A class; one without a name is its number."""
        if number < len(self._labels):
            self._labels[number] = label
        else:
            self._labels += range(len(self._labels), number)
            self._labels.append(label)
        self._numbers[label] = number
        if named:
            self._named.add(number)
        self._table = naming.table(self._labels)

    def number(self, label: Any) -> int:
        """The library's number of a class; an unseen class gets a new number."""
        self._target.needs(CLASS, "number")
        label = naming.plain(label)
        name = naming.name_of(label)
        if type(label) is int and 0 <= label < self._shape.classes and label not in self._named:
            self._numbers[label] = label
            return label
        if self._named:
            first = self._labels[min(self._named)]
            kinds = naming.kind_of(label), naming.kind_of(first)
            if kinds[0] != kinds[1]:
                raise InputError(
                    f"label {label!r} is of another kind ({kinds[0]}) than {first!r} ({kinds[1]})"
                )
        number = ffi.new("int32_t *")
        check(lib.retain_learner_class(self._alive(), name.encode(), number, here.err))
        self._refresh()
        self._know(label, int(number[0]), True)
        return int(number[0])

    def _numbered(self, labels: Any, count: int) -> npt.NDArray[np.int32]:
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            labels = (labels,)
        elif isinstance(labels, np.ndarray):
            labels = naming.unmasked(np.atleast_1d(labels)).tolist()
        else:
            labels = list(labels)
        try:
            made = [*map(self._numbers.__getitem__, labels)]
        except (KeyError, TypeError):  # a label that is new, or no label at all
            made = [*map(self.number, labels)]
        if len(made) != count:
            raise InputError(f"{len(made)} labels for {count} inputs")
        return np.array(made, dtype=np.int32)

    @property
    def classes(self) -> list[Hashable]:
        """The labels it knows, in the order of probabilities."""
        self._refresh()
        return list(self._labels)

    @property
    def target(self) -> str:
        """The kind of labels: "class" or "number"."""
        return self._target.word

    @property
    def shape(self) -> Shape:
        """The shape of its inputs and labels."""
        self._refresh()
        s = self._shape
        return Shape(s.channels, s.height, s.width, s.classes, s.floats)

    # Predicting and learning

    def _answer(
        self, rows: Floats, count: int, for_: str, shares: Optional[Floats] = None
    ) -> npt.NDArray[Any]:
        """Predictions as the library makes them, and all classes' probabilities where wanted."""
        learner, target = self._alive(), self._target
        if for_ not in QUESTIONS:
            raise InputError(f"for_ = {for_!r}: must be 'now' or 'ever'")
        predicted = np.empty(count, target.prediction)
        room = target.room
        if shares is not None and shares.size:
            room = ffi.from_buffer(FLOATS, shares), shares.size
        code = target.predict(
            learner,
            QUESTIONS[for_],
            ffi.from_buffer(FLOATS, rows),
            rows.size,
            ffi.from_buffer(target.predictions, predicted),
            count * target.width,
            *room,
            here.err,
        )
        check(code)
        return predicted

    def _looked_up(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if len(numbers) and numbers.item(0) < 0:  # all are, while nothing is known
            return np.full(len(numbers), None, dtype=object)
        try:
            return self._table.take(numbers)
        except IndexError:
            self._refresh()  # another thread has met a class
            return self._table.take(numbers)

    def numbers(self, inputs: npt.ArrayLike, for_: Question = "ever") -> npt.NDArray[np.int32]:
        """Like ``predict``, but returns the library's class numbers; -1 while no class is known."""
        self._target.needs(CLASS, "numbers")
        return cast("npt.NDArray[np.int32]", self._answer(*self._rows(inputs), for_)["label"])

    def predict(self, inputs: npt.ArrayLike, for_: Question = "ever") -> npt.NDArray[Any]:
        """The labels of inputs: as of now, or over everything seen so far.

        While no label is known, classes are None and numbers 0. Several numbers at once (``model_numbers``) give a row
        per input.
        """
        rows, count = self._rows(inputs)
        if count > 1 or self._target is not CLASS or for_ not in QUESTIONS:
            return self._target.read(self, self._answer(rows, count, for_))
        # A single one is common, and NumPy's own work would be most of it.
        one = here.one
        code = lib.retain_learner_predict_for(
            self._alive(),
            QUESTIONS[for_],
            ffi.from_buffer(FLOATS, rows),
            rows.size,
            one,
            1,
            NULL,
            0,
            here.err,
        )
        check(code)
        number = one[0].label
        if 0 <= number < len(self._table):
            return self._table[number : number + 1]
        return self._looked_up(np.array([number], dtype=np.int32))

    def predict_proba(self, inputs: npt.ArrayLike, for_: Question = "ever") -> Floats:
        """Probabilities of ``classes``, a row per input."""
        self._target.needs(CLASS, "predict_proba")
        rows, count = self._rows(inputs)
        self._refresh()
        shares = np.zeros((count, len(self._labels)), np.float32)
        self._answer(rows, count, for_, shares)
        return shares

    def predict_interval(self, inputs: npt.ArrayLike, for_: Question = "ever") -> Floats:
        """Intervals, low and high, that hold the label with probability ``model_coverage``."""
        self._target.needs(NUMBER, "predict_interval")
        return intervals(self._answer(*self._rows(inputs), for_))

    def encode(self, rows: Rows, learn: bool = True) -> Floats:
        """Encodes rows of named values as inputs: a dict, several, or a frame.

        The first row defines the fields and their kinds. Later rows may bring new values
        and fields, so inputs may become longer; shorter ones from before remain valid
        inputs. The schema is kept with the samples. ``learn=False`` is for rows that are only predicted:
        nothing is learned from them, and new values in them are treated as missing.
        """
        learner, said = self._alive(), named.listed(rows)
        encode = lib.retain_learner_encode if learn else lib.retain_learner_encode_known
        if learn and said and not self._shape.floats:
            line = named.written(said[0])
            check(lib.retain_learner_encode(learner, line, len(line), NULL, 0, here.err))
            self._refresh()
        return named.encoded(encode, learner, said, self._shape.floats, self._wider, self._places)

    def _wider(self) -> int:
        before: int = self._shape.floats
        self._refresh()
        if before != self._shape.floats:
            self._former.add(before)
        now: int = self._shape.floats
        return now

    def _rows(self, inputs: npt.ArrayLike) -> tuple[Floats, int]:
        # Inputs that were encoded before fields came are shorter, and the library knows them.
        shape: tuple[int, ...] = getattr(inputs, "shape", ())
        short = len(shape) == 2 and shape[1] in self._former
        return rows_of(inputs, shape[1] if short else self._shape.floats)

    def observe(self, inputs: npt.ArrayLike) -> Step:
        """A time step: predicts the labels as of now, and keeps the inputs until the labels come."""
        learner, target = self._alive(), self._target
        rows, count = self._rows(inputs)
        predicted = np.empty(count, target.prediction)
        ticket = ffi.new("struct retain_ticket *")
        with self._undisturbed():
            code = target.observe(
                learner,
                ffi.from_buffer(FLOATS, rows),
                rows.size,
                ffi.from_buffer(target.predictions, predicted),
                count * target.width,
                ticket,
                here.err,
            )
            check(code)
        if not self._shape.floats:
            self._refresh()
        return Step(ticket, self._me, target, predicted, target.read(self, predicted))

    def _ticket(self, step: Union[Step, int]) -> Any:
        if not isinstance(step, Step):
            return ffi.new("struct retain_ticket *", {"number": step})[0]
        if step._of != self._me:
            raise InputError("this step is of another learner")
        return step._ticket[0]

    def reveal(
        self, step: Union[Step, int], labels: Any, weights: Optional[npt.ArrayLike] = None
    ) -> None:
        """
        The labels of a step, or of its ticket, in the order of its inputs. With a folder they are on disk on return; so are
        the inputs since they were observed, so another process can reveal a ticket.

        ``weights`` multiply the samples' losses whenever they are replayed; None means 1.
        """
        count = step.count if isinstance(step, Step) else len(labels)
        target = self._target
        made = target.take(self, labels, count)
        told = ffi.from_buffer(target.labels, made)
        if weights is None:
            code = target.reveal(self._alive(), self._ticket(step), told, made.size, here.err)
        else:
            with np.errstate(over="ignore"):
                worth = np.ascontiguousarray(weights, np.float32).reshape(-1)
            code = target.weigh(
                self._alive(),
                self._ticket(step),
                told,
                made.size,
                ffi.from_buffer("float[]", worth),
                len(worth),
                here.err,
            )
        check(code)

    def drop(self, step: Union[Step, int]) -> None:
        """The labels of this step, or of its ticket, will never come."""
        check(lib.retain_learner_drop(self._alive(), self._ticket(step), here.err))

    def train(self, iterations: Optional[int] = None) -> None:
        """Runs this many iterations; None: as many as the budget of the steps so far allows.

        A KeyboardInterrupt takes effect between iterations, after saving a learner in a folder.
        """
        with self._undisturbed():
            code = lib.retain_learner_train(
                self._alive(), lib.RETAIN_BUDGET if iterations is None else iterations, here.err
            )
        if code == lib.RETAIN_ERR_STOPPED and self.folder is not None:
            lib.retain_learner_save(self._it, NULL)
        check(code)

    def learn(
        self, inputs: npt.ArrayLike, labels: Any, weights: Optional[npt.ArrayLike] = None
    ) -> npt.NDArray[Any]:
        """Observes, reveals and trains in one call; returns the predicted labels."""
        step = self.observe(inputs)
        try:
            self.reveal(step, labels, weights)
        except BaseException:
            self.drop(step)
            raise
        self.train()
        return step.labels

    def metrics(self) -> Metrics:
        """Current metrics."""
        now = ffi.new("struct retain_metrics *")
        check(lib.retain_learner_metrics(self._alive(), now, here.err))
        return Metrics(*(getattr(now, name) for name in Metrics._fields))

    def report(self) -> Page:
        """The current page of ``retain report``; a notebook shows it inline."""
        from pyretain.runs import Run

        self._alive()
        if self.folder is None:
            raise StateError("a learner in memory has no report: make it in a folder")
        self.save()
        return Run(self.folder).report()

    # Weights

    def save_weights(self, path: Union[str, "os.PathLike[str]"], which: str = "serving") -> None:
        """Writes weights to a safetensors file: "serving", "plain", "average_1" or "average_2"."""
        if which not in WEIGHTS:
            raise InputError(f"which = {which!r}: must be one of {', '.join(WEIGHTS)}")
        check(
            lib.retain_learner_save_weights(
                self._alive(), WEIGHTS[which], os.fsencode(path), here.err
            )
        )

    def load_weights(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Continues training from the weights in such a file."""
        check(lib.retain_learner_load_weights(self._alive(), os.fsencode(path), here.err))


def _at_exit() -> None:
    for learner in list(_open):
        learner.close()


describe(Learner)
atexit.register(_at_exit)
