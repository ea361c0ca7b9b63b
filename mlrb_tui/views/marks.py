"""The marks of a time line: errors, scores, alarms, what people did, pauses."""

import bisect
from array import array
from typing import Literal, NamedTuple, get_args

from agent.record import events as ev
from agent.record import queries
from agent.record.log import EventReader

MarkKind = Literal["error", "score", "alert", "person", "pause", "resume", "saved"]
# In order of weight: where marks share a column, the first of these is drawn.
_KINDS: tuple[str, ...] = get_args(MarkKind)
_OF_EVENT: dict[str, MarkKind] = {
    "model_failed": "error", "sandbox_lost": "error", "graded": "score", "alert_raised": "alert",
    "request_received": "person", "run_paused": "pause", "run_resumed": "resume", "checkpoint_seen": "saved",
}  # fmt: skip
_STOPS: dict[str, tuple[MarkKind, ...]] = {
    "all": ("error", "score", "alert", "person", "pause"),
    "errors": ("error", "alert"),
    "alarms": ("alert",),
    "scores": ("score",),
    "people": ("person",),
}
STOPS = tuple(_STOPS)
"""What `previous` and `next` can be told to stop at."""


class Mark(NamedTuple):
    """A moment worth seeing."""

    seq: int
    at: float
    kind: MarkKind


class Marks:
    """All marks of a run so far, in order, eleven bytes or so for each."""

    def __init__(self) -> None:
        self._seqs = array("q")
        self._times = array("d")
        self._kinds = bytearray()
        self.values: dict[int, str] = {}
        """The value of each score, by event."""
        self.pauses: list[tuple[float, float | None]] = []
        """When each pause began and ended."""

    def __len__(self) -> int:
        return len(self._seqs)

    def by_column(self, first_at: float, last_at: float, width: int) -> dict[int, Mark]:
        """The weightiest mark of each of `width` equal shares of the time; costs no more for more marks."""
        found: dict[int, Mark] = {}
        share = max(last_at - first_at, 1e-9) / max(1, width - 1)
        start = 0
        for column in range(width):
            stop = bisect.bisect_left(self._times, first_at + (column + 1) * share, lo=start)
            if stop > start:
                best = min(self._kinds[start:stop])
                found[column] = self._mark(self._kinds.rindex(best, start, stop))
            start = stop
        return found

    def add(self, event: ev.Event) -> None:
        """Take in an event, if it is worth a mark."""
        kind = _kind(event.body)
        if kind is not None:
            self._append(event.seq, event.at, kind)
            if isinstance(event.body, ev.Graded) and event.body.score.value is not None:
                self.values[event.seq] = f"{event.body.score.value:.3g}"

    def extend(self, other: "Marks") -> None:
        """Put later marks behind these."""
        self._seqs.extend(other._seqs)
        self._times.extend(other._times)
        self._kinds.extend(other._kinds)
        self.values |= other.values
        self.pauses += other.pauses

    def neighbour(self, seq: int, stop: str, *, forwards: bool) -> Mark | None:
        """The next mark after `seq` (or the last before it) of the kinds that this stop means."""
        kinds = _STOPS[stop]
        index = bisect.bisect_right(self._seqs, seq) if forwards else bisect.bisect_left(self._seqs, seq) - 1
        while 0 <= index < len(self._seqs):
            mark = self._mark(index)
            if mark.kind in kinds:
                return mark
            index += 1 if forwards else -1
        return None

    def read(self, reader: EventReader, first: int, last: int) -> None:
        """Take in the marks of a range of a log; ranges are read in order."""
        found = [(seq, at, None) for seq, at in queries.failed_tools(reader, first=first, last=last)]
        events = queries.between(reader, _OF_EVENT, first=first, last=last, limit=last - first + 1)
        both = [*found, *((event.seq, event.at, event) for event in events)]
        for seq, at, event in sorted(both, key=lambda each: each[0]):
            if event is None:
                self._append(seq, at, "error")
            else:
                self.add(event)

    def _append(self, seq: int, at: float, kind: MarkKind) -> None:
        self._seqs.append(seq)
        self._times.append(at)
        self._kinds.append(_KINDS.index(kind))
        if kind == "pause":
            self.pauses.append((at, None))
        elif kind == "resume" and self.pauses:
            self.pauses[-1] = (self.pauses[-1][0], at)

    def _mark(self, index: int) -> Mark:
        return Mark(self._seqs[index], self._times[index], _KINDS[self._kinds[index]])  # type: ignore[arg-type]


def _kind(body: ev.AnyBody) -> MarkKind | None:
    if isinstance(body, ev.ToolFinished):
        return "error" if body.failed else None
    return _OF_EVENT.get(ev.kind_of(body))
