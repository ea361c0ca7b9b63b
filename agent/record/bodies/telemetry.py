"""What was measured beside the agent's work."""

import msgspec

from agent.record.bodies.base import Body
from agent.record.values import Gpu, Host, Progress


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


class MetricsSeen(Body, frozen=True, kw_only=True, tag="metrics_seen"):
    """A training wrote metrics of one of its steps into a file of its own."""

    path: str
    """Relative to the work folder."""
    values: dict[str, float] = msgspec.field(default_factory=dict)
    """As `Progress.values`."""
    diverged: tuple[str, ...] = ()
    training_step: int | None = None
