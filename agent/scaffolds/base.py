"""What a scaffold is given and what it is; it knows neither the terminal nor the store."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent.models.base import Message, Reply, ToolSpec
from agent.record.crew import Crew, PlanStep, WorkerOutcome
from agent.record.research_settings import ResearchSettings
from agent.record.values import ToolCall
from agent.tools.base import Tool


@dataclass(frozen=True)
class Briefing:
    """The task as an agent is told of it."""

    task: str
    prompt: str
    """The whole task text: goal, data, rules, artefact, how it is graded, what it may use."""
    workdir: str
    network: bool
    research: ResearchSettings = field(default_factory=ResearchSettings)
    """Where GitHub and papers are asked for, where there is network."""


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


@dataclass(frozen=True)
class Ended:
    """How a worker's part came to its end."""

    outcome: WorkerOutcome
    submission: str = ""
    model_path: str = ""
    why: str = ""
    conflicts: tuple[str, ...] = ()
    """Files that did not join the work folder."""


class Bridge(Cockpit, Protocol):
    """The cockpit of one who leads workers; the plan and the workers are in the record, and read from there."""

    async def ask(
        self, messages: Sequence[Message] | None = None, *, without: Collection[str] = ()
    ) -> tuple[Message, Reply]:
        """As for any cockpit; tools named in `without` are not offered."""
        ...

    @property
    def crew(self) -> Crew:
        """The plan and the workers as they stand."""
        ...

    @property
    def plan(self) -> Sequence[PlanStep]:
        """The newest plan in full; empty where none was made."""
        ...

    @property
    def time_left_s(self) -> float | None:
        """Of the run's working time; None where it has no limit."""
        ...

    @property
    def time_used_s(self) -> float:
        """The run's working time so far."""
        ...

    async def finish_step(self) -> None:
        """Run the calls that were left of the step in which a runner was lost, where this one took the run up."""
        ...

    def make_plan(self, steps: Sequence[PlanStep], why: str) -> None:
        """Put a plan into the record; it holds from now on."""
        ...

    async def start_worker(self, step: str, *, apart: bool) -> int:
        """Put a new worker into the record; `apart` gives it a folder of its own, a copy of the work folder."""
        ...

    async def seat_worker(self, number: int, tools: Mapping[str, Tool]) -> Cockpit:
        """The cockpit of a worker that was started, with these tools; its own conversation, shell and folder.

        Raises `OSError` where its folder could not be made.
        """
        ...

    def report_worker(self, number: int, text: str) -> None:
        """Put into the record what the supervisor is told of a worker that goes on."""
        ...

    async def end_worker(self, number: int, ended: Ended) -> None:
        """Put a worker's end into the record, once the files of a folder of its own have joined the work folder."""
        ...

    def end_of(self, number: int) -> Ended:
        """How a worker ended, as far as it ended under this runner."""
        ...

    def conversations(self) -> Mapping[int, Sequence[Message]]:
        """Everybody's conversation, that of workers who have ended too; 0 is the supervisor's."""
        ...

    async def message_waits(self) -> None:
        """Return when a person's message waits for the one who leads."""
        ...

    def at_work(self) -> AbstractContextManager[None]:
        """While somebody else is at work than the one who leads: a pause waits for them too."""
        ...

    def aside(self) -> AbstractContextManager[None]:
        """While the one who leads only waits for the others."""
        ...


class Scaffold(Protocol):
    """How an agent is led."""

    name: str
    parts: bool
    """Whether supervisor and workers speak in it, each with a part and a model of their own."""

    def tools(self) -> Mapping[str, Tool]:
        """The tools of the only agent, or of the one who leads."""
        ...

    async def run(self, cockpit: Bridge) -> Ending:
        """Lead the agent until it submits or gives up."""
        ...
