"""Parts for the runner's unit tests: a journal on a real log, and a model that does what a list says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.models.base import Delta, Message, OnDelta, Reply, ToolSpec
from agent.record import events as ev
from agent.record.clock import FakeClock
from agent.record.log import EventLog, EventReader
from agent.record.values import Limits, Usage
from agent.runner.journal import Journal


def created(limits: Limits | None = None) -> ev.RunCreated:
    """A run's first event."""
    return ev.RunCreated(
        run="r", task="t", scale="smoke", scaffold="react", model="m", sandbox="local", seed=0,
        limits=limits or Limits(),
    )  # fmt: skip


class Desk:
    """A journal, its log, and a clock that stands."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.path = folder / "events.db"
        self.clock = FakeClock()
        self.log = EventLog(self.path, clock=self.clock)
        self.journal = Journal(self.log)
        self.journal.append(created(limits))
        self.journal.append(ev.RunStarted(pid=1, host="h"))
        self.journal.append(ev.StepStarted())

    def bodies(self) -> list[ev.AnyBody]:
        """All events."""
        with EventReader(self.path) as reader:
            return [event.body for event in reader.all()]

    def kinds(self) -> list[str]:
        """Their kinds."""
        return [ev.kind_of(body) for body in self.bodies()]


Turn = Reply | Exception | Callable[[Sequence[Message]], Reply]


@dataclass
class ListedModel:
    """Gives the listed replies and raises the listed errors, in order; keeps what it was asked."""

    turns: list[Turn]
    asked: list[list[Message]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name."""
        return "listed"

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_delta: OnDelta) -> Reply:
        """The next turn."""
        self.asked.append(list(messages))
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        reply = turn(messages) if callable(turn) else turn
        for piece in reply.text.split(" "):
            on_delta(Delta("text", piece + " "))
        return reply

    def cost_usd(self, usage: Usage) -> float | None:
        """One dollar per output token."""
        return float(usage.output_tokens)

    async def close(self) -> None:
        """Nothing to close."""
