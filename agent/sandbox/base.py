"""What every sandbox can do. A command's non-zero exit or time-out is a value; a sandbox that cannot run
commands raises `SandboxError`, and that is never shown to a model as output."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.errors import SandboxError
from agent.record.values import Gpu, Host, Proof

OnOutput = Callable[[bytes], None]
"""Called with raw pieces of a command's merged stdout and stderr as they are written, in order."""


@dataclass(frozen=True)
class SandboxLimits:
    """What a sandbox may use; enforced by the kernel in docker, where possible (rlimits) in local."""

    memory_bytes: int = 4 * 1024**3
    cpus: float = 2.0
    processes: int = 512
    shm_bytes: int = 256 * 1024**2
    output_bytes: int = 256 * 1024**2
    """Of one command's output, kept on disk inside the sandbox; what follows is counted and not kept."""
    copy_bytes: int = 32 * 1024**3
    """Of all files that one `copy_out` brings here."""
    copy_files: int = 20_000


@dataclass(frozen=True)
class SandboxPlan:
    """What to start: all that a sandbox needs to know of a run."""

    run: str
    workspace: Path
    """On this machine: starter files and public data, copied into the sandbox's work folder at the start."""
    folder: Path
    """On this machine: where a local sandbox puts its work folder, and where spools and sockets may lie."""
    image: str = ""
    """Empty for the default image, `agent.sandbox.engine.DEFAULT_IMAGE`."""
    network: bool = False
    limits: SandboxLimits = SandboxLimits()
    environment: tuple[tuple[str, str], ...] = ()
    """Variables from the task; nothing of the runner's own environment passes but an allow-list."""
    home: str = ""
    """The mark of the home that the run belongs to (`Home.mark`); a container is labelled with it."""
    gpus: tuple[str, ...] = ()
    """The UUIDs of the GPUs that it is given, and no others."""
    read_only: tuple[str, ...] = ()
    """Paths below the work folder that the agent may read and not change."""


@dataclass(frozen=True)
class LastCommand:
    """The last command of a session beside the first one."""

    session: int
    command: str
    """Its id; empty where none was started there."""
    running: bool = False
    lasted_s: float = 0.0


@dataclass(frozen=True)
class StartedSandbox:
    """What was started."""

    sandbox: str
    name: str
    workdir: str
    image: str = ""
    isolates: bool = True
    notice: str = ""
    running: str = ""
    """The id of a command that runs, where a sandbox was taken up; `follow` hands its output on."""
    last: str = ""
    """The id of the last command started, running or not; `follow` still gives its output and result."""
    last_s: float = 0.0
    """How long that one has run so far, without time in which it was frozen."""
    guest: str = ""
    """Names what runs the commands; another one, as after a reboot, knows nothing of earlier commands."""
    beside: tuple[LastCommand, ...] = ()
    """The same of other sessions than the first."""

    @property
    def commands(self) -> tuple[LastCommand, ...]:
        """The last command of every session that has had one."""
        first = LastCommand(0, self.last, bool(self.running), self.last_s)
        return tuple(each for each in (first, *self.beside) if each.command)


@dataclass(frozen=True)
class CommandResult:
    """How a command ended."""

    exit_code: int | None
    """None where it was ended by a time-out or an interrupt."""
    duration_s: float
    timed_out: bool = False
    interrupted: bool = False
    output_bytes: int = 0
    left_alive: int = 0
    """Processes of the command that still run (it put them in the background)."""
    oom_kills: int = 0
    """Of its processes, those that the kernel ended because the sandbox's memory ran out."""
    workdir: str = ""
    """The working directory afterwards, which the next command starts in."""
    cut_off: bool = False
    """The sandbox was started again while it ran: how far it came is not known, and files are all that is left."""
    afresh: bool = False
    """The sandbox was started again since the command before it: only files are left of what was there."""


