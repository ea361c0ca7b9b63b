"""Reads the metrics files that trainings write, piece after piece as they grow: JSON lines and TensorBoard's events."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from agent.record.events import MetricsSeen
from agent.telemetry import tfevents
from agent.telemetry.metric_names import COUNTS, MOST_VALUES, SETTINGS, any_name, kept_name
from agent.telemetry.output_lines import thinned

PATTERNS = ("**/*.jsonl", "**/events.out.tfevents.*")
PIECE_BYTES = 256 * 1024
MOST_FILES = 200
MOST_ROWS = 20_000
"""Of one file, over all its life."""
ROWS_A_LOOK = 200
_LONGEST_LINE = 64 * 1024
_STEPS = ("step", "global_step", "_step", "iter", "iteration", "iterations", "current_steps", "num_updates")
_SPLITS = ("split", "phase", "mode", "stage", "subset")
_EVALUATIONS = ("val", "valid", "validation", "eval", "evaluation", "test", "dev")
_NOT_FINITE = ("nan", "inf", "-inf", "infinity", "-infinity")


class Format(Protocol):
    """How one kind of file is read."""

    def rows(self, data: bytes) -> tuple[list[MetricsSeen], int]:
        """The rows in `data`, and how much of it they take up; what is cut short waits. Raises `NoMetrics`."""
        ...

    def length(self, data: bytes) -> int:
        """How long what begins with `data` is, where that is too much to be read as one row."""
        ...


class NoMetrics(Exception):
    """The file holds something else."""


@dataclass
class Growing:
    """A file that is read as it grows."""

    path: str
    form: Format
    read_bytes: int = 0
    """How far it has been read."""
    size_bytes: int = 0
    rows: int = 0
    pieces: int = 0
    """How many were read."""
    skip_bytes: int = 0
    """Still to be passed over: the rest of something too long to be a row."""


class MetricFiles:
    """Which files there are, how far each is read, and which hold no metrics at all."""

    def __init__(self) -> None:
        self._files: dict[str, Growing] = {}
        self._given: dict[str, int] = {}
        self._useless: set[str] = set()

    def start_with(self, files: Iterable[tuple[str, int, float]]) -> None:
        """What is there before the agent begins is data and no metrics of its own."""
        self._given = {path: size for path, size, _ in files}

    def grown(self, files: Iterable[tuple[str, int, float]]) -> list[Growing]:
        """The files of which there is more to read, those first of which least was read."""
        found = []
        for path, size, _ in files:
            if path in self._useless or self._given.get(path) == size:
                continue
            known = self._files.get(path)
            if known is None:
                if len(self._files) >= MOST_FILES:
                    continue
                known = self._files[path] = Growing(path, _form(path))
            if size < known.size_bytes:
                # Written anew: its steps start from the beginning.
                known = self._files[path] = Growing(path, _form(path), rows=known.rows)
            known.size_bytes = size
            if known.read_bytes < size and known.rows < MOST_ROWS:
                found.append(known)
        return sorted(found, key=lambda file: file.pieces)

    def take(self, file: Growing, data: bytes) -> list[MetricsSeen]:
        """The rows of the piece that was read at `file.read_bytes`."""
        file.pieces += 1
        start = min(file.skip_bytes, len(data))
        file.skip_bytes -= start
        piece = data[start:]
        try:
            rows, used = file.form.rows(piece)
        except NoMetrics:
            self._useless.add(file.path)
            self._files.pop(file.path, None)
            return []
        if not used and len(piece) >= _LONGEST_LINE:
            used = len(piece)
            file.skip_bytes = max(0, file.form.length(piece) - used)
        file.read_bytes += start + used
        file.rows += len(rows)
        return [msgspec.structs.replace(row, path=file.path) for row in thinned(rows, ROWS_A_LOOK)]


def _form(path: str) -> Format:
    return JsonLines() if path.endswith(".jsonl") else Events()


@dataclass
class JsonLines:
    """One JSON object a line, with figures in it."""

    _proven: bool = False
    _refused: int = field(default=0)

    def rows(self, data: bytes) -> tuple[list[MetricsSeen], int]:
        """The whole lines; raises `NoMetrics` where the first few are no metrics."""
        end = data.rfind(b"\n") + 1
        found = []
        for line in data[:end].splitlines():
            row = json_row(line)
            if row is not None:
                self._proven = True
                found.append(row)
            elif line.strip() and not self._proven:
                self._refused += 1
                if self._refused >= 3:
                    raise NoMetrics
        return found, end

    def length(self, data: bytes) -> int:
        """Its end is not in sight; what follows is no row either and falls out by itself."""
        return len(data)


def json_row(line: bytes) -> MetricsSeen | None:
    """What one line of a metrics file says; None where it is no object with a figure that trainings have."""
    if len(line) > _LONGEST_LINE:
        return None
    try:
        # The standard library's reader takes NaN and Infinity, which trainers write and JSON does not know.
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _row(raw) if isinstance(raw, dict) else None


def _row(raw: dict[str, object]) -> MetricsSeen | None:
    values: dict[str, float] = {}
    diverged: list[str] = []
    step: int | None = None
    evaluates = any(key.lower() in _SPLITS and str(value).lower() in _EVALUATIONS for key, value in raw.items())
    for key, value in _flat(raw):
        name = _named(key, evaluates=evaluates)
        number = _number(value)
        if number is None or not name:
            continue
        if key.lower() in _STEPS or name in _STEPS:
            step = int(number) if math.isfinite(number) and abs(number) < 1 << 53 else None
        elif name in COUNTS:
            continue
        elif math.isfinite(number):
            values[name] = number
        else:
            diverged.append(name)
    # A score alone may be a prediction, one of thousands.
    if not any(map(_is_sign, (*values, *diverged))) or (step is None and "epoch" not in values):
        return None
    kept = dict(list(values.items())[:MOST_VALUES])
    return MetricsSeen(path="", values=kept, diverged=tuple(diverged[:MOST_VALUES]), training_step=step)


def _named(key: str, *, evaluates: bool) -> str:
    name = any_name(key)
    return f"eval_{name}" if evaluates and kept_name(name) is not None and name not in SETTINGS else name


def _is_sign(name: str) -> bool:
    """Whether only trainings have such a figure."""
    return name == "tokens" or kept_name(name.removeprefix("eval_")) is not None


def _number(value: object) -> float | None:
    """The number, which some trainers write as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and (len(value) > 40 or not (value[-1:].isdigit() or value.lower() in _NOT_FINITE)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return None


def _flat(raw: dict[str, object]) -> list[tuple[str, object]]:
    """The figures, those of one inner object among them: `{"step": 5, "train": {"loss": 2.0}}`."""
    found: list[tuple[str, object]] = []
    for key, value in list(raw.items())[:64]:
        if isinstance(value, dict):
            found += [(f"{key}_{inner}", number) for inner, number in list(value.items())[:32]]
        else:
            found.append((key, value))
    return found


@dataclass
class Events:
    """TensorBoard's event files."""

    _proven: bool = False
    _broken: bool = False

    def rows(self, data: bytes) -> tuple[list[MetricsSeen], int]:
        """The scalars of the whole records, those of one step that stand together as one row."""
        if self._broken:
            return [], len(data)
        records, used, whole = tfevents.records(data)
        if not whole and not records and not self._proven:
            raise NoMetrics
        scalars = []
        for record in records:
            try:
                scalars += tfevents.scalars(record)
            except tfevents.Broken as error:
                if not self._proven:
                    raise NoMetrics from error
        self._proven = True
        # Where one length is wrong nobody knows where the next record begins: the rest is lost.
        used = used if whole else len(data)
        self._broken = self._broken or not whole
        found: list[MetricsSeen] = []
        for scalar in scalars:
            finite = math.isfinite(scalar.value)
            name = any_name(scalar.tag)
            row = MetricsSeen(
                path="", values={name: scalar.value} if finite else {}, diverged=() if finite else (name,),
                training_step=scalar.step,
            )  # fmt: skip
            last = found[-1] if found else None
            if last is not None and last.training_step == scalar.step and len(last.values) < MOST_VALUES:
                found[-1] = msgspec.structs.replace(
                    last, values={**last.values, **row.values}, diverged=(*last.diverged, *row.diverged)
                )
            else:
                found.append(row)
        return found, used

    def length(self, data: bytes) -> int:
        """As its frame says."""
        return tfevents.next_record_bytes(data)
