"""Panels, head and time line: only what is known is said, and it fits."""

from typing import Any

import msgspec
import pytest

from agent.record import events as ev
from agent.record.summary import fold_all
from agent.record.values import Gpu, Host, Limits, Progress, Proof, RunSummary, Score, Violation
from mlrb_tui.views import checklist, header, panels, timeline
from mlrb_tui.views.blocks import Asked, Place
from mlrb_tui.views.marks import Marks
from mlrb_tui.views.now import at_moment
from mlrb_tui.views.panels import Shown
from mlrb_tui.views.rows import Row, Span, cut_row, width_of
from mlrb_tui.views.series import Readings
from mlrb_tui.views.timeline import Moment
from tests.logs import baby_lm, hostile


def text(rows: list[Row]) -> str:
    return "\n".join("".join(span.text for span in line) for line in rows)


def shown(summary: RunSummary, *events: ev.Event) -> Shown:
    readings = Readings()
    for event in events:
        readings.take(event)
    return Shown(summary=summary, readings=readings, now=summary.at)


def whole(tell: list[ev.Event]) -> Shown:
    return shown(fold_all(tell), *tell)


@pytest.mark.parametrize("tell", [baby_lm.events(), hostile.events()], ids=["baby_lm", "hostile"])
@pytest.mark.parametrize("width", [20, 40, 46, 80])
@pytest.mark.parametrize("height", [0, 5, 20, 60])
def test_panels_fit_exactly_into_their_column(tell: list[ev.Event], width: int, height: int) -> None:
    rows = panels.boxes(whole(tell), width, height)
    assert len(rows) <= height
    assert {width_of(line) for line in rows} <= {width}


def test_what_is_not_known_is_not_shown() -> None:
    said = text(panels.boxes(shown(RunSummary(run="r", at=1.0)), 46, 60))
    assert "gpu" not in said
    assert "loss" not in said
    assert "score" not in said


def test_a_gpu_that_tells_nothing_is_not_applicable_not_zero() -> None:
    said = text(panels.boxes(shown(RunSummary(gpus=(Gpu(index=0),))), 46, 60))
    assert "n/a" in said
    assert "0 %" not in said


def test_a_score_names_split_scale_and_what_speaks_against_it() -> None:
    score = Score(
        metric="accuracy", value=1.0, split="test", scale="smoke", baseline=0.5, valid=False,
        violations=(Violation("opponent_changed", "strategy.py differs"),),
    )  # fmt: skip
    said = text(panels.boxes(shown(RunSummary(final_score=score)), 46, 60))
    for part in ("held-out", "smoke", "baseline 0.5", "invalid", "opponent_changed: strategy.py differs", "final"):
        assert part in said
    assert "beats" not in said


def test_sampled_losses_never_claim_an_exact_best() -> None:
    view = whole(baby_lm.events())
    view.readings.loss.thinned = True
    assert "best ~" in text(panels.boxes(view, 46, 60))


def test_the_strip_drops_whole_parts_where_there_is_no_room() -> None:
    view = whole(baby_lm.events())
    for width in range(0, 120, 7):
        said = panels.strip(view, width)
        assert width_of(said) <= width
        assert "…" not in text([said])


@pytest.mark.parametrize("width", [5, 20, 40, 80, 120, 200])
def test_the_head_fits_and_always_says_the_state(width: int) -> None:
    summary = fold_all(baby_lm.events())
    rows = header.rows(summary, summary.at, width, lost=False, requests=[], said="")
    assert all(width_of(line) <= width for line in rows)
    assert width < 40 or "SUBMITTED" in text(rows)


def test_a_lost_run_is_not_said_to_run() -> None:
    summary = fold_all(baby_lm.events()[:600])
    said = text(header.rows(summary, summary.at, 120, lost=True, requests=[], said=""))
    assert "LOST" in said
    assert "RUNNING" not in said


def test_a_helped_run_is_never_taken_for_an_unhelped_one() -> None:
    summary = fold_all(baby_lm.events())
    for width in (60, 120):
        assert "◆" in text(header.rows(summary, summary.at, width, lost=False, requests=[], said=""))


