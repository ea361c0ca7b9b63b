"""A conversation with a guest that survives its stream: requests are asked again, output goes on where it stopped."""

import asyncio
import contextlib
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from agent.errors import SandboxError, SandboxLost
from agent.sandbox.base import OnOutput
from agent.sandbox.guest.wire import FrameReader, Header, WireBroken, pack, request_line
from agent.sandbox.stream import Stream

ANSWER_S = 30.0
"""How long a guest that is not frozen may take to answer before the sandbox counts as lost."""
SILENCE_S = 15.0
"""After this much silence from a running command its guest is asked whether it is still there."""
REOPEN_S = 60.0
"""How long to go on trying when the stream was cut and the sandbox itself is there."""
_LOOK_EVERY_S = 0.2
_SAY_S = 0.2
_LOOKS = 10

Standing = Literal["well", "frozen", "away"]
"""How a sandbox is: `away` where what it runs on does not answer."""
Connect = Callable[[], Awaitable[Stream]]
Check = Callable[[], Awaitable[Standing]]
"""How the sandbox is; raises `SandboxError` where it is gone for good."""
OnLost = Callable[[SandboxError], None]
"""Called once it is gone, when nobody was waiting for anything."""


class Cut(Exception):
    """The stream ended while something was waited for."""


@dataclass
class _Asked:
    answered: asyncio.Future[Header]
    payload: bytearray = field(default_factory=bytearray)


