"""Whether the memory that a run had on the GPUs is back."""

import time
from collections.abc import Callable

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.log import EventReader
from agent.record.values import Gpu, Proof
from agent.telemetry import gpu

WHAT = "gpu memory"
PATIENCE_S = 30.0
"""A driver takes seconds to give back what a killed process had."""
_LOOK_EVERY_S = 0.5
_SLACK_BYTES = 256 * 1024**2
_SLACK_SHARE = 0.02
_GIB = 1024**3


def before(folder: RunFolder) -> tuple[Gpu, ...]:
    """The GPUs as the run found them; empty where it had none."""
    with EventReader(folder.events) as reader:
        for event in reader.of_kinds(("gpu_sampled",), limit=1):
            if isinstance(event.body, ev.GpuSampled):
                return event.body.gpus
    return ()


def prove_back(
    found: tuple[Gpu, ...],
    tell: Callable[[Proof], None],
    *,
    reader: Callable[[], tuple[Gpu, ...]] | None = None,
    patience_s: float = PATIENCE_S,
) -> Proof:
    """Wait until no GPU holds more than it did at first; `tell` hears of the waiting, once. Blocks."""
    if reader is not None:
        return _prove(found, tell, reader, patience_s)
    gpus = gpu.open_gpus()
    if gpus is None:
        return Proof(WHAT, False, "the GPUs cannot be read any more")
    try:
        return _prove(found, tell, gpus.sample, patience_s)
    finally:
        gpus.close()


def _prove(
    found: tuple[Gpu, ...], tell: Callable[[Proof], None], sample: Callable[[], tuple[Gpu, ...]], patience_s: float
) -> Proof:
    deadline = time.monotonic() + patience_s
    told = False
    while held := _held(found, sample()):
        if time.monotonic() >= deadline:
            return Proof(WHAT, False, f"{held} after {patience_s:.0f} s; others may be using it")
        if not told:
            told = True
            tell(Proof(WHAT, False, f"waiting: {held}"))
        time.sleep(_LOOK_EVERY_S)
    return Proof(WHAT, True, "as before the run")


def _held(found: tuple[Gpu, ...], now: tuple[Gpu, ...]) -> str:
    """Which GPUs hold more than when the run found them; empty where none does."""
    at_first = {one.index: one.memory_used_bytes for one in found}
    said = []
    for one in now:
        old, used = at_first.get(one.index), one.memory_used_bytes
        if old is None or used is None:
            continue
        slack = max(_SLACK_BYTES, int((one.memory_total_bytes or 0) * _SLACK_SHARE))
        if used > old + slack:
            said.append(f"gpu {one.index} holds {used / _GIB:.1f} GB, {old / _GIB:.1f} GB before the run")
    return "; ".join(said)
