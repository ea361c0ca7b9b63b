"""What a sandbox runs on may not answer for a while: who is told, and how long it is waited for."""

import time

from agent.errors import SandboxError, SandboxUnreachable
from agent.sandbox.base import SandboxWatcher

PATIENCE_S = 900.0
"""How long a silent daemon is waited for."""


class Outage:
    """Whether it goes on, and since when; each beginning and each end is told once."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._since: float | None = None
        self._watcher: SandboxWatcher | None = None
        self._told_lost = False

    @property
    def goes_on(self) -> bool:
        """Whether it was silent when it was last asked."""
        return self._since is not None

    def tell(self, watcher: SandboxWatcher) -> None:
        """Who hears of it."""
        self._watcher = watcher

    def silent(self, error: SandboxError) -> None:
        """It did not answer; raises `SandboxUnreachable` once that has lasted too long."""
        if self._since is None:
            self._since = time.monotonic()
            if self._watcher is not None:
                self._watcher.away(error.message, error.hint)
        elif time.monotonic() - self._since > self._patience_s:
            raise SandboxUnreachable(
                f"{error.message}, not for {self._patience_s:.0f} s", hint="`mlrb resume` takes the run up"
            )

    def answered(self, *, restarted: bool = False) -> None:
        """It answers; `restarted` where the sandbox had to be started again."""
        since, self._since = self._since, None
        if self._watcher is not None and (since is not None or restarted):
            self._watcher.back(0.0 if since is None else time.monotonic() - since, restarted=restarted)

    def lost(self, error: SandboxError) -> None:
        """The sandbox is gone, or was waited for in vain."""
        if self._watcher is not None and not self._told_lost:
            self._told_lost = True
            self._watcher.lost(error)
