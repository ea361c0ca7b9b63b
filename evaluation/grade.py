"""The isolated grader: `python -m evaluation.grade RUN_DIR --snapshot N --split dev|test`.

Reads `run.toml` and `submission/N/` of a run and the task's private data, has the task's grader run where the agent
can't reach it, and writes JSON lines to the result descriptor: `{"progress": …}` and last `{"score": …}`. The
record is never written here. Exit code 0 where there is a score, valid or not; 7 where the grader itself broke.
"""

import argparse
import ctypes
import math
import os
import re
import signal
import sys
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

from agent.record.home import OWNER_ONLY, Home, RunFolder
from agent.record.request import read_request
from agent.record.values import Score, Violation
from agent.sandbox.choose import where_to_grade
from agent.sandbox.daemons import daemon_of
from evaluation.errors import GraderFailed, SubmissionMissing
from evaluation.in_container import grade_in_container
from evaluation.in_far_container import grade_afar
from evaluation.in_process import grade_in_process
from evaluation.inside import FILE_NAME
from evaluation.job import Found, GradingProgress, Job, OnProgress
from evaluation.rules import PROTECTED_RULE, changed_protected, is_untouched, require_artefact
from tasks import catalogue
from tasks.errors import MlrbError
from tasks.prepare import prepared
from tasks.snapshot import submission_sha256
from tasks.spec import Scale, Task

_PR_SET_PDEATHSIG = 1

Split = Literal["dev", "test"]
_WHERE = re.compile(r"local|docker(@\S+)?")


def grade_run(
    run: Path,
    *,
    snapshot: int,
    split: Split,
    on_progress: OnProgress,
    isolation: str = "",
    image: str = "",
) -> Score:
    """The score of a run's snapshot; raises `MlrbError` where that says nothing about the submission."""
    request = read_request(RunFolder(run).request)
    task = catalogue.load(request.task)
    image = image or request.image
    where = isolation or where_to_grade(request.sandbox, image)
    home = Home(run.parent.parent)
    with daemon_of(home, where) as daemon:
        return grade(
            _job(task, request.scale, request.seed, run, snapshot, split, home),
            scale=request.scale,
            isolation=where,
            on_progress=on_progress,
            image=image,
            daemon=daemon,
            keep=RunFolder(run).gradings / f"{snapshot}-{split}",
        )


def grade(
    job: Job,
    *,
    scale: Scale,
    isolation: str,
    on_progress: OnProgress,
    image: str = "",
    daemon: Path | None = None,
    keep: Path | None = None,
) -> Score:
    """The score of a submission, all checks made; `daemon` leads to the one of another machine.

    What the grader's tools wrote themselves is put into the folder `keep`.
    """
    score = _blank(job, scale, isolation)
    spec, starter = job.task.spec, job.task.starter
    try:
        require_artefact(job.submission, spec.artefact.paths, spec.artefact.max_bytes)
    except SubmissionMissing as error:
        return msgspec.structs.replace(score, error=error.message)
    score = msgspec.structs.replace(score, artefact_sha256=submission_sha256(job.submission))
    changes = [
        _violation(job.task, PROTECTED_RULE, evidence)
        for evidence in changed_protected(job.submission, starter, spec.protected)
    ]
    score = msgspec.structs.replace(score, violations=tuple(changes))
    if is_untouched(job.submission, starter, spec.artefact.paths):
        return msgspec.structs.replace(score, untouched=True, error="the artefact is the starter, unchanged")
    if isolation == "local":
        found = grade_in_process(job, on_progress)
    elif daemon is None:
        found = grade_in_container(job, on_progress, image)
    else:
        found = grade_afar(job, on_progress, image, daemon)
    return _with(score, job.task, found, _kept(found, keep))


def _kept(found: Found, folder: Path | None) -> tuple[str, ...]:
    """Write the files of a grading; those of an earlier one of the same snapshot are replaced."""
    if folder is None or not found.files:
        return ()
    folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    names = [name for name in sorted(found.files) if FILE_NAME.fullmatch(name)]
    for name in names:
        fresh = folder / f".{name}"
        fresh.write_text(found.files[name], encoding="utf-8", errors="replace")
        fresh.replace(folder / name)
    return tuple(f"{folder.name}/{name}" for name in names)


