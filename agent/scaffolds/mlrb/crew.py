"""The workers at work: started where the plan allows, stopped, told things, and their ends taken in."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.errors import ModelError
from agent.record.crew import PlanStep
from agent.scaffolds.base import Bridge, Ended
from agent.scaffolds.mlrb import plan
from agent.scaffolds.mlrb.worker import Worker
from agent.tools.base import Tool

MOST_AT_ONCE = 4
MOST_FAILURES = 3
"""Workers in a row whose model could not be asked: then nobody's can."""

Tools = Callable[[bool], Mapping[str, Tool]]
"""A worker's tools; told whether it has a folder of its own."""


@dataclass
class _Part:
    """A worker at work."""

    task: "asyncio.Task[None]"
    worker: Worker | None = None
    """None until it has its folder."""
    stopped_for: str = ""


class Workers:
    """All that are at work, each in a task of its own."""

    def __init__(self, bridge: Bridge, group: asyncio.TaskGroup, tools: Tools) -> None:
        self._bridge = bridge
        self._group = group
        self._tools = tools
        self._parts: dict[int, _Part] = {}
        self._failures = 0
        self.moved = asyncio.Event()
        """Set when somebody has made a turn, or ended."""
        self.turns = 0
        self.ended: list[int] = []
        """Those that ended and the supervisor has not been told of."""

    @property
    def at_work(self) -> list[int]:
        """Their numbers."""
        return sorted(self._parts)

    def take_up(self) -> None:
        """Go on with those that were at work when a runner before us was lost."""
        for worker in self._bridge.crew.at_work:
            self._begin(worker.worker, worker.step, apart=bool(worker.folder))

    async def start_ready(self) -> int:
        """Start a worker for each step that can be begun; returns how many."""
        names = plan.ready(self._bridge.crew)[: MOST_AT_ONCE - len(self._parts)]
        for name in names:
            apart = plan.is_apart(name, self._bridge.plan)
            number = await self._bridge.start_worker(name, apart=apart)
            self._begin(number, name, apart=apart)
        return len(names)

    def take_plan(self, steps: tuple[PlanStep, ...], why: str) -> str:
        """Make it the plan; whoever works on what is no longer in it is stopped."""
        self._bridge.make_plan(steps, why)
        names = {step.name for step in steps}
        dropped = [worker for worker in self._bridge.crew.at_work if worker.step not in names]
        for worker in dropped:
            self.stop_worker(worker.worker, "its step is no longer in the plan")
        said = f"the plan has {len(steps)} steps" if len(steps) > 1 else "the plan has 1 step"
        stopped = "".join(f"; worker {worker.worker} is stopped" for worker in dropped)
        begins = plan.ready(self._bridge.crew)
        return f"{said}{stopped}; it begins with {', '.join(begins)}" if begins else f"{said}{stopped}"

    def stop_worker(self, number: int, why: str) -> str:
        """End that worker's part; returns why that cannot be, or nothing."""
        part = self._parts.get(number)
        if part is None:
            return self._unknown(number)
        part.stopped_for = why or "the supervisor stopped it"
        part.task.cancel()
        return ""

    def tell_worker(self, number: int, text: str) -> str:
        """Have that worker's next turn say it; returns why that cannot be, or nothing."""
        part = self._parts.get(number)
        if part is None or part.worker is None:
            return self._unknown(number)
        part.worker.tell(text)
        return ""

    def worker(self, number: int) -> Worker | None:
        """The worker of that number, where it is at work in its folder."""
        part = self._parts.get(number)
        return None if part is None else part.worker

    async def stop_all(self, why: str) -> None:
        """End everybody's part and wait for it."""
        parts = list(self._parts.items())
        for number, _ in parts:
            self.stop_worker(number, why)
        if parts:
            await asyncio.wait([part.task for _, part in parts])

    def _unknown(self, number: int) -> str:
        there = ", ".join(str(each) for each in self.at_work) or "none"
        return f"worker {number} is not at work; at work: {there}"

    def _begin(self, number: int, step: str, *, apart: bool) -> None:
        task = self._group.create_task(self._work(number, step, apart=apart))
        self._parts[number] = _Part(task)

    async def _work(self, number: int, step: str, *, apart: bool) -> None:
        with self._bridge.at_work():
            try:
                ended = await self._to_its_end(number, step, apart=apart)
            except asyncio.CancelledError:
                if not self._parts[number].stopped_for:
                    raise
                ended = Ended("stopped", why=self._parts[number].stopped_for)
            await self._bridge.end_worker(number, ended)
        del self._parts[number]
        self.ended.append(number)
        self.moved.set()

    async def _to_its_end(self, number: int, step: str, *, apart: bool) -> Ended:
        try:
            cockpit = await self._bridge.seat_worker(number, self._tools(apart))
            worker = Worker(self._bridge, cockpit, number, step, self._turned)
            self._parts[number].worker = worker
            ended = await worker.work()
        except OSError as error:
            return Ended("failed", why=str(error))
        except ModelError as error:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise
            return Ended("failed", why=f"its model could not be asked: {error.message}")
        self._failures = 0
        return ended

    def _turned(self) -> None:
        self.turns += 1
        self.moved.set()
