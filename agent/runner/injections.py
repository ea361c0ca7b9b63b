"""Messages from people on their way to the model: queued, delivered, answered; and reminders from the harness."""

from collections.abc import Sequence

from agent.models.base import Message
from agent.record import events as ev
from agent.runner.conversation import Conversation
from agent.runner.journal import Journal


class Injections:
    """Holds what people wrote until the next model request takes it along, all of it and in order."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._queued: list[tuple[int, str]] = []
        self._reminders: list[str] = []
        self._undelivered: list[int] = []
        self._unanswered: list[int] = []

    def queue(self, request_id: int, text: str) -> None:
        """Keep a message for the next request."""
        self._queued.append((request_id, text))

    def remind(self, text: str) -> None:
        """Have the harness itself say something with the next request."""
        self._reminders.append(text)

    def edit(self, request_id: int, text: str, by: str) -> str:
        """Have a queued message say something else; returns why that cannot be, or nothing."""
        for index, (queued_id, _) in enumerate(self._queued):
            if queued_id == request_id:
                self._queued[index] = (request_id, text)
                self._journal.append(ev.RequestEdited(request_id=request_id, text=text, by=by))
                return ""
        return self._not_queued(request_id)

    def withdraw(self, request_id: int, by: str) -> str:
        """Take a queued message back; returns why that cannot be, or nothing."""
        kept = [(queued_id, text) for queued_id, text in self._queued if queued_id != request_id]
        if len(kept) == len(self._queued):
            return self._not_queued(request_id)
        self._queued = kept
        self._journal.append(ev.RequestWithdrawn(request_id=request_id, by=by))
        return ""

    def _not_queued(self, request_id: int) -> str:
        if request_id in (*self._undelivered, *self._unanswered):
            return f"message {request_id} is delivered already"
        return f"no message {request_id} is queued: it was delivered, withdrawn, or never one"

    def take_up(self, queued: Sequence[tuple[int, str]], undelivered: Sequence[int]) -> None:
        """Messages that were under way with a runner before us are so again; some had joined the conversation."""
        self._queued += queued
        self._undelivered += undelivered

    def take(self, conversation: Conversation) -> list[Message]:
        """Add what is queued to the conversation."""
        taken = []
        for request_id, text in self._queued:
            taken.append(conversation.say("user", text, origin="operator", request_id=request_id))
            self._undelivered.append(request_id)
        self._queued.clear()
        taken += [conversation.say("user", text) for text in self._reminders]
        self._reminders.clear()
        return taken

    def delivered(self, call_id: str) -> None:
        """The request that carries them went out."""
        for request_id in self._undelivered:
            self._journal.append(ev.RequestDelivered(request_id=request_id, call_id=call_id))
        self._unanswered += self._undelivered
        self._undelivered.clear()

    def answered(self) -> None:
        """The model's reply is in."""
        for request_id in self._unanswered:
            self._journal.append(ev.RequestAnswered(request_id=request_id, detail="the agent has read it"))
        self._unanswered.clear()

    def refuse_rest(self, reason: str) -> None:
        """The run is over: say so of everything that the model has not answered."""
        left = [*(request_id for request_id, _ in self._queued), *self._undelivered, *self._unanswered]
        for request_id in left:
            self._journal.append(ev.RequestRefused(request_id=request_id, reason=reason))
        self._queued.clear()
        self._undelivered.clear()
        self._unanswered.clear()