def _job(task: Task, scale: Scale, seed: int, run: Path, snapshot: int, split: Split, home: Home) -> Job:
    conditions = task.at(scale)
    private = prepared(home.data, task.spec.name, scale, seed) / "private"
    if not (private / split).is_dir():
        raise GraderFailed(
            f"the private data of {task.spec.name} ({scale}, seed {seed}) is not there",
            hint=f"python -m tasks.prepare {task.spec.name} --scale {scale} --seed {seed} --out {private.parent}",
        )
    return Job(
        run=run.name,
        task=task,
        submission=RunFolder(run).submission / str(snapshot),
        private=private,
        split=split,
        options=conditions.options,
        compute=conditions.compute,
        timeout_s=conditions.grading_timeout_s,
        home=home.mark(),
    )


def _blank(job: Job, scale: Scale, isolation: str) -> Score:
    metric, baseline = job.task.metric(scale), job.task.at(scale).baseline
    return Score(
        metric=metric.name,
        direction=metric.direction,
        scale=scale,
        split="dev" if job.split == "dev" else "test",
        baseline=baseline.value,
        baseline_spread=baseline.spread,
        isolation=isolation,
    )


def _with(score: Score, task: Task, found: Found, files: tuple[str, ...]) -> Score:
    """The score with what the task's grader found; valid only where nothing stands against it."""
    violations = (*score.violations, *(_violation(task, one.rule, one.evidence) for one in found.violations))
    against = [one for one in violations if one.invalidates]
    error = found.invalid
    if not error and found.untouched:
        error = "the artefact says what the starter says, unchanged"
    if not error and against:
        error = f"breaks the rule {against[0].rule}"
    if not error and found.value is None:
        error = "the grader measured no value"
    return msgspec.structs.replace(
        score,
        value=found.value,
        standard_error=found.standard_error,
        details=found.details,
        files=files,
        violations=violations,
        untouched=found.untouched,
        valid=not error,
        error=error,
        baseline=score.baseline if found.baseline is None else found.baseline,
        baseline_spread=_noise(score.baseline_spread, found),
    )


def _noise(stored: float, found: Found) -> float:
    """How far the gain may vary by chance: as the task measured it, else that of the baseline and of this value."""
    if found.baseline_spread is not None:
        return found.baseline_spread
    return math.hypot(stored, found.standard_error or 0.0)


def _violation(task: Task, rule: str, evidence: str) -> Violation:
    named = {one.name: one for one in task.spec.rules}
    return Violation(rule, evidence, named[rule].invalidates if rule in named else True)


class _Sink:
    """Writes JSON lines to the result descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def progress(self, progress: GradingProgress) -> None:
        """How far the grading is."""
        self._write({"progress": progress})

    def score(self, score: Score) -> None:
        """The end."""
        self._write({"score": score})

    def _write(self, value: object) -> None:
        data = msgspec.json.encode(value) + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]


def main(arguments: list[str] | None = None) -> int:
    """The command line; errors are one line and a hint on stderr."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.grade", description="Grade a run's submission.")
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("--snapshot", type=int, required=True, help="which of submission/N")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--sandbox", type=_place, help="local, docker or docker@HOST; default: as it ran")
    parser.add_argument("--image", default="", help="the docker image to grade in")
    parser.add_argument("--result-fd", type=int, default=1, help="the descriptor for the result")
    given = parser.parse_args(arguments)
    # Ended from outside, it still takes its container and its processes down.
    signal.signal(signal.SIGTERM, _leave)
    _end_with_parent()
    sink = _Sink(given.result_fd)
    try:
        score = grade_run(
            given.run.absolute(),
            snapshot=given.snapshot,
            split=given.split,
            on_progress=sink.progress,
            isolation=given.sandbox or "",
            image=given.image,
        )
    except MlrbError as error:
        print(error.message, *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return error.exit_code
    sink.score(score)
    return 0


def _place(text: str) -> str:
    if not _WHERE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no sandbox")
    return text


def _end_with_parent() -> None:
    """Have the kernel terminate this process when whoever asked for the grade is gone, however that came."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _leave(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
