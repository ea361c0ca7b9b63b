"""GPU-time of runs: reserved, busy, idle, and what it cost. Imports little: listings need it.

A GPU is reserved from when the run was given it until the run has ended, pauses and scoring included: nobody else can
have it. It is busy after a sample that shows it at work, until the next sample and no longer than `SAMPLE_HOLDS_S`.
"""

from collections.abc import Iterable

from msgspec import Struct

from agent.record.measured import Gpu
from agent.record.values import RunSummary

SAMPLE_HOLDS_S = 60.0
"""How long a sample is taken for the truth: while sampling goes on, one is kept every thirty seconds at least."""
BUSY_PERCENT = 5.0


def is_busy(gpu: Gpu) -> bool:
    """Whether it works, and for this run as far as that can be told."""
    return (gpu.utilization_percent or 0.0) >= BUSY_PERCENT and gpu.own_processes != 0


def gpu_time_at(summary: RunSummary, now: float) -> dict[str, float]:
    """What both sums are at `now`; nothing where the run holds no GPU."""
    # Records of runs that were given none by name, of before there were places, have only what was sampled.
    held = len(summary.given_gpus) or len(summary.gpus)
    if not held or summary.state == "ended" or now <= summary.at:
        return {}
    until = min(now, (summary.gpus_at or 0.0) + SAMPLE_HOLDS_S)
    busy = sum(is_busy(gpu) for gpu in summary.gpus)
    return {
        "gpu_held_s": summary.gpu_held_s + (now - summary.at) * held,
        "gpu_busy_s": summary.gpu_busy_s + max(0.0, until - summary.at) * busy,
    }


class GpuHours(Struct, frozen=True, kw_only=True):
    """What was reserved, how much of it was used, and what it cost."""

    reserved: float = 0.0
    busy: float = 0.0
    idle: float = 0.0
    cost_usd: float | None = None
    """None where no price is configured."""


def of_run(summary: RunSummary) -> GpuHours:
    """A run's GPU-hours so far."""
    return hours(summary.gpu_held_s, summary.gpu_busy_s, summary.gpu_usd_per_hour)


def hours(held_s: float, busy_s: float, usd_per_hour: float | None) -> GpuHours:
    """GPU-seconds as hours with their price."""
    busy_s = min(busy_s, held_s)
    return GpuHours(
        reserved=round(held_s / 3600, 6),
        busy=round(busy_s / 3600, 6),
        idle=round((held_s - busy_s) / 3600, 6),
        cost_usd=None if usd_per_hour is None else round(held_s / 3600 * usd_per_hour, 6),
    )


def total(summaries: Iterable[RunSummary]) -> GpuHours:
    """Many runs together; the cost is that of the runs whose price is known."""
    each = [of_run(summary) for summary in summaries]
    costs = [one.cost_usd for one in each if one.cost_usd is not None]
    return GpuHours(
        reserved=sum(one.reserved for one in each),
        busy=sum(one.busy for one in each),
        idle=sum(one.idle for one in each),
        cost_usd=sum(costs) if costs else None,
    )
