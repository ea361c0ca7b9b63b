"""The time line as rows: one axis from the first event to the last."""

from dataclasses import dataclass

from mlrb_tui.views import words
from mlrb_tui.views.marks import Marks
from mlrb_tui.views.rows import Row, Span, apart, cells, cut_row, row

_GLYPHS = {
    "error": ("×", "bad"), "score": ("✔", "score"), "alert": ("▲", "warn"), "person": ("◆", "person"),
    "pause": ("║", "pause"), "resume": ("║", "pause"), "saved": ("·", "bar"),
}  # fmt: skip
_LEGEND = (("×", "bad", "error"), ("✔", "score", "score"), ("▲", "warn", "alarm"), ("◆", "person", "person"),
           ("║", "pause", "pause"))  # fmt: skip
_PLAIN = ("─", "faint")
_BEFORE = 5
"""Columns in front of the axis."""


@dataclass(frozen=True)
class Moment:
    """What the time line shows besides its marks."""

    first_at: float
    last_at: float
    at: float
    """The moment that the screen shows."""
    state: str
    """`LIVE`, `ended`, `paused here`, `×4` …"""
    state_tone: str
    at_end: bool


def axis(moment: Moment, marks: Marks, width: int) -> Row:
    """The line itself: where it begins, the marks, the cursor."""
    return (Span("0:00 ", "dim"), *_line(moment, marks, width - _BEFORE)) if width >= _BEFORE + 4 else ()


def clock(moment: Moment) -> Row:
    """The moment shown, of how many, and what the screen does there."""
    here = words.clock(moment.at - moment.first_at)
    said = here if moment.at_end else f"{here} / {words.clock(moment.last_at - moment.first_at)}"
    return row(Span(f" {said} ", "strong"), Span(moment.state, moment.state_tone))


def legend(stop: str, width: int, *, steering: bool) -> Row:
    """What the marks mean, and the keys that move the cursor."""
    signs = row(*(part for sign, tone, name in _LEGEND for part in (Span(sign, tone), Span(f" {name}   ", "dim"))))
    at = "" if stop == "all" else f" ({stop})"
    end = "end live" if steering else "end last moment"
    keys = f"← → step   , . mark{at}   space play   home start   {end}"
    if width < 5 + cells(keys) + sum(cells(span.text) for span in signs):
        return cut_row(row("     ", *signs), width)
    return apart(row("     ", *signs), row(Span(keys, "dim")), width)


def moment_at(moment: Moment, column: int, width: int) -> float | None:
    """The time that a column of the axis stands for."""
    room = width - _BEFORE
    if room < 4 or not _BEFORE <= column < width:
        return None
    return moment.first_at + (column - _BEFORE) / (room - 1) * (moment.last_at - moment.first_at)


def _line(moment: Moment, marks: Marks, width: int) -> Row:
    span = max(moment.last_at - moment.first_at, 1e-9)

    def column(at: float) -> int:
        return max(0, min(width - 1, int((at - moment.first_at) / span * (width - 1))))

    drawn = [_PLAIN] * width
    for start, stop in marks.pauses:
        for at in range(column(start), column(moment.last_at if stop is None else stop) + 1):
            drawn[at] = ("▒", "pause")
    best = marks.by_column(moment.first_at, moment.last_at, width)
    for at, mark in best.items():
        drawn[at] = _GLYPHS[mark.kind]
    here = column(moment.at)
    for at, mark in best.items():
        _label(drawn, at, marks.values.get(mark.seq, ""), here)
    drawn[here] = ("┃", "cursor-live" if moment.at_end else "cursor-past")
    return _spans(drawn)


def _label(drawn: list[tuple[str, str]], at: int, value: str, here: int) -> None:
    """A score's value behind its mark, where that covers nothing."""
    places = range(at + 1, at + 1 + len(value))
    if value and places.stop <= len(drawn) and here not in places and all(drawn[p] == _PLAIN for p in places):
        for place, character in zip(places, value, strict=True):
            drawn[place] = (character, "score")


def _spans(drawn: list[tuple[str, str]]) -> Row:
    spans: list[Span] = []
    for character, tone in drawn:
        if spans and spans[-1].tone == tone:
            spans[-1] = Span(spans[-1].text + character, tone)
        else:
            spans.append(Span(character, tone))
    return tuple(spans)
