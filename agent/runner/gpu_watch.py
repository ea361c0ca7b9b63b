"""Samples the GPUs that a run was given, wherever they are, and keeps what a person would see."""

import asyncio
import contextlib

from agent.errors import SandboxError
from agent.record import events as ev
from agent.record.request import RunRequest
from agent.record.values import Gpu
from agent.runner.calls import Workplace
from agent.runner.journal import Journal
from agent.sandbox import containers
from agent.sandbox.machines import on_another
from agent.telemetry import gpu
from agent.telemetry.gpu_probe import GpuProbe

KEEP_EVERY_S = 30.0
BUSY_EVERY_S = 2.0
IDLE_EVERY_S = 5.0
_GLANCE_S = 0.25
_HURRY_S = 10.0


async def sample_gpus(request: RunRequest, journal: Journal, workplace: Workplace) -> None:
    """What the GPUs are at; returns at once where the run was given none."""
    given = journal.summary.given_gpus
    if not given:
        return
    # This machine's driver knows nothing of the GPUs of another, where the guest asks the one that is there.
    probe = None if on_another(request.sandbox) else await asyncio.to_thread(_probe, request, given)
    kept: tuple[Gpu, ...] = ()
    kept_at, began_at = 0.0, journal.now()
    try:
        while True:
            if probe is None:
                now = await _of_guest(workplace)
            else:
                now = await asyncio.to_thread(probe.sample)
                if probe.absent:
                    return
            if now and (gpu.differ(kept, now) or journal.now() - kept_at >= KEEP_EVERY_S):
                kept, kept_at = now, journal.now()
                journal.append(ev.GpuSampled(gpus=now))
            # The first is what the GPUs held before the run used them: it is asked for again at once, for a while.
            hurried = now == () and not kept and journal.now() - began_at < _HURRY_S
            await (asyncio.sleep(_GLANCE_S) if hurried else _pause(workplace))
    finally:
        if probe is not None:
            probe.close()


def _probe(request: RunRequest, given: tuple[str, ...]) -> GpuProbe:
    container_id = ""
    if request.sandbox == "docker":
        with contextlib.suppress(SandboxError):
            ours = [found for found in containers.labelled(request.run) if found.role == "sandbox"]
            container_id = ours[0].container_id if ours else ""
    return GpuProbe(request.run, container_id, given)


async def _of_guest(workplace: Workplace) -> tuple[Gpu, ...] | None:
    """As the guest on another machine sees them; empty until it has looked, None where it can't be asked."""
    with contextlib.suppress(SandboxError):
        return await workplace.sandbox.sample_gpus()
    return None


async def _pause(workplace: Workplace) -> None:
    """Two seconds, or five while no command runs; a command that starts shortens the wait."""
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    while loop.time() - began_at < (BUSY_EVERY_S if workplace.running_command else IDLE_EVERY_S):
        await asyncio.sleep(_GLANCE_S)
