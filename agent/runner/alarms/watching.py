"""Asks every rule; raises what is wrong once, clears it when it is over, reminds the agent where that is wished."""

import asyncio
from collections.abc import Callable, Sequence

from agent.record import events as ev
from agent.record.values import RunSummary
from agent.runner.alarms.base import Conditions, Heard, Moment, Rule
from agent.runner.alarms.conduct import MalformedCalls, SameAction, Touched
from agent.runner.alarms.gpu import GpuIdle, GpuSilent, GpuTrouble
from agent.runner.alarms.machine import DiskNearlyFull, MemoryNearlyFull, OutOfMemory
from agent.runner.alarms.training import Diverged, LittleData, NoCheckpoint, TooSlow
from agent.runner.journal import Journal

EVERY_S = 1.0

_MAKERS: tuple[Callable[[Conditions], Rule], ...] = (
    GpuIdle, GpuSilent, GpuTrouble, Diverged, SameAction, MalformedCalls, DiskNearlyFull, MemoryNearlyFull,
    OutOfMemory, NoCheckpoint, TooSlow, LittleData, Touched,
)  # fmt: skip
_LASTING = ("touched",)
"""What a runner that takes the run up can't see any more, since it finds things as they are."""
# They come often, and no rule turns on one of them alone.
_STREAMED = (ev.ModelStreamed, ev.ToolOutput, ev.Heartbeat)


def rules(conditions: Conditions) -> list[Rule]:
    """All rules that are not off."""
    return [rule for make in _MAKERS if (rule := make(conditions)).alarm not in conditions.settings.off]


class Alarms:
    """The rules of one run. What it raises and clears are events; a run that is taken up knows what stands."""

    def __init__(self, journal: Journal, conditions: Conditions, remind: Callable[[str], None]) -> None:
        self._journal = journal
        self._rules = rules(conditions)
        self._reminded_of = conditions.settings.remind
        self._remind = remind
        self._lasting = {alert.alert for alert in journal.summary.standing if alert.alert in _LASTING}

    def hear(self, heard: Heard) -> None:
        """Something happened: an event, or a look at the work folder."""
        if isinstance(heard, ev.AlertRaised | ev.AlertCleared):
            return
        now = self._journal.now()
        for rule in self._rules:
            rule.hear(heard, now)
        if not isinstance(heard, _STREAMED):
            self.look()

    def look(self) -> None:
        """Ask every rule; while the disk takes nothing, what stands is not known."""
        if self._journal.stuck:
            return
        now, summary = self._journal.now(), self._journal.summary
        moment = Moment(now, summary, _time_left_s(summary, self._journal.working_s()))
        standing = {alert.alert for alert in summary.standing}
        for rule in self._rules:
            trouble = rule.trouble(moment)
            if trouble is not None and rule.alarm not in standing:
                self._journal.append(ev.AlertRaised(alert=rule.alarm, message=trouble.why, hint=trouble.hint))
                if rule.alarm in self._reminded_of:
                    self._remind(reminder(trouble.why, trouble.hint))
            elif trouble is None and rule.alarm in standing and rule.alarm not in self._lasting:
                self._journal.append(ev.AlertCleared(alert=rule.alarm, message=_cleared(rule.alarm, summary)))

    async def watch(self) -> None:
        """Ask again and again: much goes wrong by nothing happening."""
        while True:
            await asyncio.sleep(EVERY_S)
            self.look()


def reminder(why: str, hint: str) -> str:
    """What the agent is told."""
    return f"[automatic reminder from the harness, not from a person]\n{why[:1].upper()}{why[1:]}.\n({hint})"


def _time_left_s(summary: RunSummary, working_s: float) -> float | None:
    limit_s = summary.limits.time_s
    return None if limit_s is None else max(0.0, limit_s - working_s)


def _cleared(alarm: str, summary: RunSummary) -> str:
    raised: Sequence[str] = [alert.message for alert in summary.standing if alert.alert == alarm]
    return f"no longer: {raised[-1]}" if raised else ""
