"""Looks for a text in a log, a stretch at a time, so that a screen stays awake meanwhile."""

from collections.abc import Iterator

from agent.record import queries
from agent.record.log import EventReader
from mlrb_tui.views.notices import HEADS

_STRETCH = 4_000
_KINDS = (*HEADS, "tool_output", "tool_finished")


def places(reader: EventReader, needle: str, *, start: int, forwards: bool) -> Iterator[int | None]:
    """The number of the nearest event after `start` (or before it) that holds the text, going round at the end.

    Yields None for each stretch without one; ends when the whole log was searched.
    """
    newest = reader.last_seq()
    for first, last in _stretches(start, newest, forwards=forwards):
        found = queries.matching(reader, needle, _KINDS, first=first, last=last, newest_first=not forwards)
        yield found
        if found is not None:
            return


def _stretches(start: int, newest: int, *, forwards: bool) -> Iterator[tuple[int, int]]:
    """Ranges of the log in the order in which they are searched: from `start` to one end, then the rest."""
    halves = [(start + 1, newest), (1, start)] if forwards else [(1, start - 1), (start, newest)]
    for low, high in halves:
        edges = list(range(low, high + 1, _STRETCH))
        ranges = [(edge, min(high, edge + _STRETCH - 1)) for edge in edges]
        yield from ranges if forwards else reversed(ranges)
