"""Whether the memory that a run had on the GPUs is back."""

import time
from collections.abc import Callable

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.log import EventReader
from agent.record.values import Gpu, Proof
from agent.telemetry.gpu_probe import GpuProbe

WHAT = "gpu memory"
PATIENCE_S = 30.0
"""A driver takes seconds to give back what a killed process had."""
_LOOK_EVERY_S = 0.5
MUTE_S = 8.0
"""A driver that answers nothing for so long hangs: nothing will be proven by it."""
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
    gpus = GpuProbe(wanted={gpu.index for gpu in found})
    try:
        # Loading it takes long only on a machine where nobody has it loaded, and the run just had.
        first = gpus.sample(wait_s=MUTE_S)
        if not first and not gpus.absent:
            return Proof(WHAT, False, "the driver does not answer")
        if gpus.absent:
            return Proof(WHAT, False, "the GPUs cannot be read any more")
        return _prove(found, tell, gpus.sample, patience_s)
    finally:
        gpus.close()


def _prove(
    found: tuple[Gpu, ...], tell: Callable[[Proof], None], sample: Callable[[], tuple[Gpu, ...]], patience_s: float
) -> Proof:
    deadline = time.monotonic() + patience_s
    answered_at = time.monotonic()
    told = False
    while held := _held(found, now := sample()):
        if any(gpu.lost for gpu in now):
            return Proof(WHAT, False, held)
        if any(gpu.memory_used_bytes is not None for gpu in now):
            answered_at = time.monotonic()
        elif time.monotonic() - answered_at >= MUTE_S:
            return Proof(WHAT, False, held)
        if time.monotonic() >= deadline:
            return Proof(WHAT, False, f"{held} after {patience_s:.0f} s; others may be using it")
        if not told:
            told = True
            tell(Proof(WHAT, False, f"waiting: {held}"))
        time.sleep(_LOOK_EVERY_S)
    return Proof(WHAT, True, "as before the run")


def _held(found: tuple[Gpu, ...], now: tuple[Gpu, ...]) -> str:
    """Which GPUs hold more than when the run found them, or do not say; empty where none does."""
    by_slot = {one.slot: one for one in now}
    said = (_one_held(one, by_slot.get(one.slot, Gpu(index=one.index))) for one in found)
    return "; ".join(each for each in said if each)


def _one_held(before: Gpu, now: Gpu) -> str:
    old, used = before.memory_used_bytes, now.memory_used_bytes
    if old is None:
        return ""
    if used is None:
        return f"gpu {now.index} {'is lost' if now.lost else 'does not answer'}"
    slack = max(_SLACK_BYTES, int((now.memory_total_bytes or 0) * _SLACK_SHARE))
    if used <= old + slack:
        return ""
    return f"gpu {now.index} holds {used / _GIB:.1f} GB, {old / _GIB:.1f} GB before the run"
