"""The guest's sessions: each has its own shell and one command at a time, and those of several run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from .channel import Channel
from .command import Command
from .commands import Commands, Setting
from .household import MARK, Household
from .wire import Header

MOST = 64
"""Each costs a waiting shell; who asks for more has lost count."""


class Sessions:
    """Session 0 is there from the start, others from when they are first asked for."""

    def __init__(
        self,
        setting: Setting,
        watch: Callable[[int, object], None],
        unwatch: Callable[[int], None],
        oom_kills: Callable[[], int],
    ) -> None:
        self._setting = setting
        self._watch, self._unwatch, self._oom_kills = watch, unwatch, oom_kills
        self._household = Household(self._take_end)
        self._all: dict[int, Commands] = {}
        self._guest = os.urandom(8).hex()
        self._turn = 0
        self.of({})

    def of(self, request: Header) -> Commands:
        """The session that a request means."""
        number = request.get("session", 0)
        if not isinstance(number, int) or number < 0:
            raise TypeError("session is no number")
        if number not in self._all:
            if len(self._all) >= MOST:
                raise ValueError(f"there are {MOST} sessions already")
            environment = {**self._setting.environment, **({MARK: str(number)} if number else {})}
            setting = replace(self._setting, environment=environment)
            self._all[number] = Commands(
                number, setting, self._watch, self._unwatch, self._oom_kills, self._household
            )  # fmt: skip
        return self._all[number]

    @property
    def wait_s(self) -> float | None:
        """How long the loop may sleep."""
        waits = [wait for commands in self._all.values() if (wait := commands.wait_s) is not None]
        return min(waits) if waits else None

    def state(self) -> Header:
        """Who this is; what runs, what ran last and for how long, and where; the same of each session beside it."""
        beside = [{"session": number, **each.state()} for number, each in self._all.items() if number]
        return {"guest": self._guest, **self._all[0].state(), "beside": beside}

    def follow(self, request: Header) -> bool:
        """Send the host the output of a command from an offset on; False where it is no session's last one."""
        return any(commands.follow(request) for commands in self._all.values())

    def forget_host(self) -> None:
        """A new host has come: it says itself from where on it wants which output."""
        for commands in self._all.values():
            commands.forget_host()

    def stood(self, seconds: float) -> None:
        """The sandbox was frozen so long until now."""
        for commands in self._all.values():
            commands.stood(seconds)

    def pump(self, command: Command) -> None:
        """Take what a command has written."""
        self._all[command.session].pump(command)

    def go_on(self, channel: Channel | None) -> None:
        """All that is due after something happened: ends taken in, clocks looked at, output sent."""
        self._household.reap()
        everyone = list(self._all.values())
        # Whoever writes most must not keep the others' output from the host.
        self._turn = (self._turn + 1) % len(everyone)
        for commands in everyone[self._turn :] + everyone[: self._turn]:
            commands.go_on(channel)

    def _take_end(self, pid: int, code: int) -> None:
        for commands in self._all.values():
            if commands.take_end(pid, code):
                return
