"""What stands between the agent and its next act: a full disk, a pause, the limits, the end of the run."""

import asyncio

from agent.errors import SandboxError
from agent.record.values import LimitKind, OnLimit
from agent.runner.ending import Ending
from agent.runner.journal import Journal
from agent.runner.limits import exceeded
from agent.runner.pausing import Pausing, Place


class Gates:
    """Passed before each model call and each tool; raises `CancelledError` where the run is over."""

    def __init__(self, journal: Journal, pausing: Pausing, ending: Ending, on_limit: OnLimit = "end") -> None:
        self._journal = journal
        self._pausing = pausing
        self._ending = ending
        self._on_limit = on_limit

    @property
    def over(self) -> bool:
        """Whether the run's end is decided."""
        return self._ending.verdict is not None

    @property
    def left(self) -> bool:
        """Whether the run is left as it is, to be taken up by another runner."""
        return self._ending.left

    async def before_step(self) -> None:
        """A new step may begin."""
        while self._steps_used:
            if not await self._reached("steps"):
                break
            await self._pausing.gate("model")
        self._check()

    async def before_model(self) -> None:
        """A model call may go out."""
        await self._pass("model")
        while (limit := exceeded(self._journal.summary, self._journal.now())) is not None:
            if not await self._reached(limit):
                break
            await self._pass("model")
        self._check()

    async def before_tool(self) -> None:
        """A tool may run."""
        await self._pass("tool")
        self._check()

    async def wait_to_ask_again(self, wait_s: float) -> None:
        """Let that time pass with no model call open."""
        with self._pausing.between_calls():
            await asyncio.sleep(wait_s)

    async def look_at_clock(self) -> None:
        """Where the time is up, end the run, or freeze it in whatever it is doing."""
        if exceeded(self._journal.summary, self._journal.now()) == "time":
            await self._cut_short("time")

    async def look_at_limits(self) -> None:
        """Limits that were lowered below what is used hold at once, in the middle of a step too."""
        limit = exceeded(self._journal.summary, self._journal.now())
        if limit is None and self._steps_exceeded:
            limit = "steps"
        if limit is not None:
            await self._cut_short(limit)

    async def _cut_short(self, limit: LimitKind) -> None:
        if self.over:
            return
        try:
            await self._reached(limit, frozen=True)
        except SandboxError:
            # What cannot be frozen would go on for ever.
            self._ending.limit_reached(limit)

    def still_reached(self) -> LimitKind | None:
        """The limit at which the run stands paused, as long as it is not raised."""
        held = self._pausing.held_by_limit
        if held == "steps":
            # A step that was frozen in its middle is among those that the limit allows.
            return held if (self._steps_exceeded if self._pausing.frozen else self._steps_used) else None
        return None if held is None else exceeded(self._journal.summary, self._journal.now())

    @property
    def _steps_used(self) -> bool:
        limits = self._journal.summary.limits
        return limits.steps is not None and self._journal.steps >= limits.steps

    @property
    def _steps_exceeded(self) -> bool:
        limits = self._journal.summary.limits
        return limits.steps is not None and self._journal.steps > limits.steps

    async def _reached(self, limit: LimitKind, *, frozen: bool = False) -> bool:
        """End the run by a limit, or pause it there; says whether it may go on afterwards."""
        if self._on_limit == "end" or self.over:
            self._ending.limit_reached(limit)
            return False
        if not self._pausing.paused:
            # Where others work on, what they do would go on beyond the limit.
            await self._pausing.pause_at_limit(limit, frozen=frozen or self._pausing.several)
        return True

    async def _pass(self, place: Place) -> None:
        await self._journal.writable()
        await self._pausing.gate(place)

    def _check(self) -> None:
        if self._ending.verdict is not None:
            # The phase that runs the agent is cancelled anyway; this keeps another act from starting first.
            raise asyncio.CancelledError
