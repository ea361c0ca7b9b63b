"""What happened in a run: the union of frozen events that every fold and screen matches on.

Changes here only add: a new field has a default, a new kind joins `Known`. A kind that this program does not
know reads as `Unknown` and shows as one grey line.
"""

from typing import get_args

import msgspec
from msgspec import Struct

from agent.record.bodies.agent import MessageAdded as MessageAdded
from agent.record.bodies.agent import NoteTaken as NoteTaken
from agent.record.bodies.agent import PlanChanged as PlanChanged
from agent.record.bodies.agent import StepStarted as StepStarted
from agent.record.bodies.agent import ToolCalled as ToolCalled
from agent.record.bodies.agent import ToolFinished as ToolFinished
from agent.record.bodies.agent import ToolOutput as ToolOutput
from agent.record.bodies.agent import ToolTakenUp as ToolTakenUp
from agent.record.bodies.base import Body as Body
from agent.record.bodies.crew import PlanMade as PlanMade
from agent.record.bodies.crew import WorkerEnded as WorkerEnded
from agent.record.bodies.crew import WorkerReported as WorkerReported
from agent.record.bodies.crew import WorkerStarted as WorkerStarted
from agent.record.bodies.model import ModelAnswered as ModelAnswered
from agent.record.bodies.model import ModelAsked as ModelAsked
from agent.record.bodies.model import ModelFailed as ModelFailed
from agent.record.bodies.model import ModelStreamed as ModelStreamed
from agent.record.bodies.people import ApprovalAsked as ApprovalAsked
from agent.record.bodies.people import ApprovalGiven as ApprovalGiven
from agent.record.bodies.people import ApproveModeChanged as ApproveModeChanged
from agent.record.bodies.people import ControlReleased as ControlReleased
from agent.record.bodies.people import ControlTaken as ControlTaken
from agent.record.bodies.people import RequestAnswered as RequestAnswered
from agent.record.bodies.people import RequestDelivered as RequestDelivered
from agent.record.bodies.people import RequestEdited as RequestEdited
from agent.record.bodies.people import RequestReceived as RequestReceived
from agent.record.bodies.people import RequestRefused as RequestRefused
from agent.record.bodies.people import RequestWithdrawn as RequestWithdrawn
from agent.record.bodies.placement import RunPlaced as RunPlaced
from agent.record.bodies.placement import RunQueued as RunQueued
from agent.record.bodies.results import AlertCleared as AlertCleared
from agent.record.bodies.results import AlertRaised as AlertRaised
from agent.record.bodies.results import CheckpointSeen as CheckpointSeen
from agent.record.bodies.results import Graded as Graded
from agent.record.bodies.results import GradingProgressed as GradingProgressed
from agent.record.bodies.results import GradingStarted as GradingStarted
from agent.record.bodies.run import Heartbeat as Heartbeat
from agent.record.bodies.run import LimitsChanged as LimitsChanged
from agent.record.bodies.run import RunCreated as RunCreated
from agent.record.bodies.run import RunEnded as RunEnded
from agent.record.bodies.run import RunLeft as RunLeft
from agent.record.bodies.run import RunPaused as RunPaused
from agent.record.bodies.run import RunResumed as RunResumed
from agent.record.bodies.run import RunStarted as RunStarted
from agent.record.bodies.run import WorkEnded as WorkEnded
from agent.record.bodies.sandbox import ProofFound as ProofFound
from agent.record.bodies.sandbox import SandboxAway as SandboxAway
from agent.record.bodies.sandbox import SandboxBack as SandboxBack
from agent.record.bodies.sandbox import SandboxLost as SandboxLost
from agent.record.bodies.sandbox import SandboxStarted as SandboxStarted
from agent.record.bodies.sandbox import SandboxStopped as SandboxStopped
from agent.record.bodies.telemetry import GpuSampled as GpuSampled
from agent.record.bodies.telemetry import HostSampled as HostSampled
from agent.record.bodies.telemetry import MetricsSeen as MetricsSeen
from agent.record.bodies.telemetry import ProgressSeen as ProgressSeen

Known = (
    RunCreated
    | RunStarted
    | Heartbeat
    | RunPaused
    | RunResumed
    | LimitsChanged
    | WorkEnded
    | RunLeft
    | RunEnded
    | RunQueued
    | RunPlaced
    | SandboxStarted
    | SandboxAway
    | SandboxBack
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
    | ToolTakenUp
    | ToolOutput
    | ToolFinished
    | NoteTaken
    | PlanChanged
    | PlanMade
    | WorkerStarted
    | WorkerReported
    | WorkerEnded
    | GpuSampled
    | HostSampled
    | ProgressSeen
    | MetricsSeen
    | RequestReceived
    | RequestDelivered
    | RequestAnswered
    | RequestRefused
    | RequestEdited
    | RequestWithdrawn
    | ApproveModeChanged
    | ApprovalAsked
    | ApprovalGiven
    | ControlTaken
    | ControlReleased
    | CheckpointSeen
    | GradingStarted
    | GradingProgressed
    | Graded
    | AlertRaised
    | AlertCleared
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


def known_kinds() -> list[str]:
    """Every kind that this program knows."""
    return [str(body.__struct_config__.tag) for body in get_args(Known)]


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
