"""Everybody who works in a run: each with a conversation, a shell, a model and a hand in the record of their own."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.models.base import Message
from agent.runner.asking import Asking
from agent.runner.calls import Bench, Workplace
from agent.runner.controls import Controls
from agent.runner.conversation import Conversation, unanswered
from agent.runner.resuming import Part, Remains
from agent.runner.using import Using
from agent.runner.voices import Voices
from agent.sandbox.base import StartedSandbox
from agent.tools.base import Tool


@dataclass(frozen=True)
class Seat:
    """What one of them works with."""

    worker: int
    bench: Bench
    conversation: Conversation
    asking: Asking
    using: Using
    tools: Mapping[str, Tool]
    before: Part
    """Where they stood under a runner before us."""


class Seats:
    """Makes a seat for each, and finds whose command a person means."""

    def __init__(
        self, controls: Controls, workplace: Workplace, voices: Voices, remains: Remains, started: StartedSandbox
    ) -> None:
        self._controls = controls
        self._workplace = workplace
        self._voices = voices
        self._remains = remains
        self._started = started
        self._call_ids: set[str] = set()
        self._seats: dict[int, Seat] = {}
        self.conversations: dict[int, Sequence[Message]] = {
            worker: part.messages for worker, part in remains.parts.items()
        }
        """Everybody's, whether they still work or not."""

    def take(self, worker: int, tools: Mapping[str, Tool], folder: str = "") -> Seat:
        """A seat for that worker, who goes on where they stood."""
        controls = self._controls
        before = self._remains.parts.pop(worker, Part())
        # The first one writes with the run's own hand: what people ask is then recorded in their step.
        journal = controls.journal if worker == 0 else controls.journal.of_worker(worker, 0)
        journal.step = before.step or controls.journal.step
        session = self._workplace.sandbox.session(worker) if worker else self._workplace.sandbox
        bench = Bench(self._workplace, journal, session, folder)
        conversation = Conversation(journal, before.messages, self._call_ids)
        spoken = sum(message.role == "assistant" for message in before.messages)
        asking = Asking(
            journal=journal, model=self._voices.of(worker, spoken), tools=[tool.spec for tool in tools.values()],
            conversation=conversation, injections=controls.injections, gates=controls.gates, rng=random.Random(),
        )  # fmt: skip
        using = Using(
            bench=bench, conversation=conversation, gates=controls.gates, approvals=controls.approvals, tools=tools
        )
        seat = Seat(worker, bench, conversation, asking, using, tools, before)
        self._seats[worker] = seat
        self.conversations[worker] = conversation.messages
        return seat

    async def finish_step(self, seat: Seat) -> None:
        """The calls that were left of the step in which a runner before us was lost."""
        cut = seat.before.cut
        for call in unanswered(seat.conversation.messages):
            if self._workplace.submitted:
                return
            if cut is not None and cut.called.call_id == call.call_id:
                await seat.using.take_up(call, cut, self._started)
            else:
                await seat.using.use(call)

    def leave(self, worker: int, reason: str) -> None:
        """That worker has ended: what was said to them and not read is refused."""
        self._seats.pop(worker, None)
        self._controls.injections.refuse_rest(reason, worker)

    def absent(self, worker: int) -> str:
        """Why nothing can be said to that worker; empty where it can."""
        if worker == 0 or worker in self._seats:
            return ""
        there = sorted(number for number in self._seats if number)
        known = f"at work are {_listed(there)}" if there else "none is at work"
        return f"there is no worker {worker} at work: {known}"

    async def interrupt(self, by: str, worker: int | None) -> str:
        """End the running command of that worker, or the only one that runs; returns why that cannot be, or nothing.

        Raises `SandboxError`.
        """
        busy = sorted(number for number, seat in self._seats.items() if seat.using.busy)
        if worker is None and len(busy) > 1:
            return f"several commands run: name a worker, {_listed(busy)}"
        chosen = worker if worker is not None else busy[0] if busy else 0
        if refusal := self.absent(chosen):
            return refusal
        ended = chosen in self._seats and await self._seats[chosen].using.interrupt(by)
        return "" if ended else "no command is running"


def _listed(numbers: list[int]) -> str:
    return " or ".join(str(number) for number in numbers)
