"""Ask something of a run, and wait (bounded) for the event that answers it."""

import time
from collections.abc import Callable

from agent.errors import RunError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Inbox, Inject, Kill, Request, verb_of
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.log import EventReader
from mlrb_tui.control.launch import start_aftermath

_POLL_S = 0.02


def send(folder: RunFolder, request: Request, *, origin: str = "cli") -> int:
    """Put a request into a run's inbox; returns its id. Raises `RunError` where no runner is there to read it.

    A run that lost its runner can still be killed. A kill is seen through by a process of its own.
    """
    alive = is_held(folder.lock)
    if not alive and (not isinstance(request, Kill) or of_folder(folder).state == "ended"):
        raise RunError(f"{folder.run} has no runner: it has ended or is lost", hint=f"mlrb show {folder.run}")
    inbox = Inbox(folder.inbox)
    try:
        request_id = inbox.post(request, origin=origin)
    finally:
        inbox.close()
    if isinstance(request, Kill):
        start_aftermath(folder, request_id)
    return request_id


def await_answer(
    folder: RunFolder, request_id: int, *, timeout_s: float, until: Callable[[ev.Event], bool] | None = None
) -> ev.Event | None:
    """The event that answers the request, None where it is not there in time.

    Raises `RunError` with the reason where the request is refused.
    """
    deadline = time.monotonic() + timeout_s
    seq = 0
    with EventReader(folder.events) as reader:
        seq = _start(reader, request_id)
        while True:
            for event in reader.since(seq):
                seq = event.seq
                if isinstance(event.body, ev.RequestRefused) and event.body.request_id == request_id:
                    raise RunError(f"refused: {event.body.reason}")
                if isinstance(event.body, ev.RequestWithdrawn) and event.body.request_id == request_id:
                    raise RunError(f"withdrawn by {event.body.by or 'someone'}")
                if (until or _answers(request_id))(event):
                    return event
            if time.monotonic() > deadline or not (is_held(folder.lock) or reader.since(seq, 1)):
                return None
            time.sleep(_POLL_S)


def ask(folder: RunFolder, request: Request, *, timeout_s: float = 10.0, origin: str = "cli") -> ev.Event | None:
    """Send a request and wait for its answer."""
    return await_answer(folder, send(folder, request, origin=origin), timeout_s=timeout_s)


def patience_s(request: Request) -> float:
    """How long a command waits for the answer: an injected message waits for the next model request."""
    if isinstance(request, Inject):
        return 10.0
    return 15.0 if verb_of(request) != "score" else 600.0


def _start(reader: EventReader, request_id: int) -> int:
    """Where to look from: answers come after the request was received, which is recent."""
    return max(0, reader.last_seq() - 200) if request_id else 0


def _answers(request_id: int) -> Callable[[ev.Event], bool]:
    def answers(event: ev.Event) -> bool:
        return isinstance(event.body, ev.RequestAnswered) and event.body.request_id == request_id

    return answers
