"""Results trial by trial: a CSV that says what made it, grows one trial at a time, and is never
computed twice."""

import csv
import json
import os
import platform
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("jax", "numpy", "scipy", "jmetalpy")
CHECKOUT = Path(__file__).resolve().parents[1]
SETTINGS = "# settings: "
"""What the line with a file's settings begins with."""


class TrialFile:
    """A CSV of results with one trial a row (or several rows a trial), keyed by its first columns.

    Comment lines in front hold the command, the versions and the settings that made it. Rows are
    added by writing a new file and renaming it over the old one, so that a killed run leaves whole
    trials only, and the next run continues behind them.

    Args:
        path: where the CSV lies, or will lie.
        key: names of the columns that tell trials apart.
        values: names of the columns with results.
        settings: what the rows depend on besides their key. Rows made with other settings are never
            mixed in.
        command: what to say made the file.
    """

    def __init__(
        self,
        path: str | Path,
        key: Sequence[str],
        values: Sequence[str],
        settings: Mapping[str, Any],
        command: str = "",
    ):
        self.path, self.key, self.columns = Path(path), tuple(key), (*key, *values)
        self.settings, self.command = json.dumps(dict(settings), sort_keys=True), command
        self.rows: list[dict[str, str]] = []
        if self.path.exists():
            self._read()

    @classmethod
    def on_file(cls, path: Path) -> "TrialFile":
        """The file at a path as it is, to read from."""
        lines = path.read_text(encoding="utf-8").splitlines()
        settings = next(line for line in lines if line.startswith(SETTINGS))[len(SETTINGS) :]
        columns = next(line for line in lines if not line.startswith("#")).split(",")
        return cls(path, columns, (), json.loads(settings))

    def trial(self, **key: Any) -> list[dict[str, str]]:
        """The rows of the trial with this key; an empty list if it was not made yet."""
        wanted = tuple(str(key[name]) for name in self.key)
        return [row for row in self.rows if tuple(row[name] for name in self.key) == wanted]

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Adds the rows of one trial, all or none."""
        made = [{name: _text(row[name]) for name in self.columns} for row in rows]
        self.rows = [*self.rows, *made]
        self._write()

    def once(
        self, compute: Callable[[], Iterable[Mapping[str, Any]]], **key: Any
    ) -> list[dict[str, str]]:
        """The rows of this trial: those on file, else those that `compute` returns (without the
        key), which are added."""
        if not self.trial(**key):
            self.add([{**key, **row} for row in compute()])
        return self.trial(**key)

    def _read(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines()
        found = next((line[len(SETTINGS) :] for line in lines if line.startswith(SETTINGS)), None)
        if found != self.settings:
            raise ValueError(
                f"{self.path} was made with settings {found}, not {self.settings}; "
                "give another folder with --output, or delete the file to make it anew"
            )
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        if tuple(table.fieldnames or ()) != self.columns:
            raise ValueError(
                f"{self.path} has the columns {table.fieldnames}, not {list(self.columns)}; delete"
                " it to make it anew"
            )
        self.rows = list(table)

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.write(
                f"# command: {self.command}\n# versions: {versions()}\n{SETTINGS}{self.settings}\n"
            )
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        os.replace(unfinished, self.path)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV, comment lines skipped."""
    text = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in text if not line.startswith("#")))


def versions() -> str:
    """What computed: Python, this checkout, and the packages that matter, as far as they are
    installed."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [f"python {platform.python_version()}", f"{project['name']} {project['version']}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)


def _text(value: Any) -> str:
    """Floats with all their digits, so that a number read back is the number computed."""
    return repr(float(value)) if isinstance(value, float) else str(value)
