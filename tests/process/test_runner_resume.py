"""A run whose runner was killed is taken up by another one, from its record and its living sandbox."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.inbox import Inject
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task."""
    made = Runs.under(tmp_path)
    yield made
    made.close()


def _kill(run: Run) -> None:
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()


def test_killed_runner_leaves_a_lost_run_that_another_takes_up(runs: Runs) -> None:
    run = runs.start(
        [
            bash("echo 8 > answer.txt; export KEPT=yes"),
            bash("touch here.txt; sleep 321.5"),
            bash("echo kept: $KEPT"),
            script_line("submit"),
        ]
    )
    until(lambda: (run.folder.work / "here.txt").exists(), "the second command runs")
    message = run.post(Inject(text="hello"))
    run.wait_for(ev.RequestReceived)
    _kill(run)
    (row,) = index.summaries(runs.home)
    assert row.outcome == "lost"
    before = run.events()

    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    events = run.events()
    assert events[: len(before)] == before
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [body.resumed for body in run.bodies(ev.RunStarted)] == [False, True]
    delivered = run.bodies(ev.RequestDelivered)
    assert [body.request_id for body in delivered] == [message]
    assert run.bodies(ev.Graded)[-1].score.value == 8.0
    cut_off = run.bodies(ev.ToolFinished)[1]
    assert "restarted" in run.text(cut_off.observation)
    assert run.text(run.bodies(ev.ToolFinished)[2].observation).startswith("kept: yes")
    assert len(run.bodies(ev.StepStarted)) == 4
    assert processes_with("321.5") == []


def test_started_run_is_not_started_over_without_asking_for_it(runs: Runs) -> None:
    run = runs.start([bash("touch here.txt; sleep 20")])
    until(lambda: (run.folder.work / "here.txt").exists(), "the command runs")
    _kill(run)
    before = len(run.events())
    run.launch()
    assert run.process is not None
    assert run.process.wait(30) == 6
    assert len(run.events()) == before
    run.launch("--resume")
    assert run.ended().outcome == "submitted"


def test_grader_of_a_killed_runner_does_not_go_on_without_it(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")])
    run.wait_for(ev.GradingProgressed)
    assert processes_with(f"{run.folder.path}/submission")
    _kill(run)
    until(lambda: not processes_with(f"{run.folder.path}/submission"), "the grader is gone")


def test_snapshot_that_was_cut_off_is_never_graded(runs: Runs) -> None:
    run = runs.start([bash("echo 4 > answer.txt"), script_line("validate"), bash("sleep 300")])
    run.wait_for(ev.ToolCalled, count=3)
    _kill(run)
    (run.folder.submission / ".2").mkdir()
    run.launch("--resume")
    run.wait_for(ev.StepStarted, count=4)
    assert run.ended().outcome == "submitted"
    assert sorted(entry.name for entry in run.folder.submission.iterdir()) == [".2", "1", "3"]
    assert run.bodies(ev.Graded)[-1].score.value == 4.0
