"""What is said of a run now: it counts down and up with the clock, and a run that stands still is not said to work."""

import pytest

from agent.record import events as ev
from agent.record.summary import fold, fold_all
from agent.record.values import Limits, RunSummary
from mlrb_tui.views.now import activity, what_it_waits_for, with_duration


def _summary(*bodies: ev.AnyBody) -> RunSummary:
    """A run in which that happened, a second each, from 100 on."""
    created = ev.RunCreated(
        run="r", task="t", scale="smoke", scaffold="react", model="m", sandbox="local", seed=0, limits=Limits()
    )
    begun: tuple[ev.AnyBody, ...] = (created, ev.RunStarted(pid=1, host="h"), ev.StepStarted())
    events = [ev.Event(seq=seq, at=99.0 + seq, body=body) for seq, body in enumerate((*begun, *bodies), 1)]
    return fold_all(events)


ASKED = ev.ModelAsked(call_id="a1", model="m")
BUSY = ev.ModelFailed(call_id="a1", reason="429", retry_in_s=24.0)
CALLED = ev.ToolCalled(call_id="c1", tool="bash", arguments={}, summary="sleep 600")


def test_a_retry_counts_down() -> None:
    summary = _summary(ASKED, BUSY)
    assert activity(summary, 104.0) == "retrying in 24 s"
    assert activity(summary, 118.0) == "retrying in 10 s"
    assert with_duration(summary, 200.0) == "retrying now"
    assert activity(fold(summary, ev.Event(seq=9, at=130.0, body=ASKED)), 131.0) == "thinking"


def test_what_runs_is_said_with_how_long_it_has() -> None:
    assert with_duration(_summary(ASKED), 113.0) == "thinking, for 10 s"
    assert with_duration(_summary(CALLED), 163.0) == "sleep 600, for 1 m 00 s"


@pytest.mark.parametrize("before", [(ASKED,), (ASKED, BUSY), (CALLED,)])
def test_a_frozen_run_is_not_said_to_work(before: tuple[ev.AnyBody, ...]) -> None:
    frozen = _summary(*before, ev.RunPaused(strength="now", by="ann"))
    assert with_duration(frozen, frozen.at + 5) == "nothing runs, by ann, for 5 s"
    paused = _summary(*before, ev.RunPaused(strength="step", by=""))
    assert activity(paused, 500.0) == "no model call"


def test_a_run_that_has_ended_does_nothing() -> None:
    assert with_duration(_summary(ASKED, BUSY, ev.RunEnded(outcome="killed")), 500.0) == ""


def test_what_a_pause_waits_for_is_named() -> None:
    question = ev.ApprovalAsked(approval_id="q1", call_id="c1", tool="bash", summary="rm x")
    assert what_it_waits_for(_summary(ASKED), 110.0) == "the model is being asked (7 s so far)"
    assert what_it_waits_for(_summary(ASKED, BUSY), 110.0) == "the model is asked again in 18 s"
    assert what_it_waits_for(_summary(CALLED), 103.5) == "`sleep 600` runs"
    assert what_it_waits_for(_summary(question), 105.0) == "a bash call waits for a person's word (2 s so far)"
    assert what_it_waits_for(_summary(ev.RunPaused(strength="step", by="ann")), 105.0) == "the run is paused"


def test_a_run_in_the_queue_says_what_it_waits_for() -> None:
    waits = _summary(ev.RunQueued(host="gpu-box", gpus=2, ahead=3, why="no GPU is free"))
    assert waits.state == "queued"
    assert activity(waits, 104.0) == "waits for 2 GPUs on gpu-box, 3 ahead"
    assert activity(RunSummary(state="queued"), 104.0) == "waits to be taken up"
