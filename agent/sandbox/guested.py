"""What every sandbox with a guest in it can do, wherever the guest runs."""

import asyncio
import builtins
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import msgspec

from agent.errors import SandboxError, SandboxLost, SandboxUnreachable, SubmissionTooLarge
from agent.record.values import Gpu, Host
from agent.sandbox.base import CommandResult, OnOutput, SandboxPlan, SandboxWatcher, StartedSandbox
from agent.sandbox.guest.wire import Header, pack
from agent.sandbox.link import Cut, Link, Standing
from agent.sandbox.outage import PATIENCE_S, Outage
from agent.sandbox.stream import Stream

_PIECE_BYTES = 192 * 1024
_CHUNK_BYTES = 1024**2
_END_S = 10.0
"""How long the end of an interrupted command may take: the guest gives up after six seconds."""


class GuestedSandbox(ABC):
    """Commands and files through a guest; where it runs and how it is reached is a subclass's."""

    def __init__(self, plan: SandboxPlan, *, patience_s: float = PATIENCE_S) -> None:
        self.plan = plan
        self._outage = Outage(patience_s)
        self._link = Link(self._connect, self._check, self._outage.lost)
        self._last_guest = ""
        self._frozen = False
        self._halted_at: float | None = None
        self._stopped = False
        self._writes = 0

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

    async def execute(self, command: str, *, command_id: str, timeout_s: float, on_output: OnOutput) -> CommandResult:
        """Run a command; see `Sandbox.execute`."""
        request: Header = {"op": "run", "text": command, "timeout_s": timeout_s}
        before = self._last_guest
        result = _result(await self._followed(request, command_id, 0, on_output))
        self._last_guest = self._link.guest
        return replace(result, afresh=not result.cut_off and bool(before) and before != self._last_guest)

    async def follow(self, *, command_id: str, offset: int, on_output: OnOutput) -> CommandResult:
        """Take up a command that was started before; see `Sandbox.follow`."""
        header = await self._followed({"op": "follow"}, command_id, offset, on_output)
        if header.get("known") is False:
            raise LookupError(f"the sandbox knows no command {command_id}")
        return _result(header)

    async def _followed(self, request: Header, command_id: str, offset: int, on_output: OnOutput) -> Header:
        task = asyncio.create_task(self._link.follow(request, command_id, offset, on_output))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._end(task)
            raise

    async def _end(self, task: "asyncio.Task[Header]") -> None:
        """End the command of a caller that was cancelled."""
        try:
            async with asyncio.timeout(_END_S):
                await self.interrupt()
                await asyncio.wait([task])
        except (TimeoutError, SandboxError):
            pass
        finally:
            task.cancel()

    async def interrupt(self) -> bool:
        """End the running command; in a frozen sandbox everything goes on for the moment that this takes."""
        if self._outage.goes_on:
            raise SandboxUnreachable("what the command runs on does not answer just now", hint="ask again when it does")
        was_frozen = self._frozen
        if was_frozen:
            await self.thaw()
        try:
            header, _ = await self._link.ask({"op": "interrupt"})
            if header.get("running"):
                await self._link.wait_over(_END_S)
            return bool(header.get("running"))
        finally:
            if was_frozen:
                await self.freeze()

    async def read_file(self, path: str, *, max_bytes: int = 10 * 1024**2) -> bytes:
        """A file's bytes; see `Sandbox.read_file`."""
        header, data = await self._link.ask({"op": "read", "path": _named(path), "max": max_bytes})
        _raise_failure(header, path)
        return data

    async def read_piece(self, path: str, at: int, size: int) -> bytes:
        """A piece of a file below the work folder; see `Sandbox.read_piece`."""
        header, data = await self._link.ask(
            {"op": "chunk", "path": _named(path), "at": at, "size": min(size, _CHUNK_BYTES)}
        )
        _raise_failure(header, path)
        return data

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file; it takes its place when it is whole."""
        while True:
            try:
                await self._write(_named(path), data)
                return
            except Cut:
                continue

    async def _write(self, path: str, data: bytes) -> None:
        self._writes += 1
        for at in range(0, max(1, len(data)), _PIECE_BYTES):
            piece = data[at : at + _PIECE_BYTES]
            header, _ = await self._link.ask_once(
                {
                    "op": "write",
                    "file": self._writes,
                    "path": path,
                    "data": pack(piece),
                    "last": at + _PIECE_BYTES >= len(data),
                }
            )
            _raise_failure(header, path)

    async def files(self, patterns: Sequence[str]) -> list[tuple[str, int, float]]:
        """Files below the work folder that match."""
        header, data = await self._link.ask({"op": "list", "patterns": list(patterns)})
        _raise_failure(header, ", ".join(patterns))
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
                _raise_failure(header, name)
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
        last_s=_number(state.get("last_s")) or 0.0,
        guest=str(state.get("guest", "")),
    )


def _named(path: str) -> str:
    if not path or "\0" in path:
        raise FileNotFoundError(f"{path!r} names no file")
    return path


def _result(header: Header) -> CommandResult:
    if header.get("error"):
        raise SandboxLost(f"the guest could not run the command: {header.get('message')}")
    return CommandResult(
        cut_off=bool(header.get("cut_off")),
        exit_code=_whole(header.get("exit_code")),
        duration_s=_number(header.get("duration_s")) or 0.0,
        timed_out=bool(header.get("timed_out")),
        interrupted=bool(header.get("interrupted")),
        output_bytes=_whole(header.get("output_bytes")) or 0,
        left_alive=_whole(header.get("left_alive")) or 0,
        oom_kills=_whole(header.get("oom_kills")) or 0,
        workdir=str(header.get("workdir", "")),
    )


def _raise_failure(header: Header, what: str) -> None:
    """Raise what the guest met as the same kind of error here."""
    if not header.get("error"):
        return
    message = str(header.get("message"))
    if header["error"] == "TooLong":
        raise ValueError(message)
    number = header.get("errno")
    if isinstance(number, int):
        # OSError picks its own subclass by the number.
        raise OSError(number, message.partition("] ")[2] or message, what)
    kind = getattr(builtins, str(header["error"]), OSError)
    raise kind(message) if isinstance(kind, type) and issubclass(kind, OSError) else ValueError(message)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
