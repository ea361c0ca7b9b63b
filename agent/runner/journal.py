"""The run's record as the runner's parts write it: the present step filled in, and a full disk outlived."""

import asyncio
import copy
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.log import EventLog
from agent.record.values import RunSummary
from agent.runner.ballast import Ballast
from agent.runner.limits import working_s

BEAT_EVERY_EVENTS = 500
PATIENCE_S = 900.0
_MOST_WAITING = 5_000
_LOOK_EVERY_S = 0.2
# What may be dropped while nothing can be written: the event that follows says the same again.
_DROPPABLE = (ev.ModelStreamed, ev.HostSampled, ev.GpuSampled, ev.ProgressSeen, ev.Heartbeat)


class _Waiting(NamedTuple):
    """An event that the disk did not take, and when it happened."""

    body: ev.Known
    step: int
    worker: int
    at: float


@dataclass
class _Common:
    """What all who write into a run's record have in common."""

    last_beat: int
    steps: int
    """Steps that were begun, whoever began them."""
    full_since: float | None = None


class Journal:
    """Appends events. While the disk takes none they wait in memory, in order, and the run stands at its gates.

    With ballast the first of them, which say that the disk is full and that the run is paused, are written in its room.
    """

    def __init__(self, log: EventLog, ballast: Ballast | None = None) -> None:
        self._log = log
        self._ballast = ballast
        if ballast is not None:
            ballast.take()
        self._waiting: deque[_Waiting] = deque()
        self._common = _Common(last_beat=log.summary.seq, steps=log.summary.step)
        # Every id leads to at least one event, so numbers from here on were never given out before.
        self._ids = itertools.count(log.summary.seq + 1)
        self.step = log.summary.step
        """The step that what is written belongs to."""
        self.worker = 0
        self.listeners: list[Callable[[ev.Known], None]] = []
        """They hear of every event, as soon as it is recorded or waits for the disk."""

    def of_worker(self, worker: int, step: int) -> Self:
        """The same record as that worker writes into it, from that step of its own on."""
        own = copy.copy(self)
        own.worker, own.step = worker, step
        return own

    @property
    def steps(self) -> int:
        """How many steps were begun, whoever began them."""
        return self._common.steps

    def begin_step(self) -> int:
        """A new step of the run's; returns its number."""
        self._common.steps += 1
        self.step = self._common.steps
        self.append(ev.StepStarted())
        return self.step

    @property
    def summary(self) -> RunSummary:
        """The fold of all that is written."""
        return self._log.summary

    @property
    def stuck(self) -> bool:
        """Whether the disk is full: it took an event no more, and there has been no room since."""
        return self._common.full_since is not None

    def append(self, body: ev.Known) -> None:
        """Record an event of the present step."""
        self._append(body)
        self._tell(body)

    def _tell(self, body: ev.Known) -> None:
        for listener in tuple(self.listeners):
            listener(body)

    def _append(self, body: ev.Known) -> None:
        if self._waiting:
            self._keep(body)
            return
        try:
            self._write(body, self.step, self.worker)
        except RecordError as error:
            first = self._common.full_since is None
            if first:
                self._common.full_since = time.monotonic()
                alert = ev.AlertRaised(alert="disk_full", message=error.message, hint="the run waits; make room")
                self._keep(alert)
                self._tell(alert)
            self._keep(body)
            if first and self._ballast is not None:
                self._ballast.release()
                self._write_waiting()

    def beat(self) -> None:
        """Record the summary so far, so that readers need not fold from the start."""
        self.append(ev.Heartbeat(summary=self._log.summary))

    def retry(self) -> None:
        """Try again to write what waits, and see whether there is room again."""
        if self._write_waiting() and (self._ballast is None or self._ballast.take()):
            self._common.full_since = None

    async def writable(self) -> None:
        """Wait until there is room on the disk, however long that takes."""
        while self.stuck:
            await asyncio.sleep(_LOOK_EVERY_S)

    async def drained(self) -> None:
        """Wait until all is written, trying by itself: for the end of a run, when nothing else does.

        Raises `RecordError` when that takes too long.
        """
        if self._ballast is not None:
            self._ballast.release()
        while not self._write_waiting():
            if self._common.full_since is not None and time.monotonic() - self._common.full_since > PATIENCE_S:
                raise RecordError("the record could not be written for too long", hint="is the disk full?")
            await asyncio.sleep(_LOOK_EVERY_S)

    def fresh_id(self, prefix: str) -> str:
        """An id that this run has not used."""
        return f"{prefix}{next(self._ids)}"

    def now(self) -> float:
        """The record's clock."""
        return self._log.now()

    def working_s(self) -> float:
        """The working clock, now."""
        return working_s(self._log.summary, self._log.now())

    def _write_waiting(self) -> bool:
        """Write what waits, as far as the disk takes it; whether nothing is left."""
        try:
            while self._waiting:
                waiting = self._waiting[0]
                self._write(waiting.body, waiting.step, waiting.worker, waiting.at)
                self._waiting.popleft()
        except RecordError:
            return False
        return True

    def _write(self, body: ev.Known, step: int, worker: int, at: float | None = None) -> None:
        event = self._log.append(body, step=step, worker=worker, at=at)
        if isinstance(body, ev.Heartbeat):
            self._common.last_beat = event.seq
        elif event.seq - self._common.last_beat >= BEAT_EVERY_EVENTS and not isinstance(body, ev.RunEnded):
            self._common.last_beat = self._log.heartbeat().seq

    def _keep(self, body: ev.Known) -> None:
        if len(self._waiting) < _MOST_WAITING or not isinstance(body, _DROPPABLE):
            self._waiting.append(_Waiting(body, self.step, self.worker, self._log.now()))
