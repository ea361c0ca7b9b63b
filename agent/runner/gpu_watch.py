"""Samples the GPUs that a run holds, wherever they are, and keeps what a person would see."""

import asyncio
import contextlib

from agent.errors import SandboxError
from agent.record import events as ev
from agent.record.request import RunRequest
from agent.record.values import Gpu
from agent.runner.calls import Workplace
from agent.runner.journal import Journal
from agent.sandbox import containers
from agent.telemetry import gpu
from agent.telemetry.gpu_probe import GpuProbe

KEEP_EVERY_S = 30.0
BUSY_EVERY_S = 2.0
IDLE_EVERY_S = 5.0
_GLANCE_S = 0.25


async def sample_gpus(request: RunRequest, journal: Journal, workplace: Workplace) -> None:
    """What the GPUs are at; returns at once where the run has none."""
    if not holds_gpus(request):
        return
    probe = None if request.sandbox.startswith("docker@") else await asyncio.to_thread(_probe, request)
    kept: tuple[Gpu, ...] = ()
    kept_at = 0.0
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
            await _pause(workplace)
    finally:
        if probe is not None:
            probe.close()


def holds_gpus(request: RunRequest) -> bool:
    """Whether the run has GPUs at all: a container only those that it was given, a local run all that are here."""
    return request.gpus != "none" and (request.sandbox == "local" or request.gpus != "")


def wanted(gpus: str) -> set[int] | None:
    """The numbers of the GPUs that were asked for by number; `1` alone is how many, not which."""
    return {int(index) for index in gpus.split(",")} if "," in gpus else None


def _probe(request: RunRequest) -> GpuProbe:
    container_id = ""
    if request.sandbox == "docker":
        with contextlib.suppress(SandboxError):
            ours = [found for found in containers.labelled(request.run) if found.role == "sandbox"]
            container_id = ours[0].container_id if ours else ""
    return GpuProbe(request.run, container_id, wanted(request.gpus))


async def _of_guest(workplace: Workplace) -> tuple[Gpu, ...]:
    """As the guest on another machine sees them; empty where it can't be asked."""
    with contextlib.suppress(SandboxError):
        return await workplace.sandbox.sample_gpus() or ()
    return ()


async def _pause(workplace: Workplace) -> None:
    """Two seconds, or five while no command runs; a command that starts shortens the wait."""
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    while loop.time() - began_at < (BUSY_EVERY_S if workplace.running_command else IDLE_EVERY_S):
        await asyncio.sleep(_GLANCE_S)
