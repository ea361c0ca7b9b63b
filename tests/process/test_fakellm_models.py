"""Both protocols over real HTTP: streamed text, tool calls, refusals, broken connections."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from agent.errors import ModelBusy, ReplyMalformed
from agent.models.base import Delta, Message, Model, ToolSpec
from agent.models.choose import open_model
from tests.process.model_servers import RETRY_AFTER_S, Rule, fakellm_server

DEADLINE_S = 30.0

BASH = ToolSpec(
    "bash",
    "Run a command.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)

RULES: list[Rule] = [
    {
        "name": "busy",
        "when": {"model_matches": "busy*"},
        "respond": {"status": 429, "error": "too many requests"},
    },
    {
        "name": "after the tool",
        "when": {"tool_result_contains": "task.md"},
        "respond": {"content": "There is one file."},
    },
    {
        "name": "tool",
        "when": {"messages_contain": "look around", "tools_include": "bash"},
        "respond": {
            "tool_calls": [
                {"name": "bash", "arguments": {"command": "ls -la"}},
                {"name": "bash", "arguments": {"command": "pwd"}},
            ]
        },
    },
    {
        "name": "greeting",
        "when": {"messages_contain": "hello"},
        "respond": {"content": "Hello to you, researcher."},
    },
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fakellm_server(RULES, tmp_path_factory.mktemp("fakellm")) as address:
        yield address


@asynccontextmanager
async def opened(name: str, address: str) -> AsyncIterator[Model]:
    model = open_model(name, base_url=f"{address}/v1", environment={})
    try:
        yield model
    finally:
        await model.close()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_streamed_text_is_whole_and_came_in_pieces(provider: str, server: str) -> None:
    deltas: list[Delta] = []
    async with opened(f"{provider}:fake", server) as model:
        reply = await model.ask([Message("1", "user", "hello there")], [], deltas.append)
    assert reply.text == "Hello to you, researcher."
    assert "".join(delta.text for delta in deltas) == reply.text
    assert len(deltas) > 1
    assert reply.stop_reason == "end"
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_tool_calls_come_whole_and_their_answers_are_accepted(provider: str, server: str) -> None:
    deltas: list[Delta] = []
    conversation = [
        Message("1", "system", "You are an agent."),
        Message("2", "user", f"look around ({provider})"),
    ]
    async with opened(f"{provider}:fake", server) as model:
        reply = await model.ask(conversation, [BASH], deltas.append)
        assert [call.arguments for call in reply.calls] == [{"command": "ls -la"}, {"command": "pwd"}]
        assert len({call.call_id for call in reply.calls}) == 2
        assert reply.stop_reason == "calls"
        assert any(delta.channel == "call" for delta in deltas)
        conversation.append(Message("3", "assistant", reply.text, calls=reply.calls, opaque=reply.opaque))
        conversation += [Message(f"4{call.call_id}", "tool", "task.md", call_id=call.call_id) for call in reply.calls]
        second = await model.ask(conversation, [BASH], deltas.append)
    assert second.text == "There is one file."


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_rate_limit_says_when_to_come_back(provider: str, server: str) -> None:
    async with opened(f"{provider}:busy", server) as model:
        with pytest.raises(ModelBusy, match="too many requests") as caught:
            await model.ask([Message("1", "user", "hello")], [], lambda delta: None)
    assert caught.value.retry_after_s == RETRY_AFTER_S


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_no_server_is_busy_and_not_a_crash(provider: str) -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    async with opened(f"{provider}:fake", f"http://127.0.0.1:{port}") as model:
        with pytest.raises(ModelBusy, match="cannot be reached") as caught:
            await model.ask([Message("1", "user", "hello")], [], lambda delta: None)
    assert "server running" in caught.value.hint


BEGINNINGS = {
    "openai": b'data: {"choices":[{"index":0,"delta":{"content":"so far"}}]}\n\n',
    "anthropic": b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":"so far"}}\n\n',
}


class Teaser:
    """A server that begins a reply and then holds the line, or drops it."""

    def __init__(self, beginning: bytes, *, drops: bool) -> None:
        self._beginning = beginning
        self._drops = drops
        self.abandoned = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        await reader.readexactly(length)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"%x\r\n%s\r\n" % (len(self._beginning), self._beginning))
        await writer.drain()
        if not self._drops:
            await reader.read()
            self.abandoned.set()
        writer.close()


@asynccontextmanager
async def teased(provider: str, *, drops: bool) -> AsyncIterator[tuple[Teaser, Model]]:
    teaser = Teaser(BEGINNINGS[provider], drops=drops)
    server = await asyncio.start_server(teaser.answer, "127.0.0.1", 0)
    async with server, opened(f"{provider}:fake", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as model:
        yield teaser, model


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_dropped_connection_is_no_whole_reply(provider: str) -> None:
    deltas: list[Delta] = []
    async with teased(provider, drops=True) as (_, model):
        with pytest.raises(ReplyMalformed, match="broke off"):
            await model.ask([Message("1", "user", "hello")], [], deltas.append)
    assert [delta.text for delta in deltas] == ["so far"]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_cancelled_request_leaves_no_connection_open(provider: str) -> None:
    began = asyncio.Event()
    async with teased(provider, drops=False) as (teaser, model):
        asking = asyncio.create_task(model.ask([Message("1", "user", "hello")], [], lambda delta: began.set()))
        await asyncio.wait_for(began.wait(), DEADLINE_S)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(teaser.abandoned.wait(), DEADLINE_S)
