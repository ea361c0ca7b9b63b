"""Bounded questions to a log: each costs about the same in a log of a hundred events and of a million.

An index over `(kind, seq)` answers each kind by itself; asking for many kinds in one ordered SELECT would make
SQLite sort all of them.
"""

import heapq
from collections.abc import Iterable, Sequence

from agent.record import events as ev
from agent.record.log import EventReader, to_event

_ROW = "seq, at, kind, step, worker, body"


def kinds_present(reader: EventReader) -> list[str]:
    """The kinds that the log holds, by skipping from one to the next in the index."""
    found: list[str] = []
    last = ""
    while rows := reader.query("SELECT min(kind) FROM events WHERE kind > ?", (last,)):
        if rows[0][0] is None:
            break
        last = str(rows[0][0])
        found.append(last)
    return found


def newest_seqs(
    reader: EventReader, kinds: Iterable[str], *, upto: int, count: int, worker: int | None = None
) -> list[int]:
    """The numbers of the last `count` events of these kinds with `seq <= upto`, oldest first."""
    whose, who = _of_worker(worker)
    each = [
        [_whole(row[0]) for row in reader.query(
            f"SELECT seq FROM events WHERE kind = ? AND seq <= ?{whose} ORDER BY seq DESC LIMIT ?",
            (kind, upto, *who, count),
        )]
        for kind in kinds
    ]  # fmt: skip
    return sorted(heapq.nlargest(count, (seq for seqs in each for seq in seqs)))


def between(
    reader: EventReader,
    kinds: Iterable[str],
    *,
    first: int,
    last: int,
    limit: int = 5_000,
    worker: int | None = None,
) -> list[ev.Event]:
    """Events of these kinds with `first <= seq <= last`, oldest first; at most `limit` of each kind."""
    whose, who = _of_worker(worker)
    where = f"kind = ? AND seq BETWEEN ? AND ?{whose} ORDER BY seq LIMIT ?"
    found = [event for kind in kinds for event in _events(reader, where, (kind, first, last, *who, limit))]
    return sorted(found, key=lambda event: event.seq)


def newest(
    reader: EventReader, kind: str, *, upto: int, after: int = 0, count: int = 1, worker: int | None = None
) -> list[ev.Event]:
    """The last `count` events of one kind with `after < seq <= upto`, oldest first."""
    whose, who = _of_worker(worker)
    found = _events(
        reader,
        f"kind = ? AND seq > ? AND seq <= ?{whose} ORDER BY seq DESC LIMIT ?",
        (kind, after, upto, *who, count),
    )
    return found[::-1]


def oldest(
    reader: EventReader, kind: str, *, after: int, upto: int, count: int = 1, worker: int | None = None
) -> list[ev.Event]:
    """The first `count` events of one kind with `after < seq <= upto`."""
    whose, who = _of_worker(worker)
    return _events(
        reader, f"kind = ? AND seq > ? AND seq <= ?{whose} ORDER BY seq LIMIT ?", (kind, after, upto, *who, count)
    )


def sampled(reader: EventReader, kind: str, *, first: int, last: int, count: int) -> list[ev.Event]:
    """About `count` events of one kind, spread evenly over `first <= seq <= last`; the last one is among them.

    All of them, where there are no more than `count`.
    """
    whole = _events(reader, "kind = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?", (kind, first, last, count + 1))
    if len(whole) <= count:
        return whole
    stride = max(1, (last - first) // count)
    found: dict[int, ev.Event] = {}
    after = first - 1
    while after < last:
        event = next(iter(oldest(reader, kind, after=after, upto=last)), None)
        if event is None:
            break
        found[event.seq] = event
        after = max(event.seq, after + stride)
    for event in newest(reader, kind, upto=last):
        found[event.seq] = event
    return [found[seq] for seq in sorted(found)]


def neighbour(reader: EventReader, kind: str, seq: int, *, forwards: bool) -> int | None:
    """The number of the next event of that kind after `seq`, or of the last one before it."""
    order = "seq > ? ORDER BY seq" if forwards else "seq < ? ORDER BY seq DESC"
    rows = reader.query(f"SELECT seq FROM events WHERE kind = ? AND {order} LIMIT 1", (kind, seq))
    return _whole(rows[0][0]) if rows else None


def time_of(reader: EventReader, seq: int) -> float | None:
    """When the event of that number happened."""
    rows = reader.query("SELECT at FROM events WHERE seq = ?", (seq,))
    at = rows[0][0] if rows else None
    return at if isinstance(at, float) else None


def failed_tools(reader: EventReader, *, first: int, last: int) -> list[tuple[int, float]]:
    """Number and time of the tools that ended badly in a range."""
    # JSON escapes quotes inside strings, so this pattern can only be the field itself.
    rows = reader.query(
        "SELECT seq, at FROM events WHERE kind = 'tool_finished' AND seq BETWEEN ? AND ?"
        " AND instr(body, CAST('\"failed\":true' AS BLOB)) > 0 ORDER BY seq",
        (first, last),
    )
    return [(_whole(seq), at) for seq, at in rows if isinstance(at, float)]


def mentioning(
    reader: EventReader, kind: str, field: str, *, first: int, last: int, limit: int = 240
) -> list[ev.Event]:
    """Events of one kind in a range whose body holds that piece of JSON, the newest `limit` of them, oldest first.

    Ask in ranges of some ten thousands: this reads each body.
    """
    found = _events(
        reader,
        "kind = ? AND seq BETWEEN ? AND ? AND instr(body, CAST(? AS BLOB)) > 0 ORDER BY seq DESC LIMIT ?",
        (kind, first, last, field, limit),
    )
    return found[::-1]


def matching(
    reader: EventReader, needle: str, kinds: Sequence[str], *, first: int, last: int, newest_first: bool
) -> int | None:
    """The number of the first event in a range (the last, with `newest_first`) whose body contains the text.

    Case does not matter for ASCII letters. Ask in ranges of some thousands: this reads each body.
    """
    marks = ",".join("?" * len(kinds))
    rows = reader.query(
        "SELECT seq FROM events NOT INDEXED WHERE seq BETWEEN ? AND ? AND CAST(body AS TEXT) LIKE ? ESCAPE '\\'"
        f" AND kind IN ({marks}) ORDER BY seq {'DESC' if newest_first else 'ASC'} LIMIT 1",
        (first, last, f"%{_like(needle)}%", *kinds),
    )
    return _whole(rows[0][0]) if rows else None


def _of_worker(worker: int | None) -> tuple[str, tuple[int, ...]]:
    """A condition on whose events are meant, and its parameter; None means everybody's."""
    return ("", ()) if worker is None else (" AND worker = ?", (worker,))


def _like(needle: str) -> str:
    """The text as it stands in JSON, with nothing in it that LIKE obeys."""
    in_json = needle.replace("\\", "\\\\").replace('"', '\\"')
    return in_json.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _events(reader: EventReader, where: str, parameters: Sequence[object]) -> list[ev.Event]:
    rows = reader.query(f"SELECT {_ROW} FROM events WHERE {where}", parameters)
    return [to_event(*row) for row in rows]  # type: ignore[arg-type]


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
