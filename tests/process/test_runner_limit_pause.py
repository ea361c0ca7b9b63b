"""A limit that pauses: nothing is ended, what runs is frozen, and a raised limit lets it go on where it stood."""

import time

from agent.record import events as ev
from agent.record.inbox import ChangeLimits, Kill, Resume
from agent.record.values import LimitKind, Limits
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

COUNT = "i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo $i > count.txt; sleep 0.02; done; echo 4 > answer.txt"


def _counted(run: Run) -> str:
    try:
        return (run.folder.work / "count.txt").read_text()
    except FileNotFoundError:
        return ""


def _paused(run: Run, limit: LimitKind, count: int = 1) -> ev.RunPaused:
    paused = run.wait_for(ev.RunPaused, count=count)
    assert (paused.limit, paused.why) == (limit, f"the limit on {limit} is reached")
    alert = run.wait_for(ev.AlertRaised, lambda body: body.alert == "limit", count=count)
    assert limit in alert.message
    assert "raise" in alert.hint
    return paused


def test_a_command_that_runs_when_the_time_is_up_is_frozen_and_goes_on_after_a_raise(runs: Runs) -> None:
    run = runs.start([bash(COUNT), script_line("submit")], limits=Limits(time_s=1.2), on_limit="pause")
    assert _paused(run, "time").strength == "now"
    before = _counted(run)
    assert before
    assert "still reached" in run.refusal_of(run.post(Resume())).reason
    began = time.monotonic()
    until(lambda: time.monotonic() - began > 0.5, "time passes")
    assert _counted(run) == before
    summary = run.summary()
    assert (summary.state, summary.pause_limit) == ("paused", "time")
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=300.0), why="it learns")))
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"
    assert len(run.bodies(ev.ToolCalled)) == 2
    assert run.bodies(ev.Graded)[-1].score.value == 4.0
    assert run.summary().pause_limit is None


def test_used_up_steps_pause_before_the_next_step_begins(runs: Runs) -> None:
    run = runs.start([bash("true"), bash("true"), script_line("submit")], limits=Limits(steps=2), on_limit="pause")
    assert _paused(run, "steps").strength == "step"
    assert run.summary().step == 2
    assert len(run.bodies(ev.ModelAsked)) == 2
    assert "still reached" in run.refusal_of(run.post(Resume())).reason
    run.answer_to(run.post(ChangeLimits(limits=Limits(steps=3))))
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"
    assert run.summary().step == 3


def test_tokens_pause_before_the_next_model_call_and_a_limit_reached_again_pauses_again(runs: Runs) -> None:
    run = runs.start([bash("true"), bash("true"), bash("true")], limits=Limits(tokens=0), on_limit="pause")
    _paused(run, "tokens")
    assert run.bodies(ev.ModelAsked) == []
    run.answer_to(run.post(ChangeLimits(limits=Limits(steps=1))))
    run.answer_to(run.post(Resume()))
    assert run.wait_for(ev.RunPaused, count=2).limit == "steps"
    run.post(Kill())
    assert run.ended().outcome == "killed"


def test_a_run_paused_by_a_limit_is_killed_with_nothing_left(runs: Runs) -> None:
    run = runs.start([bash("sleep 876.5")], limits=Limits(time_s=0.8), on_limit="pause")
    _paused(run, "time")
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert processes_with("876.5") == []


def test_without_it_a_limit_ends_the_run_as_ever(runs: Runs) -> None:
    run = runs.start([bash("sleep 875.5")], limits=Limits(time_s=0.8))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "time")
    assert run.bodies(ev.RunPaused) == []
