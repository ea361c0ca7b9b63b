"""The part of the grader that runs shut in: `python -m evaluation.inside JOB CHANNEL`. Standard library only.

JOB is a JSON object (`evaluation.job.Job.inside`). What it finds goes as JSON lines to CHANNEL, `fd:N` or `file:PATH`,
and nowhere else; nothing that a task's code prints is ever taken for a result.
"""

import json
import math
import os
import re
import signal
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tasks.contract import load_file

Json = dict[str, Any]

FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")
LONGEST_FILES = 8_000_000
"""Characters of all files of one grading."""


class Channel:
    """Where results go: closed for every child process."""

    def __init__(self, address: str) -> None:
        kind, _, place = address.partition(":")
        if kind == "fd":
            self._descriptor = int(place)
            os.set_inheritable(self._descriptor, False)
        else:
            act_as_owner(Path(place).parent)
            self._descriptor = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def send(self, value: Json) -> None:
        """Send one line."""
        data = json.dumps(value).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]

    def report(self, done: int, total: int, what: str) -> None:
        """Send how far the grading is."""
        self.send({"progress": {"done": int(done), "total": int(total), "what": str(what)[:200]}})


def main(arguments: list[str]) -> int:
    """Grade, and send `grade`, `invalid` (nothing valid to score) or `broken` (the grader itself) as the last line."""
    job: Json = json.loads(arguments[0])
    # Should whoever started this be gone, it still ends.
    signal.alarm(math.ceil(job["timeout_s"]) + 30)
    channel = Channel(arguments[1])
    act_as_owner(Path(job["private"]) / job["split"])
    try:
        channel.send({"grade": as_grade(call_grader(job, channel))})
    except ValueError as error:
        channel.send({"invalid": " ".join(str(error).split())[:500] or "not valid"})
    except Exception as error:  # noqa: BLE001 -- the border of a grader's call
        traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name} line {last.lineno}"
        channel.send({"broken": f"{type(error).__name__}: {error} ({place})"[:1000]})
    return 0


def call_grader(job: Json, channel: Channel) -> Mapping[str, object]:
    """Call the task's `grade`."""
    part = load(job)
    submission = Path(job["submission"])
    try:
        result: Mapping[str, object] = part.grade(
            submission,
            Path(job["private"]),
            split=job["split"],
            options=job["options"],
            report=channel.report,
        )
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        # A folder where a file belongs, or nothing: that is no fault of the grader's.
        named = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None
        if named is None or not named.is_relative_to(submission):
            raise
        raise ValueError(f"{error.strerror}: {named.relative_to(submission)}") from error
    return result


def load(job: Json) -> ModuleType:
    """The task's `grade.py`: by name where the task is one of ours, else by file."""
    if job["module"]:
        import importlib

        return importlib.import_module(job["module"])
    return load_file(Path(job["file"]))


def as_grade(found: Mapping[str, object]) -> Json:
    """A task's answer as plain JSON; what is not a number there becomes none here."""
    numbers = {name: number(found.get(name)) for name in ("value", "standard_error", "baseline", "baseline_spread")}
    details = found.get("details")
    violations = found.get("violations")
    return {
        **numbers,
        "details": {
            str(name): value
            for name, raw in (details.items() if isinstance(details, Mapping) else ())
            if (value := number(raw)) is not None
        },
        "violations": [
            {"rule": str(one["rule"]), "evidence": str(one["evidence"])[:2000]}
            for one in (violations if isinstance(violations, list | tuple) else ())
        ],
        "files": kept_files(found.get("files")),
        "untouched": bool(found.get("untouched", False)),
    }


def kept_files(found: object) -> dict[str, str]:
    """Texts to be kept, under plain file names; what is too long is left out whole, a half says nothing."""
    files = {str(name): str(text) for name, text in found.items()} if isinstance(found, Mapping) else {}
    kept: dict[str, str] = {}
    for name, text in files.items():
        if FILE_NAME.fullmatch(name) and sum(map(len, kept.values())) + len(text) <= LONGEST_FILES:
            kept[name] = text
    return kept


def number(value: Any) -> float | None:
    """A finite float, or None."""
    if value is None:
        return None
    result = float(value)
    return result if math.isfinite(result) else None


def act_as_owner(folder: Path) -> None:
    """As root without root's power over files, act as their owner; root's identity is kept for later."""
    if os.geteuid() == 0 and not os.access(folder, os.R_OK | os.X_OK):
        os.seteuid(folder.stat().st_uid)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
