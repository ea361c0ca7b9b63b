"""What a scaffold is given: a conversation, a model and tools, with the runner's hands on all of it."""

from collections.abc import Collection, Sequence
from typing import Literal

from agent.models.base import Message, Reply, ToolSpec
from agent.record.values import ToolCall
from agent.runner import limits
from agent.runner.gates import Gates
from agent.runner.seats import Seat
from agent.scaffolds.base import Briefing


class RunCockpit:
    """The `Cockpit` of a real run, of whoever sits in that seat."""

    def __init__(self, briefing: Briefing, seat: Seat, gates: Gates) -> None:
        self.briefing = briefing
        self.tools: Sequence[ToolSpec] = [tool.spec for tool in seat.tools.values()]
        self._seat = seat
        self._journal = seat.bench.journal
        self._gates = gates
        self._in_step = seat.before.in_step
        """Whether a step was begun by a runner before us, and led to nothing yet."""

    @property
    def conversation(self) -> Sequence[Message]:
        """The conversation so far, as the record has it."""
        return self._seat.conversation.messages

    @property
    def status(self) -> str:
        """Steps, time, cost and tokens left, as one line for a prompt."""
        return limits.status(self._journal.summary, self._journal.now())

    @property
    def submitted(self) -> bool:
        """Whether the agent has called `submit`."""
        return self._seat.bench.workplace.submitted

    async def begin_step(self) -> int:
        """A new step; returns its number."""
        if self._in_step:
            self._in_step = False
            return self._journal.step
        await self._gates.before_step()
        return self._journal.begin_step()

    def say(self, role: Literal["system", "user"], text: str, *, origin: str = "harness") -> Message:
        """Add a message to the conversation."""
        return self._seat.conversation.say(role, text, origin=origin)

    async def ask(
        self, messages: Sequence[Message] | None = None, *, without: Collection[str] = ()
    ) -> tuple[Message, Reply]:
        """Ask the model; its reply joins the conversation."""
        return await self._seat.asking.ask(messages, without)

    async def use(self, call: ToolCall) -> Message:
        """Run one tool call; the tool message that answers it joins the conversation."""
        return await self._seat.using.use(call)
