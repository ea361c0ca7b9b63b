"""Peak memory of this process above what it held before, on the CPU (resident set) or on a GPU (torch's allocator)."""

import contextlib
from pathlib import Path
from typing import Any

from evaluation.model.trial import status_bytes

SLACK_BYTES = 64 * 2**20
"""Added to a cap where the kernel enforces it: stacks and arenas are reserved, not used. The peak decides."""


class CpuMeter:
    """The resident set's peak, from /proc; pages of a mapped file count when they were touched."""

    where = "cpu"

    def __init__(self) -> None:
        _start_new_peak()
        self.interpreter_bytes = status_bytes("VmRSS")

    def peak_bytes(self) -> int:
        """Bytes above the interpreter's at the highest point since the last call."""
        peak = status_bytes("VmHWM")
        _start_new_peak()
        return max(0, peak - self.interpreter_bytes)

    def limit(self, cap_bytes: int) -> None:
        """Have the kernel refuse memory beyond the cap (and some slack)."""
        import resource

        most = status_bytes("VmData") + cap_bytes + SLACK_BYTES
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))

    def release(self) -> None:
        """Take the cap away."""
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


class CudaMeter:
    """The peak of torch's allocator on the first GPU."""

    where = "cuda"
    interpreter_bytes = 0

    def __init__(self) -> None:
        import torch

        torch.cuda.reset_peak_memory_stats()

    def peak_bytes(self) -> int:
        """Bytes at the highest point since the last call."""
        import torch

        peak = int(torch.cuda.max_memory_allocated())
        torch.cuda.reset_peak_memory_stats()
        return peak

    def limit(self, cap_bytes: int) -> None:
        """Have torch refuse memory beyond the cap (and some slack)."""
        import torch

        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, (cap_bytes + SLACK_BYTES) / total))

    def release(self) -> None:
        """Take the cap away."""
        import torch

        torch.cuda.set_per_process_memory_fraction(1.0)


def meter(device: str) -> Any:
    """The meter of a device."""
    return CudaMeter() if device.startswith("cuda") else CpuMeter()


def _start_new_peak() -> None:
    # Where this isn't allowed the peak stays that of the whole process: too high, never too low.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
