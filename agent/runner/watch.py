"""What goes on beside the agent: heartbeats, the index, the clock, samples of the sandbox's use."""

import asyncio
import contextlib
from pathlib import Path

from agent.errors import SandboxError
from agent.record import events as ev
from agent.record import index
from agent.record.home import RunFolder
from agent.record.values import RunSummary
from agent.runner.calls import Workplace
from agent.runner.ending import Ending, Verdict
from agent.runner.gates import Gates
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.telemetry.host import HostSamples
from agent.telemetry.machine import Machine

BEAT_EVERY_S = 5.0
CLOCK_EVERY_S = 0.1
BUSY_EVERY_S = 2.0
IDLE_EVERY_S = 5.0
INDEX_EVERY_S = 1.0
_GLANCE_S = 0.1
_FOLDER_EVERY_S = 2.0


async def keep_beating(journal: Journal) -> None:
    """A heartbeat every few seconds; and what the disk did not take is tried again."""
    beaten_at = journal.now()
    while True:
        await asyncio.sleep(1.0)
        journal.retry()
        if not journal.stuck and journal.now() - beaten_at >= BEAT_EVERY_S:
            beaten_at = journal.now()
            journal.beat()


async def end_without_folder(folder: RunFolder, ending: Ending) -> None:
    """A run whose folder was removed can be neither seen nor steered any more: it ends, and its sandbox with it."""
    while await asyncio.to_thread(folder.lock.exists):
        await asyncio.sleep(_FOLDER_EVERY_S)
    ending.decide(Verdict("killed", detail="its folder was removed"))


async def stand_while_full(journal: Journal, pausing: Pausing) -> None:
    """A full disk freezes what runs, so that nothing is written which could not be kept; with room it goes on."""
    while True:
        await asyncio.sleep(_GLANCE_S)
        if journal.stuck and not pausing.held_by_disk:
            await pausing.hold_for_disk()
        elif pausing.held_by_disk and not journal.stuck:
            await pausing.go_on_with_disk()


async def keep_indexed(journal: Journal, path: Path) -> None:
    """The run's row in the index: at once when its state changes, else once a second where something has."""
    written: RunSummary | None = None
    written_at = 0.0
    loop = asyncio.get_running_loop()
    while True:
        summary = journal.summary
        changed = written is None or summary.seq != written.seq
        urgent = written is None or summary.state != written.state
        if changed and (urgent or loop.time() - written_at >= INDEX_EVERY_S):
            await asyncio.to_thread(index.update, path, summary)
            written, written_at = summary, loop.time()
        await asyncio.sleep(_GLANCE_S)


async def watch_clock(gates: Gates) -> None:
    """End the run, or pause it, when its time is up."""
    while True:
        await gates.look_at_clock()
        await asyncio.sleep(CLOCK_EVERY_S)


async def sample_host(journal: Journal, workplace: Workplace, pausing: Pausing, machine: Machine | None) -> None:
    """What the sandbox uses: often while a command runs, now and then otherwise, not while it is frozen.

    `machine` is the one that it runs on, where that is this one.
    """
    samples = HostSamples()
    while True:
        if not pausing.frozen:
            # A sandbox that is gone is found out by the agent's next command; here it only gives no sample.
            with contextlib.suppress(SandboxError):
                host = await workplace.sandbox.sample()
                host = host if machine is None else machine.beside(host)
                if samples.is_news(host, journal.now()):
                    journal.append(ev.HostSampled(host=host))
        await _pause_between_samples(workplace)


async def _pause_between_samples(workplace: Workplace) -> None:
    """Two seconds, or five while no command runs; a command that starts shortens the wait."""
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    while loop.time() - began_at < (BUSY_EVERY_S if workplace.running_command else IDLE_EVERY_S):
        await asyncio.sleep(0.25)