def test_a_pause_says_what_it_waits_for() -> None:
    summary = RunSummary(state="running", now="thinking", now_since=100.0, at=100.0)
    asked = Asked(place=Place(1, 100.0, 0, 0), request_id=1, verb="pause", text="step", who="lea")
    said = text(header.rows(summary, 112.0, 120, lost=False, requests=[asked], said=""))
    assert "pausing before the next model call · waiting 0:12 for the model's answer" in said


def test_clocks_of_a_paused_run_book_the_pause_and_not_the_work() -> None:
    summary = RunSummary(state="paused", at=100.0, working_s=50.0, paused_s=1.0)
    later = at_moment(summary, 130.0)
    assert (later.working_s, later.paused_s) == (50.0, 31.0)


def test_time_of_an_ended_run_stands_still() -> None:
    summary = RunSummary(state="ended", at=100.0, working_s=50.0)
    assert at_moment(summary, 900.0) == summary


def test_limits_that_are_used_up_are_not_shown_as_negative() -> None:
    summary = RunSummary(
        limits=Limits(time_s=10.0, steps=1, cost_usd=1.0, tokens=1), working_s=99.0, step=5, cost_usd=9.0
    )
    assert [said for _, _, said in panels.left(summary)] == ["0:00", "0", "$0.00", "1"]


def test_host_without_numbers_says_so() -> None:
    assert "n/a" in text(panels.boxes(shown(RunSummary(host=Host())), 46, 60))


def marks_of(tell: list[ev.Event]) -> Marks:
    marks = Marks()
    for event in tell:
        marks.add(event)
    return marks


@pytest.mark.parametrize("width", [0, 3, 9, 40, 150])
def test_the_axis_fits_and_shows_its_cursor(width: int) -> None:
    tell = baby_lm.events()
    moment = Moment(tell[0].at, tell[-1].at, tell[500].at, "replay", "dim", False)
    line = timeline.axis(moment, marks_of(tell), width)
    assert width_of(line) in (0, width)
    assert width < 9 or "┃" in text([line])


def test_an_error_is_not_hidden_by_what_shares_its_column() -> None:
    tell = [
        ev.Event(seq=1, at=0.0, body=ev.RequestReceived(request_id=1, verb="pause")),
        ev.Event(seq=2, at=0.0, body=ev.ToolFinished(call_id="c", message_id="t", failed=True)),
        ev.Event(seq=3, at=100.0, body=ev.RunEnded(outcome="killed")),
    ]
    line = timeline.axis(Moment(0.0, 100.0, 100.0, "end", "dim", True), marks_of(tell), 60)
    assert "×" in text([line])
    assert "◆" not in text([line])


def test_a_click_on_the_axis_means_the_time_drawn_there() -> None:
    moment = Moment(100.0, 300.0, 300.0, "end", "dim", True)
    assert timeline.moment_at(moment, 5, 60) == 100.0
    assert timeline.moment_at(moment, 59, 60) == 300.0
    assert timeline.moment_at(moment, 2, 60) is None


def _printed(*found: Progress) -> list[ev.Event]:
    bodies = [ev.ProgressSeen(call_id="c", progress=progress) for progress in found]
    return [ev.Event(seq=seq, at=float(seq), body=body) for seq, body in enumerate(bodies, 1)]


def test_a_loss_that_is_no_number_is_shown_red_until_there_is_one_again() -> None:
    good, gone = Progress(values={"loss": 2.5}), Progress(diverged=("loss",))
    diverged = whole(_printed(good, gone, Progress(values={"lr": 0.1})))
    said = [span for line in panels.boxes(diverged, 46, 60) for span in line]
    assert Span("nan/inf", "bad") in said
    assert Span("nan/inf", "bad") in panels.strip(diverged, 200)
    assert diverged.summary.diverged == ("loss",)
    healed = whole(_printed(good, gone, good))
    assert "nan/inf" not in text(panels.boxes(healed, 46, 60))
    assert healed.summary.diverged == ()


