"""What happened in a run: the union of frozen events that every fold and screen matches on.

Changes here only add: a new field has a default, a new kind joins `Known`. A kind that this program does not
know reads as `Unknown` and shows as one grey line.
"""

import msgspec
from msgspec import Struct

from agent.record.values import (
    Decision,
    Gpu,
    Host,
    LimitKind,
    Limits,
    OnLimit,
    Outcome,
    PauseStrength,
    Progress,
    Proof,
    Purpose,
    RunSummary,
    Scale,
    Score,
    Text,
    ToolCall,
    Usage,
)


class Body(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What every event's body is."""


# ── run ──────────────────────────────────────────────────────────────────────────────────────────────────


class RunCreated(Body, frozen=True, kw_only=True, tag="run_created"):
    """A person asked for a run; always the first event."""

    run: str
    task: str
    scale: Scale
    scaffold: str
    model: str
    sandbox: str
    seed: int
    limits: Limits
    who: str = ""
    version: str = ""
    approve: bool = False
    on_limit: OnLimit = "end"


class RunStarted(Body, frozen=True, kw_only=True, tag="run_started"):
    """A runner took the run up; `resumed` where another had it before."""

    pid: int
    host: str
    resumed: bool = False


class Heartbeat(Body, frozen=True, kw_only=True, tag="heartbeat"):
    """The runner is alive; carries the summary so that a reader need not fold from the start."""

    summary: RunSummary


class RunPaused(Body, frozen=True, kw_only=True, tag="run_paused"):
    """A pause took effect."""

    strength: PauseStrength
    by: str
    why: str = ""
    request_id: int | None = None
    limit: LimitKind | None = None
    """The limit that was reached, where that paused it."""


class RunResumed(Body, frozen=True, kw_only=True, tag="run_resumed"):
    """The run goes on."""

    by: str
    request_id: int | None = None


class LimitsChanged(Body, frozen=True, kw_only=True, tag="limits_changed"):
    """The limits that hold from now on."""

    limits: Limits
    by: str
    why: str = ""
    request_id: int | None = None


class RunEnded(Body, frozen=True, kw_only=True, tag="run_ended"):
    """Always the last event of a run's life (a later regrade may follow)."""

    outcome: Outcome
    limit: LimitKind | None = None
    detail: str = ""


# ── sandbox ──────────────────────────────────────────────────────────────────────────────────────────────


class SandboxStarted(Body, frozen=True, kw_only=True, tag="sandbox_started"):
    """The sandbox answers; what it isolates is said here."""

    sandbox: str
    """`local`, `docker` or `docker@HOST`."""
    name: str
    """Container name, or process id of the local guest."""
    image: str = ""
    workdir: str = ""
    network: bool = False
    isolates: bool = True
    notice: str = ""


class SandboxLost(Body, frozen=True, kw_only=True, tag="sandbox_lost"):
    """The sandbox answers no more."""

    reason: str


class SandboxStopped(Body, frozen=True, kw_only=True, tag="sandbox_stopped"):
    """The sandbox was taken down; what could be proven of it."""

    proofs: tuple[Proof, ...]


class ProofFound(Body, frozen=True, kw_only=True, tag="proof_found"):
    """One line of a kill's checklist, as it becomes true; a later one on the same thing takes its place."""

    what: str
    """`model calls`, `container`, `processes`, `gpu memory`."""
    proven: bool
    detail: str = ""


# ── model ────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── agent ────────────────────────────────────────────────────────────────────────────────────────────────


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
    arguments: dict[str, object] = {}
    summary: Text = ""
    """The call as one would type it: the command, the path."""


class ToolOutput(Body, frozen=True, kw_only=True, tag="tool_output"):
    """A piece of a running tool's output, in order, carriage returns settled within the piece."""

    call_id: str
    text: Text


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
    timed_out: bool = False
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


# ── telemetry ────────────────────────────────────────────────────────────────────────────────────────────


class GpuSampled(Body, frozen=True, kw_only=True, tag="gpu_sampled"):
    """The GPUs of this run, now."""

    gpus: tuple[Gpu, ...]


class HostSampled(Body, frozen=True, kw_only=True, tag="host_sampled"):
    """What the sandbox uses, now."""

    host: Host


class ProgressSeen(Body, frozen=True, kw_only=True, tag="progress_seen"):
    """A command's output told of its progress; at most ten a second are kept."""

    call_id: str
    progress: Progress


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────


class RequestReceived(Body, frozen=True, kw_only=True, tag="request_received"):
    """The runner has read a person's request from the inbox."""

    request_id: int
    verb: str
    text: str = ""
    """The request as one line: the injected message, the new limits, the reason."""
    who: str = ""
    origin: str = ""
    """Where it came from: `app`, `cli`."""


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


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────


class CheckpointSeen(Body, frozen=True, kw_only=True, tag="checkpoint_seen"):
    """A weights file is there or has grown; `path` is relative to the work folder."""

    path: str
    size_bytes: int
    training_step: int | None = None


class GradingStarted(Body, frozen=True, kw_only=True, tag="grading_started"):
    """A snapshot of the submission went to the grader."""

    grading_id: str
    purpose: Purpose
    split: str
    artefact_sha256: str = ""


class GradingProgressed(Body, frozen=True, kw_only=True, tag="grading_progressed"):
    """The grader says how far it is."""

    grading_id: str
    done: int
    total: int
    what: str = ""


class Graded(Body, frozen=True, kw_only=True, tag="graded"):
    """The grader's answer."""

    grading_id: str
    purpose: Purpose
    score: Score
    duration_s: float = 0.0
    by: str = ""


class AlertRaised(Body, frozen=True, kw_only=True, tag="alert_raised"):
    """Something a person should look at: why, and what one could do."""

    alert: str
    message: str
    hint: str = ""


# ── the union ────────────────────────────────────────────────────────────────────────────────────────────

Known = (
    RunCreated
    | RunStarted
    | Heartbeat
    | RunPaused
    | RunResumed
    | LimitsChanged
    | RunEnded
    | SandboxStarted
    | SandboxLost
    | SandboxStopped
    | ProofFound
    | ModelAsked
    | ModelStreamed
    | ModelAnswered
    | ModelFailed
    | StepStarted
    | MessageAdded
    | ToolCalled
    | ToolOutput
    | ToolFinished
    | NoteTaken
    | PlanChanged
    | GpuSampled
    | HostSampled
    | ProgressSeen
    | RequestReceived
    | RequestDelivered
    | RequestAnswered
    | RequestRefused
    | RequestEdited
    | RequestWithdrawn
    | ApproveModeChanged
    | ApprovalAsked
    | ApprovalGiven
    | CheckpointSeen
    | GradingStarted
    | GradingProgressed
    | Graded
    | AlertRaised
)


class Unknown(Struct, frozen=True, kw_only=True):
    """An event of a kind, or in a shape, that this program does not know."""

    kind: str
    raw: bytes


AnyBody = Known | Unknown


class Event(Struct, frozen=True, kw_only=True):
    """One event in its envelope."""

    seq: int
    """1, 2, 3 … without a gap."""
    at: float
    """Seconds since the epoch; never runs backwards within a run."""
    body: AnyBody
    step: int = 0
    """The agent's step that it belongs to; 0 before the first."""
    worker: int = 0


def kind_of(body: AnyBody) -> str:
    """The kind as it stands in the log."""
    if isinstance(body, Unknown):
        return body.kind
    tag = body.__struct_config__.tag
    assert isinstance(tag, str)
    return tag


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Known] = msgspec.json.Decoder(Known)


def encode(body: AnyBody) -> bytes:
    """The body as JSON, its kind included."""
    return body.raw if isinstance(body, Unknown) else _encoder.encode(body)


def decode(kind: str, raw: bytes) -> AnyBody:
    """The body out of JSON; what cannot be read comes back whole as `Unknown`."""
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Unknown(kind=kind, raw=raw)
