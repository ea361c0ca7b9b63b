"""The fleet's top line: how many runs are in which state, and what they have cost."""

from mlrb_tui.views import words
from mlrb_tui.views.fleet import FleetCounts, Mood
from mlrb_tui.views.fleet_columns import MOOD_TONES, Glyphs
from mlrb_tui.views.rows import Row, Span, apart, width_of

_WORDS: dict[Mood, str] = {
    "running": "running", "scoring": "scoring", "starting": "starting", "needs you": "needs you", "alarm": "alarm",
    "paused": "paused", "waiting": "waiting", "lost": "lost",
}  # fmt: skip
_PLURALS: dict[Mood, str] = {"needs you": "need you", "alarm": "alarms"}

HEADING = (Span(" mlrb", "strong"),)


def header(
    counts: FleetCounts, sums: FleetCounts, glyphs: Glyphs, width: int, *, shown: int, query: str, order: str
) -> Row:
    """The figures at the left, the filter and the order at the right; what has no room is left out.

    `counts` are of all runs, `sums` of those that the filter lets by.
    """
    left: list[Span] = [*HEADING]
    for mood, word in _WORDS.items():
        if number := counts.moods.get(mood, 0):
            said = _PLURALS.get(mood, word) if number > 1 else word
            left += [Span(f"   {glyphs.moods[mood]} {number} {said}", MOOD_TONES[mood])]
    if counts.ended_today:
        left.append(Span(f"   {glyphs.moods['done']} {counts.ended_today} ended today", "muted"))
    if counts.total and not counts.moods.keys() & _WORDS.keys() and not counts.ended_today:
        left.append(Span(f"   {words.count(counts.total, 'run')}", "muted"))
    right = [Span(f"by {order} ", "muted")] if counts.total else []
    if query:
        right = [Span(f"filter {query}  ", "info"), Span(f"{shown} of {counts.total}  ", "muted"), *right]
    for index, figure in enumerate(_figures(sums)):
        # What was spent is told whatever goes for it; the other figures only take room that is left over.
        others = width_of(tuple(right)) + 2 if index else 0
        if width_of((*left, figure)) + others <= width:
            left.append(figure)
    while right and width_of((*left, *right)) + 2 > width and width > 40:
        right.pop()
    return apart(tuple(left), tuple(right), width)


def _figures(counts: FleetCounts) -> list[Span]:
    """What the runs cost and held, the weightiest first."""
    sign = "" if counts.spent_known else "≥"
    found = [f"spent {sign}${counts.spent_usd:,.2f}"]
    hours = counts.gpu_hours
    if counts.gpus:
        found.append(f"gpu {counts.gpus_busy}/{counts.gpus} busy")
    if hours.reserved:
        found.append(f"held {_hours(hours.reserved)}  idle {_hours(hours.idle)}")
    if hours.cost_usd is not None:
        found.append(f"gpus ${hours.cost_usd:,.2f}")
    return [Span(f"   {said}", "muted") for said in found]


def _hours(value: float) -> str:
    return f"{value:.0f} h" if value >= 10 else f"{value:.1f} h"


EMPTY_STATE: tuple[Row, ...] = (
    (Span("No runs yet.", "strong"),),
    (),
    (Span("Press ", "muted"), Span("n", "strong"), Span(" to launch an agent on a task,", "muted")),
    (Span("or type  ", "muted"), Span("mlrb run mlgym/battle_of_sexes", "accent"), Span("  in a shell;", "muted")),
    (Span("it needs no key and takes a minute.", "muted"),),
)
"""What the fleet says where there is nothing to show."""

NOTHING_FOUND: tuple[Row, ...] = (
    (Span("No run matches the filter.", "strong"),),
    (),
    (Span("esc", "strong"), Span(" clears it. Fields: state: task: model: run: scale: where: who:", "muted")),
)
"""What the fleet says where the filter lets nothing by."""
