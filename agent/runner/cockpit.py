"""What a scaffold is given: the conversation, the model and the tools, with the runner's hands on all of it."""

from collections.abc import Sequence
from typing import Literal

from agent.models.base import Message, Reply, ToolSpec
from agent.record import events as ev
from agent.record.values import ToolCall
from agent.runner import limits
from agent.runner.asking import Asking
from agent.runner.calls import Workplace
from agent.runner.conversation import Conversation
from agent.runner.gates import Gates
from agent.runner.journal import Journal
from agent.runner.using import Using
from agent.scaffolds.base import Briefing


class RunCockpit:
    """The `Cockpit` of a real run."""

    def __init__(
        self,
        *,
        briefing: Briefing,
        tools: Sequence[ToolSpec],
        journal: Journal,
        conversation: Conversation,
        gates: Gates,
        asking: Asking,
        using: Using,
        workplace: Workplace,
        in_step: bool,
    ) -> None:
        self.briefing = briefing
        self.tools = tools
        self._journal = journal
        self._conversation = conversation
        self._gates = gates
        self._asking = asking
        self._using = using
        self._workplace = workplace
        self._in_step = in_step
        """Whether a step was begun by a runner before us, and led to nothing yet."""

    @property
    def conversation(self) -> Sequence[Message]:
        """The conversation so far, as the record has it."""
        return self._conversation.messages

    @property
    def status(self) -> str:
        """Steps, time, cost and tokens left, as one line for a prompt."""
        return limits.status(self._journal.summary, self._journal.now())

    @property
    def submitted(self) -> bool:
        """Whether the agent has called `submit`."""
        return self._workplace.submitted

    async def begin_step(self) -> int:
        """A new step; returns its number."""
        if self._in_step:
            self._in_step = False
            return self._journal.step
        await self._gates.before_step()
        self._journal.step += 1
        self._journal.append(ev.StepStarted())
        return self._journal.step

    def say(self, role: Literal["system", "user"], text: str, *, origin: str = "harness") -> Message:
        """Add a message to the conversation."""
        return self._conversation.say(role, text, origin=origin)

    async def ask(self, messages: Sequence[Message] | None = None) -> tuple[Message, Reply]:
        """Ask the model; its reply joins the conversation."""
        return await self._asking.ask(messages)

    async def use(self, call: ToolCall) -> Message:
        """Run one tool call; the tool message that answers it joins the conversation."""
        return await self._using.use(call)
