"""What a running tool may reach: the sandbox, its output into the record, the grader, notes, the end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.values import Score
from agent.runner.journal import Journal
from agent.runner.output import OutputStream
from agent.sandbox.base import CommandResult, Sandbox


@dataclass
class Workplace:
    """What all tool calls of a run share."""

    journal: Journal
    sandbox: Sandbox
    workdir: str
    command_timeout_s: float
    grade: Callable[[], Awaitable[Score]]
    """Grades a snapshot on the development split, for the agent."""
    submitted: bool = False
    running_command: bool = field(default=False, init=False)


class CallContext:
    """What one tool call may reach."""

    def __init__(self, workplace: Workplace, call_id: str) -> None:
        self._workplace = workplace
        self._call_id = call_id
        self.output_lines = 0

    @property
    def sandbox(self) -> Sandbox:
        """Where the agent's files are."""
        return self._workplace.sandbox

    @property
    def workdir(self) -> str:
        """The root of the agent's work folder, as a path in the sandbox."""
        return self._workplace.workdir

    @property
    def command_timeout_s(self) -> float:
        """The time-out of a command that asks for none."""
        return self._workplace.command_timeout_s

    async def command(self, command: str, *, timeout_s: float) -> tuple[CommandResult, str]:
        """Run a command, its output streamed into the record; returns the result and the output, clipped."""
        journal = self._workplace.journal
        stream = OutputStream(journal, self._call_id)
        self._workplace.running_command = True
        try:
            # The model chooses call ids, so they are not fit to name a command, which may name a file.
            result = await self.sandbox.execute(
                command, command_id=journal.fresh_id("c"), timeout_s=timeout_s, on_output=stream.feed
            )
        finally:
            self._workplace.running_command = False
            shown = stream.finish()
            self.output_lines += stream.lines
        return result, shown

    async def validate(self) -> Score:
        """Grade a snapshot of the submission on the development split."""
        return await self._workplace.grade()

    def note(self, text: str) -> None:
        """Put a note into the record."""
        self._workplace.journal.append(ev.NoteTaken(text=text))

    def submit(self, summary: str) -> None:
        """End the run after this step: what is there is the submission."""
        if summary.strip():
            self.note(summary.strip())
        self._workplace.submitted = True
