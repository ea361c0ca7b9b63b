"""What people ask of a run: requests in, events out as their answer."""

import contextlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from agent.errors import RecordError, RunOver
from agent.record import lease
from agent.record.lease import Control
from agent.record.sqlite import migrate, open_writable, transaction
from agent.record.text import storable
from agent.record.values import Limits, PauseStrength
from agent.record.viewer import Viewer, user_name


class Pause(Struct, frozen=True, kw_only=True, tag="pause", tag_field="verb"):
    """Stop: before the next model call, after this command, or now (frozen)."""

    strength: PauseStrength = "step"
    why: str = ""


class Resume(Struct, frozen=True, kw_only=True, tag="resume", tag_field="verb"):
    """Go on."""


class Inject(Struct, frozen=True, kw_only=True, tag="inject", tag_field="verb"):
    """Say something to the agent: it goes out with the very next model request."""

    text: str
    worker: int = 0
    """To whom, in a run of several; 0 is the supervisor, or the only agent."""


class Interrupt(Struct, frozen=True, kw_only=True, tag="interrupt", tag_field="verb"):
    """End the running command and its whole process group."""

    worker: int | None = None
    """Whose, in a run of several; None where only one runs."""


class ChangeLimits(Struct, frozen=True, kw_only=True, tag="limits", tag_field="verb"):
    """The limits that hold from now on; `why` goes into the record."""

    limits: Limits
    why: str = ""


class ScoreNow(Struct, frozen=True, kw_only=True, tag="score", tag_field="verb"):
    """Grade a snapshot of the submission as it is, without stopping the run."""


class Kill(Struct, frozen=True, kw_only=True, tag="kill", tag_field="verb"):
    """End the run, with proof."""

    why: str = ""


class EditInjection(Struct, frozen=True, kw_only=True, tag="edit_message", tag_field="verb"):
    """Have a message that is still queued say something else."""

    request_id: int
    """The request that the message came with."""
    text: str


class WithdrawInjection(Struct, frozen=True, kw_only=True, tag="withdraw", tag_field="verb"):
    """Take back a message that is still queued."""

    request_id: int


class ApproveMode(Struct, frozen=True, kw_only=True, tag="approve_mode", tag_field="verb"):
    """Have tool calls that change something wait for a person, or no longer."""

    on: bool


class Approve(Struct, frozen=True, kw_only=True, tag="approve", tag_field="verb"):
    """A person's word on the tool call that waits for one."""

    approval_id: str
    word: Literal["accept", "edit", "reject", "always"] = "accept"
    text: str = ""
    """With `edit` what runs instead, with `reject` the reason, with `always` the rule as it was shown."""


Request = (
    Pause
    | Resume
    | Inject
    | Interrupt
    | ChangeLimits
    | ScoreNow
    | Kill
    | EditInjection
    | WithdrawInjection
    | ApproveMode
    | Approve
)


class Posted(Struct, frozen=True, kw_only=True):
    """A request as it lies in the inbox."""

    request_id: int
    at: float
    who: str
    origin: str
    request: Request | None
    """None where this program cannot read it; it is then refused."""
    raw: str
    viewer: str = ""
    """The program that posted it; empty for one that knows nothing of control, and has not looked who has it."""


def verb_of(request: Request) -> str:
    """The request's verb, as on the command line."""
    tag = request.__struct_config__.tag
    assert isinstance(tag, str)
    return tag


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE requests (request_id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL,"
        " who TEXT NOT NULL, origin TEXT NOT NULL, body TEXT NOT NULL)"
    )


def _allow_closing(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE closed (at REAL NOT NULL)")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create, _allow_closing, lease.create)


# Anyone writes here, and SQLite lets those who wait go in no order: on a busy machine one may come late.
_PATIENCE_S = 20.0


class Inbox:
    """Both ends of a run's inbox; made by the launcher, so that a request to a queued run is kept too."""

    def __init__(self, path: Path) -> None:
        self._connection = open_writable(path, patience_s=_PATIENCE_S)
        migrate(self._connection, MIGRATIONS)
        path.chmod(0o600)

    @property
    def control(self) -> Control:
        """Who steers the run."""
        return Control(self._connection)

    def post(self, request: Request, *, who: str = "", origin: str = "cli") -> int:
        """Put a request in, whoever steers; its id is what the answering events carry.

        Raises `RunOver` where nobody reads any more.
        """
        with transaction(self._connection):
            self._must_be_open()
            return self._insert(request, who or user_name(), origin, "")

    def post_by(self, viewer: Viewer, request: Request, *, keep: bool = False, take_over: bool = False) -> int:
        """As `post`, by a viewer; raises `ControlHeld` where somebody else steers and it does not `take_over`.

        With `keep` the viewer steers from then on.
        """
        with transaction(self._connection):
            self._must_be_open()
            own_passes = isinstance(request, Pause | Kill)
            lets_go = self.control.admit(viewer, keep=keep, take_over=take_over, own_passes=own_passes)
            request_id = self._insert(request, viewer.who, viewer.origin, viewer.viewer)
            if lets_go:
                self.control.let_go(viewer)
        return request_id

    def _must_be_open(self) -> None:
        if self._connection.execute("SELECT 1 FROM closed").fetchone() is not None:
            raise RunOver("the run has ended")

    def _insert(self, request: Request, who: str, origin: str, viewer: str) -> int:
        cursor = self._connection.execute(
            "INSERT INTO requests (at, who, origin, body, viewer) VALUES (?, ?, ?, ?, ?)",
            (time.time(), storable(who), origin, storable_request(request), viewer),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def after(self, request_id: int) -> list[Posted]:
        """Requests younger than that one, oldest first."""
        rows = self._connection.execute(
            "SELECT request_id, at, who, origin, body, viewer FROM requests WHERE request_id > ? ORDER BY request_id",
            (request_id,),
        ).fetchall()
        return [
            Posted(
                request_id=row[0], at=row[1], who=row[2], origin=row[3], request=_read(row[4]), raw=row[4],
                viewer=row[5],
            )
            for row in rows
        ]  # fmt: skip

    def shut(self, after: int) -> list[Posted]:
        """The last requests, younger than that one; no other can come after them, so none stays unanswered."""
        # A full disk keeps it open, and that must not keep a run from ending.
        with contextlib.suppress(sqlite3.OperationalError):
            self._connection.execute("INSERT INTO closed VALUES (?)", (time.time(),))
        return self.after(after)

    def open_again(self) -> None:
        """Take requests: of a run that was just being ended there is a runner again."""
        try:
            self._connection.execute("DELETE FROM closed")
        except sqlite3.Error as error:
            raise RecordError(f"the inbox cannot be opened: {error}", hint="is the disk full?") from error

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def storable_request(request: Request) -> str:
    """The request as JSON text."""
    texts = {name: storable(value) for name, value in msgspec.structs.asdict(request).items() if isinstance(value, str)}
    return msgspec.json.encode(msgspec.structs.replace(request, **texts)).decode()


def _read(body: str) -> Request | None:
    try:
        return msgspec.json.decode(body, type=Request)
    except msgspec.MsgspecError:
        return None