@dataclass
class _Followed:
    """A command whose output is waited for; what arrives is handed on by the waiter, in the waiter's own task."""

    command: str
    received: int
    output: deque[bytes] = field(default_factory=deque)
    ended: Header | None = None
    request: int = 0
    """The number under which it was asked for: it is answered only where the guest refuses."""
    guest: str = ""
    """The guest that was asked for it: another one does not have it, and must not run it."""
    cut: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Link:
    """One stream at a time to a guest."""

    def __init__(
        self, connect: Connect, check: Check, on_lost: OnLost | None = None, *, patience_s: float = REOPEN_S
    ) -> None:
        self._connect = connect
        self._check = check
        self._on_lost = on_lost
        self._patience_s = patience_s
        self._looking: asyncio.Task[None] | None = None
        self._stream: Stream | None = None
        self._greeted: Stream | None = None
        """The last one over which hands were shaken."""
        self._reading: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._asked: dict[int, _Asked] = {}
        self._followed: dict[str, _Followed] = {}
        """By command: sessions run theirs side by side."""
        self._next = 0
        self._closed = False
        self.guest = ""
        """Who answers at the other end; a sandbox that was started again has another guest."""
        self.errors = ""

    async def open(self) -> Header:
        """Connect and shake hands; returns the guest's state. Raises `OSError` or `Cut`.

        The guest serves whoever connected last, so that two who opened at once would cut each other off.
        """
        async with self._opening:
            self._drop()
            return await self._open()

    async def _open(self) -> Header:
        stream = await self._connect()
        secret = secrets.token_bytes(16)
        self._stream = stream
        self._reading = asyncio.create_task(self._read(stream, FrameReader(secret)))
        try:
            state = await self._greet(stream, secret)
        except BaseException:
            self._drop()
            raise
        self._greeted = stream
        return state

    async def _greet(self, stream: Stream, secret: bytes) -> Header:
        # The line end closes what an earlier host may have left half written.
        await stream.write(b"\n" + request_line({"op": "attach", "secret": pack(secret)}))
        state, _ = await self._ask({"op": "state"})
        self.guest = str(state.get("guest", ""))
        return state

    def close(self) -> None:
        """Let the stream go; the guest goes on."""
        self._closed = True
        if self._looking is not None:
            self._looking.cancel()
        self._drop()

    def _drop(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        self._tell_cut()

    async def _read(self, stream: Stream, frames: FrameReader) -> None:
        try:
            while data := await stream.read():
                for header, payload in frames.feed(data):
                    self._take(header, payload)
        except WireBroken as error:
            self.errors = str(error)
        finally:
            self.errors = stream.errors() or self.errors
            if self._stream is stream:
                self._stream = None
                stream.close()
                self._tell_cut()
                # Whoever opens a stream that is cut at once is told, and knows what is there.
                if self._greeted is stream and not self._closed:
                    self._looking = asyncio.create_task(self._look_why())

    async def _look_why(self) -> None:
        """The stream was cut: see at once whether its sandbox is gone, whether or not anybody asks for it just now."""
        # A container that has just ended may still be called running for a moment.
        looks_left = _LOOKS
        try:
            while self._stream is None and looks_left:
                looks_left -= await self._check() != "away"
                await asyncio.sleep(_LOOK_EVERY_S)
        except SandboxError as error:
            # Who follows a command finds out by itself.
            if self._on_lost is not None and not self._followed:
                self._on_lost(error)

    def _tell_cut(self) -> None:
        for asked in self._asked.values():
            if not asked.answered.done():
                asked.answered.set_exception(Cut())
        for followed in self._followed.values():
            followed.cut = True
            followed.news.set()

    def _take(self, header: Header, payload: bytes) -> None:
        followed = self._followed.get(str(header.get("command")))
        if followed is not None:
            if header.get("event") == "output":
                self._take_output(followed, header, payload)
            elif header.get("event") == "ended":
                followed.ended = header
            followed.news.set()
        number = header.get("re")
        if _refused(header):
            for refused in self._followed.values():
                if refused.request == number:
                    refused.ended = header
                    refused.news.set()
        asked = self._asked.get(number) if isinstance(number, int) else None
        if asked is not None:
            asked.payload += payload
            if header.get("done") and not asked.answered.done():
                asked.answered.set_result(header)

    def _take_output(self, followed: _Followed, header: Header, payload: bytes) -> None:
        at = header.get("at")
        if not isinstance(at, int) or at > followed.received:
            raise WireBroken(f"output at {at!r} after {followed.received} bytes")
        fresh = payload[followed.received - at :]
        followed.received += len(fresh)
        if fresh:
            followed.output.append(fresh)

    async def _tell(self, request: Header) -> int:
        """Send a request; returns its number. Raises `Cut`."""
        self._next += 1
        number = self._next
        stream = self._stream
        if stream is None:
            raise Cut
        try:
            await stream.write(request_line({**request, "id": number}))
        except OSError as error:
            # The reader may not have noticed: who asks again at once over the same stream would never let it.
            if self._stream is stream:
                self._drop()
            raise Cut from error
        return number

    async def say(self, request: Header) -> None:
        """Send what has no answer; a guest that stands still reads it when it goes on. Where the stream is cut, and
        where it takes no more, it is left unsaid."""
        with contextlib.suppress(Cut, TimeoutError):
            async with asyncio.timeout(_SAY_S):
                await self._tell(request)

    async def _ask(self, request: Header) -> tuple[Header, bytes]:
        """Ask once; raises `Cut` where the stream ends first."""
        asked = _Asked(asyncio.get_running_loop().create_future())
        number = self._next + 1
        self._asked[number] = asked
        try:
            await self._tell(request)
            header = await self._patiently(asked.answered)
        finally:
            del self._asked[number]
        return header, bytes(asked.payload)

    async def _patiently(self, future: asyncio.Future[Header]) -> Header:
        """Wait for an answer; a guest that is frozen or out of reach may take its time, another may not."""
        while True:
            done, _ = await asyncio.wait([future], timeout=ANSWER_S)
            if done:
                return future.result()
            if await self._check() == "well":
                raise SandboxLost(
                    f"the sandbox's guest has not answered for {ANSWER_S:.0f} s",
                    hint="the machine may be out of memory; `mlrb resume` tries again",
                )

    async def ask_once(self, request: Header) -> tuple[Header, bytes]:
        """Ask for what must not be asked twice by itself; raises `Cut`."""
        await self._ensure()
        return await self._ask(request)

    async def ask(self, request: Header) -> tuple[Header, bytes]:
        """Ask for something that may be asked again, over a new stream where need be."""
        while True:
            try:
                return await self.ask_once(request)
            except Cut:
                continue

    async def _ensure(self) -> None:
        """Have a stream, a new one where the last was cut; raises `SandboxError`."""
        async with self._opening:
            deadline = time.monotonic() + self._patience_s
            while self._stream is None:
                if self._closed:
                    raise SandboxLost("the sandbox was stopped")
                standing = await self._check()
                if standing == "away":
                    deadline = time.monotonic() + self._patience_s
                    await asyncio.sleep(_LOOK_EVERY_S)
                    continue
                try:
                    await self._open()
                except (OSError, Cut) as error:
                    self._drop()
                    if standing == "frozen":
                        # Some daemons let nobody into a container that is frozen.
                        deadline = time.monotonic() + self._patience_s
                    if time.monotonic() > deadline:
                        raise SandboxLost("the sandbox's stream was cut", hint="`mlrb resume` tries again") from error
                    await asyncio.sleep(_LOOK_EVERY_S)

    async def follow(self, request: Header, command: str, offset: int, on_output: OnOutput) -> Header:
        """Send `request` and hand on the command's output until it has ended; returns how it did.

        Where the stream is cut, the request is sent again with the offset reached: the guest knows the command by its
        id and does not start it twice. Another guest than the one that was first asked is not asked at all: the
        answer is then `cut_off`.
        """
        followed = _Followed(command, offset)
        self._followed[command] = followed
        try:
            while True:
                followed.cut = False
                try:
                    await self._ensure()
                    if self.guest != (followed.guest or self.guest):
                        return {"cut_off": True}
                    followed.guest = self.guest
                    followed.request = await self._tell({**request, "command": command, "at": followed.received})
                    return await self._until_ended(followed, on_output)
                except Cut:
                    continue
        finally:
            del self._followed[command]
            followed.over.set()

    async def _until_ended(self, followed: _Followed, on_output: OnOutput) -> Header:
        while True:
            while followed.output:
                on_output(followed.output.popleft())
            if followed.ended is not None:
                return followed.ended
            if followed.cut:
                raise Cut
            followed.news.clear()
            try:
                await asyncio.wait_for(followed.news.wait(), SILENCE_S)
            except TimeoutError:
                await self._ask({"op": "state"})

    async def wait_over(self, command: str, timeout_s: float) -> None:
        """Wait until that command, where it is followed, has ended and was handed on, at most `timeout_s`."""
        if (followed := self._followed.get(command)) is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(followed.over.wait(), timeout_s)


def _refused(header: Header) -> bool:
    return bool(header.get("error")) or header.get("known") is False
