"""Samples the GPUs of this machine through NVML, where there are any; what a card does not tell is None.

A driver may hang for ever in any of these calls, so that runners use them only through `agent.telemetry.gpu_probe`.
"""

import importlib
from collections.abc import Collection
from typing import Any

from agent.record.values import Gpu
from agent.telemetry.gpu_owners import Owner

# Percent, bytes, milliwatts and degrees jitter; only what a person would see is an event.
_STEP_PERCENT = 3.0
_STEP_MEMORY_SHARE = 0.01
_STEP_DEGREES = 3.0
_STEP_POWER_W = 20.0
_UNINITIALIZED, _GPU_IS_LOST = 1, 15
_UNCORRECTED, _SINCE_BOOT = 1, 0
_MOST_XIDS = 100


class GpuReader:
    """Reads the GPUs that NVML shows: all, or just the cards and slices of the given UUIDs."""

    def __init__(self, nvml: Any, owner: Owner | None = None, wanted: Collection[str] | None = None) -> None:
        self._nvml = nvml
        self._owner = owner
        self._wanted = None if wanted is None else frozenset(wanted)
        self._names: dict[int, str] = {}
        self._uuids: dict[int, str] = {}
        self._xids: dict[int, int] = {}
        self._lost = self._forgotten = False
        self._indices = self._chosen(int(nvml.nvmlDeviceGetCount()))
        self._events = self._registered()

    @property
    def count(self) -> int:
        """How many GPUs are read."""
        return len(self._indices)

    def sample(self) -> tuple[Gpu, ...]:
        """What they are at, now, slices of a GPU one by one; a card that has gone says that it is lost."""
        if self._forgotten:
            # The driver was loaded anew under us.
            self._ask("nvmlInit")
            self._events, self._forgotten = self._registered(), False
        self._hear_xids()
        return tuple(gpu for index in self._indices for gpu in self._device(index))

    def close(self) -> None:
        """Let go of NVML."""
        self._ask("nvmlShutdown")

    def _device(self, index: int) -> list[Gpu]:
        self._lost = False
        handle = self._ask("nvmlDeviceGetHandleByIndex", index)
        if handle is None:
            name, uuid = self._names.get(index, ""), self._uuids.get(index, "")
            return [Gpu(index=index, name=name, uuid=uuid, lost=self._lost, xid=self._xids.get(index))]
        self._names[index] = text(self._ask("nvmlDeviceGetName", handle)) or self._names.get(index, "")
        slices = self._slices(handle)
        if not slices:
            self._uuids[index] = text(self._ask("nvmlDeviceGetUUID", handle)) or self._uuids.get(index, "")
            return [self._one(index, handle, handle)]
        found = [self._one(index, handle, part, mig) for mig, part in slices]
        return [gpu for gpu in found if self._wanted is None or not gpu.uuid or gpu.uuid in self._wanted]

    def _chosen(self, count: int) -> list[int]:
        """The cards that are wanted, or cut into slices of which one is."""
        if self._wanted is None:
            return list(range(count))
        said = {index: self._said_uuids(index) for index in range(count)}
        known = {uuid for uuids in said.values() for uuid in uuids}
        # A card that does not say which it is may be the one that is missing.
        missing = bool(self._wanted - known)
        return [index for index, uuids in said.items() if self._wanted & uuids or (missing and not uuids)]

    def _said_uuids(self, index: int) -> set[str]:
        handle = self._ask("nvmlDeviceGetHandleByIndex", index)
        if handle is None:
            return set()
        parts = [handle, *(part for _, part in self._slices(handle))]
        return {text(self._ask("nvmlDeviceGetUUID", part)) for part in parts} - {""}

    def _slices(self, handle: object) -> list[tuple[int, object]]:
        """The MIG devices of a GPU that is cut into such."""
        mode = self._ask("nvmlDeviceGetMigMode", handle)
        if not mode or mode[0] != 1:
            return []
        most = self._ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0
        found = ((mig, self._ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, mig)) for mig in range(most))
        return [(mig, part) for mig, part in found if part is not None]

    def _one(self, index: int, card: object, part: object, mig: int | None = None) -> Gpu:
        """A GPU, or a slice: heat, power and memory errors are the whole card's."""
        memory = self._ask("nvmlDeviceGetMemoryInfo", part)
        used = self._ask("nvmlDeviceGetUtilizationRates", part)
        power_mw = self._ask("nvmlDeviceGetPowerUsage", card)
        degrees = self._ask("nvmlDeviceGetTemperature", card, getattr(self._nvml, "NVML_TEMPERATURE_GPU", 0))
        processes = self._processes(part)
        own, own_bytes = self._share(processes, works=used is not None and used.gpu > 0)
        named = self._names.get(index, "") if mig is None else text(self._ask("nvmlDeviceGetName", part))
        return Gpu(
            index=index,
            name=named or self._names.get(index, ""),
            uuid=text(self._ask("nvmlDeviceGetUUID", part)),
            mig=mig,
            memory_used_bytes=int(memory.used) if memory is not None else None,
            memory_total_bytes=int(memory.total) if memory is not None else None,
            utilization_percent=float(used.gpu) if used is not None else None,
            power_w=power_mw / 1000 if power_mw is not None else None,
            temperature_c=float(degrees) if degrees is not None else None,
            processes=None if processes is None else len(processes),
            own_processes=own,
            own_memory_bytes=own_bytes,
            ecc_errors=self._ask("nvmlDeviceGetTotalEccErrors", card, _UNCORRECTED, _SINCE_BOOT),
            xid=self._xids.get(index),
            lost=self._lost,
        )

    def _processes(self, part: object) -> list[tuple[int, int | None]] | None:
        """Number and memory of each process on it; None where the card does not tell."""
        found: dict[int, int | None] = {}
        told = False
        for question in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"):
            answer = self._ask(question, part)
            told = told or answer is not None
            found |= {int(process.pid): process.usedGpuMemory for process in answer or ()}
        return list(found.items()) if told else None

    def _share(self, processes: list[tuple[int, int | None]] | None, *, works: bool) -> tuple[int | None, int | None]:
        """How many processes are the run's, and what they hold, as far as that can be told."""
        # Inside a container a card that works shows no process at all: whose work it is, is not known.
        if self._owner is None or processes is None or (works and not processes):
            return None, None
        return self._owner.share(processes)

    def _registered(self) -> object | None:
        """The set in which the driver's critical errors arrive; None where it offers none."""
        events: object | None = self._ask("nvmlEventSetCreate")
        if events is None:
            return None
        for index in self._indices:
            handle = self._ask("nvmlDeviceGetHandleByIndex", index)
            if handle is not None:
                kind = getattr(self._nvml, "nvmlEventTypeXidCriticalError", 8)
                self._ask("nvmlDeviceRegisterEvents", handle, kind, events)
        return events

    def _hear_xids(self) -> None:
        if self._events is None:
            return
        for _ in range(_MOST_XIDS):
            heard = self._ask("nvmlEventSetWait_v2", self._events, 0)
            if heard is None:
                return
            index = self._ask("nvmlDeviceGetIndex", heard.device)
            if index is not None:
                self._xids[int(index)] = int(heard.eventData)

    def _ask(self, question: str, *arguments: object) -> Any:
        """The answer, or None where the card or the driver does not know the question, or the card is gone."""
        asked = getattr(self._nvml, question, None)
        if asked is None:
            return None
        try:
            return asked(*arguments)
        except self._nvml.NVMLError as error:
            code = getattr(error, "value", None)
            self._lost = self._lost or code == _GPU_IS_LOST
            self._forgotten = self._forgotten or code == _UNINITIALIZED
            return None


