"""A runner shot while its run was paused, asked for something, or being scored: the next one stands where it stood."""

import os
import signal
import sqlite3
import time

import pytest

from agent.record import events as ev
from agent.record.inbox import ChangeLimits, Kill, Pause, Resume, ScoreNow
from agent.record.values import Limits
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

COUNT = "until [ -e go.txt ]; do echo tick >> ticks.txt; sleep 0.02; done"


def kill(run: Run) -> None:
    """Shoot its runner."""
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()


def ticks(run: Run) -> int:
    """How often the command has ticked."""
    file = run.folder.work / "ticks.txt"
    return file.stat().st_size if file.exists() else 0


def stands(run: Run, for_s: float = 0.5) -> bool:
    """Whether the command ticks no more for so long: it would, twenty times a second."""
    before, since = ticks(run), time.monotonic()
    while time.monotonic() - since < for_s:
        if ticks(run) != before:
            return False
    return True


def cut_behind(run: Run, seq: int) -> None:
    """Have the record end there, as it would where the runner was shot at that very moment."""
    with sqlite3.connect(run.folder.events) as connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (seq,))
    connection.close()


def resumed(run: Run) -> None:
    """Give it a new runner; returns once that has begun."""
    count = len(run.bodies(ev.RunStarted))
    run.launch("--resume")
    run.wait_for(ev.RunStarted, count=count + 1)


def test_frozen_run_is_frozen_still_until_a_person_lets_it_go_on(runs: Runs) -> None:
    run = runs.start([bash(f"echo 6 > answer.txt; {COUNT}"), script_line("submit")])
    until(lambda: ticks(run) > 5, "the command ticks")
    run.answer_to(run.post(Pause(strength="now", why="lunch"), who="ann"))
    kill(run)
    resumed(run)
    again = run.wait_for(ev.RunPaused, count=2)
    assert (again.strength, again.by, again.why) == ("now", "ann", "lunch")
    assert stands(run)
    assert run.summary().state == "paused"
    assert run.bodies(ev.ToolTakenUp) == []
    assert "frozen" in run.refusal_of(run.post(ScoreNow())).reason
    before = ticks(run)
    run.answer_to(run.post(Resume(), who="bob"))
    until(lambda: ticks(run) > before + 5, "the command goes on")
    (run.folder.work / "go.txt").touch()
    assert run.ended().outcome == "submitted"
    (taken_up,) = run.bodies(ev.ToolTakenUp)
    assert taken_up.worked_s < 5.0, "what stood still did not work"
    assert [body.exit_code for body in run.bodies(ev.ToolFinished)] == [0, None]


def test_run_that_stands_at_a_limit_stands_there_still_and_goes_on_when_it_is_raised(runs: Runs) -> None:
    limits = Limits(time_s=1.5)
    run = runs.start([bash(f"echo 6 > answer.txt; {COUNT}"), script_line("submit")], limits=limits, on_limit="pause")
    assert run.wait_for(ev.RunPaused).limit == "time"
    kill(run)
    resumed(run)
    assert run.wait_for(ev.RunPaused, count=2).limit == "time"
    assert stands(run)
    assert "still reached" in run.refusal_of(run.post(Resume())).reason
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=600.0))))
    run.answer_to(run.post(Resume()))
    run.wait_for(ev.ToolTakenUp)
    (run.folder.work / "go.txt").touch()
    assert run.ended().outcome == "submitted"
    assert len([body for body in run.bodies(ev.AlertRaised) if body.alert == "limit"]) == 1


def test_pause_before_the_next_model_call_outlives_the_runner(runs: Runs) -> None:
    run = runs.start([bash("true"), bash("true"), script_line("submit")], pace_s=0.3)
    run.answer_to(run.post(Pause(strength="step")))
    kill(run)
    asked = len(run.bodies(ev.ModelAsked))
    resumed(run)
    run.wait_for(ev.RunPaused, count=2)
    run.wait_for(ev.SandboxStarted, count=2)
    assert len(run.bodies(ev.ModelAsked)) == asked
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"


def test_pause_asked_for_before_a_paused_run_is_taken_up_is_answered(runs: Runs) -> None:
    run = runs.start([bash("true"), bash("true"), script_line("submit")], pace_s=0.3)
    run.answer_to(run.post(Pause(strength="step"), who="ann"))
    kill(run)
    weaker, stronger = run.post(Pause(strength="command"), who="bob"), run.post(Pause(strength="now"), who="eve")
    resumed(run)
    assert run.answer_to(stronger).detail == run.answer_to(weaker).detail == "frozen"
    kill(run)
    too_late = run.post(Pause(strength="step"), who="bob")
    resumed(run)
    assert "it is paused already, by" in run.refusal_of(too_late).reason
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"


def test_kill_and_pause_that_a_shot_runner_had_only_received_are_done_by_the_next(runs: Runs) -> None:
    run = runs.start([bash(COUNT), script_line("submit")])
    until(lambda: ticks(run) > 5, "the command ticks")
    pause = run.post(Pause(strength="step", why="look"), who="ann")
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == pause)
    kill(run)
    (run.folder.work / "go.txt").touch()
    resumed(run)
    assert run.answer_to(pause).detail == "paused before the next model call"
    assert run.bodies(ev.RunPaused)[0].by == "ann"
    kill(run)
    last = run.post(Kill(why="enough"), who="bob")
    resumed(run)
    assert (run.ended().outcome, run.bodies(ev.RunEnded)[0].detail) == ("killed", "by bob: enough")
    assert run.answer_to(last).detail == "nothing is left over"
    assert len([body for body in run.bodies(ev.RequestReceived) if body.request_id == pause]) == 1


