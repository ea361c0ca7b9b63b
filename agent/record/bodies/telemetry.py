"""What was measured beside the agent's work."""

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
