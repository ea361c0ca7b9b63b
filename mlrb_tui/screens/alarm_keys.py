"""The key that shows a run's alarms, shared by the screen of one run and that of all."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent.record.values import RunSummary
from mlrb_tui.control.alarm_bell import AlarmBell


class AlarmKeys(Screen[None]):
    """Shows the alarms of a run; whoever inherits says which one that is."""

    ALARM_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding(
            "exclamation_mark", "alarms", "alarms", id="screen.alarms", key_display="!",
            tooltip="every alarm that stands: why, and what one could do",
        ),
    )  # fmt: skip

    alarm_bell: AlarmBell | None = None
    """What rings when an alarm is new."""

    @property
    def alarmed(self) -> tuple[RunSummary, float] | None:
        """The run, and what time it is for it; None where there is none."""
        raise NotImplementedError

    def hear_alarms(self, summaries: Iterable[RunSummary]) -> None:
        """Ring, where an alarm is new."""
        if self.alarm_bell is not None:
            self.alarm_bell.hear(summaries)

    def action_alarms(self) -> None:
        """Show them; say so where there are none."""
        from mlrb_tui.views import alarms
        from mlrb_tui.widgets.alarm_list import AlarmList

        found = self.alarmed
        if found is not None and alarms.standing(found[0]):
            self.app.push_screen(AlarmList(*found))
        elif found is not None:
            self.app.notify("no alarm stands", timeout=2)
