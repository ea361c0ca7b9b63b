"""What every tool is, and what it may reach."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.models.base import ToolSpec
from agent.record.values import Score
from agent.sandbox.base import CommandResult, Session


class ToolContext(Protocol):
    """What a tool may reach; the runner gives it."""

    @property
    def sandbox(self) -> Session:
        """Where the agent's files are."""
        ...

    @property
    def workdir(self) -> str:
        """The root of the agent's work folder, as a path in the sandbox."""
        ...

    @property
    def shared_folder(self) -> str:
        """The run's work folder: the same, but for a worker that has a folder of its own in it."""
        ...

    @property
    def shared_file(self) -> asyncio.Lock:
        """Held while a file in the shared folder is read and written anew."""
        ...

    @property
    def command_timeout_s(self) -> float:
        """The time-out of a command that asks for none."""
        ...

    async def command(self, command: str, *, timeout_s: float) -> tuple[CommandResult, str]:
        """Run a command, its output streamed into the record; returns the result and the output, clipped."""
        ...

    async def validate(self) -> Score:
        """Grade a snapshot of the submission on the development split."""
        ...

    def note(self, text: str) -> None:
        """Put a note into the record."""
        ...

    def submit(self, summary: str) -> None:
        """End the run after this step: what is there is the submission."""
        ...


@dataclass(frozen=True)
class ToolResult:
    """What a tool gave: the text that the model is told, and whether it failed."""

    observation: str
    failed: bool = False
    exit_code: int | None = None
    timed_out: bool = False
    interrupted: bool = False
    output_bytes: int = 0
    output_lines: int = 0
    duration_s: float | None = None
    """How long it worked, where that is not the time from its call to its end."""
    oom_kills: int = 0
    """Processes of the command that the kernel ended because memory ran out."""


@dataclass(frozen=True)
class Tool:
    """A tool: what a model is told of it, how a call looks as one line, and what it does."""

    spec: ToolSpec
    summarize: Callable[[Mapping[str, object]], str]
    run: Callable[[ToolContext, Mapping[str, object]], Awaitable[ToolResult]]
    asks: bool = False
    """Whether it runs or changes something, so that a person is asked first in approve mode."""
    can_repeat: bool = False
    """Whether a runner that takes the run up may do it again: it changes nothing, or only through a single command,
    which is then followed and not run a second time."""
    editable: str = ""
    """The argument that a person may write anew when asked; empty where there is none."""
