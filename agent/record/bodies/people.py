"""What people asked for and decided, and what came of it."""

from typing import Literal

from agent.record.bodies.base import Body
from agent.record.values import Decision, Text


class RequestReceived(Body, frozen=True, kw_only=True, tag="request_received"):
    """The runner has read a person's request from the inbox."""

    request_id: int
    verb: str
    text: str = ""
    """The request as one line: the injected message, the new limits, the reason."""
    who: str = ""
    origin: str = ""
    """Where it came from: `app`, `cli`."""
    worker: int = 0
    """To whom a message goes, whose command is interrupted; 0 is the supervisor, or the only agent."""


class RequestDelivered(Body, frozen=True, kw_only=True, tag="request_delivered"):
    """An injected message went out with model request `call_id`."""

    request_id: int
    call_id: str


class RequestAnswered(Body, frozen=True, kw_only=True, tag="request_answered"):
    """What was asked for has happened."""

    request_id: int
    detail: str = ""


class RequestRefused(Body, frozen=True, kw_only=True, tag="request_refused"):
    """What was asked for cannot be; `reason` says why."""

    request_id: int
    reason: str


class RequestEdited(Body, frozen=True, kw_only=True, tag="request_edited"):
    """A message that was still queued says something else now."""

    request_id: int
    text: str
    by: str = ""


class RequestWithdrawn(Body, frozen=True, kw_only=True, tag="request_withdrawn"):
    """A message that was still queued was taken back; it never reaches the agent."""

    request_id: int
    by: str = ""


class ApproveModeChanged(Body, frozen=True, kw_only=True, tag="approve_mode_changed"):
    """From now on tool calls that change something wait for a person, or do so no longer."""

    on: bool
    by: str
    request_id: int | None = None


class ApprovalAsked(Body, frozen=True, kw_only=True, tag="approval_asked"):
    """A tool call waits for a person; asked again, under the same id, by a runner that takes the run up."""

    approval_id: str
    call_id: str
    tool: str
    summary: Text = ""
    """The call as one would type it."""
    arguments: Text = "{}"
    """The arguments as JSON."""
    editable: str = ""
    """The argument that an edit replaces; empty where there is none."""
    rule: str = ""
    """What `always` would let through; empty where there is no class that could safely be let through."""


class ApprovalGiven(Body, frozen=True, kw_only=True, tag="approval_given"):
    """A person's word on a tool call."""

    approval_id: str
    decision: Decision
    by: str
    reason: str = ""
    """Why it was rejected, or why nobody had to say anything."""
    edited: Text = ""
    """What the person wrote in the place of the editable argument."""
    rule: str = ""
    """What is let through from now on, for the rest of the run."""
    request_id: int | None = None


class ControlTaken(Body, frozen=True, kw_only=True, tag="control_taken"):
    """A viewer steers the run from now on."""

    change_id: int
    viewer: str
    who: str = ""
    origin: str = ""
    where: str = ""
    """Where the viewer is, in a few words."""
    how: Literal["free", "taken_over", "handed"] = "free"
    from_viewer: str = ""
    from_who: str = ""
    """Who had it before."""


class ControlReleased(Body, frozen=True, kw_only=True, tag="control_released"):
    """Nobody steers the run any more."""

    change_id: int
    viewer: str
    who: str = ""
    origin: str = ""
    where: str = ""
    how: Literal["released", "expired"] = "released"
    """`expired`: the viewer was gone, or silent for too long."""
