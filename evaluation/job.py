"""One grading as a value: what goes into the shut-in process, and the lines that come out of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

import tasks
from evaluation.errors import GraderFailed
from tasks.contract import module_name
from tasks.spec import Compute, Task

SOURCES = Path(tasks.__file__).parent.parent
"""Where our packages lie; only `tasks` and `evaluation` are shown to a grader."""
PACKAGES = ("tasks", "evaluation")


class GradingProgress(Struct, frozen=True, omit_defaults=True):
    """How far a grading is."""

    done: int
    total: int
    what: str = ""
    waiting: bool = False
    """It stands still, and not by its own fault: that time is not its own."""


OnProgress = Callable[[GradingProgress], None]


class Broken(Struct, frozen=True):
    """A rule that a submission breaks, with the evidence."""

    rule: str
    evidence: str


class Found(Struct, frozen=True, kw_only=True):
    """What a task's grader found."""

    value: float | None = None
    standard_error: float | None = None
    baseline: float | None = None
    baseline_spread: float | None = None
    details: dict[str, float] = {}
    violations: tuple[Broken, ...] = ()
    files: dict[str, str] = {}
    """Texts to be kept beside the score, by file name."""
    untouched: bool = False
    invalid: str = ""
    """Why there is nothing valid to score, in one line."""


class Line(Struct, frozen=True, kw_only=True):
    """One line on the result channel; one of the fields is set."""

    progress: GradingProgress | None = None
    grade: Found | None = None
    invalid: str | None = None
    broken: str | None = None


@dataclass(frozen=True)
class Job:
    """A submission to be graded."""

    run: str
    task: Task
    submission: Path
    private: Path
    """The folder of all splits; a container is shown only the one it grades."""
    split: str
    options: dict[str, int | float | str | bool]
    compute: Compute
    timeout_s: float
    home: str = ""
    """The mark of the home that the run belongs to; a container is labelled with it."""

    def inside(self, submission: str, private: str, folder: str) -> str:
        """The job as the shut-in process reads it, with the paths that hold there."""
        return msgspec.json.encode(
            {
                "module": module_name(self.task.folder, "grade"),
                "file": f"{folder}/grade.py",
                "submission": submission,
                "private": private,
                "split": self.split,
                "options": self.options,
                "timeout_s": self.timeout_s,
            }
        ).decode()


class Results:
    """Reads the result channel: hands on progress, keeps the one result."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._pending = b""
        self._found: Found | None = None
        self._broken = ""

    def feed(self, piece: bytes) -> None:
        """Take more bytes of the channel."""
        *whole, self._pending = (self._pending + piece).split(b"\n")
        for raw in whole:
            self._take(raw)

    def _take(self, raw: bytes) -> None:
        try:
            line = msgspec.json.decode(raw, type=Line)
        except msgspec.MsgspecError as error:
            raise GraderFailed(f"the grader's result channel carried something unreadable: {error}") from error
        if line.progress is not None:
            # Only we know whether a grader waits; what runs shut in can't have its time made longer.
            self._on_progress(msgspec.structs.replace(line.progress, waiting=False))
        elif line.grade is not None:
            self._found = line.grade
        elif line.invalid is not None:
            self._found = Found(invalid=line.invalid)
        else:
            self._broken = line.broken or "no reason given"

    @property
    def over(self) -> bool:
        """Whether the last word has come."""
        return self._found is not None or bool(self._broken)

    def outcome(self, ended: str, output: str) -> Found:
        """The result; `GraderFailed` where there is none, with how the process ended and its last words."""
        if self._found is not None:
            return self._found
        last = output.strip().splitlines()[-1:] or ["it printed nothing"]
        if self._broken:
            raise GraderFailed(f"the grader broke: {self._broken}", hint="the submission is not to blame; grade again")
        raise GraderFailed(f"the grader gave no result ({ended})", hint=f"its last line: {last[0][:300]}")
