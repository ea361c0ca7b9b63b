"""The event log of one run: SQLite in WAL mode, append-only, one writer, any number of readers."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agent.errors import RecordError
from agent.record import blobs
from agent.record import events as ev
from agent.record.clock import Clock, SystemClock
from agent.record.sqlite import migrate, open_readonly, open_writable
from agent.record.summary import fold
from agent.record.text import storable
from agent.record.values import Blob, RunSummary, Text

# What a power cut may take from us: pieces that the event which follows repeats or that a sample replaces.
_EPHEMERAL = (
    ev.ModelStreamed,
    ev.ToolOutput,
    ev.HostSampled,
    ev.GpuSampled,
    ev.ProgressSeen,
    ev.MetricsSeen,
    ev.Heartbeat,
)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE events (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL,"
        " step INTEGER NOT NULL, worker INTEGER NOT NULL, body BLOB NOT NULL)"
    )
    connection.execute("CREATE INDEX events_by_kind ON events (kind, seq)")
    connection.execute("CREATE INDEX events_by_step ON events (step, seq)")
    connection.execute(
        "CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL, packed BLOB NOT NULL)"
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create,)
"""Migration n brings a file from version n to n + 1; the version is SQLite's `user_version`."""


class EventLog:
    """The writing end, owned by the runner: every event is committed before `append` returns."""

    def __init__(self, path: Path, clock: Clock | None = None, redact: Callable[[str], str] | None = None) -> None:
        self._connection = open_writable(path)
        migrate(self._connection, MIGRATIONS)
        path.chmod(0o600)
        with EventReader(path) as reader:
            self.summary = reader.summary()
        self._clock = clock or SystemClock(not_before=self.summary.at)
        self._redact = redact
        self._seq = self.summary.seq
        self._durable = True

    def append(self, body: ev.AnyBody, *, step: int = 0, worker: int = 0, at: float | None = None) -> ev.Event:
        """Commit one event that happened `at` (default: now); raises `RecordError` where the disk does not take it."""
        raw_at = max(self._clock.now() if at is None else at, self.summary.at)
        self._set_durable(not isinstance(body, _EPHEMERAL))
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            body = blobs.externalize(self._connection, self._cleaned(body))
            event = ev.Event(seq=self._seq + 1, at=raw_at, step=step, worker=worker, body=body)
            self._connection.execute(
                "INSERT INTO events (seq, at, kind, step, worker, body) VALUES (?, ?, ?, ?, ?, ?)",
                (event.seq, event.at, ev.kind_of(body), step, worker, ev.encode(body)),
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise RecordError(f"the event log takes no more: {error}", hint="is the disk full?") from error
        self._seq = event.seq
        self.summary = fold(self.summary, event)
        return event

    def heartbeat(self) -> ev.Event:
        """Append the summary so far."""
        return self.append(ev.Heartbeat(summary=self.summary), step=self.summary.step)

    def now(self) -> float:
        """The time that the next event would carry."""
        return self._clock.now()

    def text(self, text: Text) -> str:
        """A text whole, wherever it lies."""
        return blobs.load(self._connection, text.sha256) if isinstance(text, Blob) else text

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _cleaned(self, body: ev.AnyBody) -> ev.AnyBody:
        """The body with secrets taken out, and as text that JSON can hold."""
        try:
            raw = ev.encode(body).decode()
        except UnicodeEncodeError:
            body = _storable(body)
            raw = ev.encode(body).decode()
        if self._redact is None or (clean := self._redact(raw)) == raw:
            return body
        return ev.decode(ev.kind_of(body), clean.encode())

    def _set_durable(self, durable: bool) -> None:
        if durable != self._durable:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable


class EventReader:
    """The reading end: never writes, never waits for the writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_readonly(path)

    def since(self, seq: int, limit: int = 2_000) -> list[ev.Event]:
        """At most `limit` events after `seq`, oldest first."""
        return self._events("WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit))

    def before(self, seq: int, limit: int) -> list[ev.Event]:
        """At most `limit` events before `seq`, the nearest ones, oldest first."""
        return self._events("WHERE seq < ? ORDER BY seq DESC LIMIT ?", (seq, limit))[::-1]

    def of_kinds(
        self,
        kinds: Sequence[str],
        *,
        after: int = 0,
        upto: int | None = None,
        limit: int = -1,
        newest: bool = False,
    ) -> list[ev.Event]:
        """Events of these kinds with `after < seq <= upto`, oldest first; with `newest` the last `limit` of them."""
        marks = ",".join("?" * len(kinds))
        order = "DESC" if newest else "ASC"
        found = self._events(
            f"WHERE kind IN ({marks}) AND seq > ? AND seq <= ? ORDER BY seq {order} LIMIT ?",
            (*kinds, after, self.last_seq() if upto is None else upto, limit),
        )
        return found[::-1] if newest else found

    def get(self, seq: int) -> ev.Event | None:
        """The event of that number."""
        found = self._events("WHERE seq = ?", (seq,))
        return found[0] if found else None

    def all(self) -> Iterator[ev.Event]:
        """Every event, oldest first, a page at a time."""
        seq = 0
        while page := self.since(seq):
            yield from page
            seq = page[-1].seq

    def last_seq(self) -> int:
        """The number of the newest event; 0 in an empty log."""
        ((seq,),) = self.query("SELECT coalesce(max(seq), 0) FROM events")
        assert isinstance(seq, int)
        return seq

    def seq_at(self, at: float) -> int:
        """The number of the last event that happened by `at`: a binary search, since time never runs back."""
        low, high = 0, self.last_seq()
        while low < high:
            middle = (low + high + 1) // 2
            earlier = self.query("SELECT 1 FROM events WHERE seq = ? AND at <= ?", (middle, at))
            low, high = (middle, high) if earlier else (low, middle - 1)
        return low

    def summary(self, upto: int | None = None) -> RunSummary:
        """The summary as of event `upto` (default: now), from the nearest heartbeat before it."""
        end = self.last_seq() if upto is None else upto
        beats = self.of_kinds(("heartbeat",), upto=end, limit=1, newest=True)
        summary = RunSummary()
        if beats and isinstance(beat := beats[0].body, ev.Heartbeat):
            summary = fold(beat.summary, beats[0])
        while summary.seq < end and (
            page := self._events("WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 2000", (summary.seq, end))
        ):
            for event in page:
                summary = fold(summary, event)
        return summary

    def text(self, text: Text) -> str:
        """A text whole, wherever it lies."""
        return blobs.load(self._connection, text.sha256) if isinstance(text, Blob) else text

    def whole(self, event: ev.Event) -> ev.Event:
        """The event with its long texts put back in their place; for export."""
        return msgspec.structs.replace(event, body=blobs.internalize(self._connection, event.body))

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """For the readers of this package: rows of one SELECT."""
        try:
            return self._connection.execute(sql, tuple(parameters)).fetchall()
        except sqlite3.Error as error:
            raise RecordError(f"the event log cannot be read: {error}") from error

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _events(self, where: str, parameters: Sequence[object]) -> list[ev.Event]:
        rows = self.query(f"SELECT seq, at, kind, step, worker, body FROM events {where}", parameters)
        return [to_event(*row) for row in rows]  # type: ignore[arg-type]


def to_event(seq: int, at: float, kind: str, step: int, worker: int, raw: bytes) -> ev.Event:
    """An event out of its row."""
    return ev.Event(seq=seq, at=at, step=step, worker=worker, body=ev.decode(kind, raw))


def write_events(path: Path, events: Iterable[ev.Event]) -> None:
    """Write given events as a log of its own, numbers and times kept; for imports and recorded runs."""
    connection = open_writable(path)
    migrate(connection, MIGRATIONS)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    for event in events:
        body = blobs.externalize(connection, _encodable(event.body))
        connection.execute(
            "INSERT INTO events (seq, at, kind, step, worker, body) VALUES (?, ?, ?, ?, ?, ?)",
            (event.seq, event.at, ev.kind_of(body), event.step, event.worker, ev.encode(body)),
        )
    connection.execute("COMMIT")
    connection.close()


def _encodable(body: ev.AnyBody) -> ev.AnyBody:
    """The body as it is, or made valid Unicode where JSON cannot hold it."""
    try:
        ev.kind_of(body).encode()
        ev.encode(body)
    except UnicodeEncodeError:
        return _storable(body)
    return body


def _storable(body: ev.AnyBody) -> ev.AnyBody:
    """The body with every string in it made valid Unicode."""
    if isinstance(body, ev.Unknown):
        return msgspec.structs.replace(body, kind=storable(body.kind))
    cleaned: ev.Known = msgspec.convert(_storable_value(msgspec.to_builtins(body)), ev.Known)
    return cleaned


def _storable_value(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        return [_storable_value(item) for item in value]
    if isinstance(value, dict):
        return {_storable_value(key): _storable_value(item) for key, item in value.items()}
    return value
