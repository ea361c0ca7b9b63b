"""Whether the memory that a run had on the GPUs is back."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from agent.errors import SandboxUnavailable
from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.log import EventReader
from agent.record.text import one_line
from agent.record.values import Gpu, Proof
from agent.sandbox import on_machine
from agent.sandbox.machines import Machine, machine_of, on_another
from agent.telemetry.gpu_probe import GpuProbe
from tasks.errors import MlrbError

WHAT = "gpu memory"
PATIENCE_S = 30.0
"""A driver takes seconds to give back what a killed process had."""
_LOOK_EVERY_S = 0.5
MUTE_S = 8.0
"""A driver that answers nothing for so long hangs: nothing will be proven by it."""
_SLACK_BYTES = 256 * 1024**2
_SLACK_SHARE = 0.02
_GIB = 1024**3

Sample = Callable[[], tuple[Gpu, ...]]


def before(folder: RunFolder) -> tuple[Gpu, ...]:
    """The GPUs as the run found them; empty where it had none, or nobody could read them."""
    with EventReader(folder.events) as reader:
        for event in reader.of_kinds(("gpu_sampled",), limit=1):
            if isinstance(event.body, ev.GpuSampled):
                return event.body.gpus
    return ()


def prove_back(folder: RunFolder, sandbox: str, tell: Callable[[Proof], None]) -> Proof:
    """Wait until no GPU that the run was given holds more than it did at first; `tell` hears of the waiting, once.

    The GPUs are read on the machine that they are in. Blocks.
    """
    found = before(folder)
    try:
        with _sampled(Home(folder.path.parent.parent), sandbox, {gpu.uuid for gpu in found}) as sample:
            return prove(found, tell, sample)
    except MlrbError as error:
        return Proof(WHAT, False, f"the GPUs cannot be read: {one_line(error.message)}")


@contextmanager
def _sampled(home: Home, sandbox: str, uuids: Collection[str]) -> Iterator[Sample]:
    """Reads these GPUs of the machine that the sandbox is on; raises `SandboxUnavailable` where that can't be done."""
    if on_another(sandbox):
        machine = machine_of(home, sandbox)
        yield lambda: _listed(machine, uuids)
        return
    probe = GpuProbe(wanted=uuids)
    try:
        # Loading it takes long only on a machine where nobody has it loaded, and the run just had.
        if not probe.sample(wait_s=MUTE_S):
            raise SandboxUnavailable("no driver shows them" if probe.absent else "the driver does not answer")
        yield probe.sample
    finally:
        probe.close()


def _listed(machine: Machine, uuids: Collection[str]) -> tuple[Gpu, ...]:
    """As `nvidia-smi` over there has them: the guest that could be asked is gone with its container."""
    found = on_machine.gpus_of(machine)
    if found.trouble:
        raise SandboxUnavailable(found.trouble)
    if any(gpu.uuid in uuids and gpu.memory_used_bytes is None for gpu in found.gpus):
        raise SandboxUnavailable("nvidia-smi does not tell what a slice holds")
    return tuple(
        Gpu(
            index=at, uuid=gpu.uuid, memory_used_bytes=gpu.memory_used_bytes, memory_total_bytes=gpu.memory_total_bytes,
        )
        for at, gpu in enumerate(found.gpus)
        if gpu.uuid in uuids
    )  # fmt: skip


def prove(
    found: tuple[Gpu, ...], tell: Callable[[Proof], None], sample: Sample, patience_s: float = PATIENCE_S
) -> Proof:
    """The same with GPUs as `found` at first and as `sample` reads them now."""
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
    by_uuid = {one.uuid: one for one in now}
    # One that is lost no longer says which it is.
    lost = {one.slot: one for one in now if not one.uuid}
    said = (_one_held(one, by_uuid.get(one.uuid) or lost.get(one.slot) or Gpu(index=one.index)) for one in found)
    return "; ".join(each for each in said if each)


def _one_held(before: Gpu, now: Gpu) -> str:
    old, used = before.memory_used_bytes, now.memory_used_bytes
    if old is None:
        return ""
    if used is None:
        return f"gpu {before.index} {'is lost' if now.lost else 'does not answer'}"
    slack = max(_SLACK_BYTES, int((now.memory_total_bytes or 0) * _SLACK_SHARE))
    if used <= old + slack:
        return ""
    return f"gpu {before.index} holds {used / _GIB:.1f} GB, {old / _GIB:.1f} GB before the run"
