"""Tells, once, of runs that lost their runner: whoever notices first does, since the runner can't."""

import os
import time
from collections.abc import Iterable

from agent.record.home import Home, RunFolder
from agent.record.values import RunSummary
from mlrb_tui.control.settings import Settings

RECENT_S = 24 * 3600.0
"""What was lost longer ago is no news to anybody."""


class LostRuns:
    """Looks at all runs again and again; owned by one thread at a time."""

    def __init__(self, home: Home, settings: Settings) -> None:
        self._home = home
        self._settings = settings.notify
        self._seen: set[tuple[str, int]] = set()

    def look(self, summaries: Iterable[RunSummary]) -> list[str]:
        """Tell of those that are new; returns their ids."""
        if not self._settings.urls or "lost" not in self._settings.on:
            return []
        told = []
        for summary in summaries:
            # A run that is taken up and lost once more is news again.
            key = (summary.run, summary.seq)
            if summary.outcome != "lost" or key in self._seen:
                continue
            self._seen.add(key)
            if time.time() - summary.at < RECENT_S and self._first_to_notice(summary):
                self._tell(summary)
                told.append(summary.run)
        return told

    def _first_to_notice(self, summary: RunSummary) -> bool:
        mark = RunFolder(self._home.runs / summary.run).path / f"lost-{summary.seq}.told"
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except OSError:
            return False
        return True

    def _tell(self, summary: RunSummary) -> None:
        from agent.runner.notifying import message, start_sender

        start_sender(message(self._settings, summary, "lost", f"mlrb resume {summary.run} takes it up again"))
