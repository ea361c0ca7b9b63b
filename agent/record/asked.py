"""What waits in a run: messages that are still queued, and the tool call that a person is asked about."""

import json

from msgspec import Struct

from agent.record import events as ev
from agent.record.log import EventReader


class QueuedMessage(Struct, frozen=True, kw_only=True):
    """A message that no model request has taken along."""

    request_id: int
    who: str
    text: str


class WaitingCall(Struct, frozen=True, kw_only=True):
    """A tool call that waits for a person's word, whole."""

    run: str
    approval_id: str
    call_id: str
    tool: str
    summary: str
    arguments: dict[str, object]
    editable: str
    """The argument that an edit replaces."""
    rule: str
    """What `always` would let through; empty where there is no such class."""
    asked_at: float

    @property
    def edited_from(self) -> str:
        """What an edit begins with."""
        return str(self.arguments.get(self.editable, ""))


def queued_messages(reader: EventReader) -> list[QueuedMessage]:
    """What people said that the agent has not been told yet, oldest first."""
    queued: dict[int, QueuedMessage] = {}
    kinds = ("request_received", "request_edited", "request_withdrawn", "request_delivered", "request_answered",
             "request_refused", "message_added")  # fmt: skip
    for event in reader.of_kinds(kinds):
        match event.body:
            case ev.RequestReceived(verb="inject") as body:
                queued[body.request_id] = QueuedMessage(request_id=body.request_id, who=body.who, text=body.text)
            case ev.RequestEdited(request_id=request_id, text=text) if request_id in queued:
                queued[request_id] = QueuedMessage(request_id=request_id, who=queued[request_id].who, text=text)
            case ev.RequestReceived() | ev.RequestEdited() | ev.MessageAdded(request_id=None):
                pass
            case (
                ev.RequestWithdrawn()
                | ev.RequestDelivered()
                | ev.RequestAnswered()
                | ev.RequestRefused()
                | ev.MessageAdded()
            ) as body:
                queued.pop(body.request_id or 0, None)
            case _:
                pass
    return list(queued.values())


def waiting_call(reader: EventReader) -> WaitingCall | None:
    """The tool call that waits for a person, as of now; None where none does."""
    summary = reader.summary()
    if summary.approval is None:
        return None
    for event in reversed(reader.of_kinds(("approval_asked",), limit=5, newest=True)):
        body = event.body
        if isinstance(body, ev.ApprovalAsked) and body.approval_id == summary.approval.approval_id:
            return WaitingCall(
                run=summary.run, approval_id=body.approval_id, call_id=body.call_id, tool=body.tool,
                summary=reader.text(body.summary), arguments=json.loads(reader.text(body.arguments)),
                editable=body.editable, rule=body.rule, asked_at=event.at,
            )  # fmt: skip
    return None