def test_a_loss_that_never_was_a_number_has_a_panel_too() -> None:
    assert "nan/inf" in text(panels.boxes(whole(_printed(Progress(diverged=("loss",)))), 46, 60))


def test_one_of_a_thing_is_not_told_in_the_plural() -> None:
    one = text(panels.boxes(shown(RunSummary(host=Host(cpu_percent=50.0, cpu_cores=1.0, processes=1))), 46, 60))
    assert "50 % of 1 core " in one
    assert "1 process " in one
    two = text(panels.boxes(shown(RunSummary(host=Host(cpu_percent=50.0, cpu_cores=1.5, processes=2))), 46, 60))
    assert "of 1.5 cores" in two
    assert "2 processes" in two


def killed(*proofs: Proof, **more: Any) -> RunSummary:
    return RunSummary(run="r", sandbox="docker", state="running", proofs=proofs, **more)


def test_checklist_of_a_kill_says_what_is_waited_for_before_anything_is_proven() -> None:
    said = text(panels.boxes(Shown(summary=killed(), readings=Readings(), now=1.0, killing=True), 46, 20))
    assert [name for name in ("model calls", "container", "processes", "log closed") if name not in said] == []
    assert "gpu memory" not in said
    assert "✔" not in said


def test_checklist_of_a_kill_fills_in_line_by_line() -> None:
    summary = killed(Proof("model calls", True, "none is open"), Proof("gpu memory", False, "waiting: gpu 0"))
    said = text(checklist.rows(summary))
    assert (said.count("✔"), "waiting: gpu 0" in said) == (1, True)
    assert checklist.in_one_line(summary).startswith("killing: model calls gone; waits for container, processes")


def test_what_a_kill_could_not_prove_stays_as_a_leftover() -> None:
    summary = killed(Proof("container", False, "no Docker daemon answers"), Proof("model calls", True, ""))
    over = msgspec.structs.replace(summary, state="ended", outcome="killed")
    lines = text(checklist.rows(over)).splitlines()
    assert next(line for line in lines if "container" in line).startswith("▲")
    assert next(line for line in lines if "processes" in line) == "▲ processes    nobody looked"
    assert lines[-1].startswith("✔ log closed")


def test_run_that_nobody_kills_has_no_checklist() -> None:
    assert " kill " not in text(panels.boxes(whole(baby_lm.events()), 46, 60))


def test_in_one_line_too_a_score_that_is_none_is_not_called_invalid() -> None:
    untouched = Score(metric="m", split="test", untouched=True, error="the artefact is the starter")
    ended = RunSummary(state="ended", outcome="submitted", final_score=untouched, host=Host(cpu_percent=3.0))
    said = text([panels.strip(shown(ended), 200)])
    assert said == "smoke test untouched starter"
    invalid = RunSummary(state="running", last_score=Score(metric="m", split="dev", value=0.5), host=Host())
    assert text([panels.strip(shown(invalid), 200)]).startswith("smoke dev 0.5 invalid")


@pytest.mark.parametrize("width", [30, 36, 60])
def test_no_room_is_too_small_for_the_scale_of_a_score(width: int) -> None:
    score = Score(metric="mean payoff per round", value=1.414, scale="smoke", baseline=1.023, valid=True)
    rows = panels.score_rows(score, RunSummary(final_score=score), width)
    assert "smoke" in "\n".join("".join(span.text for span in cut_row(line, width)) for line in rows)


@pytest.mark.parametrize(
    "held",
    [
        {"pause": "now", "pause_by": "ada", "paused_at": 100.0},
        {"pause": "step", "pause_limit": "cost", "paused_at": 100.0},
    ],
)
def test_a_moment_that_has_passed_offers_no_keys(held: dict[str, str | float]) -> None:
    summary = msgspec.convert({"state": "paused", "at": 100.0, **held}, RunSummary)
    now = text(header.rows(summary, 112.0, 120, lost=False, requests=[], said=""))
    past = text(header.rows(summary, 112.0, 120, lost=False, requests=[], said="", past=True))
    assert "goes on" in now
    assert "goes on" not in past
