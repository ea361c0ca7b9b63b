"""One worker: turn after turn its prompt is made from where it stands, until it returns."""

from collections.abc import Callable

from agent.models.base import Message
from agent.record.crew import Crew
from agent.scaffolds.base import Bridge, Cockpit, Ended
from agent.scaffolds.mlrb import plan, words
from agent.scaffolds.mlrb.actions import Action, actions
from agent.scaffolds.mlrb.hand_in import RETURN, returned

MOST_IDLE = 7
"""Thoughts without a call in a row."""


class Worker:
    """Does one step of the plan; `moved` is called after each turn."""

    def __init__(self, bridge: Bridge, cockpit: Cockpit, number: int, step: str, moved: Callable[[], None]) -> None:
        self._bridge = bridge
        self._cockpit = cockpit
        self._number = number
        self._step = step
        self._moved = moved

    @property
    def done(self) -> list[Action]:
        """What it has done, oldest first."""
        return actions(self._cockpit.conversation)

    async def work(self) -> Ended:
        """Work until it returns, or until thoughts in a row lead nowhere."""
        self._begin()
        while (ended := self._ended()) is None:
            await self._turn()
            self._moved()
        return ended

    def tell(self, text: str) -> None:
        """Have its next turn say that; it stays in what it is told from then on."""
        self._cockpit.say("user", words.FROM_SUPERVISOR + text, origin="supervisor")

    def _begin(self) -> None:
        if self._cockpit.conversation:
            return
        task = next((step.task for step in self._bridge.plan if step.name == self._step), self._step)
        shared = self._bridge.briefing.workdir
        prompt = words.worker_prompt(
            self._cockpit.briefing, self._cockpit.tools, self._number, self._step, task, shared
        )
        self._cockpit.say("system", prompt)

    async def _turn(self) -> None:
        await self._cockpit.begin_step()
        system, *_ = self._cockpit.conversation
        _, reply = await self._cockpit.ask([system, self._prompt()])
        for call in reply.calls:
            await self._cockpit.use(call)
            if call.tool == RETURN and self._ended() is not None:
                break

    def _prompt(self) -> Message:
        """What this turn is told; one that a runner before us had put and got no answer to is put again."""
        conversation = self._cockpit.conversation
        newest = conversation[-1]
        if newest.role == "user" and newest.text.startswith(words.TURN):
            return newest
        return self._cockpit.say("user", self._said(self._bridge.crew), origin="turn")

    def _said(self, crew: Crew) -> str:
        bridge = self._bridge
        return words.turn_prompt(
            workdir=self._cockpit.briefing.workdir, used_s=bridge.time_used_s, left_s=bridge.time_left_s,
            status=self._cockpit.status, plan=plan.shown(crew), step=self._step,
            messages=self._cockpit.conversation, done=self.done,
        )  # fmt: skip

    def _ended(self) -> Ended | None:
        """How it ended, read from its conversation: a runner may have been lost right after it did."""
        if (ended := returned(self._cockpit.conversation)) is not None:
            return ended
        idle = 0
        for action in reversed(self.done):
            if action.tool != "thought" or action.result:
                break
            idle += 1
        if idle >= MOST_IDLE:
            return Ended("failed", why=f"{idle} replies in a row without a tool call")
        return None
