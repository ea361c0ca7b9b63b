"""Samples the GPUs of this machine through NVML, where there are any; what a card does not tell is None."""

import importlib
from collections.abc import Callable
from typing import Any

from agent.record.values import Gpu

# Percent, bytes, milliwatts and degrees jitter; only what a person would see is an event.
_STEP_PERCENT = 3.0
_STEP_MEMORY_SHARE = 0.01
_STEP_DEGREES = 3.0
_STEP_POWER_W = 20.0


class GpuReader:
    """Reads every GPU that NVML shows; blocks for milliseconds, so call it in a thread."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._count = int(nvml.nvmlDeviceGetCount())

    @property
    def count(self) -> int:
        """How many GPUs there are."""
        return self._count

    def sample(self) -> tuple[Gpu, ...]:
        """What they are at, now; a card that has gone is left out."""
        return tuple(gpu for index in range(self._count) if (gpu := self._one(index)) is not None)

    def close(self) -> None:
        """Let go of NVML."""
        self._ask(self._nvml.nvmlShutdown)

    def _one(self, index: int) -> Gpu | None:
        nvml = self._nvml
        handle = self._ask(nvml.nvmlDeviceGetHandleByIndex, index)
        if handle is None:
            return None
        name = self._ask(nvml.nvmlDeviceGetName, handle)
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, handle)
        used = self._ask(nvml.nvmlDeviceGetUtilizationRates, handle)
        power_mw = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        degrees = self._ask(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU)
        return Gpu(
            index=index,
            name=name.decode(errors="replace") if isinstance(name, bytes) else str(name or ""),
            memory_used_bytes=int(memory.used) if memory is not None else None,
            memory_total_bytes=int(memory.total) if memory is not None else None,
            utilization_percent=float(used.gpu) if used is not None else None,
            power_w=power_mw / 1000 if power_mw is not None else None,
            temperature_c=float(degrees) if degrees is not None else None,
        )

    def _ask(self, question: Callable[..., Any], *arguments: object) -> Any:
        """The answer, or None where the card does not support the question (MIG, older cards) or is gone."""
        try:
            return question(*arguments)
        except self._nvml.NVMLError:
            return None


def open_gpus() -> GpuReader | None:
    """A reader where NVML is installed and shows at least one GPU; None otherwise."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        reader = GpuReader(nvml)
    except nvml.NVMLError:
        return None
    return reader if reader.count else None


def differ(before: tuple[Gpu, ...], now: tuple[Gpu, ...]) -> bool:
    """Whether a person would see the difference."""
    if [gpu.index for gpu in before] != [gpu.index for gpu in now]:
        return True
    return any(_differs(one, other) for one, other in zip(before, now, strict=True))


def _differs(before: Gpu, now: Gpu) -> bool:
    total = now.memory_total_bytes or before.memory_total_bytes or 0
    return (
        _moved(before.utilization_percent, now.utilization_percent, _STEP_PERCENT)
        or _moved(before.memory_used_bytes, now.memory_used_bytes, total * _STEP_MEMORY_SHARE)
        or _moved(before.temperature_c, now.temperature_c, _STEP_DEGREES)
        or _moved(before.power_w, now.power_w, _STEP_POWER_W)
    )


def _moved(before: float | None, now: float | None, by: float) -> bool:
    if before is None or now is None:
        return (before is None) != (now is None)
    return abs(now - before) > by
