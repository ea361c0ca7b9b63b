"""What passed between the runner and the model."""

from agent.record.bodies.base import Body
from agent.record.values import Text, ToolCall, Usage


class ModelAsked(Body, frozen=True, kw_only=True, tag="model_asked"):
    """A request went to the model; the messages are named, not repeated."""

    call_id: str
    model: str
    message_ids: tuple[str, ...] = ()


class ModelStreamed(Body, frozen=True, kw_only=True, tag="model_streamed"):
    """A piece of the reply as it is written; batched to ten a second."""

    call_id: str
    channel: str
    """`reasoning`, `text` or `call`."""
    text: str


class ModelAnswered(Body, frozen=True, kw_only=True, tag="model_answered"):
    """The whole reply; it is the conversation's message `message_id`."""

    call_id: str
    message_id: str
    text: Text = ""
    reasoning: Text = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None where the price of the model is not known."""
    stop_reason: str = ""
    duration_s: float = 0.0
    opaque: str = ""
    """What the provider wants back verbatim with this message (signed reasoning), as JSON."""


class ModelFailed(Body, frozen=True, kw_only=True, tag="model_failed"):
    """A request failed; asked again after `retry_in_s`, or given up where that is None."""

    call_id: str
    reason: str
    attempt: int = 1
    retry_in_s: float | None = None
    hint: str = ""
