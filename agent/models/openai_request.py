"""A conversation in the form of OpenAI's chat completions."""

import json
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from agent.models.base import Message, ToolSpec
from agent.models.conversation import settled
from agent.record.text import storable
from agent.record.values import ToolCall


class OpenAIOpaque(Struct, frozen=True, kw_only=True):
    """What an assistant message needs to go back as it came."""

    reasoning_field: str
    """`reasoning_content` or `reasoning`: where this server puts reasoning, and wants it back."""


def request_body(model: str, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> dict[str, object]:
    """The body of a streamed request."""
    body: dict[str, object] = {
        "model": model,
        "messages": [_message(message) for message in settled(messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
    return body


def _tool(tool: ToolSpec) -> Mapping[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _message(message: Message) -> dict[str, object]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.role != "assistant":
        return {"role": message.role, "content": message.text}
    answer: dict[str, object] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        answer["tool_calls"] = [_call(call) for call in message.calls]
    field = _reasoning_field(message)
    if field and message.reasoning:
        answer[field] = storable(message.reasoning)
    return answer


def _call(call: ToolCall) -> Mapping[str, object]:
    # Arguments that were no JSON go back empty: chat templates parse them, and the tool message says what was wrong.
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"id": call.call_id, "type": "function", "function": function}


def _reasoning_field(message: Message) -> str:
    if not message.opaque:
        return ""
    try:
        field = msgspec.json.decode(message.opaque, type=OpenAIOpaque).reasoning_field
    except msgspec.DecodeError:
        # Another provider's: it means nothing here.
        return ""
    return field if field in ("reasoning_content", "reasoning") else ""
