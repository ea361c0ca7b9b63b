"""The run's record as the runner's parts write it: the present step filled in, and a full disk outlived."""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.log import EventLog
from agent.record.values import RunSummary
from agent.runner.limits import working_s

BEAT_EVERY_EVENTS = 500
PATIENCE_S = 900.0
_MOST_WAITING = 5_000
# What may be dropped while nothing can be written: the event that follows says the same again.
_DROPPABLE = (ev.ModelStreamed, ev.ToolOutput, ev.HostSampled, ev.GpuSampled, ev.ProgressSeen, ev.Heartbeat)


class Journal:
    """Appends events. While the disk takes none they wait in memory, in order, and the run stands at its gates."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._waiting: deque[tuple[ev.Known, int]] = deque()
        self._stuck_since: float | None = None
        self._last_beat = log.summary.seq
        # Every id leads to at least one event, so numbers from here on were never given out before.
        self._ids = itertools.count(log.summary.seq + 1)
        self.step = log.summary.step
        self.listener: Callable[[ev.Known], None] | None = None
        """Hears of every event, as soon as it is recorded or waits for the disk."""

    @property
    def summary(self) -> RunSummary:
        """The fold of all that is written."""
        return self._log.summary

    @property
    def stuck(self) -> bool:
        """Whether events wait for a disk that takes none."""
        return bool(self._waiting)

    def append(self, body: ev.Known) -> None:
        """Record an event of the present step."""
        self._append(body)
        if self.listener is not None:
            self.listener(body)

    def _append(self, body: ev.Known) -> None:
        if self._waiting:
            self._keep(body)
            return
        try:
            self._write(body, self.step)
        except RecordError as error:
            self._stuck_since = time.monotonic()
            self._keep(ev.AlertRaised(alert="disk_full", message=error.message, hint="the run waits; make room"))
            self._keep(body)

    def beat(self) -> None:
        """Record the summary so far, so that readers need not fold from the start."""
        self.append(ev.Heartbeat(summary=self._log.summary))

    def retry(self) -> None:
        """Try again to write what waits."""
        try:
            while self._waiting:
                self._write(*self._waiting[0])
                self._waiting.popleft()
        except RecordError:
            return
        self._stuck_since = None

    async def writable(self) -> None:
        """Wait until nothing waits to be written; raises `RecordError` when that takes too long."""
        while self._waiting:
            await self._wait_for_disk()

    async def drained(self) -> None:
        """As `writable`, trying by itself: for the end of a run, when nothing else does."""
        while self._waiting:
            await self._wait_for_disk()
            self.retry()

    def fresh_id(self, prefix: str) -> str:
        """An id that this run has not used."""
        return f"{prefix}{next(self._ids)}"

    def now(self) -> float:
        """The record's clock."""
        return self._log.now()

    def working_s(self) -> float:
        """The working clock, now."""
        return working_s(self._log.summary, self._log.now())

    async def _wait_for_disk(self) -> None:
        if self._stuck_since is not None and time.monotonic() - self._stuck_since > PATIENCE_S:
            raise RecordError("the record could not be written for too long", hint="is the disk full?")
        await asyncio.sleep(0.2)

    def _write(self, body: ev.Known, step: int) -> None:
        event = self._log.append(body, step=step)
        if isinstance(body, ev.Heartbeat):
            self._last_beat = event.seq
        elif event.seq - self._last_beat >= BEAT_EVERY_EVENTS and not isinstance(body, ev.RunEnded):
            self._last_beat = self._log.heartbeat().seq

    def _keep(self, body: ev.Known) -> None:
        if len(self._waiting) < _MOST_WAITING or not isinstance(body, _DROPPABLE):
            self._waiting.append((body, self.step))
