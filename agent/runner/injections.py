"""Messages from people on their way to the model: queued, delivered, answered; and reminders from the harness."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.models.base import Message
from agent.record import events as ev
from agent.runner.conversation import Conversation
from agent.runner.journal import Journal


@dataclass(frozen=True)
class Queued:
    """A message that no request has taken along."""

    request_id: int
    text: str
    worker: int = 0
    """To whom it goes; 0 is the supervisor, or the only agent."""


class Injections:
    """Holds what people wrote until the addressee's next request takes it along, all of it and in order."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._queued: list[Queued] = []
        self._reminders: list[str] = []
        self._undelivered: dict[int, list[int]] = {}
        self._unanswered: dict[int, list[int]] = {}
        self._came = asyncio.Event()

    def queue(self, request_id: int, text: str, worker: int = 0) -> None:
        """Keep a message for the worker's next request."""
        self._queued.append(Queued(request_id, text, worker))
        self._came.set()

    async def wait_for(self, worker: int) -> None:
        """Return when a message waits for that worker."""
        while not any(queued.worker == worker for queued in self._queued):
            self._came.clear()
            await self._came.wait()

    def remind(self, text: str) -> None:
        """Have the harness itself say something with the next request."""
        self._reminders.append(text)

    def edit(self, request_id: int, text: str, by: str) -> str:
        """Have a queued message say something else; returns why that cannot be, or nothing."""
        for index, queued in enumerate(self._queued):
            if queued.request_id == request_id:
                self._queued[index] = replace(queued, text=text)
                self._journal.append(ev.RequestEdited(request_id=request_id, text=text, by=by))
                return ""
        return self._not_queued(request_id)

    def withdraw(self, request_id: int, by: str) -> str:
        """Take a queued message back; returns why that cannot be, or nothing."""
        kept = [queued for queued in self._queued if queued.request_id != request_id]
        if len(kept) == len(self._queued):
            return self._not_queued(request_id)
        self._queued = kept
        self._journal.append(ev.RequestWithdrawn(request_id=request_id, by=by))
        return ""

    def _not_queued(self, request_id: int) -> str:
        sent = [*self._undelivered.values(), *self._unanswered.values()]
        if any(request_id in ids for ids in sent):
            return f"message {request_id} is delivered already"
        return f"no message {request_id} is queued: it was delivered, withdrawn, or never one"

    def take_up(self, queued: Sequence[Queued], undelivered: Sequence[tuple[int, int]]) -> None:
        """Messages that were under way with a runner before us are so again; some, told with their worker, had joined
        the conversation."""
        self._queued += queued
        for request_id, worker in undelivered:
            self._undelivered.setdefault(worker, []).append(request_id)

    def take(self, conversation: Conversation) -> list[Message]:
        """Add what is queued for its owner to the conversation."""
        worker = conversation.worker
        mine = [queued for queued in self._queued if queued.worker == worker]
        taken = []
        for queued in mine:
            self._queued.remove(queued)
            taken.append(conversation.say("user", queued.text, origin="operator", request_id=queued.request_id))
            self._undelivered.setdefault(worker, []).append(queued.request_id)
        taken += [conversation.say("user", text) for text in self._reminders]
        self._reminders.clear()
        return taken

    def delivered(self, call_id: str, journal: Journal) -> None:
        """The request that carries them went out; `journal` is its sender's."""
        sent = self._undelivered.pop(journal.worker, [])
        for request_id in sent:
            journal.append(ev.RequestDelivered(request_id=request_id, call_id=call_id))
        self._unanswered.setdefault(journal.worker, []).extend(sent)

    def answered(self, journal: Journal) -> None:
        """The model's reply is in."""
        for request_id in self._unanswered.pop(journal.worker, []):
            journal.append(ev.RequestAnswered(request_id=request_id, detail="the agent has read it"))

    def refuse_rest(self, reason: str, worker: int | None = None) -> None:
        """The run, or that worker's part of it, is over: say so of everything that the model has not answered."""
        mine = [queued for queued in self._queued if worker in (None, queued.worker)]
        left = [queued.request_id for queued in mine]
        self._queued = [queued for queued in self._queued if queued not in mine]
        for sent in (self._undelivered, self._unanswered):
            for whose in [each for each in sent if worker in (None, each)]:
                left += sent.pop(whose)
        for request_id in left:
            self._journal.append(ev.RequestRefused(request_id=request_id, reason=reason))
