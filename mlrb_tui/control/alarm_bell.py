"""Rings for alarms that are new: once each, and never so often that it drives a person away."""

import time
from collections.abc import Callable, Iterable

from agent.record.values import RunSummary

AGAIN_S = 600.0
"""An alarm that comes and goes rings no sooner than this after the last time."""
APART_S = 2.0
"""Several at once ring as one."""


class AlarmBell:
    """Hears how runs stand, again and again; what stood when a run was first seen is no news."""

    def __init__(
        self, ring: Callable[[], None], *, on: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ring = ring
        self._on = on
        self._clock = clock
        self._standing: dict[str, frozenset[str]] = {}
        self._rung_at: dict[tuple[str, str], float] = {}
        self._last_at: float | None = None

    def hear(self, summaries: Iterable[RunSummary]) -> None:
        """Ring where an alarm stands that did not."""
        if not self._on:
            return
        now = self._clock()
        fresh = [alarm for summary in summaries for alarm in self._new_of(summary)]
        wanted = [alarm for alarm in fresh if now - self._rung_at.get(alarm, now - AGAIN_S) >= AGAIN_S]
        if not wanted:
            return
        self._rung_at |= dict.fromkeys(wanted, now)
        if self._last_at is None or now - self._last_at >= APART_S:
            self._last_at = now
            self._ring()

    def _new_of(self, summary: RunSummary) -> list[tuple[str, str]]:
        if summary.state == "ended":
            self._standing.pop(summary.run, None)
            return []
        now = frozenset(alarm.alert for alarm in summary.standing)
        before = self._standing.get(summary.run, now)
        self._standing[summary.run] = now
        return [(summary.run, alert) for alert in sorted(now - before)]
