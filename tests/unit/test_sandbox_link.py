"""The conversation with a guest when its stream breaks: asked again over a new one, without holding up the rest."""

import asyncio
import json

import pytest

from agent.sandbox.guest.wire import frame, unpack
from agent.sandbox.link import Cut, Link, Standing
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


class CuttableStream(AnsweringStream):
    """Its guest turns to whoever connected last."""

    def cut(self) -> None:
        """What was under way never arrives."""
        while not self._arrived.empty():
            self._arrived.get_nowait()
        self.close()


class SingleHostGuest:
    """Serves one connection at a time, the newest."""

    def __init__(self) -> None:
        self.connections: list[CuttableStream] = []

    async def connect(self) -> Stream:
        """Take the connection, and let the one before go."""
        await asyncio.sleep(0)
        for before in self.connections:
            before.cut()
        self.connections.append(CuttableStream())
        return self.connections[-1]


async def test_who_asks_while_a_stream_is_opened_does_not_cut_it_off() -> None:
    guest = SingleHostGuest()

    async def is_well() -> Standing:
        return "well"

    link = Link(guest.connect, is_well)
    async with asyncio.timeout(5):
        opened, asked = await asyncio.gather(link.open(), link.ask({"op": "list"}))
        again, asked_again = await asyncio.gather(link.ask({"op": "list"}), link.open())
    assert opened["done"]
    assert asked[0]["done"]
    assert again[0]["done"]
    assert asked_again["done"]
    link.close()


async def test_stream_that_is_cut_while_it_is_opened_is_no_loss_of_the_sandbox() -> None:
    looked: list[str] = []

    async def connect() -> Stream:
        stream = CuttableStream()
        stream.cut()
        return stream

    async def looks() -> Standing:
        looked.append("why")
        return "well"

    link = Link(connect, looks)
    with pytest.raises(Cut):
        await link.open()
    for _ in range(5):
        await asyncio.sleep(0)
    assert looked == []
    link.close()
