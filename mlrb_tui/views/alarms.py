"""Alarms that stand, in words and rows: the worst in short, or each with why and what one could do."""

from collections.abc import Sequence

from agent.record.text import one_line, printable
from agent.record.values import RunSummary, StandingAlert
from mlrb_tui.views import words
from mlrb_tui.views.rows import Row, Span, cut, row, wrapped

GRAVE = frozenset(("diverged", "gpu_trouble", "out_of_memory", "touched", "disk", "disk_full", "broken"))
"""What makes work worthless or stops it; the others may cost time."""
_MOST_LINES = 2


def standing(summary: RunSummary) -> tuple[StandingAlert, ...]:
    """What stands of a run that goes on, the grave first and then the newest; of one that has ended, nothing."""
    if summary.state == "ended":
        return ()
    found = summary.standing or ((StandingAlert(alert="", message=summary.last_alert),) if summary.last_alert else ())
    # That a limit is reached is said by the state itself, with the keys that help.
    found = tuple(alarm for alarm in found if alarm.alert != "limit" or summary.pause_limit is None)
    return tuple(sorted(found, key=lambda alert: (alert.alert not in GRAVE, -alert.at)))


def tone(alarms: Sequence[StandingAlert]) -> str:
    """The tone of the worst of them."""
    return "bad" if any(alarm.alert in GRAVE for alarm in alarms) else "warn"


def badge(alarms: Sequence[StandingAlert], *, full: bool) -> list[Span]:
    """How many there are; nothing where there are none."""
    if not alarms:
        return []
    said = f"▲ {words.count(len(alarms), 'alarm')}" if full else f"▲{len(alarms)}"
    return [Span(said, tone(alarms))]


def panel_rows(alarms: Sequence[StandingAlert], now: float, width: int, height: int) -> list[Row]:
    """Each alarm with its hint below, as far as there is room; what has none is counted."""
    rows: list[Row] = []
    for index, alarm in enumerate(alarms):
        shown = _entry(alarm, now, width)
        last = index == len(alarms) - 1
        if rows and len(rows) + len(shown) > height - (not last):
            return [*rows, row(Span(f"… {words.count(len(alarms) - index, 'more alarm')}", "dim"))]
        rows += shown
    return rows


def _entry(alarm: StandingAlert, now: float, width: int) -> list[Row]:
    lines = wrapped(one_line(alarm.message or alarm.alert), width - 2)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], cut(" ".join(lines[_MOST_LINES - 1 :]), width - 2)]
    first, *rest = lines
    worst = tone((alarm,))
    rows = [row(Span("▲ ", worst), Span(first)), *(row("  ", Span(line)) for line in rest)]
    since = f"{words.duration(now - alarm.at)} ago" if alarm.at else ""
    said = " · ".join(part for part in (since, one_line(alarm.hint)) if part)
    return rows + ([row("  ", Span(cut(said, width - 2), "dim"))] if said else [])


def whole(alarms: Sequence[StandingAlert], now: float) -> list[tuple[str, str]]:
    """All of each alarm, as lines with their tones: why, what one could do, since when, its name in the settings."""
    lines: list[tuple[str, str]] = []
    for alarm in alarms:
        since = f"raised {words.duration(now - alarm.at)} ago" if alarm.at else ""
        lines += [("", "")] if lines else []
        lines.append((f"▲ {printable(alarm.message or alarm.alert)}", tone((alarm,))))
        lines += [(f"  {printable(alarm.hint)}", "")] if alarm.hint else []
        lines.append((f"  {' · '.join(part for part in (since, one_line(alarm.alert, 40)) if part)}", "dim"))
    return lines
