"""What a run that lost its runner left behind, read from its record."""

from dataclasses import dataclass, field

from agent.models.base import Message
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.log import EventReader
from agent.record.values import ToolCall
from agent.runner.approvals import StandingQuestion, standing_question
from agent.runner.conversation import Conversation, conversation, unanswered
from agent.runner.injections import Injections
from agent.runner.journal import Journal

_CUT_OFF = "the runner was restarted while this ran, or before it could; it was ended, and how far it came is not known"


@dataclass
class Remains:
    """Where a run stood."""

    messages: list[Message] = field(default_factory=list)
    sandbox: ev.SandboxStarted | None = None
    """None where the run was cut off before its sandbox stood."""
    submitted: bool = False
    last_request: int = 0
    queued: list[tuple[int, str]] = field(default_factory=list)
    """Injected messages that no model request took along."""
    undelivered: list[int] = field(default_factory=list)
    """Injected messages that are in the conversation, without an answer yet."""
    standing: StandingQuestion = field(default_factory=StandingQuestion)
    """What a person had been asked, and what people had let through for good."""
    undone: list[int] = field(default_factory=list)
    """Other requests that were received and neither answered nor refused."""


def read_remains(folder: RunFolder) -> Remains:
    """Read where the run stood."""
    with EventReader(folder.events) as reader:
        remains = Remains(messages=conversation(reader))
        received: dict[int, ev.RequestReceived] = {}
        joined: set[int] = set()
        edited: dict[int, str] = {}
        approvals = reader.of_kinds(("approval_asked", "approval_given", "tool_called"))
        remains.standing = standing_question([event.body for event in approvals])
        for event in reader.of_kinds(
            ("sandbox_started", "request_received", "request_answered", "request_refused", "request_edited",
             "request_withdrawn", "message_added", "tool_finished")
        ):  # fmt: skip
            match event.body:
                case ev.SandboxStarted() as started:
                    remains.sandbox = started
                case ev.RequestReceived() as body:
                    received[body.request_id] = body
                    remains.last_request = max(remains.last_request, body.request_id)
                case ev.RequestAnswered(request_id=request_id) | ev.RequestRefused(request_id=request_id):
                    received.pop(request_id, None)
                case ev.RequestWithdrawn(request_id=request_id):
                    received.pop(request_id, None)
                case ev.RequestEdited(request_id=request_id, text=text):
                    edited[request_id] = text
                case ev.MessageAdded(request_id=int(request_id)):
                    joined.add(request_id)
                case ev.ToolFinished(tool="submit", failed=False):
                    remains.submitted = True
                case _:
                    pass
    for request_id, body in received.items():
        if body.verb != "inject":
            remains.undone.append(request_id)
        elif request_id in joined:
            remains.undelivered.append(request_id)
        else:
            remains.queued.append((request_id, edited.get(request_id, body.text)))
    return remains


def held(remains: Remains) -> list[ToolCall]:
    """Calls that never began, since a person had been asked about the first of them."""
    asked = remains.standing.asked
    calls = unanswered(remains.messages)
    names = [call.call_id for call in calls]
    return calls[names.index(asked.call_id) :] if asked is not None and asked.call_id in names else []


def queue_again(remains: Remains, injections: Injections) -> None:
    """Messages that were under way are so again, in front of those that come now."""
    for request_id, text in remains.queued:
        injections.queue(request_id, text)
    for request_id in remains.undelivered:
        injections.in_conversation(request_id)


def settle(remains: Remains, journal: Journal, talk: Conversation) -> None:
    """Bring what was cut off to an end in the record, so that the run can go on from a whole conversation."""
    waiting = {call.call_id for call in held(remains)}
    for call in unanswered(remains.messages):
        if call.call_id in waiting:
            continue
        message_id = talk.next_id()
        journal.append(
            ev.ToolFinished(
                call_id=call.call_id, message_id=message_id, tool=call.tool, failed=True, observation=_CUT_OFF
            )
        )
        talk.observed(message_id, call.call_id, _CUT_OFF, failed=True)
    for request_id in remains.undone:
        reason = "the runner was restarted before it was done; ask again"
        journal.append(ev.RequestRefused(request_id=request_id, reason=reason))
