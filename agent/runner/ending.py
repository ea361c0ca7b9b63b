"""How a run ends: the first word holds, a kill overrides, and what is going on is cut short."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass

from agent.record.values import LimitKind, Outcome

GRACE_S = 10.0


@dataclass(frozen=True)
class Verdict:
    """How the run ends."""

    outcome: Outcome
    limit: LimitKind | None = None
    detail: str = ""


class Ending:
    """Where the parts of a runner say that the run is over, and what cuts their work short."""

    def __init__(self) -> None:
        self.verdict: Verdict | None = None
        self.grace_s = GRACE_S
        """How long work may take to let go; less where it cannot, since its sandbox is frozen."""
        self._sealed = False
        self._over = asyncio.Event()
        self._killed = asyncio.Event()

    def seal(self) -> None:
        """What is decided stays: the run is scored, and only has to be taken down."""
        self._sealed = True

    @property
    def left(self) -> bool:
        """Whether the runner goes and leaves the run as it is, to be taken up by another."""
        return self.verdict is not None and self.verdict.outcome == "lost"

    @property
    def killed(self) -> bool:
        """Whether somebody killed it."""
        return self._killed.is_set()

    def decide(self, verdict: Verdict) -> None:
        """Say how the run ends; only a kill is heard after the first word."""
        if self._sealed:
            return
        if verdict.outcome == "killed":
            if not self.killed:
                self.verdict = verdict
            self._killed.set()
        elif self.verdict is None:
            self.verdict = verdict
        self._over.set()

    def limit_reached(self, limit: LimitKind) -> None:
        """End by a limit."""
        self.decide(Verdict("limit", limit))

    async def phase(self, work: Coroutine[object, object, None], *, only_kill: bool = False) -> None:
        """Do a piece of the run until it is done or the run is over (`only_kill`: or is killed).

        What does not let itself be cancelled is left behind after a while: taking down the sandbox ends it.
        """
        over = self._killed if only_kill else self._over
        if over.is_set():
            work.close()
            return
        task = asyncio.ensure_future(work)
        cut = asyncio.ensure_future(over.wait())
        try:
            await asyncio.wait({task, cut}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=self.grace_s)
        finally:
            cut.cancel()
            task.cancel()
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            raise error
