"""What a running tool may reach: the sandbox, its output into the record, the grader, notes, the end."""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.values import Score
from agent.runner.cut_call import CutCall, Standing
from agent.runner.journal import Journal
from agent.runner.output import OutputStream
from agent.sandbox.base import CommandResult, OnOutput, Sandbox


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


@dataclass(frozen=True)
class Earlier:
    """How far a call had come under a runner before us."""

    cut: CutCall
    command: Standing


class CallContext:
    """What one tool call may reach; with `earlier`, one that is done again up to its command, which goes on."""

    def __init__(
        self, workplace: Workplace, call_id: str, command_id: str = "", earlier: Earlier | None = None
    ) -> None:
        self._workplace = workplace
        self._call_id = call_id
        self._command_id = command_id
        self._earlier = earlier
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
        before = self._earlier.cut.output if self._earlier is not None else None
        stream = OutputStream(self._workplace.journal, self._call_id, before)
        self._workplace.running_command = True
        try:
            result = await self._result(command, timeout_s, stream.feed)
        finally:
            self._workplace.running_command = False
            shown = stream.finish()
            self.output_lines += stream.lines
        return result, shown

    async def _result(self, command: str, timeout_s: float, on_output: OnOutput) -> CommandResult:
        """How the command ended; one that was begun before is followed and not run a second time."""
        standing = "never began" if self._earlier is None else self._earlier.command
        match standing:
            case "never began":
                return await self.sandbox.execute(
                    command, command_id=self._command_id, timeout_s=timeout_s, on_output=on_output
                )
            case "known" if self._earlier is not None:
                offset = self._earlier.cut.output.read_bytes
                # Between the look and now the sandbox may have been started again.
                with contextlib.suppress(LookupError):
                    return await self.sandbox.follow(command_id=self._command_id, offset=offset, on_output=on_output)
            case _:
                pass
        return CommandResult(exit_code=None, duration_s=0.0, cut_off=True)

    async def validate(self) -> Score:
        """Grade a snapshot of the submission on the development split."""
        return await self._workplace.grade()

    def note(self, text: str) -> None:
        """Put a note into the record."""
        if self._earlier is not None and self._earlier.cut.noted:
            return
        self._workplace.journal.append(ev.NoteTaken(text=text))

    def submit(self, summary: str) -> None:
        """End the run after this step: what is there is the submission."""
        if summary.strip():
            self.note(summary.strip())
        self._workplace.submitted = True
