"""The conversation with the model: kept while it grows, and rebuilt from the record."""

from agent.models.base import Message, Reply
from agent.record import events as ev
from agent.record.log import EventReader
from agent.record.text import storable
from agent.record.values import ToolCall
from agent.runner.journal import Journal

_KINDS = ("message_added", "model_answered", "tool_finished")


def as_operator(text: str) -> str:
    """A person's message as the model sees it; the record keeps it as it was written."""
    return f"[message from the operator]\n{text}"


def conversations(reader: EventReader) -> dict[int, list[Message]]:
    """Everybody's conversation as the record has it, calls without an answer included; 0 is the supervisor's, or that
    of the only agent."""
    found: dict[int, list[Message]] = {}
    for event in reader.of_kinds(_KINDS):
        if message := _message(reader, event.body):
            found.setdefault(event.worker, []).append(message)
    return found


def conversation(reader: EventReader, worker: int = 0) -> list[Message]:
    """One's conversation as the record has it."""
    return conversations(reader).get(worker, [])


def unanswered(messages: list[Message]) -> list[ToolCall]:
    """Calls that no tool message answers: the run was cut off while, or before, they ran."""
    answered = {message.call_id for message in messages if message.role == "tool"}
    return [call for message in messages for call in message.calls if call.call_id not in answered]


class Conversation:
    """The conversation of a live run; each message is an event of its own and has a number as its name."""

    def __init__(self, journal: Journal, messages: list[Message], call_ids: set[str] | None = None) -> None:
        self._journal = journal
        self.worker = journal.worker
        self._named = f"w{journal.worker}m" if journal.worker else "m"
        self.messages = messages
        self.call_ids = set() if call_ids is None else call_ids
        """Calls of the whole run, whoever made them: each has a name of its own."""
        self.call_ids |= {call.call_id for message in messages for call in message.calls}

    def say(self, role: str, text: str, *, origin: str = "harness", request_id: int | None = None) -> Message:
        """Add a system or user message."""
        assert role in ("system", "user")
        body = ev.MessageAdded(message_id=self.next_id(), role=role, text=text, origin=origin, request_id=request_id)
        self._journal.append(body)
        shown = as_operator(text) if origin == "operator" else text
        message = Message(
            message_id=body.message_id, role="system" if role == "system" else "user", text=storable(shown)
        )
        self.messages.append(message)
        return message

    def replied(self, message_id: str, reply: Reply) -> Message:
        """Add the model's reply, which the record has already."""
        message = Message(
            message_id=message_id,
            role="assistant",
            text=reply.text,
            reasoning=reply.reasoning,
            calls=reply.calls,
            opaque=reply.opaque,
        )
        self.messages.append(message)
        self.call_ids |= {call.call_id for call in reply.calls}
        return message

    def observed(self, message_id: str, call_id: str, observation: str, *, failed: bool) -> Message:
        """Add what a tool gave, which the record has already."""
        message = Message(
            message_id=message_id, role="tool", text=storable(observation), call_id=call_id, failed=failed
        )
        self.messages.append(message)
        return message

    def next_id(self) -> str:
        """The name of the message that is added next."""
        return f"{self._named}{len(self.messages) + 1}"


def _message(reader: EventReader, body: ev.AnyBody) -> Message | None:
    match body:
        case ev.MessageAdded():
            text = reader.text(body.text)
            return Message(
                message_id=body.message_id,
                role="system" if body.role == "system" else "user",
                text=as_operator(text) if body.origin == "operator" else text,
            )
        case ev.ModelAnswered():
            return Message(
                message_id=body.message_id,
                role="assistant",
                text=reader.text(body.text),
                reasoning=reader.text(body.reasoning),
                calls=body.calls,
                opaque=body.opaque,
            )
        case ev.ToolFinished():
            return Message(
                message_id=body.message_id,
                role="tool",
                text=reader.text(body.observation),
                call_id=body.call_id,
                failed=body.failed,
            )
        case _:
            return None
