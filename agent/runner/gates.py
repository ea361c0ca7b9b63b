"""What stands between the agent and its next act: a full disk, a pause, the limits, the end of the run."""

import asyncio

from agent.runner.ending import Ending
from agent.runner.journal import Journal
from agent.runner.limits import exceeded
from agent.runner.pausing import Pausing, Place


class Gates:
    """Passed before each model call and each tool; raises `CancelledError` where the run is over."""

    def __init__(self, journal: Journal, pausing: Pausing, ending: Ending) -> None:
        self._journal = journal
        self._pausing = pausing
        self._ending = ending

    @property
    def over(self) -> bool:
        """Whether the run's end is decided."""
        return self._ending.verdict is not None

    def before_step(self) -> None:
        """A new step may begin."""
        limits = self._journal.summary.limits
        if limits.steps is not None and self._journal.step >= limits.steps:
            self._ending.limit_reached("steps")
        self._check()

    async def before_model(self) -> None:
        """A model call may go out."""
        await self._pass("model")

    async def before_tool(self) -> None:
        """A tool may run."""
        await self._pass("tool")

    def look_at_clock(self) -> None:
        """End the run where its time is up, whatever it is doing."""
        if exceeded(self._journal.summary, self._journal.now()) == "time":
            self._ending.limit_reached("time")

    async def _pass(self, place: Place) -> None:
        await self._journal.writable()
        await self._pausing.gate(place)
        if place == "model" or self._ending.verdict is not None:
            self._check()

    def _check(self) -> None:
        reached = exceeded(self._journal.summary, self._journal.now())
        if reached is not None:
            self._ending.limit_reached(reached)
        if self._ending.verdict is not None:
            # The phase that runs the agent is cancelled anyway; this keeps another act from starting first.
            raise asyncio.CancelledError
