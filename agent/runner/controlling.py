"""Who steers the run, brought into its record: changes of control become events, in order with the requests."""

import contextlib
import time
from typing import assert_never

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Inbox, Kill, Pause, Posted
from agent.record.lease import Change
from agent.record.log import EventReader
from agent.runner.journal import Journal

_LOOK_EVERY_S = 1.0
_Recorded = ev.ControlTaken | ev.ControlReleased


class Controlling:
    """Records what happens to control; it decides nothing, since a lease is taken in the inbox itself."""

    def __init__(self, inbox: Inbox, journal: Journal, last_seen: int) -> None:
        self._control = inbox.control
        self._journal = journal
        self._last_seen = last_seen
        self._next_look = 0.0

    def record(self, *, before_request: int) -> None:
        """Record what happened to control before that request was posted."""
        for change in self._control.changes(self._last_seen):
            if change.after_request >= before_request:
                return
            self._last_seen = change.change_id
            if (body := _body(change)) is not None:
                self._journal.append(body)

    def end_dead(self) -> None:
        """Now and then, see that a holder who is gone holds control no longer."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK_EVERY_S
            # A disk that is full now is looked at again.
            with contextlib.suppress(RecordError):
                self._control.expire()

    def refusal(self, posted: Posted) -> str:
        """Why a request of a program that knows nothing of control can't be done; empty where it can."""
        if posted.viewer or isinstance(posted.request, Kill | Pause):
            return ""
        holder = self._control.standing().holder
        return "" if holder is None else f"{holder.said} steers this run"


def last_change(folder: RunFolder) -> int:
    """The last change of control that is in the record."""
    with EventReader(folder.events) as reader:
        events = [*reader.of_kinds(("control_taken", "control_released"), limit=1, newest=True)]
    return max((event.body.change_id for event in events if isinstance(event.body, _Recorded)), default=0)


def _body(change: Change) -> ev.Known | None:
    viewer = change.viewer
    match change.how:
        case "free" | "taken_over" | "handed" as how:
            before = change.before
            return ev.ControlTaken(
                change_id=change.change_id, viewer=viewer.viewer, who=viewer.who, origin=viewer.origin,
                where=viewer.place, how=how, from_viewer="" if before is None else before.viewer,
                from_who="" if before is None else before.who,
            )  # fmt: skip
        case "released" | "expired" as how:
            return ev.ControlReleased(
                change_id=change.change_id, viewer=viewer.viewer, who=viewer.who, origin=viewer.origin,
                where=viewer.place, how=how,
            )  # fmt: skip
        case "passed":
            # The request itself says who asked for it, and from where.
            return None
        case _:
            assert_never(change.how)
