"""A conversation in the form of Anthropic's Messages API."""

import re
from collections.abc import Sequence
from itertools import groupby

import msgspec
from msgspec import Struct

from agent.models.base import Message, ToolSpec
from agent.models.conversation import settled

SEPARATOR = "\n\n"
"""Stands between the text blocks of one reply where they are joined."""

THINKING_BUDGET_TOKENS = 8_000

Block = dict[str, object]

_VERSION = re.compile(r"^claude-(?:[a-z]+-)?(\d)(?:[-.](\d{1,2}))?(?:[-@]|$)")
_CACHED: Block = {"type": "ephemeral"}


class Part(Struct, frozen=True, omit_defaults=True):
    """One content block of a reply: signed reasoning verbatim, the rest by its place in the message."""

    type: str
    thinking: str = ""
    signature: str = ""
    data: str = ""
    characters: int = 0
    """Length of a text block."""
    call: int = 0
    """Which call of the message a tool block is."""


class AnthropicOpaque(Struct, frozen=True):
    """The order of a reply's blocks, as the vendor wants them back after signed reasoning."""

    parts: tuple[Part, ...]


def request_body(model: str, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> dict[str, object]:
    """The body of a streamed request."""
    conversation = settled(messages)
    system = [message for message in conversation if message.role == "system"]
    turns = _turns([message for message in conversation if message.role != "system"])
    _mark_for_cache(turns)
    body: dict[str, object] = {
        "model": model,
        "max_tokens": longest_reply_tokens(model),
        "messages": turns,
        "stream": True,
    }
    if system:
        # Tools come before the system text, so this one mark covers both.
        body["system"] = [{"type": "text", "text": system[0].text, "cache_control": _CACHED}]
    if tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in tools
        ]
    thinking = thinking_of(model)
    if thinking is not None:
        body["thinking"] = thinking
    return body


def _version(model: str) -> tuple[int, int] | None:
    # Claude 3 put the version before the family's name, and later ones after it.
    found = _VERSION.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def thinking_of(model: str) -> Block | None:
    """How that model is asked to think; None where it cannot, or where the name does not tell.

    Up to 4.5 a model takes a budget, from 4.6 on it finds its own measure and the later ones refuse a budget.
    """
    version = _version(model)
    if version is None or version < (3, 7):
        return None
    if version < (4, 6):
        return {"type": "enabled", "budget_tokens": THINKING_BUDGET_TOKENS}
    return {"type": "adaptive", "display": "summarized"}


def longest_reply_tokens(model: str) -> int:
    """How long a reply may get: what all models of that version allow."""
    version = _version(model)
    if version is None or version < (3, 5):
        return 4_096
    return 8_192 if version < (3, 7) else 32_000


def _turns(messages: Sequence[Message]) -> list[Block]:
    return [
        {"role": role, "content": [block for message in group for block in _blocks(message)]}
        for role, group in groupby(messages, key=lambda m: "assistant" if m.role == "assistant" else "user")
    ]


def _mark_for_cache(turns: Sequence[Block]) -> None:
    """Mark the end of the last two user turns: this request writes the later mark and reads the earlier one."""
    for turn in [turn for turn in turns if turn["role"] == "user"][-2:]:
        blocks = turn["content"]
        assert isinstance(blocks, list)
        blocks[-1]["cache_control"] = _CACHED


def _blocks(message: Message) -> list[Block]:
    match message.role:
        case "assistant":
            return _reply_blocks(message)
        case "tool":
            return [
                {
                    "type": "tool_result",
                    "tool_use_id": message.call_id,
                    "content": message.text,
                    "is_error": message.failed,
                }
            ]
        case _:
            return [_text_block(message.text)]


def _text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _reply_blocks(message: Message) -> list[Block]:
    calls: list[Block] = [
        {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": call.arguments} for call in message.calls
    ]
    ordered = _in_order(message, calls)
    if ordered is not None:
        return ordered
    # The vendor refuses text that is only white space.
    return [_text_block(message.text), *calls] if message.text.strip() else calls


def _in_order(message: Message, calls: Sequence[Block]) -> list[Block] | None:
    """The blocks as the reply had them; None where it had no signed reasoning, or is no longer what it was."""
    try:
        parts = msgspec.json.decode(message.opaque or "{}", type=AnthropicOpaque).parts
    except msgspec.DecodeError:
        return None
    texts = _split(message.text, [part.characters for part in parts if part.type == "text"])
    if texts is None or [part.call for part in parts if part.type == "tool_use"] != list(range(len(calls))):
        return None
    remaining = iter(texts)
    blocks: list[Block] = []
    for part in parts:
        match part.type:
            case "thinking":
                blocks.append({"type": "thinking", "thinking": part.thinking, "signature": part.signature})
            case "redacted_thinking":
                blocks.append({"type": "redacted_thinking", "data": part.data})
            case "tool_use":
                blocks.append(calls[part.call])
            case _:
                blocks.append(_text_block(next(remaining)))
    return [block for block in blocks if block["type"] != "text" or str(block["text"]).strip()]


def _split(text: str, lengths: Sequence[int]) -> list[str] | None:
    if len(text) != sum(lengths) + len(SEPARATOR) * max(len(lengths) - 1, 0):
        return None
    pieces, start = [], 0
    for length in lengths:
        pieces.append(text[start : start + length])
        start += length + len(SEPARATOR)
    return pieces
