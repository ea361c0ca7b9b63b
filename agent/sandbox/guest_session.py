"""One session of a guest: its commands and its files."""

import asyncio
import builtins
import itertools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from agent.errors import SandboxError, SandboxLost
from agent.sandbox.base import CommandResult, OnOutput
from agent.sandbox.guest.wire import Header, pack
from agent.sandbox.link import Cut, Link

_PIECE_BYTES = 192 * 1024
_END_S = 10.0
"""How long the end of an interrupted command may take: the guest gives up after six seconds."""

Awake = Callable[[], AbstractAsyncContextManager[None]]
"""Keeps the sandbox from standing still while something is done in it."""


class GuestSession:
    """A shell of its own, reached over the sandbox's link."""

    def __init__(self, link: Link, number: int, awake: Awake) -> None:
        self._link = link
        self._number = number
        self._keep_awake = awake
        self._last_guest = ""
        self._writes = itertools.count(1)

    async def execute(self, command: str, *, command_id: str, timeout_s: float, on_output: OnOutput) -> CommandResult:
        """Run a command; see `Session.execute`."""
        request: Header = {"op": "run", "session": self._number, "text": command, "timeout_s": timeout_s}
        before = self._last_guest
        result = _result(await self._followed(request, command_id, 0, on_output))
        self._last_guest = self._link.guest
        return replace(result, afresh=not result.cut_off and bool(before) and before != self._last_guest)

    async def follow(self, *, command_id: str, offset: int, on_output: OnOutput) -> CommandResult:
        """Take up a command that was started before; see `Session.follow`."""
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
        async with self._keep_awake():
            header, _ = await self._link.ask({"op": "interrupt", "session": self._number})
            if header.get("running"):
                await self._link.wait_over(str(header.get("command", "")), _END_S)
            return bool(header.get("running"))

    async def read_file(self, path: str, *, max_bytes: int = 10 * 1024**2) -> bytes:
        """A file's bytes; see `Session.read_file`."""
        request: Header = {"op": "read", "session": self._number, "path": named(path), "max": max_bytes}
        header, data = await self._link.ask(request)
        raise_failure(header, path)
        return data

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file; it takes its place when it is whole."""
        while True:
            try:
                await self._write(named(path), data)
                return
            except Cut:
                continue

    async def _write(self, path: str, data: bytes) -> None:
        file = f"{self._number}-{next(self._writes)}"
        for at in range(0, max(1, len(data)), _PIECE_BYTES):
            piece = data[at : at + _PIECE_BYTES]
            header, _ = await self._link.ask_once(
                {
                    "op": "write",
                    "session": self._number,
                    "file": file,
                    "path": path,
                    "data": pack(piece),
                    "last": at + _PIECE_BYTES >= len(data),
                }
            )
            raise_failure(header, path)


def named(path: str) -> str:
    """The path, if it can name a file."""
    if not path or "\0" in path:
        raise FileNotFoundError(f"{path!r} names no file")
    return path


def _result(header: Header) -> CommandResult:
    if header.get("error"):
        raise SandboxLost(f"the guest could not run the command: {header.get('message')}")
    return CommandResult(
        cut_off=bool(header.get("cut_off")),
        exit_code=_whole(header.get("exit_code")),
        duration_s=number_of(header.get("duration_s")) or 0.0,
        timed_out=bool(header.get("timed_out")),
        interrupted=bool(header.get("interrupted")),
        output_bytes=_whole(header.get("output_bytes")) or 0,
        left_alive=_whole(header.get("left_alive")) or 0,
        oom_kills=_whole(header.get("oom_kills")) or 0,
        workdir=str(header.get("workdir", "")),
    )


def raise_failure(header: Header, what: str) -> None:
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


def number_of(value: object) -> float | None:
    """The value, where it is a number."""
    return float(value) if isinstance(value, int | float) else None
