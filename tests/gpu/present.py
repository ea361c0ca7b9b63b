"""`make test-gpu`: what the instruments see of the GPUs of this machine, and whether that can be right."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from agent.record.values import Gpu
from agent.sandbox.guest.gpus import Gpus
from agent.telemetry.gpu_probe import GpuProbe

T = TypeVar("T")

RUN = "test-gpu"
HELD_MIB = 1024
_WORKLOAD = f"""
import torch
held = torch.zeros({HELD_MIB} * 1024**2, dtype=torch.uint8, device="cuda")
a = torch.randn(4096, 4096, device="cuda")
print("holds", flush=True)
while True:
    a = (a @ a).tanh()
"""
_PATIENCE_S = 60.0


def main() -> int:
    """Print what is seen; 1 where something of it is wrong."""
    probe = GpuProbe(run=RUN)
    try:
        return _looked(probe)
    finally:
        probe.close()


def _looked(probe: GpuProbe) -> int:
    first = probe.sample(wait_s=_PATIENCE_S)
    if not first:
        print("no GPU is here, or its driver does not answer: nothing was tested")
        return 0
    print("as the runner sees them:")
    for gpu in first:
        print(f"  {_said(gpu)}")
    wrong = [problem for gpu in first for problem in _problems(gpu)]
    wrong += _compared(first)
    wrong += _under_load(probe)
    for problem in wrong:
        print(f"WRONG: {problem}")
    print("all of it is plausible" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


def _said(gpu: Gpu) -> str:
    parts = {
        "memory": _of(gpu.memory_used_bytes, gpu.memory_total_bytes),
        "use": gpu.utilization_percent,
        "power": gpu.power_w,
        "heat": gpu.temperature_c,
        "processes": gpu.processes,
        "own": gpu.own_processes,
        "own memory": gpu.own_memory_bytes,
        "ecc": gpu.ecc_errors,
        "xid": gpu.xid,
    }
    slice_said = "" if gpu.mig is None else f" slice {gpu.mig}"
    values = ", ".join(f"{name} {'n/a' if value is None else value}" for name, value in parts.items())
    return f"gpu {gpu.index}{slice_said} {gpu.name or 'n/a'} ({gpu.uuid or 'n/a'}): {values}"


def _of(used: int | None, total: int | None) -> str | None:
    return None if used is None or total is None else f"{used / 1024**3:.1f} of {total / 1024**3:.1f} GiB"


def _problems(gpu: Gpu) -> list[str]:
    found = []
    if gpu.lost:
        found.append(f"gpu {gpu.index} is lost")
    if gpu.memory_used_bytes is not None and not 0 <= gpu.memory_used_bytes <= (gpu.memory_total_bytes or 0):
        found.append(f"gpu {gpu.index} holds more memory than it has")
    if gpu.temperature_c is not None and not 0 < gpu.temperature_c < 130:
        found.append(f"gpu {gpu.index} is at {gpu.temperature_c} degrees")
    return found


def _compared(first: tuple[Gpu, ...]) -> list[str]:
    """The guest's reader, which has no library but the driver's, must see the same cards."""
    guest = Gpus()
    found = _until(lambda: guest.sample() or None)
    if found is None:
        return ["the guest's reader sees no GPU"]
    print("as a guest sees them:")
    for entry in found:
        print(f"  {entry}")
    by_index = {entry["index"]: entry for entry in found}
    return [
        f"gpu {gpu.index} has {by_index.get(gpu.index, {}).get('memory_total_bytes')} bytes for the guest"
        for gpu in first
        if gpu.mig is None and by_index.get(gpu.index, {}).get("memory_total_bytes") != gpu.memory_total_bytes
    ]


def _under_load(probe: GpuProbe) -> list[str]:
    """A process of the run's own that holds memory and computes."""
    command = ["env", f"MLRB_RUN={RUN}", sys.executable, "-c", _WORKLOAD]
    work = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert work.stdout is not None
        if not work.stdout.readline():
            print("no torch with CUDA is here: nothing was tested under load")
            return []
        busy = _until(lambda: next((gpu for gpu in probe.sample() if (gpu.utilization_percent or 0) > 50), None))
    finally:
        work.kill()
        work.wait()
    if busy is None:
        return ["a card that computes is not seen to"]
    print(f"under load:\n  {_said(busy)}")
    if busy.own_processes is None:
        print("  whose processes they are can't be told here (as inside a container)")
        return []
    found = [] if busy.own_processes == 1 else [f"{busy.own_processes} processes are ours, not 1"]
    held = busy.own_memory_bytes
    return found if held is None or held > HELD_MIB * 1024**2 else [*found, f"ours holds {held} bytes"]


def _until(ask: Callable[[], T | None]) -> T | None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if (found := ask()) is not None:
            return found
        time.sleep(0.2)
    return None


if __name__ == "__main__":
    sys.exit(main())
