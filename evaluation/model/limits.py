"""Limits that a figure keeps or breaks: parameters, finite weights, memory, disk, time."""

import math

from evaluation.model.measure import Measured
from evaluation.model.metrics import ModelMetrics
from tasks.contract import Broken


def too_many_parameters(parameters: int | None, limit: int, *, rule: str = "parameter_limit") -> list[Broken]:
    """More parameters than allowed; a limit of 0 is none."""
    if not limit or parameters is None or parameters <= limit:
        return []
    return [{"rule": rule, "evidence": f"{parameters:,} parameters, the limit is {limit:,}"}]


def not_finite(metrics: ModelMetrics, *, rule: str = "finite_weights") -> list[Broken]:
    """Weights that are no numbers."""
    if not metrics.nonfinite_parameters:
        return []
    return [{"rule": rule, "evidence": f"{metrics.nonfinite_parameters:,} weights are not finite numbers"}]


def over_memory(measured: Measured, cap_bytes: int, *, rule: str = "memory_limit") -> list[Broken]:
    """More memory than the cap, at load or at generation. What wasn't measured is a violation too: it was not shown."""
    if measured.over_memory:
        return [{"rule": rule, "evidence": f"it gets no further within {_mib(cap_bytes)}: {measured.failure}"}]
    memory = measured.metrics.memory
    if memory is None:
        why = measured.metrics.unmeasured.get("memory", "unknown")
        return [{"rule": rule, "evidence": f"its memory could not be measured: {why}"}]
    peaks = {"loading": memory.load_bytes, "generating": memory.generation_bytes}
    return [
        {"rule": rule, "evidence": f"{what} takes {_mib(peak)} above the interpreter, the limit is {_mib(cap_bytes)}"}
        for what, peak in peaks.items()
        if peak > cap_bytes
    ]


def over_size(metrics: ModelMetrics, limit_bytes: int, *, rule: str = "size_limit") -> list[Broken]:
    """Weight files larger than allowed."""
    if metrics.size_bytes is None or metrics.size_bytes <= limit_bytes:
        return []
    return [
        {
            "rule": rule,
            "evidence": f"the weights take {_mib(metrics.size_bytes)} on disk, the limit is {_mib(limit_bytes)}",
        }
    ]


def over_time(spent_s: float, limit_s: float, what: str, *, rule: str = "time_limit") -> list[Broken]:
    """Something took longer than allowed; a time that is not a number did too."""
    if math.isfinite(spent_s) and spent_s <= limit_s:
        return []
    return [{"rule": rule, "evidence": f"{what} took {spent_s:,.0f} s, the limit is {limit_s:,.0f} s"}]


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"