def open_gpus(owner: Owner | None = None, wanted: Collection[str] | None = None) -> GpuReader | None:
    """A reader where NVML is installed and shows at least one GPU that is wanted; None otherwise."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        reader = GpuReader(nvml, owner, wanted)
    except nvml.NVMLError:
        return None
    return reader if reader.count else None


def text(name: object) -> str:
    """A name out of the driver, which older versions of its library give as bytes."""
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name or "")


def differ(before: tuple[Gpu, ...], now: tuple[Gpu, ...]) -> bool:
    """Whether a person would see the difference."""
    if [gpu.slot for gpu in before] != [gpu.slot for gpu in now]:
        return True
    return any(_differs(one, other) for one, other in zip(before, now, strict=True))


def _differs(before: Gpu, now: Gpu) -> bool:
    if (before.lost, before.xid, before.ecc_errors, before.own_processes) != (
        now.lost, now.xid, now.ecc_errors, now.own_processes,
    ):  # fmt: skip
        return True
    total = now.memory_total_bytes or before.memory_total_bytes or 0
    return (
        moved(before.utilization_percent, now.utilization_percent, _STEP_PERCENT)
        or moved(before.memory_used_bytes, now.memory_used_bytes, total * _STEP_MEMORY_SHARE)
        or moved(before.temperature_c, now.temperature_c, _STEP_DEGREES)
        or moved(before.power_w, now.power_w, _STEP_POWER_W)
    )


def moved(before: float | None, now: float | None, by: float) -> bool:
    """Whether a figure has changed by more than that, or has come or gone."""
    if before is None or now is None:
        return (before is None) != (now is None)
    return abs(now - before) > by
