"""Ask something of a run, and wait (bounded) for the events that tell what came of it."""

import time
from contextlib import closing

from agent.errors import RunError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Approve, Inbox, Inject, Kill, Pause, Request, verb_of
from agent.record.index import of_folder, refreshed
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.record.viewer import Viewer
from mlrb_tui.control.launch import start_aftermath
from mlrb_tui.views import words

_POLL_S = 0.02
_SETTLES_S = 0.25
"""What can be done, or refused, at once is so within that time of the receipt."""


def send(folder: RunFolder, request: Request, by: Viewer, *, keep: bool = False, take_over: bool = False) -> int:
    """Put a viewer's request into a run's inbox; returns its id. With `keep` the viewer steers from then on.

    Raises `RunError` where no runner is there to read it, and `ControlHeld` where somebody else steers.
    A run that lost its runner can still be killed. A kill is seen through by a process of its own.
    """
    alive = is_held(folder.lock)
    if not alive and (not isinstance(request, Kill) or of_folder(folder).state == "ended"):
        raise no_runner(folder)
    with closing(Inbox(folder.inbox)) as inbox:
        request_id = inbox.post_by(by, request, keep=keep, take_over=take_over)
    if isinstance(request, Kill):
        start_aftermath(folder, request_id)
    return request_id


def no_runner(folder: RunFolder) -> RunError:
    """Why nothing can be asked of a run that no runner holds, and what can be done about it."""
    summary = refreshed(folder, of_folder(folder))
    if summary.outcome == "lost":
        return RunError(
            f"{folder.run} is lost: {summary.outcome_detail}", hint=f"mlrb resume {folder.run} takes it up again"
        )
    if summary.state == "ended":
        return RunError(f"{folder.run} has ended: {words.state(summary)}", hint=f"mlrb show {folder.run}")
    return RunError(f"{folder.run} has no runner yet", hint=f"mlrb show {folder.run}")


def ask(folder: RunFolder, request: Request, by: Viewer, *, timeout_s: float, take_over: bool = False) -> ev.Event:
    """Send a request; returns the event that answers it, or its receipt where the answer may be long in coming.

    Raises `RunError` with the reason where it is refused, and where nothing was heard in time.
    """
    request_id = send(folder, request, by, take_over=take_over)
    event = await_answer(folder, request_id, timeout_s=timeout_s, waits_long=_waits_long(folder, request))
    if event is not None:
        return event
    if not is_held(folder.lock):
        raise no_runner(folder)
    verb = words.verb(verb_of(request))
    raise RunError(
        f"{verb} is not answered yet; it stays in the inbox",
        hint=f"mlrb events {folder.run} --follow --kind request_answered --kind request_refused",
    )


def await_answer(folder: RunFolder, request_id: int, *, timeout_s: float, waits_long: bool = False) -> ev.Event | None:
    """The event that answers the request, None where it is not there in time.

    With `waits_long` the receipt will do where no answer follows at once. Raises `RunError` with the reason where
    the request is refused.
    """
    deadline = time.monotonic() + timeout_s
    receipt: ev.Event | None = None
    with EventReader(folder.events) as reader:
        # Answers come after the request was received, which is recent.
        seq = max(0, reader.last_seq() - 200)
        while True:
            for event in reader.since(seq):
                seq = event.seq
                if _answers(event.body, request_id):
                    return event
                if waits_long and _receives(event.body, request_id):
                    receipt = event
                    deadline = time.monotonic() + _SETTLES_S
            if time.monotonic() > deadline or not (is_held(folder.lock) or reader.since(seq, 1)):
                return receipt
            time.sleep(_POLL_S)


def patience_s(request: Request) -> float:
    """How long an answer is waited for."""
    return 15.0 if verb_of(request) != "score" else 600.0


def _waits_long(folder: RunFolder, request: Request) -> bool:
    """Whether the answer comes only when the agent is at its next step, which may take hours."""
    match request:
        case Inject():
            return True
        case Pause(strength=strength):
            # A run that is only starting has nothing yet that could be frozen.
            return strength != "now" or of_folder(folder).state in ("queued", "starting")
        case Approve():
            return of_folder(folder).state == "paused"
        case _:
            return False


def _receives(body: ev.AnyBody, request_id: int) -> bool:
    return isinstance(body, ev.RequestReceived) and body.request_id == request_id


def _answers(body: ev.AnyBody, request_id: int) -> bool:
    """Whether it is the answer; raises where that is no."""
    match body:
        case ev.RequestRefused(request_id=refused, reason=reason) if refused == request_id:
            raise RunError(f"refused: {reason}")
        case ev.RequestWithdrawn(request_id=withdrawn, by=by) if withdrawn == request_id:
            raise RunError(f"withdrawn by {by or 'someone'}")
        case ev.RequestAnswered(request_id=answered):
            return answered == request_id
        case _:
            return False
