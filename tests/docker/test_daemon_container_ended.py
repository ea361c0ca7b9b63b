"""A container that somebody ends while the run lives: at most one more model call, a clear end, the work saved."""

import os
import signal
import subprocess

import pytest

from agent.record import events as ev
from agent.record.values import Score
from agent.sandbox.containers import labelled
from tests.process.runner_runs import Run, Runs, bash, script_line, until

WORK = bash("echo 5 > answer.txt; touch here.txt; echo up; sleep 831.5")


def docker(*arguments: str) -> str:
    """What the docker command says."""
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def in_command(run: Run) -> str:
    """The container, once its command is at work."""
    run.wait_for(ev.ToolOutput, lambda body: "up" in run.text(body.text))
    [container] = labelled(run.folder.run)
    return container.container_id


def failed(run: Run, why: str) -> Score:
    """The score of a run that has failed for that reason, with a whole record and nothing left behind."""
    asked = len(run.bodies(ev.ModelAsked))
    ended = run.ended()
    assert ended.outcome == "failed"
    assert why in ended.detail
    assert len(run.bodies(ev.ModelAsked)) <= asked + 1
    assert [body.reason for body in run.bodies(ev.SandboxLost)] == [ended.detail.partition(" (")[0]]
    assert [body.call_id for body in run.bodies(ev.ToolFinished)] == [
        body.call_id for body in run.bodies(ev.ToolCalled)
    ]
    assert [event.seq for event in run.events()] == list(range(1, len(run.events()) + 1))
    assert labelled(run.folder.run) == []
    [graded] = [body for body in run.bodies(ev.Graded) if body.purpose == "final"]
    return graded.score


def test_killed_container_ends_the_run_and_its_files_are_graded(runs: Runs) -> None:
    run = runs.start([WORK, script_line("submit")], sandbox="docker")
    docker("kill", in_command(run))
    score = failed(run, "was ended from outside")
    assert (score.value, score.valid) == (5.0, True)
    assert "the sandbox was lost" in run.text(run.bodies(ev.ToolFinished)[0].observation)


def test_killed_first_process_is_a_killed_container(runs: Runs) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can end another user's process")
    run = runs.start([WORK, script_line("submit")], sandbox="docker")
    guest = int(docker("inspect", "--format", "{{.State.Pid}}", in_command(run)))
    os.kill(guest, signal.SIGKILL)
    assert failed(run, "was ended from outside").value == 5.0


def test_container_killed_while_the_model_thinks_ends_the_run_by_itself(runs: Runs) -> None:
    thinking = runs.start([bash("echo 7 > answer.txt; echo up"), bash("echo never")], sandbox="docker", pace_s=5.0)
    container = in_command(thinking)
    thinking.wait_for(ev.ModelAsked, count=2)
    docker("kill", container)
    assert failed(thinking, "was ended from outside").value == 7.0
    assert len(thinking.bodies(ev.ToolCalled)) == 1


def test_removed_container_has_its_newest_snapshot_graded(runs: Runs) -> None:
    run = runs.start([bash("echo 3 > answer.txt"), script_line("validate"), WORK], sandbox="docker")
    docker("rm", "--force", in_command(run))
    score = failed(run, "was removed from outside")
    assert (score.value, score.valid) == (3.0, True)
    assert "old_snapshot" in [body.alert for body in run.bodies(ev.AlertRaised)]


def test_removed_container_without_a_snapshot_has_a_score_that_says_so(runs: Runs) -> None:
    run = runs.start([WORK], sandbox="docker")
    docker("rm", "--force", in_command(run))
    score = failed(run, "was removed from outside")
    assert (score.value, score.valid) == (None, False)
    assert "nothing is left to grade" in score.error


def test_container_killed_while_the_run_is_frozen_ends_it_too(runs: Runs) -> None:
    run = runs.start([WORK], sandbox="docker")
    container = in_command(run)
    docker("pause", container)
    until(lambda: labelled(run.folder.run)[0].state == "paused", "it stands")
    docker("kill", container)
    assert failed(run, "was ended from outside").value == 5.0
