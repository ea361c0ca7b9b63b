"""What every sandbox with a guest in it can do, wherever the guest runs."""

import asyncio
import contextlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import msgspec

from agent.errors import SandboxUnreachable, SubmissionTooLarge
from agent.record.values import Gpu, Host
from agent.sandbox.base import LastCommand, SandboxPlan, SandboxWatcher, StartedSandbox
from agent.sandbox.guest.wire import Header
from agent.sandbox.guest_session import GuestSession, named, number_of, raise_failure
from agent.sandbox.link import Link, Standing
from agent.sandbox.outage import PATIENCE_S, Outage
from agent.sandbox.stream import Stream

_CHUNK_BYTES = 1024**2


class GuestedSandbox(GuestSession, ABC):
    """Commands and files through a guest; where it runs and how it is reached is a subclass's."""

    def __init__(self, plan: SandboxPlan, *, patience_s: float = PATIENCE_S) -> None:
        self.plan = plan
        self._outage = Outage(patience_s)
        super().__init__(Link(self._connect, self._check, self._outage.lost), 0, self._awake)
        self._sessions: dict[int, GuestSession] = {0: self}
        self._frozen = False
        self._halted_at: float | None = None
        self._stopped = False

    def session(self, number: int) -> GuestSession:
        """The session of that number; see `Sandbox.session`."""
        return self._sessions.setdefault(number, GuestSession(self._link, number, self._awake))

    @contextlib.asynccontextmanager
    async def _awake(self) -> AsyncIterator[None]:
        """A frozen sandbox goes on for the moment that this takes; one out of reach raises `SandboxUnreachable`."""
        if self._outage.goes_on:
            raise SandboxUnreachable("what the command runs on does not answer just now", hint="ask again when it does")
        was_frozen = self._frozen
        if was_frozen:
            await self.thaw()
        try:
            yield
        finally:
            if was_frozen:
                await self.freeze()

    @abstractmethod
    async def _connect(self) -> Stream:
        """A new stream to the guest; raises `OSError`."""

    @abstractmethod
    async def _check(self) -> Standing:
        """How it is; raises `SandboxError` where it is gone for good."""

    @abstractmethod
    async def _halt(self) -> None:
        """Stop every process where it stands."""

    @abstractmethod
    async def _go_on(self) -> None:
        """Let them go on."""

    async def freeze(self) -> None:
        """Stop every process where it stands; see `Sandbox.freeze`."""
        halted_at = time.monotonic()
        await self._halt()
        self._halted_at = self._halted_at or halted_at

    async def thaw(self) -> None:
        """Let them go on. The guest reads first for how long it stood still, then looks at its command's clock."""
        if self._halted_at is not None:
            await self._link.say({"op": "stood", "seconds": time.monotonic() - self._halted_at})
        await self._go_on()
        self._halted_at = None

    def tell(self, watcher: SandboxWatcher) -> None:
        """From now on tell `watcher` what befalls it."""
        self._outage.tell(watcher)

    async def read_piece(self, path: str, at: int, size: int) -> bytes:
        """A piece of a file below the work folder; see `Sandbox.read_piece`."""
        header, data = await self._link.ask(
            {"op": "chunk", "path": named(path), "at": at, "size": min(size, _CHUNK_BYTES)}
        )
        raise_failure(header, path)
        return data

    async def files(self, patterns: Sequence[str]) -> list[tuple[str, int, float]]:
        """Files below the work folder that match."""
        header, data = await self._link.ask({"op": "list", "patterns": list(patterns)})
        raise_failure(header, ", ".join(patterns))
        return [(str(name), int(size), float(at)) for name, size, at in json.loads(data)]

    async def copy_out(self, paths: Sequence[str], destination: Path) -> list[str]:
        """Copy files out of the work folder; see `Sandbox.copy_out`."""
        found = await self.files(paths)
        self._require_room(len(found), sum(size for _, size, _ in found))
        copied = []
        for name, size, _ in found:
            relative = PurePosixPath(name)
            if relative.is_absolute() or ".." in relative.parts or "\0" in name:
                continue
            target = destination / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                await self._copy(name, size, target)
            except (FileNotFoundError, PermissionError):
                # It went away or became a link that leads out while others were copied.
                target.unlink()
                continue
            copied.append(name)
        return copied

    def _require_room(self, files: int, size_bytes: int) -> None:
        limits = self.plan.limits
        if size_bytes > limits.copy_bytes:
            raise SubmissionTooLarge(f"the files to copy have {size_bytes:,} bytes, {limits.copy_bytes:,} are allowed")
        if files > limits.copy_files:
            raise SubmissionTooLarge(f"there are {files:,} files to copy, {limits.copy_files:,} are allowed")

    async def _copy(self, name: str, size: int, target: Path) -> None:
        with target.open("wb") as file:
            at = 0
            while at < size:
                wanted = min(_CHUNK_BYTES, size - at)
                header, data = await self._link.ask({"op": "chunk", "path": name, "at": at, "size": wanted})
                raise_failure(header, name)
                if not data:
                    return
                await asyncio.to_thread(file.write, data)
                at += len(data)

    async def sample(self) -> Host:
        """What it uses now; nothing runs in a frozen one, so its guest cannot be asked."""
        if self._frozen:
            return Host(cpu_percent=0.0, cpu_cores=self.plan.limits.cpus)
        header, _ = await self._link.ask({"op": "sample"})
        try:
            return msgspec.convert({**header, "cpu_cores": self.plan.limits.cpus}, Host)
        except msgspec.ValidationError:
            return Host(cpu_cores=self.plan.limits.cpus)

    async def sample_gpus(self) -> tuple[Gpu, ...] | None:
        """The GPUs as the guest sees them."""
        if self._frozen:
            return None
        header, _ = await self._link.ask({"op": "gpus"})
        try:
            return msgspec.convert(header.get("gpus"), tuple[Gpu, ...] | None)
        except msgspec.ValidationError:
            return None


def with_state(started: StartedSandbox, state: Header) -> StartedSandbox:
    """What was started, with what its guest says of itself."""
    return replace(
        started,
        running=str(state.get("running", "")),
        last=str(state.get("last", "")),
        last_s=number_of(state.get("last_s")) or 0.0,
        guest=str(state.get("guest", "")),
        beside=_beside(state.get("beside")),
    )


def _beside(states: object) -> tuple[LastCommand, ...]:
    found = [state for state in states if isinstance(state, dict)] if isinstance(states, list) else []
    return tuple(
        LastCommand(
            session=int(state["session"]), command=str(state.get("last", "")), running=bool(state.get("running")),
            lasted_s=number_of(state.get("last_s")) or 0.0,
        )
        for state in found
    )  # fmt: skip
