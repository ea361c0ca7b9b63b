"""What a scaffold is given and what it is; it knows neither the terminal nor the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent.models.base import Message, Reply, ToolSpec
from agent.record.values import ToolCall


@dataclass(frozen=True)
class Briefing:
    """The task as an agent is told of it."""

    task: str
    prompt: str
    """The whole task text: goal, data, rules, artefact, how it is graded, what it may use."""
    workdir: str
    network: bool


Ending = Literal["submitted", "gave_up"]


class Cockpit(Protocol):
    """What the runner gives a scaffold. Pause, limits, retries, injected messages and the record are its affair:
    each of these calls may take long, and may raise `asyncio.CancelledError` when the run ends."""

    @property
    def briefing(self) -> Briefing:
        """The task."""
        ...

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools there are."""
        ...

    @property
    def conversation(self) -> Sequence[Message]:
        """The conversation so far, as the record has it; not empty at the start where a run is taken up again."""
        ...

    @property
    def status(self) -> str:
        """Steps, time, cost and tokens left, as one line for a prompt."""
        ...

    @property
    def submitted(self) -> bool:
        """Whether the agent has called `submit`."""
        ...

    async def begin_step(self) -> int:
        """A new step; returns its number."""
        ...

    def say(self, role: Literal["system", "user"], text: str, *, origin: str = "harness") -> Message:
        """Add a message to the conversation."""
        ...

    async def ask(self, messages: Sequence[Message] | None = None) -> tuple[Message, Reply]:
        """Ask the model with these messages (default: the whole conversation); its reply joins the conversation.

        Messages that people injected are added to the conversation first and go out with this request.
        """
        ...

    async def use(self, call: ToolCall) -> Message:
        """Run one tool call; the tool message that answers it joins the conversation. Malformed calls and unknown
        tools are answered too, in words."""
        ...


class Scaffold(Protocol):
    """How an agent is led."""

    name: str

    async def run(self, cockpit: Cockpit) -> Ending:
        """Lead the agent until it submits or gives up."""
        ...
