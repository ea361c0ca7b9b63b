"""What people had asked of a run and had no answer to when its runner was lost, read from the record."""

from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.log import EventReader
from agent.runner.injections import Queued

_KINDS = (
    "request_received", "request_answered", "request_refused", "request_withdrawn", "request_edited",
    "request_delivered", "message_added", "model_answered", "run_paused", "run_resumed", "limits_changed",
    "approve_mode_changed", "approval_given",
)  # fmt: skip


@dataclass
class OpenRequests:
    """The requests without an answer, by what became of them."""

    last: int = 0
    """The newest that was read, answered or not."""
    queued: list[Queued] = field(default_factory=list)
    """Injected messages that no model request took along."""
    undelivered: list[tuple[int, int]] = field(default_factory=list)
    """Injected messages that are in the conversation of a worker, which is told with them, and were not read yet."""
    met: list[int] = field(default_factory=list)
    """Their effect is in the record; only the answer is not."""
    undone: list[int] = field(default_factory=list)
    """All others."""


@dataclass
class _Seen:
    """What a walk through the record has shown so far."""

    open: dict[int, ev.RequestReceived] = field(default_factory=dict)
    last: int = 0
    joined: set[int] = field(default_factory=set)
    met: set[int] = field(default_factory=set)
    texts: dict[int, str] = field(default_factory=dict)
    delivered: dict[str, list[int]] = field(default_factory=dict)
    """By model call."""


def open_requests(reader: EventReader) -> OpenRequests:
    """Read them."""
    seen = _Seen()
    for event in reader.of_kinds(_KINDS):
        _see(seen, event.body)
    found = OpenRequests(last=seen.last)
    for request_id, body in seen.open.items():
        if request_id in seen.met:
            found.met.append(request_id)
        elif body.verb != "inject":
            found.undone.append(request_id)
        elif request_id in seen.joined:
            found.undelivered.append((request_id, body.worker))
        else:
            found.queued.append(Queued(request_id, seen.texts[request_id], body.worker))
    return found


def _see(seen: _Seen, body: ev.AnyBody) -> None:
    match body:
        case ev.RequestReceived(request_id=request_id, text=text):
            seen.open[request_id], seen.texts[request_id] = body, text
            seen.last = max(seen.last, request_id)
        case (
            ev.RequestAnswered(request_id=request_id)
            | ev.RequestRefused(request_id=request_id)
            | ev.RequestWithdrawn(request_id=request_id)
        ):
            seen.open.pop(request_id, None)
        case ev.RequestEdited(request_id=request_id, text=text):
            seen.texts[request_id] = text
        case ev.MessageAdded(request_id=int(request_id)):
            seen.joined.add(request_id)
        case ev.RequestDelivered(request_id=request_id, call_id=call_id):
            seen.delivered.setdefault(call_id, []).append(request_id)
        case ev.ModelAnswered(call_id=call_id):
            seen.met.update(seen.delivered.get(call_id, ()))
        case (
            ev.RunPaused(request_id=int(request_id))
            | ev.RunResumed(request_id=int(request_id))
            | ev.LimitsChanged(request_id=int(request_id))
            | ev.ApproveModeChanged(request_id=int(request_id))
            | ev.ApprovalGiven(request_id=int(request_id))
        ):
            seen.met.add(request_id)
        case _:
            pass
