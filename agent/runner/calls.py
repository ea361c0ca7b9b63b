"""What a running tool may reach: the sandbox, its output into the record, the grader, notes, the end."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.values import Score
from agent.runner.cut_call import CutCall, Standing
from agent.runner.journal import Journal
from agent.runner.output import OutputStream
from agent.sandbox.base import CommandResult, OnOutput, Sandbox, Session


@dataclass
class Workplace:
    """What all tool calls of a run share."""

    sandbox: Sandbox
    workdir: str
    command_timeout_s: float
    grade: Callable[[], Awaitable[Score]]
    """Grades a snapshot on the development split, for the agent."""
    submitted: bool = False
    running_commands: int = field(default=0, init=False)
    shared_file: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while a file that all workers write to is changed."""

    @property
    def running_command(self) -> bool:
        """Whether anybody's command runs."""
        return self.running_commands > 0


@dataclass(frozen=True)
class Bench:
    """Where one worker's calls are run: its own shell in the sandbox, its own folder, its own hand in the record."""

    workplace: Workplace
    journal: Journal
    session: Session
    folder: str = ""
    """Relative to the work folder; empty where it works in the work folder itself."""

    @property
    def workdir(self) -> str:
        """Its folder, as a path in the sandbox."""
        root = self.workplace.workdir
        return f"{root}/{self.folder}" if self.folder else root


@dataclass(frozen=True)
class Earlier:
    """How far a call had come under a runner before us."""

    cut: CutCall
    command: Standing


class CallContext:
    """What one tool call may reach; with `earlier`, one that is done again up to its command, which goes on."""

    def __init__(self, bench: Bench, call_id: str, command_id: str = "", earlier: Earlier | None = None) -> None:
        self._bench = bench
        self._workplace = bench.workplace
        self._call_id = call_id
        self._command_id = command_id
        self._earlier = earlier
        self.output_lines = 0

    @property
    def sandbox(self) -> Session:
        """Where the agent's files are."""
        return self._bench.session

    @property
    def workdir(self) -> str:
        """The root of the worker's folder, as a path in the sandbox."""
        return self._bench.workdir

    @property
    def shared_file(self) -> asyncio.Lock:
        """Held while a file that all workers write to is changed."""
        return self._workplace.shared_file

    @property
    def shared_folder(self) -> str:
        """The run's work folder, as a path in the sandbox: what all workers share lies there."""
        return self._workplace.workdir

    @property
    def command_timeout_s(self) -> float:
        """The time-out of a command that asks for none."""
        return self._workplace.command_timeout_s

    async def command(self, command: str, *, timeout_s: float) -> tuple[CommandResult, str]:
        """Run a command, its output streamed into the record; returns the result and the output, clipped."""
        before = self._earlier.cut.output if self._earlier is not None else None
        stream = OutputStream(self._bench.journal, self._call_id, before)
        self._workplace.running_commands += 1
        try:
            result = await self._result(command, timeout_s, stream.feed)
        finally:
            self._workplace.running_commands -= 1
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
        self._bench.journal.append(ev.NoteTaken(text=text))

    def submit(self, summary: str) -> None:
        """End the run after this step: what is there is the submission."""
        if summary.strip():
            self.note(summary.strip())
        self._workplace.submitted = True
