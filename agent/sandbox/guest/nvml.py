"""Reads GPUs inside a container through the driver's own `libnvidia-ml.so.1`, with nothing but ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_uint, c_ulonglong
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
_OF_GPU = 0
_TEXT_BYTES = 96
_UNCORRECTED, _SINCE_BOOT = 1, 0
_UNINITIALIZED, _GPU_IS_LOST = 1, 15
_MOST_GPUS = 64
_MOST_SLICES = 16
_OF_CARD = ("power_w", "temperature_c", "ecc_errors")
_MOST_PROCESSES = 256


class _Memory(ctypes.Structure):
    _fields_ = (("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong))


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", c_uint), ("memory", c_uint))


class _ProcessInfo(ctypes.Structure):
    _fields_ = (
        ("pid", c_uint),
        ("used", c_ulonglong),
        ("gpu_instance", c_uint),
        ("compute_instance", c_uint),
    )


# What is read of a GPU: the field, the function, how its answer is held, what is asked beside the GPU, the figure.
Reading = tuple[str, str, Any, tuple[int, ...], Callable[[Any], object]]
READINGS: tuple[Reading, ...] = (
    ("memory_used_bytes", "nvmlDeviceGetMemoryInfo", _Memory, (), lambda found: found.used),
    ("memory_total_bytes", "nvmlDeviceGetMemoryInfo", _Memory, (), lambda found: found.total),
    ("utilization_percent", "nvmlDeviceGetUtilizationRates", _Utilization, (), lambda found: float(found.gpu)),
    ("power_w", "nvmlDeviceGetPowerUsage", c_uint, (), lambda found: found.value / 1000),
    ("temperature_c", "nvmlDeviceGetTemperature", c_uint, (_OF_GPU,), lambda found: float(found.value)),
    ("ecc_errors", "nvmlDeviceGetTotalEccErrors", c_ulonglong, (_UNCORRECTED, _SINCE_BOOT), lambda found: found.value),
)


class Nvml:
    """The GPUs that the library shows; each call may take as long as the driver likes."""

    def __init__(self) -> None:
        """Raises `OSError` where there is no library or no driver."""
        self._library = ctypes.CDLL(LIBRARY)
        if self._call("nvmlInit_v2") != 0:
            raise OSError("the driver does not answer")

    def sample(self) -> list[dict[str, object]]:
        """What each GPU is at; what it does not tell is left out."""
        count = c_uint()
        status = self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        if status == _UNINITIALIZED and self._call("nvmlInit_v2") == 0:
            # The driver was loaded anew under us.
            status = self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        if status != 0:
            return []
        return [gpu for index in range(min(count.value, _MOST_GPUS)) for gpu in self._card(index)]

    def _card(self, index: int) -> list[dict[str, object]]:
        """One GPU, or the slices that it is cut into; heat, power and memory errors are the whole card's."""
        gpu = ctypes.c_void_p()
        status = self._call("nvmlDeviceGetHandleByIndex_v2", c_uint(index), ctypes.byref(gpu))
        found: dict[str, object] = {"index": index}
        if status != 0:
            return [{**found, "lost": status == _GPU_IS_LOST}]
        slices = self._slices(gpu)
        if not slices:
            return [self._one(found, gpu, gpu)]
        return [self._one({**found, "mig": mig}, gpu, part) for mig, part in slices]

    def _slices(self, gpu: ctypes.c_void_p) -> list[tuple[int, ctypes.c_void_p]]:
        mode, pending, most = c_uint(), c_uint(), c_uint()
        if self._call("nvmlDeviceGetMigMode", gpu, ctypes.byref(mode), ctypes.byref(pending)) != 0 or mode.value != 1:
            return []
        self._call("nvmlDeviceGetMaxMigDeviceCount", gpu, ctypes.byref(most))
        found = []
        for mig in range(min(most.value, _MOST_SLICES)):
            part = ctypes.c_void_p()
            if self._call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, c_uint(mig), ctypes.byref(part)) == 0:
                found.append((mig, part))
        return found

    def _one(self, found: dict[str, object], card: ctypes.c_void_p, gpu: ctypes.c_void_p) -> dict[str, object]:
        for field, function in (("name", "nvmlDeviceGetName"), ("uuid", "nvmlDeviceGetUUID")):
            text = ctypes.create_string_buffer(_TEXT_BYTES)
            if self._call(function, gpu, text, c_uint(_TEXT_BYTES)) == 0:
                found[field] = text.value.decode(errors="replace")
        for field, function, kind, more, figure in READINGS:
            answer = kind()
            # Answers are asked for by reference: the library fills them in.
            asked = card if field in _OF_CARD else gpu
            status = self._call(function, asked, *more, ctypes.byref(answer))
            if status == 0:
                found[field] = figure(answer)
            elif status == _GPU_IS_LOST:
                found["lost"] = True
        processes = self._processes(gpu)
        return found if processes is None else {**found, "processes": processes}

    def _processes(self, gpu: ctypes.c_void_p) -> int | None:
        count = c_uint(_MOST_PROCESSES)
        infos = (_ProcessInfo * _MOST_PROCESSES)()
        status = self._call("nvmlDeviceGetComputeRunningProcesses_v3", gpu, ctypes.byref(count), infos)
        return count.value if status == 0 else None

    def _call(self, function: str, *arguments: object) -> int:
        """The function's status; as an unknown error where this library does not have it."""
        found = getattr(self._library, function, None)
        return 999 if found is None else int(found(*arguments))
