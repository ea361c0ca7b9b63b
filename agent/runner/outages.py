"""What befalls a sandbox while nobody asks anything of it, as events; and the end of the run where it is gone."""

import asyncio
from collections.abc import Callable

from agent.errors import SandboxError
from agent.record import events as ev
from agent.runner.journal import Journal

ALERT_AFTER_S = 10.0
"""A daemon that is restarted is back sooner, and nobody has to look after it."""


class Outages:
    """Writes down when what the sandbox runs on falls silent, and when it is back."""

    def __init__(self, journal: Journal, on_lost: Callable[[SandboxError], None]) -> None:
        self._journal = journal
        self._on_lost = on_lost
        self._alert: asyncio.TimerHandle | None = None

    def away(self, reason: str, hint: str) -> None:
        """Nothing that the sandbox does can be seen or steered for now."""
        self._journal.append(ev.SandboxAway(reason=reason))
        self._alert = asyncio.get_running_loop().call_later(ALERT_AFTER_S, self._raise_alert, reason, hint)

    def back(self, away_s: float, *, restarted: bool) -> None:
        """It goes on."""
        self._give_up_alert()
        self._journal.append(ev.SandboxBack(away_s=away_s, restarted=restarted))

    def lost(self, error: SandboxError) -> None:
        """Nothing more can be done in it."""
        self._give_up_alert()
        self._on_lost(error)

    def _raise_alert(self, reason: str, hint: str) -> None:
        goes_on = f"the run goes on by itself when it is back{f': {hint}' if hint else ''}"
        self._journal.append(ev.AlertRaised(alert="sandbox_away", message=f"the run waits: {reason}", hint=goes_on))

    def _give_up_alert(self) -> None:
        if self._alert is not None:
            self._alert.cancel()
