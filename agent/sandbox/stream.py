"""The byte streams that lead to a guest: a plain socket, or a container's standard streams through the daemon."""

import asyncio
import json
import struct
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from agent.errors import SandboxUnavailable
from agent.sandbox.daemon_http import ask_daemon, reason

_READ_BYTES = 256 * 1024
_STDERR = 2
_ERRORS_KEPT = 4096
_EXEC_S = 30.0


class Stream(Protocol):
    """Bytes to a guest and from it."""

    async def read(self) -> bytes:
        """What has arrived; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send `data`, waiting while the other side is slow."""
        ...

    def close(self) -> None:
        """Let the connection go."""
        ...

    def errors(self) -> str:
        """The last that the guest itself wrote to its stderr."""
        ...


class SocketStream:
    """A plain Unix socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, path: str) -> "SocketStream":
        """Connect; raises `OSError`."""
        return cls(*await asyncio.open_unix_connection(path))

    async def read(self) -> bytes:
        """What has arrived; empty at the end, however it came."""
        try:
            return await self._reader.read(_READ_BYTES)
        except OSError:
            return b""

    async def write(self, data: bytes) -> None:
        """Send `data`; raises `OSError` where the connection is gone."""
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        """Let the connection go."""
        self._writer.close()

    def errors(self) -> str:
        """Nothing: a local guest's stderr goes elsewhere."""
        return ""


class AttachedStream:
    """The standard streams of a container's first process, in the form that `docker attach` speaks.

    Written by hand since the SDK's own loses bytes that arrive together with the answer's head, and blocks.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._plain = SocketStream(reader, writer)
        self._reader = reader
        self._left = 0
        self._kind = 0
        self._errors: deque[int] = deque(maxlen=_ERRORS_KEPT)

    @classmethod
    async def open(cls, daemon: Path, container: str) -> "AttachedStream":
        """Attach; raises `OSError`, also where the daemon refuses."""
        return await cls._upgraded(daemon, f"/containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1", b"")

    @classmethod
    async def of_command(cls, daemon: Path, container: str, command: Sequence[str]) -> "AttachedStream":
        """Run a command in the container, as its root, and attach to that; raises `OSError`."""
        wish = {"AttachStdin": True, "AttachStdout": True, "AttachStderr": True, "User": "0", "Cmd": list(command)}
        try:
            made = await asyncio.to_thread(
                ask_daemon, "POST", f"/containers/{container}/exec", daemon, timeout_s=_EXEC_S, body=wish
            )
        except SandboxUnavailable as error:
            raise ConnectionError(error.message) from error
        if made[0] != 201:
            raise ConnectionError(f"the daemon runs nothing in {container}: {reason(*made)}")
        started = json.dumps({"Detach": False, "Tty": False}).encode()
        return await cls._upgraded(daemon, f"/exec/{json.loads(made[1])['Id']}/start", started)

    @classmethod
    async def _upgraded(cls, daemon: Path, resource: str, body: bytes) -> "AttachedStream":
        reader, writer = await asyncio.open_unix_connection(str(daemon))
        try:
            head_out = f"POST {resource} HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
            more = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(f"{head_out}{more}".encode() + body)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            writer.close()
            raise ConnectionError("the daemon closed the connection") from error
        except BaseException:
            writer.close()
            raise
        status = head.split(None, 2)[1:2]
        if status not in ([b"101"], [b"200"]):
            writer.close()
            raise ConnectionError(f"the daemon answered {head.splitlines()[0].decode(errors='replace')}")
        return cls(reader, writer)

    async def read(self) -> bytes:
        """What the guest has written to its stdout; empty at the end."""
        while True:
            if not self._left and not await self._next_piece():
                return b""
            try:
                data = await self._reader.read(min(self._left, _READ_BYTES))
            except OSError:
                return b""
            self._left -= len(data)
            if not data or self._kind != _STDERR:
                return data
            self._errors.extend(data)

    async def _next_piece(self) -> bool:
        try:
            head = await self._reader.readexactly(8)
        except (asyncio.IncompleteReadError, OSError):
            return False
        self._kind, self._left = struct.unpack(">B3xI", head)
        return True

    async def write(self, data: bytes) -> None:
        """Send `data` to the guest's stdin."""
        await self._plain.write(data)

    def close(self) -> None:
        """Let the connection go; the guest does not notice."""
        self._plain.close()

    def errors(self) -> str:
        """The last that the guest itself wrote to its stderr."""
        return bytes(self._errors).decode(errors="replace").strip()
