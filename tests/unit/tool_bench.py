"""What a tool may reach, made of values: a sandbox of files in memory and a command that answers as told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agent.record.values import Host, Proof, Score
from agent.sandbox.base import CommandResult, OnOutput, SandboxWatcher, StartedSandbox

WORKDIR = "/home/agent/workspace"


class FilesInMemory:
    """A sandbox that holds files and runs nothing."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.held = dict(files or {})
        self.closed: set[str] = set()

    def tell(self, watcher: SandboxWatcher) -> None:
        """Nothing ever befalls it."""

    async def start(self) -> StartedSandbox:
        """Nothing to start."""
        return StartedSandbox(sandbox="memory", name="memory", workdir=WORKDIR)

    async def reached(self) -> None:
        """It is at hand."""

    async def attach(self) -> StartedSandbox:
        """Nothing to attach to."""
        return await self.start()

    async def execute(self, command: str, *, command_id: str, timeout_s: float, on_output: OnOutput) -> CommandResult:
        """Runs nothing."""
        return CommandResult(exit_code=0, duration_s=0.0)

    async def follow(self, *, command_id: str, offset: int, on_output: OnOutput) -> CommandResult:
        """Knows no command."""
        raise LookupError(command_id)

    async def interrupt(self) -> bool:
        """Nothing runs."""
        return False

    async def freeze(self) -> None:
        """Nothing moves."""

    async def thaw(self) -> None:
        """Nothing moves."""

    async def read_file(self, path: str, *, max_bytes: int = 10 * 1024**2) -> bytes:
        """A file's bytes."""
        if path in self.closed:
            raise PermissionError(path)
        if path.endswith("/"):
            raise IsADirectoryError(path)
        if path not in self.held:
            raise FileNotFoundError(path)
        if len(self.held[path]) > max_bytes:
            raise ValueError("too long")
        return self.held[path]

    async def read_piece(self, path: str, at: int, size: int) -> bytes:
        """A piece of one of them."""
        return self.held[path][at : at + size]

    async def sample_gpus(self) -> None:
        """It sees none."""

    async def write_file(self, path: str, data: bytes) -> None:
        """Keep a file."""
        if path in self.closed:
            raise PermissionError(13, "not allowed", path)
        self.held[path] = data

    async def copy_out(self, paths: Sequence[str], destination: Path) -> list[str]:
        """Copies nothing."""
        return []

    async def files(self, patterns: Sequence[str]) -> list[tuple[str, int, float]]:
        """Looks for nothing."""
        return []

    async def sample(self) -> Host:
        """Uses nothing."""
        return Host()

    async def stop(self) -> tuple[Proof, ...]:
        """Nothing to stop."""
        return ()


class Bench:
    """A tool's context that remembers what was asked of it."""

    def __init__(self, files: dict[str, bytes] | None = None, result: CommandResult | None = None) -> None:
        self.sandbox = FilesInMemory(files)
        self.result = result or CommandResult(exit_code=0, duration_s=1.25, workdir=WORKDIR)
        self.output = "out\n"
        self.commands: list[tuple[str, float]] = []
        self.notes: list[str] = []
        self.submitted = False
        self.shared_file = asyncio.Lock()
        self.score = Score(metric="acc", value=0.5, valid=True, split="dev", baseline=0.25)

    @property
    def workdir(self) -> str:
        """Where they are."""
        return WORKDIR

    @property
    def shared_folder(self) -> str:
        """The same: nobody works beside it."""
        return WORKDIR

    @property
    def command_timeout_s(self) -> float:
        """The usual time-out."""
        return 600.0

    async def command(self, command: str, *, timeout_s: float) -> tuple[CommandResult, str]:
        """Remember the command; answer as told."""
        self.commands.append((command, timeout_s))
        return self.result, self.output

    async def validate(self) -> Score:
        """The score it was given."""
        return self.score

    def note(self, text: str) -> None:
        """Remember a note."""
        self.notes.append(text)

    def submit(self, summary: str) -> None:
        """Remember the end."""
        self.submitted = True
