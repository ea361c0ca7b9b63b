"""What the agent did: steps, messages, tools, notes."""

import msgspec

from agent.record.bodies.base import Body
from agent.record.values import Text


class StepStarted(Body, frozen=True, kw_only=True, tag="step_started"):
    """One turn of the agent: a model call and what it leads to. The number is in the envelope."""


class MessageAdded(Body, frozen=True, kw_only=True, tag="message_added"):
    """A system or user message joined the conversation."""

    message_id: str
    role: str
    text: Text
    origin: str = "harness"
    """`task`, `operator` or `harness`."""
    request_id: int | None = None


class ToolCalled(Body, frozen=True, kw_only=True, tag="tool_called"):
    """A tool starts; pairs with `ToolFinished` by `call_id`."""

    call_id: str
    tool: str
    arguments: dict[str, object] = msgspec.field(default_factory=dict)
    summary: Text = ""
    """The call as one would type it: the command, the path."""
    command_id: str = ""
    """Under which a command of this call is known to the sandbox."""


class ToolTakenUp(Body, frozen=True, kw_only=True, tag="tool_taken_up"):
    """A call that a runner was lost over goes on, or is brought to an end, under the next one."""

    call_id: str
    tool: str
    summary: Text = ""
    """The call as one would type it."""
    worked_s: float = 0.0
    """How long its command worked while there was no runner; no clock has it, since nobody could see or steer it."""


class ToolOutput(Body, frozen=True, kw_only=True, tag="tool_output"):
    """A piece of a running tool's output, in order, carriage returns settled within the piece."""

    call_id: str
    text: Text
    read_bytes: int = 0
    """How many of the command's own bytes the record holds, this piece included: reading goes on behind them."""


class ToolFinished(Body, frozen=True, kw_only=True, tag="tool_finished"):
    """A tool ended; `observation` is what the model is told, as message `message_id`."""

    call_id: str
    message_id: str
    tool: str = ""
    exit_code: int | None = None
    """None for tools that are not commands, and for commands that were ended."""
    failed: bool = False
    duration_s: float = 0.0
    observation: Text = ""
    refused: bool = False
    """Nothing was run: there is no such tool, or its arguments were malformed."""
    timed_out: bool = False
    oom_kills: int = 0
    """How many of the command's processes the kernel ended because memory ran out."""
    interrupted_by: str = ""
    rejected_by: str = ""
    """Who did not let it run, in approve mode."""
    output_bytes: int = 0
    output_lines: int = 0


class NoteTaken(Body, frozen=True, kw_only=True, tag="note_taken"):
    """The agent wrote to its scratchpad."""

    text: Text


class PlanChanged(Body, frozen=True, kw_only=True, tag="plan_changed"):
    """The agent's plan from now on."""

    items: tuple[str, ...]
