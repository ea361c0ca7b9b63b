"""Who steers a run: a lease in its inbox that one viewer holds, each change of it one SQLite transaction."""

import sqlite3
import time
from typing import Literal

import msgspec
from msgspec import Struct

from agent.errors import ControlHeld
from agent.record.sqlite import transaction
from agent.record.viewer import Viewer

TTL_S = 15.0
"""How long a lease holds without a word from a holder whose process cannot be seen to be gone."""
RENEW_EVERY_S = 5.0
ASK_S = 120.0
"""How long the question for control stands."""

How = Literal["free", "taken_over", "handed", "released", "expired", "passed"]
"""What happened to control; `passed`: a person's own pause or kill went past their other program, which kept it."""


class Lease(Struct, frozen=True, kw_only=True):
    """That a viewer steers."""

    viewer: Viewer
    since: float
    """Seconds since the epoch."""
    renewed: float
    """On the monotonic clock, which all processes of a machine share and nobody sets."""
    told: bool = True
    """Whether the record is to say so; False for a command that steers only while it works."""

    @property
    def holds(self) -> bool:
        """Whether it still counts: its holder is not known to be gone, and has not been silent for too long."""
        return abs(time.monotonic() - self.renewed) <= TTL_S and not self.viewer.is_gone


class Standing(Struct, frozen=True, kw_only=True):
    """How control stands."""

    lease: Lease | None = None
    """As it lies in the file; it need not hold any more."""
    asks: tuple[tuple[float, Viewer], ...] = ()
    """Who asked for control, with the monotonic time, the oldest first."""

    @property
    def holder(self) -> Viewer | None:
        """Who steers now."""
        return self.lease.viewer if self.lease is not None and self.lease.holds else None

    @property
    def asking(self) -> tuple[Viewer, ...]:
        """Who waits for control to be handed over."""
        now = time.monotonic()
        return tuple(viewer for at, viewer in self.asks if abs(now - at) <= ASK_S and not viewer.is_gone)


class Change(Struct, frozen=True, kw_only=True):
    """One thing that happened to control."""

    change_id: int
    at: float
    how: How
    viewer: Viewer
    """Who took it, or let it go."""
    before: Viewer | None = None
    """Who had it."""
    after_request: int = 0
    """The last request that was posted before."""


def create(connection: sqlite3.Connection) -> None:
    """The tables, as a migration of the inbox."""
    connection.execute("ALTER TABLE requests ADD COLUMN viewer TEXT NOT NULL DEFAULT ''")
    connection.execute(
        "CREATE TABLE lease (one INTEGER PRIMARY KEY CHECK (one = 1), viewer TEXT NOT NULL, since REAL NOT NULL,"
        " renewed REAL NOT NULL, told INTEGER NOT NULL)"
    )
    connection.execute("CREATE TABLE asks (viewer TEXT PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)")
    connection.execute(
        "CREATE TABLE control (change_id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, how TEXT NOT NULL,"
        " viewer TEXT NOT NULL, before TEXT NOT NULL, after_request INTEGER NOT NULL)"
    )


def read_standing(connection: sqlite3.Connection) -> Standing:
    """How control stands; writes nothing."""
    asks = connection.execute("SELECT at, body FROM asks ORDER BY at").fetchall()
    return Standing(lease=_lease(connection), asks=tuple((at, _viewer(body)) for at, body in asks))


def read_changes(connection: sqlite3.Connection, after: int) -> list[Change]:
    """What has happened to control since that change, oldest first; writes nothing."""
    rows = connection.execute(
        "SELECT change_id, at, how, viewer, before, after_request FROM control WHERE change_id > ? ORDER BY change_id",
        (after,),
    ).fetchall()
    return [
        Change(
            change_id=row[0], at=row[1], how=row[2], viewer=_viewer(row[3]),
            before=_viewer(row[4]) if row[4] else None, after_request=row[5],
        )
        for row in rows
    ]  # fmt: skip