def test_lost_model_call_is_asked_again_in_its_step_and_what_it_had_written_is_no_reply(runs: Runs) -> None:
    thought = " ".join(f"word{number}" for number in range(60))
    first = f'{{"thought": "{thought}", "tool": "bash", "arguments": {{"command": "echo ran >> ran.txt"}}}}\n'
    run = runs.start([first, script_line("submit")], pace_s=1.0)
    run.wait_for(ev.ModelStreamed)
    kill(run)
    resumed(run)
    assert run.ended().outcome == "submitted"
    asked, again, _ = run.bodies(ev.ModelAsked)
    (failed,) = run.bodies(ev.ModelFailed)
    assert failed.call_id == asked.call_id != again.call_id
    assert asked.message_ids == again.message_ids
    answered = run.bodies(ev.ModelAnswered)
    assert run.text(answered[0].reasoning) == thought
    assert len(answered) == len(run.bodies(ev.StepStarted)) == run.summary().step == 2
    assert (run.folder.work / "ran.txt").read_text() == "ran\n"


def test_run_that_was_shot_while_it_was_scored_is_scored_once_from_the_same_snapshot(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")])
    run.wait_for(ev.GradingProgressed)
    kill(run)
    begun = run.bodies(ev.GradingStarted)[0]
    # The slow grading is not waited for: what is graded again is the snapshot, as it lies there.
    (run.folder.submission / str(begun.snapshot) / "answer.txt").write_text("7\n")
    (run.folder.work / "answer.txt").write_text("99\n")
    resumed(run)
    assert run.ended().outcome == "submitted"
    (graded,) = run.bodies(ev.Graded)
    assert (graded.grading_id, graded.purpose, graded.score.value) == (begun.grading_id, "final", 7.0)
    assert len(run.bodies(ev.WorkEnded)) == 1
    assert len(run.bodies(ev.ModelAsked)) == 2
    assert processes_with(f"{run.folder.path}/submission") == []


def test_run_that_reached_a_limit_is_not_let_on_when_its_scoring_was_cut_off(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), bash("true")], limits=Limits(steps=1))
    run.wait_for(ev.GradingProgressed)
    run_limits = run.summary().limits
    assert run_limits.steps == 1
    kill(run)
    (run.folder.submission / "1" / "answer.txt").write_text("7\n")
    resumed(run)
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "steps")
    assert len(run.bodies(ev.ModelAsked)) == 1
    assert run.bodies(ev.Graded)[-1].score.value == 7.0


@pytest.mark.parametrize("asks", ["validate", "score"])
def test_grading_that_somebody_asked_for_is_done_again_and_answered(runs: Runs, asks: str) -> None:
    tool = script_line("validate") if asks == "validate" else bash(COUNT)
    waits = bash("until [ -e go.txt ]; do sleep 0.02; done")
    run = runs.start([bash("echo slow > answer.txt"), tool, waits, script_line("submit")])
    run.wait_for(ev.ToolCalled, count=2)
    request = run.post(ScoreNow(), who="ann") if asks == "score" else 0
    run.wait_for(ev.GradingProgressed)
    kill(run)
    (run.folder.submission / "1" / "answer.txt").write_text("7\n")
    resumed(run)
    graded = run.wait_for(ev.Graded)
    assert (graded.score.value, graded.score.split) == (7.0, "dev")
    if request:
        assert run.answer_to(request).detail == "number 7"
    (run.folder.work / "answer.txt").write_text("8\n")
    (run.folder.work / "go.txt").touch()
    assert run.ended().outcome == "submitted"
    assert [body.purpose for body in run.bodies(ev.Graded)] == ["score_now" if request else "validate", "final"]
    validated = [body for body in run.bodies(ev.ToolFinished) if body.tool == "validate"]
    assert [run.text(body.observation).splitlines()[0][:8] for body in validated] == ([] if request else ["number 7"])


@pytest.mark.parametrize("last", [ev.WorkEnded, ev.Graded, ev.SandboxStopped])
def test_run_that_was_shot_on_its_way_out_ends_with_one_score(runs: Runs, last: type[ev.Body]) -> None:
    run = runs.start([bash("echo 5 > answer.txt"), script_line("submit")])
    run.ended()
    cut_behind(run, next(event.seq for event in run.events() if isinstance(event.body, last)))
    resumed(run)
    assert run.ended().outcome == "submitted"
    assert [(body.purpose, body.score.value) for body in run.bodies(ev.Graded)] == [("final", 5.0)]
    assert len(run.bodies(ev.SandboxStopped)) == 1
    assert [event.seq for event in run.events()] == list(range(1, len(run.events()) + 1))
    assert run.summary().final_score is not None


@pytest.mark.parametrize("hours", [1, -1])
def test_clock_that_was_set_while_no_runner_lived_neither_ends_a_run_nor_lets_it_run_on(runs: Runs, hours: int) -> None:
    run = runs.start([bash(COUNT), script_line("submit")], limits=Limits(time_s=60.0))
    until(lambda: ticks(run) > 5, "the command ticks")
    kill(run)
    # Seen from here, a clock that was set back by an hour has left a record that is an hour ahead.
    with sqlite3.connect(run.folder.events) as connection:
        connection.execute("UPDATE events SET at = at + ?", (hours * 3600.0,))
    connection.close()
    resumed(run)
    run.wait_for(ev.ToolTakenUp)
    assert run.summary().working_s < 50.0
    run.post(ChangeLimits(limits=Limits(time_s=run.summary().working_s + 0.5)))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "time")
    times = [event.at for event in run.events()]
    assert times == sorted(times)
    assert run.summary().working_s < 60.0
