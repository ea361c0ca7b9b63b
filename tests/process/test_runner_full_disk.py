"""A disk that is full just when the submission is copied out: the work waits for room and is not lost."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import Home
from agent.record.request import RunRequest
from agent.runner.grading import Grading
from agent.sandbox.base import SandboxPlan
from agent.sandbox.local import LocalSandbox
from tasks import catalogue
from tests.process.runner_runs import Runs, bash, script_line, until
from tests.unit.runner_parts import Desk

DISK_BYTES = 1024**2
# A number with blanks behind it: more than half of that disk.
LARGE = f"{{ printf 41; head -c {DISK_BYTES * 2 // 3} /dev/zero | tr '\\0' ' '; }} > answer.txt"


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A real disk of one megabyte in the place of a folder; gives a file that fills most of it."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    filler = folder / "filler"
    filler.write_bytes(bytes(DISK_BYTES * 2 // 3))
    try:
        yield filler
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_final_submission_is_copied_and_scored_once_there_is_room(runs: Runs, tmp_path: Path) -> None:
    waits = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    run = runs.start([bash(f"{waits}; {LARGE}"), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    with _small_disk(run.folder.submission) as filler:
        (tmp_path / "go").touch()
        alert = run.wait_for(ev.AlertRaised)
        assert (alert.alert, alert.hint) == ("disk_full", "scoring waits; make room")
        until(lambda: list(run.folder.submission.iterdir()) == [filler], "what was begun is cleared away")
        assert not run.bodies(ev.SandboxStopped), "the work is still there to be copied"
        filler.unlink()
        assert run.ended().outcome == "submitted"
        final = run.bodies(ev.Graded)[-1]
    assert (final.purpose, final.score.value, final.score.valid) == ("final", 41.0, True)
    assert len(run.bodies(ev.AlertRaised)) == 1


def test_kill_ends_a_run_that_waits_for_room(runs: Runs, tmp_path: Path) -> None:
    waits = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    run = runs.start([bash(f"{waits}; {LARGE}"), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    with _small_disk(run.folder.submission):
        (tmp_path / "go").touch()
        run.wait_for(ev.AlertRaised)
        assert run.process is not None
        run.process.terminate()
        assert run.ended().outcome == "killed"


async def test_room_that_never_comes_is_a_score_that_says_so(tmp_path: Path) -> None:
    task = catalogue.load("mlgym/battle_of_sexes")
    folder = Home(tmp_path / "home").ensure().new_run()
    sandbox = LocalSandbox(SandboxPlan(run=folder.run, workspace=task.starter, folder=folder.path))
    desk = Desk(tmp_path)
    grading = Grading(folder, RunRequest(run=folder.run, task="mlgym/battle_of_sexes"), desk.journal, patience_s=0.3)
    await sandbox.start()
    try:
        await sandbox.write_file("strategy.py", b" " * (DISK_BYTES * 2 // 3))
        grading.sandbox_started(task, sandbox, "local", "")
        with _small_disk(folder.submission):
            score = await grading.grade("final")
    finally:
        await sandbox.stop()
    assert (score.value, score.valid) == (None, False)
    assert "no room: 7" in score.error
    assert [body.alert for body in desk.bodies() if isinstance(body, ev.AlertRaised)] == ["disk_full"]