class Control:
    """Takes, keeps and gives the lease of one run; raises `ControlHeld` where somebody else has it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def standing(self) -> Standing:
        """How control stands; writes nothing."""
        return read_standing(self._connection)

    def changes(self, after: int) -> list[Change]:
        """What has happened to control since that change, oldest first; writes nothing."""
        return read_changes(self._connection, after)

    def take(self, viewer: Viewer, *, take_over: bool = False, told: bool = True) -> None:
        """Steer from now on; `told` is False for a command that holds it only while it works."""
        with transaction(self._connection):
            self._claim(viewer, take_over=take_over, told=told)

    def renew(self, viewer: Viewer) -> bool:
        """Say that the holder is still there; False where it holds control no more."""
        # What a power cut may take of this is a few seconds of a lease.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with transaction(self._connection):
            lease = _lease(self._connection)
            if lease is None or lease.viewer.viewer != viewer.viewer:
                return False
            self._connection.execute("UPDATE lease SET renewed = ?", (time.monotonic(),))
        return True

    def release(self, viewer: Viewer) -> None:
        """Steer no more; whoever does not, changes nothing."""
        with transaction(self._connection):
            self._connection.execute("DELETE FROM asks WHERE viewer = ?", (viewer.viewer,))
            self.let_go(viewer)

    def ask(self, viewer: Viewer) -> None:
        """Ask the holder for control; it is there to be taken where nobody holds it."""
        with transaction(self._connection):
            if self._other_than(viewer) is None:
                self._claim(viewer, take_over=False, told=True)
                return
            self._connection.execute("DELETE FROM asks WHERE abs(at - ?) > ?", (time.monotonic(), ASK_S))
            self._connection.execute(
                "INSERT OR REPLACE INTO asks (viewer, at, body) VALUES (?, ?, ?)",
                (viewer.viewer, time.monotonic(), _packed(viewer)),
            )

    def hand_over(self, viewer: Viewer, to: Viewer) -> bool:
        """Give control to somebody; False where the giver has it no more, or the other is gone."""
        with transaction(self._connection):
            lease = _lease(self._connection)
            if lease is None or lease.viewer.viewer != viewer.viewer or to.is_gone:
                return False
            self._put(to, since=time.time(), told=True)
            self._note("handed", to, viewer)
        return True

    def expire(self) -> None:
        """Take control from a holder that is gone, so that the record says so; only then it writes.

        It waits for nobody: a runner does it now and then, between other things.
        """
        lease = _lease(self._connection)
        if lease is None or lease.holds:
            return
        patience_ms = self._connection.execute("PRAGMA busy_timeout").fetchone()[0]
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            with transaction(self._connection):
                self._clear_dead()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {patience_ms}")

    def admit(self, viewer: Viewer, *, keep: bool, take_over: bool, own_passes: bool) -> bool:
        """Let a request be posted, inside the caller's transaction; returns whether to `let_go` once it is.

        With `keep` the viewer steers from then on. With `own_passes` the request goes past another program of the
        same person, which goes on steering. Raises `ControlHeld`.
        """
        other = self._other_than(viewer)
        if other is not None and not take_over and own_passes and other.viewer.is_same_person(viewer):
            self._note("passed", viewer, other.viewer)
            return False
        if keep or other is not None:
            self._claim(viewer, take_over=take_over, told=True)
        return not keep and other is not None

    def let_go(self, viewer: Viewer) -> None:
        """Steer no more, inside the caller's transaction; whoever does not, changes nothing."""
        lease = _lease(self._connection)
        if lease is not None and lease.viewer.viewer == viewer.viewer:
            self._drop("released", lease)

    def _claim(self, viewer: Viewer, *, take_over: bool, told: bool) -> None:
        other = self._other_than(viewer)
        if other is not None and not take_over:
            raise held_by(other)
        mine = None if other is not None else _lease(self._connection)
        was_told = mine is not None and mine.told
        self._put(viewer, since=time.time() if mine is None else mine.since, told=told or was_told or other is not None)
        if other is not None:
            self._note("taken_over", viewer, other.viewer)
        elif told and not was_told:
            self._note("free", viewer)

    def _other_than(self, viewer: Viewer) -> Lease | None:
        """The lease of somebody else, if it still holds."""
        lease = _lease(self._connection)
        if lease is None or lease.viewer.viewer == viewer.viewer:
            return None
        self._clear_dead()
        return lease if lease.holds else None

    def _clear_dead(self) -> None:
        lease = _lease(self._connection)
        if lease is not None and not lease.holds:
            self._drop("expired", lease)

    def _put(self, viewer: Viewer, *, since: float, told: bool) -> None:
        self._connection.execute("DELETE FROM asks WHERE viewer = ?", (viewer.viewer,))
        self._connection.execute(
            "INSERT OR REPLACE INTO lease (one, viewer, since, renewed, told) VALUES (1, ?, ?, ?, ?)",
            (_packed(viewer), since, time.monotonic(), told),
        )

    def _drop(self, how: Literal["released", "expired"], lease: Lease) -> None:
        self._connection.execute("DELETE FROM lease")
        if lease.told:
            self._note(how, lease.viewer)

    def _note(self, how: How, viewer: Viewer, before: Viewer | None = None) -> None:
        self._connection.execute(
            "INSERT INTO control (at, how, viewer, before, after_request)"
            " VALUES (?, ?, ?, ?, (SELECT coalesce(max(request_id), 0) FROM requests))",
            (time.time(), how, _packed(viewer), "" if before is None else _packed(before)),
        )


def held_by(lease: Lease) -> ControlHeld:
    """The refusal that names who steers, and what helps."""
    since = time.strftime("%H:%M", time.localtime(lease.since))
    return ControlHeld(
        f"{lease.viewer.said} has steered this run since {since}",
        hint="--take-over takes control from them, and they are told",
    )


def _lease(connection: sqlite3.Connection) -> Lease | None:
    row = connection.execute("SELECT viewer, since, renewed, told FROM lease").fetchone()
    return None if row is None else Lease(viewer=_viewer(row[0]), since=row[1], renewed=row[2], told=bool(row[3]))


def _packed(viewer: Viewer) -> str:
    return msgspec.json.encode(viewer).decode()


def _viewer(body: str) -> Viewer:
    return msgspec.json.decode(body, type=Viewer)
