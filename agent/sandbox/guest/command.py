"""One command from its start to its end: output, time-out, interrupt, and the end of all that it started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from .processes import Process, send
from .shell import Memory, Shell
from .spool import Spool

TICK_S = 0.25
"""How often a running command's clock is looked at."""
ENDING_TICK_S = 0.02
GRACE_S = 1.0
"""From TERM to KILL."""
GIVE_UP_S = 6.0
"""From TERM to the report of what could not be ended."""
_READ_BYTES = 1024**2
_SMALL_BYTES = 64 * 1024
_QUIET_S = 0.02


@dataclass
class Ending:
    """Why a command is being ended, and since when."""

    reason: str
    since: float


class Command:
    """A command that runs, or has run: its result stays until the next one starts."""

    def __init__(
        self,
        name: str,
        shell: Shell,
        memory: Memory,
        spool: Spool,
        timeout_s: float,
        own: Callable[[], list[Process]],
        session: int = 0,
    ) -> None:
        self.name = name
        self.session = session
        self.spool = spool
        self.output: int | None = shell.output
        self.result: dict[str, object] | None = None
        self.streamed_bytes = 0
        """How far the host has been sent its output."""
        self._shell = shell
        self._memory = memory
        self._timeout_s = timeout_s
        self._started = self._looked = time.monotonic()
        self._frozen_s = 0.0
        self._guessed_s = 0.0
        self._lasted_s = 0.0
        self._ending: Ending | None = None
        self._exit_code: int | None = None
        self._pumped = 0.0
        self._own = own
        """What runs now and did not before it started; nothing else of its session can have started those."""

    @property
    def pid(self) -> int:
        """The number of its bash, which is its process group's too."""
        return self._shell.pid

    def start(self, text: str) -> None:
        """Let it run."""
        self._shell.run(text)

    def pump(self) -> float:
        """Take what it has written; returns how long to leave it alone, so that small writes are read together."""
        if self.output is None:
            return 0.0
        data = self._read()
        if data is None:
            os.close(self.output)
            self.output = None
            return 0.0
        self._pumped = time.monotonic()
        return _QUIET_S if len(data) < _SMALL_BYTES else 0.0

    def _read(self) -> bytes | None:
        assert self.output is not None
        try:
            data = os.read(self.output, _READ_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            return None
        if self.result is None:
            self.spool.append(data)
        return data

    def end(self, reason: str) -> None:
        """Begin to end it: TERM now, KILL after the grace."""
        if self._ending is None and self.result is None:
            self._ending = Ending(reason, time.monotonic())
            self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        own = self._own()
        if number == signal.SIGKILL:
            # What stands can't fork, so that one more look finds all.
            send(own, signal.SIGSTOP)
            own = self._own()
        send(own, number)
        if number == signal.SIGTERM:
            # A stopped process takes a TERM only when it goes on.
            send(own, signal.SIGCONT)

    def exited(self, exit_code: int) -> Memory:
        """Its bash has ended; returns what it leaves to the next one."""
        self._exit_code = exit_code
        return self._shell.memory(self._memory)

    def tick(self, childless: bool) -> None:
        """Look at the clock and at what is being ended; sets `result` once all is over.

        `childless` says that the guest has no child left, and so nothing that this command started can be alive: it
        spares the common case a walk through `/proc`.
        """
        self.notice_standstill()
        if self.result is not None:
            return
        if self._ending is not None:
            self._go_on_ending(self._ending, time.monotonic(), [] if childless else self._own())
        elif self._exit_code is not None:
            self._finish([] if childless else self._own())
        elif self.active_s > self._timeout_s:
            self.end("timed_out")

    def notice_standstill(self) -> None:
        """Where the whole sandbox stood still since the last look, whoever did that, the time is not the command's."""
        now = time.monotonic()
        gap = now - self._looked
        self._looked = now
        if gap > 4 * TICK_S:
            self._guessed_s += gap - TICK_S
            self._stand(gap - TICK_S)

    def stood(self, seconds: float) -> None:
        """Whoever froze it says for how long; what was guessed of that already is not counted twice."""
        not_guessed = min(seconds - self._guessed_s, time.monotonic() - self._looked)
        self._guessed_s = 0.0
        if not_guessed > 0:
            self._looked += not_guessed
            self._stand(not_guessed)

    def _stand(self, seconds: float) -> None:
        """That time is not the command's."""
        self._frozen_s += seconds
        if self._ending is not None:
            self._ending.since += seconds

    def _go_on_ending(self, ending: Ending, now: float, left: list[Process]) -> None:
        if (not left and self._exit_code is not None) or now - ending.since > GIVE_UP_S:
            self._finish(left)
        elif now - ending.since > GRACE_S:
            self._signal(signal.SIGKILL)

    def _finish(self, left: list[Process]) -> None:
        self._drain()
        reason = self._ending.reason if self._ending is not None else ""
        self._lasted_s = round(self.active_s, 4)
        self.result = {
            "exit_code": None if reason else self._exit_code,
            "duration_s": self._lasted_s,
            "timed_out": reason == "timed_out",
            "interrupted": reason == "interrupted",
            "output_bytes": self.spool.written_bytes,
            "left_alive": len(left),
        }

    def _drain(self) -> None:
        """Take what was written before the end; something that still runs may write for ever, so not without bound."""
        for _ in range(8):
            if self.output is None:
                return
            data = self._read()
            if data is None:
                os.close(self.output)
                self.output = None
            if not data:
                return

    @property
    def active_s(self) -> float:
        """Seconds since its start in which it was not frozen."""
        return time.monotonic() - self._started - self._frozen_s

    @property
    def lasted_s(self) -> float:
        """As `active_s`, and no longer growing once it has ended."""
        return self.active_s if self.result is None else self._lasted_s

    @property
    def next_tick_s(self) -> float:
        """How long until it should be looked at again."""
        if self._ending is not None:
            return ENDING_TICK_S
        return min(TICK_S, max(0.001, self._timeout_s - self.active_s + 0.001))
