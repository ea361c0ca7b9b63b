"""Alarms about what the agent does: the same again and again, calls that can't run, files that aren't its own."""

from collections import deque
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.alarm_settings import Alarm
from agent.record.summary import preview
from agent.record.text import one_line
from agent.runner.alarms.base import Conditions, FilesTouched, Heard, Moment, Trouble

_LAST_CALLS = 10
_MOST_NAMED = 3


@dataclass
class SameAction:
    """The same call, with the same arguments, many times in a row."""

    conditions: Conditions
    alarm: Alarm = "loop"
    _last: tuple[str, str] | None = None
    _count: int = 0

    def hear(self, heard: Heard, at: float) -> None:
        """Calls; one that is refused is one as well."""
        if isinstance(heard, ev.ToolCalled):
            action = (heard.tool, ascii((heard.arguments, preview(heard.summary))))
            self._count = self._count + 1 if action == self._last else 1
            self._last = action

    def trouble(self, moment: Moment) -> Trouble | None:
        """How often now."""
        if self._last is None or self._count < self.conditions.settings.same_action:
            return None
        return Trouble(
            f"the same {one_line(self._last[0], 40)} call {self.conditions.settings.same_action} times in a row",
            "inject a message that points another way",
        )


@dataclass
class MalformedCalls:
    """Of the last calls, several could not be run at all."""

    conditions: Conditions
    alarm: Alarm = "malformed"
    _refused: deque[bool] = field(default_factory=lambda: deque(maxlen=_LAST_CALLS))

    def hear(self, heard: Heard, at: float) -> None:
        """How calls end; one that a person rejects is no fault of the agent's."""
        if isinstance(heard, ev.ToolFinished) and not heard.rejected_by:
            self._refused.append(heard.refused)

    def trouble(self, moment: Moment) -> Trouble | None:
        """How many now."""
        count = sum(self._refused)
        if count < self.conditions.settings.malformed:
            return None
        return Trouble(
            f"{count} of the last {len(self._refused)} calls could not be run",
            "the model may not be able to use these tools; see what it wrote, and inject what is wrong with it",
        )


@dataclass
class Touched:
    """Files of the evaluation, or others that the agent may only read, are not as they were."""

    conditions: Conditions
    alarm: Alarm = "touched"
    _paths: tuple[str, ...] = ()

    def hear(self, heard: Heard, at: float) -> None:
        """Looks at the work folder."""
        if isinstance(heard, FilesTouched):
            self._paths = heard.paths

    def trouble(self, moment: Moment) -> Trouble | None:
        """As of the last look."""
        if not self._paths:
            return None
        named = ", ".join(one_line(path, 60) for path in self._paths[:_MOST_NAMED])
        more = f" and {len(self._paths) - _MOST_NAMED} more" if len(self._paths) > _MOST_NAMED else ""
        return Trouble(
            f"changed, though it is not the agent's to change: {named}{more}",
            "the grader uses its own copy, and the task's rules may make the score invalid; look at what was done",
        )
