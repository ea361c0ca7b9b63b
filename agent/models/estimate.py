"""A rough count of tokens, for models and servers that do not count."""

import json
from collections.abc import Sequence

from agent.models.base import Message, Reply, ToolSpec
from agent.record.values import ToolCall, Usage

CHARACTERS_PER_TOKEN = 4


def estimated_usage(messages: Sequence[Message], tools: Sequence[ToolSpec], reply: Reply) -> Usage:
    """What the request and its reply used, at four characters a token."""
    asked = sum(_message_length(message) for message in messages) + sum(_tool_length(tool) for tool in tools)
    reasoning = len(reply.reasoning)
    answered = reasoning + len(reply.text) + _calls_length(reply.calls)
    return Usage(
        input_tokens=_tokens(asked),
        output_tokens=_tokens(answered),
        reasoning_tokens=_tokens(reasoning),
    )


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _message_length(message: Message) -> int:
    return len(message.text) + len(message.reasoning) + _calls_length(message.calls)


def _tool_length(tool: ToolSpec) -> int:
    return len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.parameters)))


def _calls_length(calls: Sequence[ToolCall]) -> int:
    return sum(len(call.tool) + len(call.malformed or json.dumps(call.arguments)) for call in calls)
