"""Time is booked on the clock that ran, and on none where nobody worked, waited or was paused."""

import time

from agent.record import events as ev
from agent.record.clock import SystemClock
from agent.record.clocks import LONGEST_SILENCE_S, clock_of, clocks_at, moment_by_wall
from agent.record.summary import fold_all
from agent.record.values import Limits, RunSummary

_CREATED = ev.RunCreated(
    run="r", task="t/t", scale="smoke", scaffold="react", model="scripted", sandbox="local", seed=0, limits=Limits()
)


def _folded(*bodies: tuple[float, ev.Known]) -> RunSummary:
    return fold_all(ev.Event(seq=seq, at=at, step=0, worker=0, body=body) for seq, (at, body) in enumerate(bodies, 1))


def test_data_sandbox_and_final_scoring_are_not_the_agents_time() -> None:
    summary = _folded(
        (100.0, _CREATED),
        (101.0, ev.RunStarted(pid=1, host="h")),
        (140.0, ev.StepStarted()),
        (150.0, ev.GradingStarted(grading_id="g1", purpose="validate", split="dev")),
        (160.0, ev.GradingStarted(grading_id="g2", purpose="final", split="test")),
        (190.0, ev.RunEnded(outcome="submitted")),
    )
    assert (summary.working_s, summary.paused_s, summary.waited_s) == (20.0, 0.0, 0.0)


def test_a_pause_within_a_wait_for_a_rate_limit_is_a_pause() -> None:
    summary = _folded(
        (100.0, _CREATED),
        (100.0, ev.RunStarted(pid=1, host="h")),
        (100.0, ev.StepStarted()),
        (101.0, ev.ModelAsked(call_id="a1", model="m")),
        (102.0, ev.ModelFailed(call_id="a1", reason="busy", retry_in_s=20.0)),
        (105.0, ev.RunPaused(strength="now", by="ann")),
        (115.0, ev.RunResumed(by="ann")),
        (122.0, ev.ModelAsked(call_id="a2", model="m")),
        (123.0, ev.Heartbeat(summary=RunSummary())),
    )
    assert (summary.working_s, summary.paused_s, summary.waited_s) == (3.0, 10.0, 10.0)


def test_between_two_events_the_clock_that_runs_goes_on() -> None:
    running = RunSummary(state="running", at=100.0, working_s=5.0)
    assert (clock_of(running), clocks_at(running, 107.0)) == ("working_s", {"working_s": 12.0})
    assert clocks_at(running, 90.0) == {}
    assert clocks_at(RunSummary(state="scoring", at=100.0), 107.0) == {}


def test_time_that_a_person_takes_for_a_word_has_a_clock_of_its_own() -> None:
    question = ev.ApprovalAsked(approval_id="q1", call_id="c", tool="bash", summary="ls")
    summary = _folded(
        (100.0, _CREATED),
        (100.0, ev.RunStarted(pid=1, host="h")),
        (100.0, ev.StepStarted()),
        (103.0, question),
        (110.0, ev.RunPaused(strength="now", by="ann")),
        (115.0, ev.RunResumed(by="ann")),
        (120.0, ev.ApprovalGiven(approval_id="q1", decision="accepted", by="ann")),
        (121.0, ev.Heartbeat(summary=RunSummary())),
    )
    assert (summary.working_s, summary.paused_s, summary.approval_s) == (4.0, 5.0, 12.0)
    assert summary.approval is None


def test_a_question_asked_again_after_a_crash_counts_as_waiting_from_then_on() -> None:
    question = ev.ApprovalAsked(approval_id="q1", call_id="c", tool="bash", summary="ls")
    summary = _folded(
        (100.0, _CREATED),
        (100.0, ev.RunStarted(pid=1, host="h")),
        (100.0, ev.StepStarted()),
        (103.0, question),
        (200.0, ev.RunStarted(pid=2, host="h", resumed=True)),
        (205.0, question),
        (207.0, ev.Heartbeat(summary=RunSummary())),
    )
    assert (summary.state, summary.working_s, summary.approval_s) == ("running", 3.0, 2.0)


def test_wall_clock_that_somebody_sets_moves_no_clock_of_a_live_run_by_an_hour() -> None:
    running = RunSummary(state="running", at=1_000.0, working_s=5.0)
    for wall, shown_s in ((1_004.0, 9.0), (1_000.0 + 3600, 5.0 + LONGEST_SILENCE_S), (1_000.0 - 3600, 5.0)):
        moment = moment_by_wall(running.at, wall)
        assert clocks_at(running, moment).get("working_s", running.working_s) == shown_s


def test_system_clock_goes_on_from_the_record_where_the_machines_was_set_back() -> None:
    ahead = time.time() + 3600
    clock = SystemClock(not_before=ahead)
    first, began = clock.now(), time.monotonic()
    assert ahead <= first < ahead + 60
    assert first <= clock.now() <= first + (time.monotonic() - began) + 0.001


def test_time_without_a_runner_is_nobodys_whatever_went_on_meanwhile() -> None:
    summary = _folded(
        (100.0, _CREATED),
        (100.0, ev.RunStarted(pid=1, host="h")),
        (100.0, ev.StepStarted()),
        (101.0, ev.ToolCalled(call_id="t", tool="bash", summary="train")),
        (103.0, ev.ToolOutput(call_id="t", text="x")),
        # The machine's clock was set forward by an hour while nobody wrote.
        (3800.0, ev.RunStarted(pid=2, host="h", resumed=True)),
        (3805.0, ev.ToolTakenUp(call_id="t", tool="bash", summary="train", worked_s=40.0)),
        (3806.0, ev.ToolFinished(call_id="t", message_id="m")),
        (3807.0, ev.WorkEnded(outcome="submitted")),
        (3900.0, ev.RunEnded(outcome="submitted")),
    )
    assert summary.working_s == 3.0 + 1.0 + 1.0
