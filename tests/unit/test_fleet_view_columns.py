"""The fleet's columns: what a cell says, and that any width has a good line."""

from dataclasses import replace

import pytest

from agent.record.values import Gpu, Host, Limits, RunSummary, Score, Usage
from mlrb_tui.views.fleet import FleetRow, build_rows
from mlrb_tui.views.fleet_columns import ASCII, COLUMNS, Cell, Context, brief, fitted, natural_widths, place
from mlrb_tui.views.rows import width_of
from tests.ui.fleet_homes import NOON, a_run, believable, ended

CONTEXT = Context(now=NOON, id_width=4)
ROWS = build_rows(believable(), {})


def _cell(name: str, run: RunSummary, context: Context = CONTEXT) -> Cell:
    column = next(column for column in COLUMNS if column.name == name)
    return column.cell(FleetRow(run), context)


def _said(name: str, run: RunSummary, context: Context = CONTEXT) -> str:
    return "".join(text for text, _ in _cell(name, run, context))


def _scored(**score: object) -> RunSummary:
    return a_run("abcd1234", "a/b", "m", final_score=Score(metric="m", **score), **ended("submitted", 9))  # type: ignore[arg-type]


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_score_below_its_baseline_is_no_gain() -> None:
    cell = _cell("score", _scored(value=0.4, baseline=0.5, valid=True))
    assert ("0.4", "strong") in cell
    assert (" ▼0.1", "bad") in cell


def test_where_less_is_better_less_is_a_gain() -> None:
    cell = _cell("score", _scored(value=0.4, baseline=0.5, valid=True, direction="minimize"))
    assert (" ▼0.1", "good") in cell


def test_an_invalid_score_is_said_in_words_and_has_no_gain() -> None:
    assert _said("score", _scored(value=9.9, baseline=0.5, valid=False)) == "9.9 invalid"


def test_an_untouched_starter_shows_no_figure() -> None:
    assert _said("score", _scored(value=0.5, baseline=0.5, untouched=True)) == "untouched"


def test_a_dev_score_is_marked() -> None:
    assert _said("score", _scored(value=0.7, valid=True, split="dev")) == "0.7 dev"


def test_nothing_measured_is_no_zero() -> None:
    assert _said("score", _scored(value=None, error="no file")) == "no score"
    assert _said("score", a_run("abcd1234", "a/b", "m", **ended("limit", 9))) == "none"
    assert _said("score", a_run("abcd1234", "a/b", "m")) == ""


# ── now, left, machine ───────────────────────────────────────────────────────────────────────────────────


def test_who_froze_a_run_and_since_when_is_said() -> None:
    run = a_run("a", "a/b", "m", state="paused", pause="now", pause_by="ada", paused_at=NOON - 250)
    assert _said("now", run) == "frozen by ada  4 m"


def test_left_names_the_limit_that_ends_the_run_first() -> None:
    limits = Limits(time_s=1_000.0, steps=100, cost_usd=10.0, tokens=1_000)
    said = {
        "50 st": a_run("a", "a/b", "m", step=50, limits=limits),
        "1 m": a_run("a", "a/b", "m", working_s=900.0, limits=limits),
        "$1.00": a_run("a", "a/b", "m", cost_usd=9.0, limits=limits),
        "100 tk": a_run("a", "a/b", "m", usage=Usage(input_tokens=900), limits=limits),
    }
    for left, run in said.items():
        assert _said("left", run) == left


def test_time_runs_between_two_events() -> None:
    run = a_run("a", "a/b", "m", working_s=0.0, limits=Limits(time_s=300.0))
    assert _said("left", run, Context(now=NOON + 12, id_width=4)) == "4 m"


def test_a_run_without_limits_has_nothing_left_to_say() -> None:
    assert _said("left", a_run("a", "a/b", "m", limits=Limits())) == ""
    assert _said("bar", a_run("a", "a/b", "m", limits=Limits())) == ""


def test_what_a_gpu_does_not_tell_is_not_zero() -> None:
    run = a_run("a", "a/b", "m", gpus=(Gpu(index=0),))
    assert _said("memory", run) == "n/a"
    assert _said("busy", run) == "gpu n/a"


def test_busy_is_a_share_of_the_cores_there_are() -> None:
    assert _said("busy", a_run("a", "a/b", "m", host=Host(cpu_percent=100.0, cpu_cores=2))) == "cpu  50%"


def test_an_ended_run_uses_nothing() -> None:
    run = a_run("a", "a/b", "m", host=Host(cpu_percent=100.0, memory_used_bytes=5), **ended("killed", 5))
    assert _said("memory", run) == ""
    assert _said("busy", run) == ""


