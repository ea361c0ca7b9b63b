"""The hosts screen as rows: a machine, its GPUs, who is there and who waits; each knows which run it is about."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent.record.text import one_line, printable
from agent.sandbox.on_machine import SeenGpu, SeenMachine
from mlrb_tui.views import hosts, words
from mlrb_tui.views.charts import bar
from mlrb_tui.views.rows import Row, Span, padded, row, wrapped

_NAME, _HOLDER, _BAR, _MEMORY, _BUSY = 14, 22, 12, 19, 5
_READABLE = 76


@dataclass(frozen=True)
class HostRow:
    """One row."""

    line: Row
    run: str = ""
    """The run that it is about."""
    place: int = 0
    """Which that run is in the queue; 0 where it does not wait."""


EMPTY = (HostRow((Span("looking …", "muted"),)),)
"""What is shown until the first look is done."""


def trouble_rows(message: str, hint: str) -> list[HostRow]:
    """Why nothing could be looked at, and what helps."""
    said = ((line, "bad") for line in wrapped(printable(message), _READABLE))
    helps = ((line, "muted") for line in wrapped(printable(hint), _READABLE) if hint)
    return [HostRow(row(Span(line, tone))) for line, tone in (*said, *helps)]


def host_rows(found: Iterable[SeenMachine]) -> list[HostRow]:
    """All rows, a blank one between two machines."""
    rows: list[HostRow] = []
    for one in found:
        if rows:
            rows.append(HostRow(()))
        rows += _machine(one)
    return rows


def _machine(one: SeenMachine) -> Iterator[HostRow]:
    yield HostRow(_heading(one))
    if one.trouble:
        yield _told(one.trouble, "bad")
        if one.hint:
            yield _told(one.hint, "muted")
    if one.gpu_trouble:
        yield _told(f"GPUs n/a: {one.gpu_trouble}", "warn")
    for seen in one.gpus:
        yield HostRow(_gpu(seen), run="" if seen.elsewhere else seen.run)
    holding = {seen.run for seen in one.gpus}
    for run in one.runs:
        if run not in holding:
            yield HostRow(row("  ", Span(padded("run", _NAME - 2), "muted"), Span(run)), run=run)
    for place, waiting in enumerate(one.waiting, 1):
        moved = f"  moved by {one_line(waiting.moved_by, 30)}" if waiting.moved_by else ""
        said = f"waits for {hosts.wanted(waiting.gpus)}{moved}"
        name = Span(padded(f"{place}.", _NAME - 2), "muted")
        yield HostRow(row("  ", name, Span(f"{waiting.run}  ", "info"), Span(said, "muted")), waiting.run, place)


def _heading(one: SeenMachine) -> Row:
    cells = hosts.as_cells(one)
    name = Span(padded(one_line(one.name, 40), _NAME), "strong")
    if not one.reachable:
        return row(name, Span("not reached", "bad"))
    docker = Span(f"docker {one.docker}" if one.docker else "no docker", "good" if one.docker else "bad")
    parts = [
        "" if one.image or not one.docker else "no image",
        "" if one.gpu_trouble else words.count(len(one.gpus), "GPU") + (f", {cells['free']} free" if one.gpus else ""),
        f"runs {cells['runs']}",
        f"{len(one.waiting)} waiting" if one.waiting else "",
        cells["labels"],
        f"${cells['$/h']}/h" if cells["$/h"] else "",
    ]
    return row(name, docker, Span("".join(f"   {part}" for part in parts if part), "muted"))


def _gpu(seen: SeenGpu) -> Row:
    card = seen.gpu
    used, total = card.memory_used_bytes, card.memory_total_bytes
    part = used / total if used is not None and total else 0.0
    memory = f"{_size(used)} of {_size(total)}"
    busy = "n/a" if card.utilization_percent is None else f"{card.utilization_percent:.0f} %"
    tone = "info" if seen.run else "good" if seen.usable else "muted"
    name = Span(padded(f"gpu {card.index}", _NAME - 2), "muted")
    return row(
        "  ", name, Span(padded(hosts.holder(seen), _HOLDER), tone), " ",
        *bar(part, _BAR, "bad" if part > 0.95 else "bar"), " ", Span(padded(memory, _MEMORY), "plain"),
        padded(busy, _BUSY), " ", Span(one_line(card.name, 60), "muted"),
    )  # fmt: skip


def _told(text: str, tone: str) -> HostRow:
    return HostRow(row("  ", Span(one_line(text, 300), tone)))


def _size(size_bytes: int | None) -> str:
    return "n/a" if size_bytes is None else words.size(size_bytes)
