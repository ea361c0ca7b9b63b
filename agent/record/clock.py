"""Time: one clock that is passed in, and its double."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where a part gets its time from."""

    def now(self) -> float:
        """Seconds since the epoch; never runs backwards."""
        ...


class SystemClock:
    """Wall time, anchored once: a machine's clock that is set back does not reach a run's record."""

    def __init__(self, not_before: float = 0.0) -> None:
        self._anchor = max(time.time(), not_before) - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch; never runs backwards."""
        return self._anchor + time.monotonic()


class FakeClock:
    """A clock that stands until it is moved; for tests and for generated logs."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """The time it was last moved to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move it forwards."""
        self._now += seconds
