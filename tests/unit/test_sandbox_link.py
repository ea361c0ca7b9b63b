"""The conversation with a guest when its stream breaks: asked again over a new one, without holding up the rest."""

import asyncio
import json

from agent.sandbox.guest.wire import frame, unpack
from agent.sandbox.link import Link, Standing
from agent.sandbox.stream import Stream


class AnsweringStream:
    """Leads to a guest that says yes to everything."""

    def __init__(self) -> None:
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()

    async def read(self) -> bytes:
        """What the guest said."""
        return await self._arrived.get()

    async def write(self, data: bytes) -> None:
        """Have every request answered."""
        for line in data.split():
            request = json.loads(line)
            if request["op"] == "attach":
                self._arrived.put_nowait(frame({"event": "attached"}, unpack(request["secret"])))
            else:
                self._arrived.put_nowait(frame({"re": request["id"], "done": True}))

    def close(self) -> None:
        """Say no more."""
        self._arrived.put_nowait(b"")

    def errors(self) -> str:
        """None."""
        return ""


class TearingStream(AnsweringStream):
    """After its greeting it takes no more, as a socket whose other end went away: at once, before its reader knows."""

    def __init__(self) -> None:
        super().__init__()
        self._writes = 0

    async def write(self, data: bytes) -> None:
        """Fails from the third time on."""
        self._writes += 1
        assert self._writes < 100, "asked over and over with nobody else's turn in between"
        if self._writes > 2:
            raise ConnectionResetError("the other end is gone")
        await super().write(data)


async def test_a_write_that_fails_before_the_reader_notices_goes_on_over_a_new_stream() -> None:
    streams: list[Stream] = [TearingStream(), AnsweringStream()]

    async def connect() -> Stream:
        return streams.pop(0)

    async def is_well() -> Standing:
        return "well"

    link = Link(connect, is_well)
    await link.open()
    header, _ = await link.ask({"op": "interrupt"})
    assert header["done"]
    assert streams == []
    link.close()
