"""Run folders as pandas frames, plots and pages.

``Run("runs/shop").metrics`` has a row per evaluation, ``events`` what was decided and why,
``matrix`` the accuracy by model time and data time. docs/reference/metrics.md explains the columns.
"""

from __future__ import annotations

import configparser
import html
import json
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Union

from pyretain._core import FileError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

Path = Union[str, "os.PathLike[str]"]

# What each panel of a plot shows: its title, and columns with their names.
PANELS: dict[str, dict[str, str]] = {
    "retention": {"ir": "averaged", "ir_sgd": "plain", "val_acc_ma": "held out"},
    "learning efficacy": {"le": "learner", "le_ever": "ever", "blind": "guess by last labels"},
    "learning rate": {"lr": "rate"},
    "validation loss": {"val_loss_ma": "averaged", "val_loss_sgd": "plain"},
    "gap": {"sigma": "sigma"},
}


class Page:
    """A report, displayed inline by a notebook. ``html`` is the page as text."""

    def __init__(self, text: str) -> None:
        self.html = text

    def _repr_html_(self) -> str:
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" width="100%" height="900" frameborder="0"></iframe>'

    def save(self, path: Path) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)


class Run:
    """A run folder; the run may still be going on."""

    def __init__(self, folder: Path) -> None:
        self.folder = os.fspath(folder)
        if not os.path.exists(os.path.join(self.folder, "config.ini")):
            raise FileError(f"{self.folder}: holds no run")

    def __repr__(self) -> str:
        return f"Run({self.folder!r})"

    def _path(self, name: str) -> str:
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            raise FileError(f"{path}: is not there; it is written when a run ends")
        return path

    @property
    def config(self) -> dict[str, str]:
        """Every key with its value."""
        # Keys may have spaces and signs in their values, and nothing is interpolated.
        reader = configparser.RawConfigParser(inline_comment_prefixes=(";",))
        reader.read(self._path("config.ini"), encoding="utf-8")
        return {f"{s}.{key}": value for s in reader.sections() for key, value in reader[s].items()}

    @property
    def summary(self) -> dict[str, Any]:
        """run.json: version, instruction set, passes, time."""
        with open(self._path("run.json"), encoding="utf-8") as file:
            made: dict[str, Any] = json.load(file)
        return made

    @property
    def metrics(self) -> pd.DataFrame:
        """A row per evaluation, by time step."""
        import pandas as pd

        return pd.read_csv(self._path("metrics.csv"), index_col="step")

    @property
    def events(self) -> pd.DataFrame:
        """A row per window, cut and other decision."""
        import pandas as pd

        with open(self._path("events.jsonl"), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.endswith("\n")]
        return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["event", "iteration"])

    @property
    def matrix(self) -> pd.DataFrame:
        """Accuracy by model time (rows) and data time (columns)."""
        import pandas as pd

        return pd.read_csv(self._path("matrix.csv"), index_col=0)

    def plot(self, axes: Any = None) -> Any:
        """Retention, learning efficacy, rate, loss and gap over the run, by matplotlib."""
        import matplotlib.pyplot as plt

        metrics = self.metrics
        shown = {
            title: {c: name for c, name in columns.items() if c in metrics and metrics[c].notna().any()}
            for title, columns in PANELS.items()
        }
        shown = {title: columns for title, columns in shown.items() if columns}
        if axes is None:
            height = max(len(shown), 1)
            _, axes = plt.subplots(height, 1, sharex=True, squeeze=False, figsize=(8, 2.2 * height))
            axes = axes[:, 0]
        for panel, (title, columns) in zip(axes, shown.items()):
            for column, name in columns.items():
                panel.plot(metrics.index, metrics[column], label=name)
            panel.set_title(title, loc="left", fontsize="medium")
            panel.legend(loc="best", fontsize="small")
        if len(shown):
            axes[len(shown) - 1].set_xlabel("time step")
        return axes

    def report(self) -> Page:
        """The page that ``retain report`` makes; a notebook shows it inline."""
        command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "retain")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            made = subprocess.run(
                [command, "report", self.folder, "--out", path], capture_output=True, text=True
            )
            if made.returncode:
                raise FileError(made.stderr.strip())
            with open(path, encoding="utf-8") as file:
                return Page(file.read())


def find(folder: Path) -> Iterator[Run]:
    """All runs in a folder and below it."""
    for place, folders, files in sorted(os.walk(folder)):
        if "config.ini" in files:
            yield Run(place)
