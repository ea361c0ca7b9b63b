"""The panels at the right of a run: only those with something to say, in the room that there is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.record.gpu_time import GpuHours, of_run
from agent.record.text import one_line
from agent.record.values import RunSummary, Score
from mlrb_tui.views import alarms, checklist, gpu_panel, host_panel, training_panels, words
from mlrb_tui.views.charts import bar, spark
from mlrb_tui.views.panel import Panel
from mlrb_tui.views.panel import Shown as Shown
from mlrb_tui.views.rows import EMPTY, Row, Span, apart, cells, cut, cut_row, row, width_of
from mlrb_tui.views.scores import figure, verdict

_USUAL_PLOT = 9
_FEW_ROWS, _MANY_ROWS = 4, 12
Maker = Callable[[Shown, int], list[Panel]]


@dataclass
class _Placed:
    """A panel that has room, at the size that it has."""

    place: int
    sizes: list[Panel]
    panel: Panel


def boxes(shown: Shown, width: int, height: int) -> list[Row]:
    """The panels as rows of exactly `width` columns, at most `height` of them.

    Each has room in its smallest form before any grows, the weightiest first; the loss has what is left over.
    """
    inner = width - 4
    placed: list[_Placed] = []
    free = height
    for make in _BY_WEIGHT:
        sizes = make(shown, inner)
        # A curve of the loss tells more than whatever comes below it in weight.
        least = sizes[-1:] if make is _loss and sizes and sizes[-1].height <= free // 2 else sizes[:1]
        if least and least[0].height <= free:
            placed.append(_Placed(_FROM_TOP.index(make), sizes, least[0]))
            free -= least[0].height
    for one in placed:
        if one.place == _FROM_TOP.index(_loss):
            free -= _grow_loss(one, shown, inner, free, _USUAL_PLOT)
        for larger in one.sizes[:0:-1]:
            if larger.height - one.panel.height <= free:
                free -= larger.height - one.panel.height
                one.panel = larger
                break
    for one in placed:
        if one.place == _FROM_TOP.index(_loss):
            _grow_loss(one, shown, inner, free, training_panels.MOST_PLOT)
    return [line for one in sorted(placed, key=lambda one: one.place) for line in _box(one.panel, width)]


def _grow_loss(one: _Placed, shown: Shown, inner: int, free: int, rows: int) -> int:
    """Draw the curve on up to so many rows; returns how many more it takes now."""
    before = one.panel.height
    one.panel = training_panels.loss(shown, inner, min(before + free, rows + 3)) or one.panel
    return one.panel.height - before


def _box(panel: Panel, width: int) -> list[Row]:
    title = f" {cut(panel.title, width - 6)} "
    top = row(Span("╭─", "frame"), Span(title, "title"), Span("─" * (width - cells(title) - 3) + "╮", "frame"))
    side = Span("│", "frame")
    lines = [(side, Span(" "), *_filled(line, width - 4), Span(" "), side) for line in panel.rows]
    return [top, *lines, row(Span("╰" + "─" * (width - 2) + "╯", "frame"))]


def _filled(line: Row, width: int) -> Row:
    return apart(cut_row(line, width), EMPTY, width)


# ── how it is ended ──────────────────────────────────────────────────────────────────────────────────────


def _kill(shown: Shown, width: int) -> list[Panel]:
    if not (shown.killing or shown.summary.proofs):
        return []
    return [Panel("kill", [cut_row(line, width) for line in checklist.rows(shown.summary)])]


# ── what is wrong ────────────────────────────────────────────────────────────────────────────────────────


def _alarms(shown: Shown, width: int) -> list[Panel]:
    found = alarms.standing(shown.summary)
    if not found:
        return []
    drawn = [alarms.panel_rows(found, shown.now, width, rows) for rows in (_FEW_ROWS, _MANY_ROWS)]
    return [Panel("alarms · ! shows all", rows) for rows in (drawn if len(drawn[1]) > len(drawn[0]) else drawn[:1])]


# ── what is left ─────────────────────────────────────────────────────────────────────────────────────────


def _left(shown: Shown, width: int) -> list[Panel]:
    bars = [_limit(name, part, said, width) for name, part, said in left(shown.summary)]
    rows = bars + [row(Span(line, "dim")) for line in _lines_of(clocks(shown), width)]
    title = "left" if bars else "used"
    return [Panel(title, bars), Panel(title, rows)] if bars else [Panel(title, rows)]


def left(summary: RunSummary) -> list[tuple[str, float, str]]:
    """Each limit: its name, the part that is used up, and what is left in words."""
    limits = summary.limits
    used = (
        ("time", summary.working_s, limits.time_s, words.clock),
        ("steps", summary.step, limits.steps, lambda value: f"{value:.0f}"),
        ("cost", summary.cost_usd, limits.cost_usd, lambda value: f"${value:.2f}"),
        ("tokens", summary.usage.total_tokens, limits.tokens, _tokens),
    )
    return [
        (name, spent / limit if limit else 1.0, say(max(0.0, limit - spent)))
        for name, spent, limit, say in used
        if limit is not None
    ]


def _tokens(count: float) -> str:
    return f"{count / 1_000_000:.1f} M" if count >= 1_000_000 else words.number(count)


def _limit(name: str, part: float, said: str, width: int) -> Row:
    tone = "bar" if part < 0.8 else "warn" if part < 0.95 else "bad"
    room = max(4, width - 8 - 10)
    return row(f"{name:<7} ", *bar(part, room, tone), Span(f"{said:>10}", "strong"))


def clocks(shown: Shown) -> list[str]:
    """The three clocks, and what was spent where no limit tells."""
    summary = shown.summary
    parts = [f"worked {words.clock(summary.working_s)}"]
    if summary.paused_s >= 1:
        parts.append(f"paused {words.clock(summary.paused_s)}")
    if summary.approval_s >= 1:
        parts.append(f"asked {words.clock(summary.approval_s)}")
    if summary.waited_s >= 1:
        parts.append(f"waited {words.clock(summary.waited_s)}")
    if summary.gpu_held_s >= 1:
        parts += _ledger(of_run(summary))
    elif summary.limits.cost_usd is None and summary.cost_usd:
        parts.append(f"cost {words.cost(summary)}")
    return parts


def _ledger(found: GpuHours) -> list[str]:
    """What the GPUs were held for, how much of that they idled, and what it cost."""
    parts = [
        f"gpu held {words.clock(round(found.reserved * 3600))}",
        f"gpu idle {words.clock(round(found.idle * 3600))}",
    ]
    return parts + ([f"gpu ${found.cost_usd:.2f}"] if found.cost_usd is not None else [])


def _lines_of(parts: Sequence[str], width: int) -> list[str]:
    """The parts on as few lines as they fit on."""
    lines: list[str] = []
    for part in parts:
        if lines and cells(lines[-1]) + 2 + cells(part) <= width:
            lines[-1] += f"  {part}"
        else:
            lines.append(part)
    return lines


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────


def _score(shown: Shown, width: int) -> list[Panel]:
    score = shown.summary.final_score or shown.summary.last_score
    return [] if score is None else [Panel("score", score_rows(score, shown.summary, width))]


def _loss(shown: Shown, width: int) -> list[Panel]:
    """In its smallest form, and with the smallest curve; how much room that has is known last."""
    found = (training_panels.loss(shown, width, height) for height in (0, training_panels.LEAST_PLOT + 3))
    return list({panel.height: panel for panel in found if panel is not None}.values())


def score_rows(score: Score, summary: RunSummary, width: int) -> list[Row]:
    """The score with all that qualifies it: split, scale, baseline, whether it is the final one."""
    value = "–" if score.value is None else figure(score.value)
    error = f" ±{score.standard_error:.2g}" if score.standard_error is not None else ""
    named = row(Span(value, "strong"), Span(error, "dim"), f" {one_line(score.metric, 22)}")
    first = apart(named, (verdict(score),), width)
    final = "final · " if score == summary.final_score else ""
    baseline = f"baseline {figure(score.baseline)}" if score.baseline is not None else ""
    better = "lower is better" if score.direction == "minimize" else ""
    # The scale first: what is cut for want of room must never be that.
    where = f"{score.scale} · {final}{'held-out' if score.split == 'test' else 'dev split'}"
    rows = [first, apart(row(Span(where, "dim")), row(Span(baseline, "dim")), width)]
    faults = [f"{violation.rule}: {violation.evidence}" for violation in score.violations]
    faults += [score.error] if score.error else []
    rows += [cut_row(row(Span(f"× {one_line(fault)}", "bad")), width) for fault in faults[:3]]
    caveats = [better, "paper's protocol" if score.protocol == "paper" else ""]
    caveats.append("graded without isolation" if score.isolation == "local" else "")
    said = " · ".join(caveat for caveat in caveats if caveat)
    return rows + ([cut_row(row(Span(said, "dim")), width)] if said else [])


_FROM_TOP: tuple[Maker, ...] = (
    _kill, _alarms, _left, _score, gpu_panel.panels, host_panel.panels, training_panels.rate, _loss,
    training_panels.checkpoints,
)  # fmt: skip
_BY_WEIGHT: tuple[Maker, ...] = (
    _kill, _alarms, _left, _loss, gpu_panel.panels, _score, training_panels.rate, training_panels.checkpoints,
    host_panel.panels,
)  # fmt: skip
"""What has no room goes from the end."""


# ── where there is no room for panels ────────────────────────────────────────────────────────────────────


def strip(shown: Shown, width: int) -> Row:
    """The panels in one line: as many as fit whole, the weightiest first."""
    line: list[Span] = []
    for part in _strip_parts(shown):
        gap = [Span("  ·  ", "faint")] if line else []
        if width_of((*line, *gap, *part)) <= width:
            line += [*gap, *part]
    return tuple(line)


def _strip_parts(shown: Shown) -> list[Row]:
    summary, readings = shown.summary, shown.readings
    parts: list[Row] = []
    if (
        time_left := next((said for name, _, said in left(summary) if name == "time"), "")
    ) and summary.state != "ended":
        parts.append(row(Span(time_left, "strong"), Span(" left", "dim")))
    if (score := summary.final_score or summary.last_score) is not None:
        parts.append(row(Span(f"{score.scale} {score.split} ", "dim"), *_score_in_short(score)))
    if readings.loss.last is not None or "loss" in readings.diverged:
        picture = Span(spark(readings.loss.values, 10), "spark")
        parts.append(row(Span("loss ", "dim"), training_panels.last_loss(readings), " ", picture))
    if summary.state != "ended":
        parts += _machine_in_short(summary)
    if readings.rate.last is not None:
        parts.append(row(f"{words.number(readings.rate.last)} {one_line(readings.rate_unit, 12)}"))
    return parts


def _score_in_short(score: Score) -> Row:
    """The value where it counts; else what it is instead."""
    if score.value is None or score.untouched:
        return (verdict(score),)
    return row(Span(figure(score.value), "strong"), Span("" if score.valid else " invalid", "bad"))


def _machine_in_short(summary: RunSummary) -> list[Row]:
    if summary.gpus:
        return [gpu_panel.in_short(summary.gpus)]
    return [] if summary.host is None else [host_panel.in_short(summary.host)]
