"""What vendors send, and models that receive it: a transport in place of the network, all else real."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from agent.models.anthropic import AnthropicModel
from agent.models.base import Delta, Message, Model, Reply, ToolSpec
from agent.models.openai import OpenAIModel

Handler = Callable[[httpx2.Request], httpx2.Response]

HELLO = (Message("1", "user", "hello"),)
BASH = ToolSpec("bash", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}})


@dataclass
class Wire:
    """One model, what was asked of its server, and what came in pieces."""

    answer: Handler
    requests: list[httpx2.Request] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)

    def client(self) -> httpx2.AsyncClient:
        """A client that reaches only `answer`."""

        def handle(request: httpx2.Request) -> httpx2.Response:
            self.requests.append(request)
            return self.answer(request)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(handle))

    def openai(self, name: str = "gpt-5", base_url: str | None = None) -> OpenAIModel:
        """A model of OpenAI's protocol."""
        return OpenAIModel(name, base_url, "sk-test", environment={}, http_client=self.client())

    def anthropic(self, name: str = "claude-sonnet-4-5", base_url: str | None = None) -> AnthropicModel:
        """A model of Anthropic's protocol."""
        return AnthropicModel(name, base_url, "sk-test", environment={}, http_client=self.client())

    def model(self, provider: str) -> Model:
        """A model of either."""
        return self.openai() if provider == "openai" else self.anthropic()

    async def ask(self, model: Model, messages: Sequence[Message] = HELLO, tools: Sequence[ToolSpec] = ()) -> Reply:
        """Ask, and keep the pieces."""
        try:
            return await model.ask(messages, tools, self.deltas.append)
        finally:
            await model.close()

    def sent(self) -> dict[str, Any]:
        """The body of the last request."""
        body = json.loads(self.requests[-1].content)
        assert isinstance(body, dict)
        return body

    def streamed(self, channel: str) -> str:
        """All pieces of a channel."""
        return "".join(delta.text for delta in self.deltas if delta.channel == channel)


def stream(text: str) -> Handler:
    """A server that streams `text`."""
    headers = {"content-type": "text/event-stream"}
    return lambda request: httpx2.Response(200, headers=headers, content=text.encode("utf-8", "surrogatepass"))


def refusal(status: int, body: object, headers: Mapping[str, str] | None = None) -> Handler:
    """A server that answers with an error."""
    content = body if isinstance(body, str) else json.dumps(body)
    return lambda request: httpx2.Response(status, headers=dict(headers or {}), text=content)


def openai_stream(*chunks: object, done: bool = True) -> Handler:
    """A server that streams chunks as OpenAI does."""
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return stream(text + ("data: [DONE]\n\n" if done else ""))


def chunk(finish: str | None = None, **delta: object) -> dict[str, object]:
    """One chunk."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call_piece(**piece: object) -> dict[str, object]:
    """One chunk with one piece of a tool call."""
    return chunk(tool_calls=[piece])


def anthropic_stream(*events: Mapping[str, object]) -> Handler:
    """A server that streams events as Anthropic does."""
    return stream("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events))


def start(**usage: int) -> dict[str, object]:
    """The event that begins a message."""
    return {"type": "message_start", "message": {"id": "msg_1", "usage": usage}}


def block(index: int, content: Mapping[str, object], *deltas: Mapping[str, object]) -> list[dict[str, object]]:
    """The events of one content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *pieces: str) -> list[dict[str, object]]:
    """The events of a text block."""
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def call_block(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, object]]:
    """The events of a tool block."""
    content = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, content, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def thinking_block(index: int, text: str, signature: str) -> list[dict[str, object]]:
    """The events of a block of signed reasoning."""
    content = {"type": "thinking", "thinking": "", "signature": ""}
    return block(
        index,
        content,
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": signature},
    )


def stop(reason: str = "end_turn", **usage: object) -> list[dict[str, object]]:
    """The events that end a message."""
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]
