"""Alarms that stand are told wherever the run is, the worst first, and only as long as they stand."""

import pytest

from agent.record import events as ev
from agent.record.summary import fold, fold_all
from agent.record.values import Limits, Progress, RunSummary, StandingAlert, WantedApproval
from mlrb_tui.views import alarms, fleet, header, notices
from mlrb_tui.views.fleet import FleetRow
from mlrb_tui.views.fleet_columns import ASCII, COLUMNS, UNICODE, Context
from mlrb_tui.views.rows import Row, width_of
from mlrb_tui.views.words import described

SLOW = StandingAlert(alert="too_slow", message="the command needs 3.1 h more", hint="raise the limit", at=40.0)
NAN = StandingAlert(alert="diverged", message="the loss is not a finite number", hint="interrupt it", at=30.0)
HOSTILE = StandingAlert(alert="x\x1b[31m", message="[/bold]\x1b]0;owned\x07" + "y" * 90_000, hint="\x00\u202e")
NOW = next(column for column in COLUMNS if column.name == "now")


def text(rows: list[Row]) -> str:
    return "\n".join("".join(span.text for span in line) for line in rows)


def run(*standing: StandingAlert, **more: object) -> RunSummary:
    values: dict[str, object] = {"run": "7f3a21c4", "state": "running", "at": 100.0, "now": "python train.py"}
    return RunSummary(**(values | more), standing=standing, last_alert=standing[-1].message if standing else "")  # type: ignore[arg-type]


def head(summary: RunSummary, width: int = 160) -> str:
    return text(header.rows(summary, 100.0, width, lost=False, requests=[], said=""))


def fleet_cell(summary: RunSummary) -> str:
    return "".join(text for text, _ in NOW.cell(FleetRow(summary), Context(now=100.0, id_width=4)))


def test_the_worst_is_told_first_whatever_came_last() -> None:
    assert alarms.standing(run(NAN, SLOW)) == (NAN, SLOW)
    assert alarms.tone((NAN, SLOW)) == "bad"
    assert alarms.tone((SLOW,)) == "warn"


def test_head_counts_them_and_has_the_worst_in_words() -> None:
    said = head(run(NAN, SLOW))
    assert "▲ 2 alarms" in said
    assert "▲ the loss is not a finite number" in said
    assert "▲ 1 alarm " in head(run(SLOW))
    assert "▲" not in head(run())
    assert "▲2" in head(run(NAN, SLOW, task="mlrb/baby_lm", model="m"), 44)


def test_what_is_cleared_is_told_no_more() -> None:
    events = [
        ev.Event(seq=1, at=1.0, body=ev.AlertRaised(alert="diverged", message="gone", hint="stop")),
        ev.Event(seq=2, at=2.0, body=ev.AlertCleared(alert="diverged")),
    ]
    raised = fold(run(), events[0])
    assert "gone" in fleet_cell(raised)
    assert "gone" not in fleet_cell(fold(raised, events[1]))
    assert "▲" not in head(fold(raised, events[1]))


def test_nothing_can_be_done_about_a_run_that_has_ended() -> None:
    ended = fold_all([ev.Event(seq=1, at=1.0, body=ev.RunEnded(outcome="submitted"))], run(NAN))
    assert alarms.standing(ended) == ()
    assert "▲" not in head(ended)


def test_fleet_row_has_the_worst_in_words_and_what_it_does_beside() -> None:
    said = fleet_cell(run(NAN, SLOW))
    assert said.startswith("2 alarms: the loss is not a finite number  python train.py")
    assert fleet_cell(run(SLOW)).startswith("the command needs 3.1 h more")


def test_fleet_row_of_a_run_that_waits_for_a_person_still_has_its_badge() -> None:
    wanted = WantedApproval(approval_id="q", call_id="c", tool="bash", summary="rm -rf x")
    assert fleet_cell(run(NAN, approval=wanted)).startswith("▲1 wants approval")
    paused = FleetRow(run(NAN, SLOW, state="paused", pause="now", pause_by="ada"))
    assert NOW.cell(paused, Context(now=100.0, id_width=4, glyphs=ASCII))[0] == ("^2 ", "bad")


def test_a_limit_that_pauses_is_not_told_twice() -> None:
    limit = StandingAlert(alert="limit", message="paused: the limit on time is reached")
    paused = run(limit, state="paused", pause="step", pause_limit="time")
    assert alarms.standing(paused) == ()


