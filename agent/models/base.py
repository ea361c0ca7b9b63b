"""Provider-neutral values, and what every model can do."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent.record.text import clip, storable
from agent.record.values import ToolCall, Usage

DEEPEST_ARGUMENTS = 64
LONGEST_ARGUMENTS = 1024**2
"""Characters; no model writes as much in one call and means it."""
LONGEST_NAME = 200
MALFORMED_KEPT = 16_000
"""Of arguments that are too long."""

Role = Literal["system", "user", "assistant", "tool"]
Channel = Literal["reasoning", "text", "call"]
StopReason = Literal["end", "calls", "length", "refusal"]


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    message_id: str
    role: Role
    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    """What an assistant message asks for."""
    call_id: str = ""
    """Which call a tool message answers."""
    failed: bool = False
    """Whether the tool that this message reports on failed."""
    opaque: str = ""
    """What the provider wants back verbatim with an assistant message, as JSON."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, object]
    """JSON schema of the arguments, an object."""


@dataclass(frozen=True)
class Delta:
    """A piece of a reply as it is written."""

    channel: Channel
    text: str
    """In channel `call`: a tool's name and a space, then its arguments as JSON in pieces."""


OnDelta = Callable[[Delta], None]


@dataclass(frozen=True)
class Reply:
    """A whole reply."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop_reason: StopReason = "end"
    opaque: str = ""


class Model(Protocol):
    """A language model that uses tools."""

    @property
    def name(self) -> str:
        """As a person would name it: `anthropic:claude-sonnet-4-5`."""
        ...

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_delta: OnDelta) -> Reply:
        """One reply to the conversation, its pieces handed to `on_delta` as they come.

        Raises `ModelBusy` (ask again later), `ModelUnavailable` (do not), `ContextOverflow`, `ReplyMalformed`.
        Never retries by itself: the runner does, where people can see it. Cancelling closes the connection.
        """
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """What that usage costs in US dollars; None where no price is known. 0.0 for the scripted model."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def read_arguments(call_id: str, tool: str, raw: str) -> ToolCall:
    """A tool call out of the raw text of its arguments; what is no JSON object comes back as malformed.

    So does what is longer, or nested deeper, than anything a tool asks for: it would break whoever stores or shows it.
    """
    tool = tool[:LONGEST_NAME]
    if len(raw) > LONGEST_ARGUMENTS:
        return _malformed(call_id, tool, clip(raw, MALFORMED_KEPT))
    try:
        arguments = _storable_value(json.loads(raw or "{}"), DEEPEST_ARGUMENTS)
    except (ValueError, RecursionError):
        return _malformed(call_id, tool, raw)
    if not isinstance(arguments, dict):
        return _malformed(call_id, tool, raw)
    return ToolCall(call_id=call_id, tool=tool, arguments=arguments)


def deeper_than(value: object, depth: int) -> bool:
    """Whether dicts and lists are nested deeper than that."""
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return not depth or any(deeper_than(item, depth - 1) for item in inside)


def _malformed(call_id: str, tool: str, raw: str) -> ToolCall:
    return ToolCall(call_id=call_id, tool=tool, malformed=storable(raw))


def _storable_value(value: object, depth: int) -> object:
    # JSON escapes can spell lone surrogates, which no UTF-8 file takes.
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict | list) and not depth:
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        return {storable(name): _storable_value(item, depth - 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_storable_value(item, depth - 1) for item in value]
    return value
