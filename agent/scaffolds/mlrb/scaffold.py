"""Leads a supervisor and its workers: asks for a plan, has it worked on, and asks again when there is reason to."""

import asyncio
from collections.abc import Mapping

from agent.record.crew import PlanStep
from agent.scaffolds.base import Bridge, Ending
from agent.scaffolds.mlrb import hand_in, orders, reports, words
from agent.scaffolds.mlrb.actions import actions, stuck
from agent.scaffolds.mlrb.crew import Workers
from agent.tools import bash, edit, pieces, python, read, run_file, scratchpad, submit, thought, validate, write
from agent.tools.base import Tool
from agent.tools.memory import memory_tool
from agent.tools.research.offered import research_tools

REVIEW_TURNS = 20
"""Workers' turns together between two reviews."""
REVIEW_S = 1_200.0
_LOOK_S = 30.0
MOST_IDLE = 6
"""The supervisor's turns in a row after which nothing is at work."""


class Mlrb:
    """A supervisor that plans, reviews and decides, and workers that act."""

    name = "mlrb"
    parts = True

    def __init__(self) -> None:
        self._bridge: Bridge | None = None
        self._workers: Workers | None = None
        self._reviewed_at = 0.0
        self._reviewed_turns = 0
        self._told_stuck: set[int] = set()

    def tools(self) -> Mapping[str, Tool]:
        """The supervisor's."""
        memory = memory_tool(self._remembered)
        return _named(*orders.orders(self), thought.TOOL, memory, validate.TOOL, submit.TOOL)

    def workers_tools(self, apart: bool) -> Mapping[str, Tool]:
        """A worker's; `apart` where it has a folder of its own."""
        memory = memory_tool(self._remembered)
        # The grader looks at the work folder, not at a worker's own.
        grading = () if apart else (validate.TOOL,)
        briefing = self._bridge.briefing if self._bridge is not None else None
        research = research_tools(briefing.research) if briefing is not None and briefing.network else ()
        return _named(
            bash.TOOL, python.TOOL, run_file.TOOL, read.TOOL, write.TOOL, edit.TOOL, pieces.INSERT, pieces.REPLACE,
            pieces.DELETE, scratchpad.TOOL, thought.TOOL, memory, *research, *grading, hand_in.TOOL,
        )  # fmt: skip

    async def run(self, cockpit: Bridge) -> Ending:
        """Lead them until the supervisor submits or nothing is done any more."""
        self._bridge = cockpit
        try:
            async with asyncio.TaskGroup() as group:
                self._workers = Workers(cockpit, group, self.workers_tools)
                self._workers.take_up()
                ending = await self._lead(cockpit, self._workers)
                await self._workers.stop_all("the run's work is over")
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
        return ending

    # ── what the supervisor's tools act on ───────────────────────────────────────────────────────────────

    def take_plan(self, steps: tuple[PlanStep, ...], why: str) -> str:
        """Make it the plan."""
        assert self._workers is not None
        return self._workers.take_plan(steps, why)

    def stop_worker(self, number: int, why: str) -> str:
        """End that worker's part."""
        assert self._workers is not None
        return self._workers.stop_worker(number, why)

    def tell_worker(self, number: int, text: str) -> str:
        """Have that worker's next turn say it."""
        assert self._workers is not None
        return self._workers.tell_worker(number, text)

    # ── leading ──────────────────────────────────────────────────────────────────────────────────────────

    async def _lead(self, bridge: Bridge, workers: Workers) -> Ending:
        if not bridge.conversation:
            prompt = words.supervisor_prompt(
                bridge.briefing, bridge.tools, [tool.spec for tool in self.workers_tools(False).values()]
            )
            bridge.say("system", prompt)
        if len(bridge.conversation) == 1:
            bridge.say("user", bridge.briefing.prompt, origin="task")
        await bridge.finish_step()
        idle = 0
        while not bridge.submitted:
            if await workers.start_ready() or workers.at_work:
                idle = 0
                asks = await self._wait(bridge, workers)
                if not asks:
                    continue
            elif idle >= MOST_IDLE:
                return "gave_up"
            else:
                idle += 1
                asks = reports.DECIDE if bridge.plan else reports.PLAN
            await self._turn(bridge, workers, asks)
        return "submitted"

    async def _turn(self, bridge: Bridge, workers: Workers, asks: str) -> None:
        """Ask the supervisor and do what it says."""
        waiting = bridge.conversation[-1].role == "user"
        if not waiting:
            bridge.say("user", self._report(bridge, workers, asks))
        await bridge.begin_step()
        # To hand in while somebody still works would throw away what they are at.
        _, reply = await bridge.ask(without=(submit.TOOL.spec.name,) if workers.at_work else ())
        for call in reply.calls:
            if bridge.submitted:
                break
            await bridge.use(call)
        self._reviewed_at, self._reviewed_turns = bridge.time_used_s, workers.turns

    def _report(self, bridge: Bridge, workers: Workers, asks: str) -> str:
        ended, workers.ended = workers.ended, []
        going = []
        for number in workers.at_work:
            now, worker = bridge.crew.worker(number), workers.worker(number)
            if now is not None and worker is not None:
                text = reports.of_going(now, worker.done)
                bridge.report_worker(number, text)
                going.append(text)
        told = [reports.of_ended(now, bridge.end_of(number)) for number in ended if (now := bridge.crew.worker(number))]
        return reports.report(bridge.crew, told, going, bridge.status, asks)

    async def _wait(self, bridge: Bridge, workers: Workers) -> str:
        """Wait until the supervisor should be asked, or a step can be begun; returns what it is asked, or nothing."""
        message = asyncio.ensure_future(bridge.message_waits())
        known = len(workers.ended)
        try:
            while True:
                workers.moved.clear()
                if message.done() or self._is_due(bridge, workers):
                    return reports.REVIEW
                if any(self._needs_word(bridge, number) for number in workers.ended):
                    return reports.REVIEW if workers.at_work else ""
                if not workers.at_work or len(workers.ended) > known:
                    return ""
                moved = asyncio.ensure_future(workers.moved.wait())
                with bridge.aside():
                    await asyncio.wait({message, moved}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                moved.cancel()
        finally:
            message.cancel()

    def _needs_word(self, bridge: Bridge, number: int) -> bool:
        """Whether a worker ended in a way that the plan did not provide for."""
        worker = bridge.crew.worker(number)
        return worker is not None and (worker.outcome != "returned" or worker.conflicts > 0)

    def _is_due(self, bridge: Bridge, workers: Workers) -> bool:
        """Whether a review is due: after so many turns, so much time, or when somebody has got stuck."""
        for number in workers.at_work:
            worker = workers.worker(number)
            is_stuck = worker is not None and bool(stuck(worker.done))
            if is_stuck and number not in self._told_stuck:
                self._told_stuck.add(number)
                return True
            if not is_stuck:
                self._told_stuck.discard(number)
        turns = workers.turns - self._reviewed_turns
        return turns >= REVIEW_TURNS or bridge.time_used_s - self._reviewed_at >= REVIEW_S

    def _remembered(self) -> list[str]:
        assert self._bridge is not None
        found = []
        for number, conversation in sorted(self._bridge.conversations().items()):
            who = f"worker {number}" if number else "supervisor"
            done = enumerate(actions(conversation), 1)
            found += [f"{who}, action {count}: {action.shown(1_000, 1_500)}" for count, action in done]
        return found


def _named(*tools: Tool) -> Mapping[str, Tool]:
    return {tool.spec.name: tool for tool in tools}


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that ended the others."""
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
