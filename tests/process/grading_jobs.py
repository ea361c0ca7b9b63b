"""Submissions and small gradings for the grader's tests."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from agent.record.home import Home, RunFolder
from agent.record.request import RunRequest, write_request
from agent.record.values import Score
from evaluation.grade import Split, grade
from evaluation.job import Job
from tasks import catalogue
from tasks.prepare import prepare, prepared
from tasks.spec import Task, read_spec

GAMES = 300
ALWAYS_0 = "def row_strategy(history):\n    return 0\n"


def job_for(
    name: str,
    folder: Path,
    files: Mapping[str, str],
    *,
    split: Split = "test",
    games: int = GAMES,
    timeout_s: float = 60,
) -> Job:
    """A grading of the starter with some files changed or added, of few games."""
    task = catalogue.load(name)
    out = prepared(folder / "data", name, "smoke", 0)
    prepare(task, "smoke", 0, out)
    submission = folder / "submission"
    submission.mkdir()
    for path in (*task.spec.artefact.paths, *task.spec.protected):
        if (task.starter / path).is_file():
            (submission / path).write_bytes((task.starter / path).read_bytes())
    for path, text in files.items():
        (submission / path).write_text(text)
    conditions = task.at("smoke")
    small = {"test_games": games, "dev_games": games, "batch_timeout_s": 5}
    return Job(
        run="0badcafe",
        task=task,
        submission=submission,
        private=out / "private",
        split=split,
        options=conditions.options | {key: value for key, value in small.items() if key in conditions.options},
        compute=conditions.compute,
        timeout_s=timeout_s,
    )


OWN_TOML = """
name = "own/telling"
title = "t"
goal = "g"
source = "s"
artefact = { about = "a", paths = ["answer"] }
metric = { name = "m", direction = "maximize" }
[scales.smoke]
about = "x"
limits = { time_s = 1.0, steps = 1, cost_usd = 1.0 }
compute = {}
baseline = { value = 0.0, source = "s" }
"""


def own_job(folder: Path, grade_py: str) -> Job:
    """A grading of a task that lies outside of our packages, by the given `grade.py`."""
    own, submission, private = folder / "own" / "telling", folder / "submission", folder / "private"
    for made in (own / "starter", submission, private / "test"):
        made.mkdir(parents=True)
    (own / "task.toml").write_text(OWN_TOML)
    (own / "grade.py").write_text(grade_py)
    (submission / "answer").write_text("1")
    (private / "test" / "secret").write_text("private")
    task = Task(spec=read_spec(OWN_TOML.encode()), folder=own)
    compute = task.at("smoke").compute
    return Job("0badcafe", task, submission, private, "test", options={}, compute=compute, timeout_s=60)


def score_of(job: Job, isolation: str = "local") -> Score:
    """The score of that grading."""
    return grade(job, scale="smoke", isolation=isolation, on_progress=lambda progress: None)


def played(name: str, folder: Path, strategy: str, isolation: str = "local", **others: str) -> Score:
    """The score of a game's strategy, protected files changed as `others` says (`target="…"`)."""
    files = {f"{stem}.py": text for stem, text in others.items()} | {"strategy.py": strategy}
    return score_of(job_for(name, folder, files), isolation)


def run_with(home: Home, name: str, files: Mapping[str, str], *, sandbox: str = "local") -> RunFolder:
    """A run's folder as a runner leaves it: a request, and the starter with some files changed as snapshot 1."""
    run = home.new_run()
    write_request(run.request, RunRequest(run=run.run, task=name, sandbox=sandbox))
    task = catalogue.load(name)
    prepare(task, "smoke", 0, prepared(home.data, name, "smoke", 0))
    snapshot = run.submission / "1"
    snapshot.mkdir(parents=True)
    for path in (*task.spec.artefact.paths, *task.spec.protected):
        if (task.starter / path).is_file():
            (snapshot / path).write_bytes((task.starter / path).read_bytes())
    for path, text in files.items():
        (snapshot / path).write_text(text)
    return run


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the grader's output."""

    progress: dict[str, int | str] | None = None
    score: Score | None = None


def read_lines(output: bytes) -> list[Line]:
    """The grader's output."""
    return [msgspec.json.decode(line, type=Line) for line in output.splitlines()]
