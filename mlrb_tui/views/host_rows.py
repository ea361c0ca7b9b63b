"""Machines as rows: each with its GPUs, who is there and who waits; a row knows which run it is about."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.record.text import one_line, printable
from agent.record.values import RunSummary
from agent.sandbox.ledger import Waiting
from agent.sandbox.on_machine import SeenGpu, SeenMachine
from mlrb_tui.views import hosts, words
from mlrb_tui.views.charts import bar
from mlrb_tui.views.rows import EMPTY as BLANK
from mlrb_tui.views.rows import Row, Span, apart, padded, row, width_of, wrapped

_LABEL, _HOLDER, _MEMORY, _BUSY = 9, 13, 17, 5
_NAME = _LABEL + _HOLDER
"""What a machine has stands above the figures of its GPUs."""
_READABLE = 76
_ROOMY, _WIDE = 110, 160
"""From how many columns on a second bar, and longer ones, have room."""


@dataclass(frozen=True)
class HostRow:
    """One row."""

    line: Row
    run: str = ""
    """The run that it is about."""
    place: int = 0
    """Which that run is in the queue; 0 where it does not wait."""


@dataclass(frozen=True)
class Surroundings:
    """What rows are drawn with: the columns there are, the runs known here, the time."""

    width: int
    runs: Mapping[str, RunSummary]
    now: float


LOOKING = (HostRow((Span("looking …", "muted"),)),)
"""What is shown until the first look is done."""


def trouble_rows(message: str, hint: str) -> list[HostRow]:
    """Why nothing could be looked at, and what helps."""
    said = ((line, "bad") for line in wrapped(printable(message), _READABLE))
    helps = ((line, "muted") for line in wrapped(printable(hint), _READABLE) if hint)
    return [HostRow(row(Span(line, tone))) for line, tone in (*said, *helps)]


def heading(found: Iterable[SeenMachine]) -> str:
    """All machines in one line."""
    seen = list(found)
    waiting = sum(len(one.waiting) for one in seen)
    cards = [gpu for one in seen for gpu in one.gpus]
    free = sum(map(hosts.is_free, cards))
    parts = [
        f"{sum(one.reachable for one in seen)} of {len(seen)} reached",
        f"{free} of {words.count(len(cards), 'GPU')} free" if cards else "",
        f"{waiting} waiting" if waiting else "",
    ]
    return "   ".join(filter(None, parts))


def host_rows(found: Iterable[SeenMachine], around: Surroundings) -> list[HostRow]:
    """All rows, a blank one between two machines."""
    rows: list[HostRow] = []
    for one in found:
        if rows:
            rows.append(HostRow(BLANK))
        rows += _machine(one, around)
    return rows


def _machine(one: SeenMachine, around: Surroundings) -> Iterator[HostRow]:
    yield HostRow(_heading(one, around.width))
    if one.trouble:
        yield from _told(one.trouble, one.hint, "bad", around.width)
    if one.gpu_trouble:
        yield from _told(f"GPUs n/a: {one.gpu_trouble}", "", "warn", around.width)
    for seen in one.gpus:
        yield HostRow(_gpu(seen, around), run="" if seen.elsewhere else seen.run)
    holding = {seen.run for seen in one.gpus}
    for run in one.runs:
        if run not in holding:
            line = row(
                "  ", Span(padded("run", _LABEL), "muted"), Span(padded(run, _HOLDER), "info"), *_about(run, around)
            )
            yield HostRow(line, run=run)
    for place, waiting in enumerate(one.waiting, 1):
        yield HostRow(_queued(place, waiting, around), waiting.run, place)


def _heading(one: SeenMachine, width: int) -> Row:
    dot = Span("● ", ("good" if not one.trouble else "warn") if one.reachable else "bad")
    left = row(dot, Span(padded(one_line(one.name, 40), max(_NAME, len(one.name) + 1)), "strong"))
    price = f"${one.cost_per_hour:.2f}/h" if one.cost_per_hour is not None else ""
    right = "   ".join(filter(None, (one_line(", ".join(one.labels), 40), price)))
    if not one.reachable:
        return apart((*left, Span("not reached", "bad")), row(Span(right, "muted")), width)
    docker = f"docker {one.docker}" if one.docker else "no docker"
    parts = [
        Span(docker, "plain" if one.docker else "bad"),
        Span("no image", "bad") if one.docker and not one.image else Span(""),
        Span(hosts.gpus(one), "warn" if one.gpu_trouble else "plain"),
        Span(f"{len(one.waiting)} waiting", "info") if one.waiting else Span(""),
        Span(hosts.runs(one), "muted"),
    ]
    for part in parts:
        more = (*left, Span("   "), part) if left[2:] else (*left, part)
        # What has no room is left out whole.
        if part.text and width_of(more) <= width:
            left = more
    return apart(left, row(Span(right, "muted")) if width_of(left) + len(right) + 3 <= width else BLANK, width)


def _gpu(seen: SeenGpu, around: Surroundings) -> Row:
    card, width = seen.gpu, around.width
    used, total = card.memory_used_bytes, card.memory_total_bytes
    full = used / total if used is not None and total else 0.0
    size = 24 if width >= _WIDE else 14 if width >= _ROOMY else 10
    working = bar((card.utilization_percent or 0.0) / 100, size) if width >= _ROOMY else BLANK
    tone = "info" if seen.run else "good" if seen.usable else "muted"
    whose = "of another home" if seen.elsewhere else ""
    return apart(
        row(
            "  ", Span(padded(f"gpu {card.index}", _LABEL), "muted"), Span(padded(hosts.holder(seen), _HOLDER), tone),
            *bar(full, size, "bad" if full > 0.95 else "bar"), " ", padded(hosts.memory(card), _MEMORY), *working,
            hosts.busy(card).rjust(_BUSY), "   ", *(_about(seen.run, around) if not whose else (Span(whose, "muted"),)),
        ),
        row(Span(hosts.name(card), "muted")) if width >= _ROOMY else BLANK,
        width,
    )  # fmt: skip


def _queued(place: int, waiting: Waiting, around: Surroundings) -> Row:
    since = f" since {words.duration(around.now - waiting.since)}" if waiting.since else ""
    moved = f", moved by {one_line(waiting.moved_by, 30)}" if waiting.moved_by else ""
    return row(
        "  ", Span(padded(f"{place}.", _LABEL), "muted"), Span(padded(waiting.run, _HOLDER), "info"),
        Span(f"waits for {hosts.wanted(waiting.gpus)}{since}{moved}   "), *_about(waiting.run, around),
    )  # fmt: skip


def _about(run: str, around: Surroundings) -> Row:
    """What that run is, where it is one of this home."""
    summary = around.runs.get(run)
    if summary is None:
        return BLANK
    what = f"{summary.task.rpartition('/')[2]} · {summary.model.rpartition(':')[2].rpartition('/')[2]}"
    doing = one_line(summary.now, 60) if summary.state not in ("queued", "ended") and around.width >= _ROOMY else ""
    return row(Span(one_line(what, 50), "muted"), Span(f"   {doing}" if doing else ""))


def _told(text: str, helps: str, tone: str, width: int) -> Iterator[HostRow]:
    room = max(20, width - 4)
    for line in wrapped(one_line(text, 400), room):
        yield HostRow(row("  ", Span(line, tone)))
    for number, line in enumerate(wrapped(one_line(helps, 400), room) if helps else ()):
        yield HostRow(row("  ", Span("  " if number else "→ ", "muted"), Span(line)))