def test_list_of_what_asks_for_a_look_has_each_alarm_with_what_helps() -> None:
    rows = [FleetRow(run(NAN, SLOW)), FleetRow(run(SLOW, run="e6f70b1c", state="paused", pause_by="ada"))]
    lines = [text([fleet.notice_line(notice, UNICODE.moods, 4)]) for notice in fleet.notices(rows, 9)]
    assert lines == [
        "▲ 7f3a  the loss is not a finite number", "        interrupt it",
        "▲ 7f3a  the command needs 3.1 h more", "        raise the limit",
        "▲ e6f7  the command needs 3.1 h more", "        raise the limit",
    ]  # fmt: skip
    assert [notice.text for notice in fleet.notices(rows, 3)] == [NAN.message, SLOW.message, SLOW.message]


def test_transcript_has_the_alarm_with_its_hint_and_that_it_is_over() -> None:
    raised = notices.of(ev.Event(seq=1, at=1.0, body=ev.AlertRaised(alert="diverged", message="why", hint="what")))
    cleared = notices.of(ev.Event(seq=2, at=2.0, body=ev.AlertCleared(alert="diverged", message="no longer: why")))
    assert raised is not None
    assert (raised.glyph, raised.text, raised.tone) == ("▲", "why · what", "bad")
    assert cleared is not None
    assert (cleared.label, cleared.text) == ("cleared", "no longer: why")


def test_show_names_every_alarm_and_what_helps() -> None:
    said = described(run(NAN, SLOW), "")
    assert said["alarm 1"] == "the command needs 3.1 h more · raise the limit"
    assert said["alarm 2"] == "the loss is not a finite number · interrupt it"
    assert described(run(NAN), "")["alarm"] == "the loss is not a finite number · interrupt it"


@pytest.mark.parametrize("width", [10, 30, 42, 90])
@pytest.mark.parametrize("height", [1, 4, 30])
def test_panel_fits_and_says_what_it_leaves_out(width: int, height: int) -> None:
    found = alarms.standing(run(NAN, SLOW, HOSTILE, StandingAlert(alert="memory", message="m " * 80, hint="h " * 80)))
    found = (*found, StandingAlert(alert="\x1b[31m\x00"))
    rows = alarms.panel_rows(found, 100.0, width, height)
    assert all(width_of(line) <= width for line in rows) or width < 30
    assert "\x1b" not in text(rows)
    assert text(rows).startswith("▲ ")
    assert "more alarm" in text(rows) or height == 30


def test_whole_text_is_cut_nowhere_and_has_the_name_that_settings_use() -> None:
    lines = alarms.whole(alarms.standing(run(NAN, StandingAlert(alert="memory", message="m" * 500, hint="h"))), 100.0)
    said = "\n".join(line for line, _ in lines)
    assert "m" * 500 in said
    assert "raised 1 m 10 s ago · diverged" in said


@pytest.mark.parametrize(
    ("used_s", "said", "tone"),
    [(0.0, ", ends in ", "dim"), (86_000.0, ", ends in 40 m 00 s: the limit leaves 6 m 40 s", "warn")],
)
def test_a_command_that_will_not_be_done_in_time_says_so(used_s: float, said: str, tone: str) -> None:
    summary = run(
        now_since=40.0, limits=Limits(time_s=86_400.0), working_s=used_s, progress_at=90.0,
        progress=Progress(eta_s=60.0, command_eta_s=2_410.0),
    )  # fmt: skip
    spans = [span for line in header.rows(summary, 100.0, 120, lost=False, requests=[], said="") for span in line]
    assert (said, tone) in spans
    assert "40 m 00 s" in text([tuple(spans)])


def test_time_that_a_command_needs_counts_down_between_two_lines_of_it() -> None:
    seen = ev.ProgressSeen(call_id="c", progress=Progress(eta_s=100.0))
    summary = fold(run(), ev.Event(seq=9, at=110.0, body=seen))
    assert "ends in 1 m 10 s" in text(header.rows(summary, 140.0, 120, lost=False, requests=[], said=""))
    assert "ends in 0 s" in text(header.rows(summary, 900.0, 120, lost=False, requests=[], said=""))