class SandboxWatcher(Protocol):
    """Hears what befalls a sandbox when nobody asks anything of it."""

    def away(self, reason: str, hint: str) -> None:
        """What it runs on does not answer; it is waited for."""
        ...

    def back(self, away_s: float, *, restarted: bool) -> None:
        """It answers again; `restarted` where all that ran in it was ended."""
        ...

    def lost(self, error: SandboxError) -> None:
        """It is gone, or was waited for in vain."""
        ...


class Session(Protocol):
    """A shell of its own in a sandbox: a working directory and variables that carry over, one command at a time."""

    async def execute(self, command: str, *, command_id: str, timeout_s: float, on_output: OnOutput) -> CommandResult:
        """Run a bash command in the carried-over working directory and environment; one at a time.

        Returns when it has ended and all its output was handed on. Cancelling ends the command. Time in which the
        sandbox is frozen does not count towards the time-out.
        """
        ...

    async def follow(self, *, command_id: str, offset: int, on_output: OnOutput) -> CommandResult:
        """Take up a command that was started before this runner: its output from byte `offset` on, then its result.

        Raises `LookupError` where the sandbox no longer knows that command: only the last one started is kept.
        """
        ...

    async def interrupt(self) -> bool:
        """End the running command with its whole process group (TERM, then KILL); False where none runs."""
        ...

    async def read_file(self, path: str, *, max_bytes: int = 10 * 1024**2) -> bytes:
        """A file's bytes; a relative path is meant from the current working directory. Raises `FileNotFoundError`,
        `IsADirectoryError`, `PermissionError`, or `ValueError` where it is longer than `max_bytes`."""
        ...

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file, parents made as needed, as the agent's user would. Raises `OSError` kinds."""
        ...


class Sandbox(Session, Protocol):
    """A place where an agent's commands run; by itself, its session 0."""

    def session(self, number: int) -> Session:
        """The session of that number, begun where there is none; their commands run side by side."""
        ...

    def tell(self, watcher: SandboxWatcher) -> None:
        """From now on tell `watcher` what befalls it."""
        ...

    async def start(self) -> StartedSandbox:
        """Start it and copy the workspace in; raises `SandboxUnavailable`."""
        ...

    async def reached(self) -> None:
        """Return once what it runs on answers; raises `SandboxUnreachable` where that stays silent."""
        ...

    async def attach(self) -> StartedSandbox:
        """Take up a sandbox of this run that is already there; raises `SandboxLost` where there is none, and
        `SandboxUnreachable` where what it runs on stays silent."""
        ...

    async def freeze(self) -> None:
        """Stop every process where it stands; CPU use ends within a second."""
        ...

    async def thaw(self) -> None:
        """Let them go on."""
        ...

    async def read_piece(self, path: str, at: int, size: int) -> bytes:
        """At most `size` bytes (a MiB at most) of a file below the work folder, from byte `at` on; its path is relative
        to the work folder's root. Raises `OSError` kinds."""
        ...

    async def copy_out(self, paths: Sequence[str], destination: Path) -> list[str]:
        """Copy files and folders (relative to the work folder's root; glob patterns allowed) to this machine.

        Symbolic links are not followed out of the work folder. Returns the relative paths of the files copied.
        Raises `SubmissionTooLarge` where they are more or larger than the plan allows, before any is copied.
        """
        ...

    async def files(self, patterns: Sequence[str]) -> list[tuple[str, int, float]]:
        """Files below the work folder that match (path, size in bytes, modification time); for checkpoints."""
        ...

    async def sample(self) -> Host:
        """What it uses now."""
        ...

    async def sample_gpus(self) -> tuple[Gpu, ...] | None:
        """The GPUs as its guest sees them, for a sandbox on another machine; None where the guest can't tell."""
        ...

    async def stop(self) -> tuple[Proof, ...]:
        """Take it down and look afterwards: what is proven gone, and what is left. Harmless when called twice."""
        ...
