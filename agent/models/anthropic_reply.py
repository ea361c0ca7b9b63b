"""A streamed reply in the form of Anthropic's Messages API."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from agent.models.anthropic_request import SEPARATOR, AnthropicOpaque, Part
from agent.models.base import Delta, Message, OnDelta, Reply, StopReason, read_arguments
from agent.models.pieces import CallIds, Pieces
from agent.record.text import storable
from agent.record.values import Usage

_STOP_REASONS: dict[str, StopReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class _OutputDetails(Struct, frozen=True):
    thinking_tokens: int | None = None


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _Message(Struct, frozen=True):
    usage: _Usage | None = None


class _Block(Struct, frozen=True):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, object] | None = None


class _Delta(Struct, frozen=True):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(Struct, frozen=True):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None


@dataclass
class _OpenBlock:
    """A content block while it comes in; `pieces` are its text, its reasoning or its arguments."""

    start: _Block
    pieces: Pieces
    signature: str = ""


@dataclass
class AnthropicReply:
    """Gathers one reply out of the events of a stream."""

    messages: Sequence[Message]
    on_delta: OnDelta
    complete: bool = False
    """Whether the stream said that the reply is at its end."""
    _blocks: dict[int, _OpenBlock] = field(default_factory=dict)
    _usage: Usage = field(default_factory=Usage)
    _stop: str = ""

    def take(self, raw: object) -> None:
        """Take the next event; raises `msgspec.ValidationError` for what is none. Unknown kinds are passed over."""
        event = msgspec.convert(raw, _Event)
        match event.type:
            case "message_start":
                self._count(event.message.usage if event.message else None)
            case "content_block_start":
                self._start(event.index, event.content_block or _Block())
            case "content_block_delta":
                self._go_on(event.index, event.delta or _Delta())
            case "message_delta":
                self._stop = (event.delta.stop_reason if event.delta else None) or self._stop
                self._count(event.usage)
            case "message_stop":
                self.complete = True

    def _start(self, index: int, block: _Block) -> None:
        match block.type:
            case "thinking":
                pieces = Pieces("reasoning", self.on_delta)
                pieces.add(block.thinking)
            case "tool_use":
                pieces = Pieces("call", self.on_delta)
                self.on_delta(Delta("call", f"{storable(block.name or '')} "))
            case _:
                pieces = Pieces("text", self.on_delta)
                pieces.add(block.text)
        self._blocks[index] = _OpenBlock(block, pieces, block.signature or "")

    def _go_on(self, index: int, delta: _Delta) -> None:
        block = self._blocks.get(index)
        if block is None:
            return
        match delta.type:
            case "text_delta":
                block.pieces.add(delta.text)
            case "thinking_delta":
                block.pieces.add(delta.thinking)
            case "input_json_delta" if block.start.type == "tool_use":
                block.pieces.add(delta.partial_json)
            case "signature_delta":
                block.signature += delta.signature or ""

    def _count(self, usage: _Usage | None) -> None:
        if usage is None:
            return
        # Counts are cumulative, and each event may leave some of them out.
        cache_read = max(usage.cache_read_input_tokens or 0, self._usage.cache_read_tokens)
        cache_write = max(usage.cache_creation_input_tokens or 0, self._usage.cache_write_tokens)
        known = self._usage.input_tokens - self._usage.cache_read_tokens - self._usage.cache_write_tokens
        uncached = max(usage.input_tokens or 0, known)
        details = usage.output_tokens_details or _OutputDetails()
        self._usage = Usage(
            input_tokens=uncached + cache_read + cache_write,
            output_tokens=max(usage.output_tokens or 0, self._usage.output_tokens),
            cache_read_tokens=cache_read,
            cache_write_tokens=cache_write,
            reasoning_tokens=max(details.thinking_tokens or 0, self._usage.reasoning_tokens),
        )

    @property
    def counted(self) -> bool:
        """Whether the server counted the tokens."""
        return self._usage.total_tokens > 0

    def reply(self) -> Reply:
        """The reply, once the stream has ended."""
        ids = CallIds(self.messages)
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        gathered = [(block, block.pieces.text()) for block in blocks]
        calls = tuple(
            read_arguments(
                ids.unique(block.start.id or ""),
                storable(block.start.name or ""),
                raw or json.dumps(block.start.input or {}),
            )
            for block, raw in gathered
            if block.start.type == "tool_use"
        )
        return Reply(
            text=SEPARATOR.join(text for block, text in gathered if block.start.type == "text"),
            reasoning=SEPARATOR.join(text for block, text in gathered if block.start.type == "thinking"),
            calls=calls,
            usage=self._usage,
            stop_reason=_STOP_REASONS.get(self._stop, "calls" if calls else "end"),
            opaque=_opaque(gathered),
        )


def _opaque(gathered: Sequence[tuple[_OpenBlock, str]]) -> str:
    parts: list[Part] = []
    calls = 0
    for block, text in gathered:
        match block.start.type:
            # Reasoning that was cut off has no signature, and the vendor takes none without.
            case "thinking" if block.signature:
                parts.append(Part("thinking", thinking=text, signature=block.signature))
            case "redacted_thinking":
                parts.append(Part("redacted_thinking", data=block.start.data or ""))
            case "text":
                parts.append(Part("text", characters=len(text)))
            case "tool_use":
                parts.append(Part("tool_use", call=calls))
                calls += 1
    if not any(part.type in ("thinking", "redacted_thinking") for part in parts):
        return ""
    return msgspec.json.encode(AnthropicOpaque(tuple(parts))).decode()