def test_an_unknown_price_makes_a_lower_bound() -> None:
    assert _said("cost", a_run("a", "a/b", "m", cost_usd=1.5, cost_known=False)) == "≥$1.50"


# ── text that is not ours ────────────────────────────────────────────────────────────────────────────────

HOSTILE = "\x1b]0;owned\x07[/bold]\x9b31m\u202eevil\r\nline\x00"


def test_no_cell_lets_a_control_character_by() -> None:
    run = a_run(
        HOSTILE, HOSTILE, HOSTILE, now=HOSTILE, sandbox=HOSTILE, outcome_detail=HOSTILE, last_alert=HOSTILE, alerts=1
    )
    for summary in (run, a_run(HOSTILE, HOSTILE, HOSTILE, outcome_detail=HOSTILE, **ended("failed", 5))):
        for column in COLUMNS:
            for text, _ in column.cell(FleetRow(summary), CONTEXT):
                assert text.isprintable(), column.name
                assert "\u202e" not in text


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("width", [*range(1, 260, 7), 80, 100, 120, 160])
def test_columns_fit_any_width_and_never_overlap(width: int) -> None:
    placed = place(natural_widths(ROWS, CONTEXT), width)
    assert placed
    end = -1
    for column in placed:
        assert column.x > end
        end = column.x + column.width - 1
        assert column.width >= 1
    assert end < max(width, 1)


@pytest.mark.parametrize("width", [40, 80, 120, 160, 220])
def test_a_cell_is_never_wider_than_its_column(width: int) -> None:
    for column in place(natural_widths(ROWS, CONTEXT), width):
        for row in ROWS:
            assert width_of(fitted(column.column.cell(row, CONTEXT), column)) <= column.width


def test_eighty_columns_show_what_is_needed_to_steer() -> None:
    context = Context(now=NOON, id_width=4, narrow=True)
    names = {column.column.name for column in place(natural_widths(ROWS, context), 78)}
    assert {"mood", "run", "task", "step", "now", "left", "score", "scale"} <= names


def test_a_score_never_stands_without_its_scale() -> None:
    for width in range(5, 250):
        context = Context(now=NOON, id_width=4, narrow=width < 100)
        names = {column.column.name for column in place(natural_widths(ROWS, context), width)}
        assert ("score" in names) <= ("scale" in names), width


def test_a_wide_terminal_shows_every_column() -> None:
    marked = replace(CONTEXT, marked=(ROWS[0].summary.run,))
    assert len(place(natural_widths(ROWS, marked), 240)) == len(COLUMNS)


def test_marks_take_a_column_only_where_there_are_any_in_sight_or_not() -> None:
    assert natural_widths(ROWS, CONTEXT)["mark"] == 0
    assert natural_widths(ROWS[:1], replace(CONTEXT, marked=("elsewhere",)))["mark"] == 1
    second = replace(CONTEXT, marked=("elsewhere", ROWS[0].summary.run))
    assert _said("mark", ROWS[0].summary, second) == "2"


def test_how_long_it_takes_stays_in_sight_where_the_command_is_cut() -> None:
    now = next(placed for placed in place(natural_widths(ROWS, CONTEXT), 80) if placed.column.name == "now")
    assert fitted(now.column.cell(ROWS[0], CONTEXT), now)[-1].text == "  41 m"


def test_sparklines_show_the_whole_course_of_what_is_kept() -> None:
    falling = a_run("abcd1234", "a/b", "m", loss_tail=tuple(float(24 - step) for step in range(24)))
    assert _said("spark", falling) == "█▇▆▅▄▃▂▁"
    busy = a_run("abcd1234", "a/b", "m", busy_tail=(0.0, 50.0, 100.0))
    assert _said("busy_spark", busy) == "▁▄█"
    assert _said("busy_spark", a_run("abcd1234", "a/b", "m", busy_tail=(50.0, 60.0), **ended("submitted", 9))) == ""


def test_ascii_glyphs_are_ascii() -> None:
    context = Context(now=NOON, id_width=4, glyphs=ASCII)
    for row in ROWS:
        for name in ("mood", "bar", "spark"):
            said = _said(name, row.summary, context)
            assert said.isascii(), said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 m"), (3_600, "1h00m"), (90_000, "1d01h"), (1e7, "115d17h")],
)
def test_durations_are_brief(seconds: float, said: str) -> None:
    assert brief(seconds) == said


def test_a_loss_that_is_no_number_is_red_in_the_list() -> None:
    run = a_run("abcd1234", "a/b", "m", loss_tail=(3.0, 2.0), diverged=("loss",))
    assert _cell("loss", run) == (("nan/inf", "bad"),)
