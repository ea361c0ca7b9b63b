"""A streamed reply in the form of OpenAI's chat completions, and what compatible servers make of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from agent.models.base import Delta, Message, OnDelta, Reply, StopReason, read_arguments
from agent.models.openai_request import OpenAIOpaque
from agent.models.pieces import CallIds, Pieces
from agent.record.text import storable
from agent.record.values import ToolCall, Usage


class _Function(Struct, frozen=True):
    name: str | None = None
    arguments: str | dict[str, object] | None = None


class _CallPiece(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[_CallPiece, ...] | None = None


class _Choice(Struct, frozen=True):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _PromptDetails(Struct, frozen=True):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _CompletionDetails(Struct, frozen=True):
    reasoning_tokens: int | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Chunk(Struct, frozen=True):
    choices: tuple[_Choice, ...] | None = None
    usage: _Usage | None = None
    error: object = None


@dataclass
class _OpenCall:
    """A call while it comes in."""

    index: int | None
    wished_id: str
    name: str
    arguments: Pieces


@dataclass
class OpenAIReply:
    """Gathers one reply out of the chunks of a stream."""

    messages: Sequence[Message]
    on_delta: OnDelta
    error: object = None
    """What the server says went wrong in the middle of the stream."""
    _text: Pieces = field(init=False)
    _reasoning: Pieces = field(init=False)
    _reasoning_field: str = ""
    _calls: list[_OpenCall] = field(default_factory=list)
    _usage: _Usage | None = None
    _finish: str = ""
    _refused: bool = False

    def __post_init__(self) -> None:
        self._text = Pieces("text", self.on_delta)
        self._reasoning = Pieces("reasoning", self.on_delta)

    def take(self, raw: object) -> None:
        """Take the next chunk; raises `msgspec.ValidationError` for what is none."""
        chunk = msgspec.convert(raw, _Chunk)
        self.error = self.error or chunk.error
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            if choice.delta is not None:
                self._take_delta(choice.delta)
            self._finish = choice.finish_reason or self._finish

    def _take_delta(self, delta: _Delta) -> None:
        self._take_reasoning(delta)
        self._text.add(delta.content)
        if delta.refusal:
            self._refused = True
            self._text.add(delta.refusal)
        for piece in delta.tool_calls or ():
            self._take_call(piece)

    def _take_reasoning(self, delta: _Delta) -> None:
        # Some servers send both fields with the same text; the first that says something is the one.
        if not self._reasoning_field:
            names = ("reasoning_content", "reasoning")
            self._reasoning_field = next((name for name in names if getattr(delta, name)), "")
        if self._reasoning_field:
            self._reasoning.add(getattr(delta, self._reasoning_field))

    def _take_call(self, piece: _CallPiece) -> None:
        function = piece.function or _Function()
        call = self._call_of(piece)
        if call is None:
            call = _OpenCall(piece.index, piece.id or "", storable(function.name or ""), Pieces("call", self.on_delta))
            self._calls.append(call)
            self.on_delta(Delta("call", f"{call.name} "))
        arguments = function.arguments
        call.arguments.add(json.dumps(arguments) if isinstance(arguments, dict) else arguments)

    def _call_of(self, piece: _CallPiece) -> _OpenCall | None:
        """The open call that a piece goes on with; None where it starts one.

        An index says so, but servers leave it out or send 0 for all; then a new id, or a name, starts a call.
        """
        for call in reversed(self._calls):
            if call.index != piece.index:
                continue
            if piece.id and call.wished_id and piece.id != call.wished_id:
                return None
            if piece.index is None and not piece.id and piece.function and piece.function.name:
                return None
            return call
        return None

    @property
    def complete(self) -> bool:
        """Whether the stream said that the reply is at its end."""
        return bool(self._finish)

    @property
    def counted(self) -> bool:
        """Whether the server counted the tokens."""
        return self._usage is not None and bool(self._usage.prompt_tokens or self._usage.completion_tokens)

    def reply(self) -> Reply:
        """The reply, once the stream has ended."""
        ids = CallIds(self.messages)
        calls = tuple(
            read_arguments(ids.unique(call.wished_id), call.name, call.arguments.text()) for call in self._calls
        )
        reasoning = self._reasoning.text()
        opaque = OpenAIOpaque(reasoning_field=self._reasoning_field) if reasoning else None
        return Reply(
            text=self._text.text(),
            reasoning=reasoning,
            calls=calls,
            usage=_usage(self._usage or _Usage()),
            stop_reason=self._stop_reason(calls),
            opaque=msgspec.json.encode(opaque).decode() if opaque else "",
        )

    def _stop_reason(self, calls: Sequence[ToolCall]) -> StopReason:
        if self._finish == "length":
            return "length"
        if self._finish == "content_filter" or self._refused:
            return "refusal"
        # Not every server says `tool_calls` when there are some.
        return "calls" if calls else "end"


def _usage(usage: _Usage) -> Usage:
    asked = max(usage.prompt_tokens or 0, 0)
    answered = max(usage.completion_tokens or 0, 0)
    # Some servers count reasoning into the total alone.
    answered = max(answered, (usage.total_tokens or 0) - asked)
    prompt = usage.prompt_tokens_details or _PromptDetails()
    completion = usage.completion_tokens_details or _CompletionDetails()
    cache_read = min(max(prompt.cached_tokens or 0, 0), asked)
    return Usage(
        input_tokens=asked,
        output_tokens=answered,
        cache_read_tokens=cache_read,
        cache_write_tokens=min(max(prompt.cache_write_tokens or 0, 0), asked - cache_read),
        reasoning_tokens=min(max(completion.reasoning_tokens or 0, 0), answered),
    )
