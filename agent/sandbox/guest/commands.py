"""One session's commands: one at a time, each with its waiting shell, its spool and its way to the host."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .channel import Channel
from .command import Command
from .household import Household
from .processes import Process, send
from .shell import Memory, Shell
from .spool import Spool
from .wire import Header

_OUTPUT_BYTES = 64 * 1024
_CLEARING_ROUNDS = 5
_TOLD = -1
"""In place of an offset: the host has had all that it wants of a command."""


@dataclass(frozen=True)
class Setting:
    """What the guest is started with."""

    workdir: str
    spool_folder: str
    spool_bytes: int
    own_group: bool
    environment: Mapping[str, str]


class Commands:
    """Starts commands, reads what they write, sees them end."""

    def __init__(
        self,
        session: int,
        setting: Setting,
        watch: Callable[[int, object], None],
        unwatch: Callable[[int], None],
        oom_kills: Callable[[], int],
        household: Household,
    ) -> None:
        self._session = session
        self._household = household
        self._setting = setting
        self._watch = watch
        self._unwatch = unwatch
        self._oom_kills = oom_kills
        self._memory = Memory(setting.workdir)
        self._spare: Shell | None = self._new_shell()
        self._current: Command | None = None
        self._quiet: dict[Command, float] = {}
        self._before: set[tuple[int, int]] = set()
        self._oom_kills_before = 0

    @property
    def workdir(self) -> str:
        """Where the next command starts."""
        return self._memory.workdir

    @property
    def wait_s(self) -> float | None:
        """How long the loop may sleep."""
        now = time.monotonic()
        waits = [until - now for until in self._quiet.values()]
        if self._current is not None and self._current.result is None:
            waits.append(self._current.next_tick_s)
        return max(0.0, min(waits)) if waits else None

    def state(self) -> Header:
        """What runs, what ran last and for how long, and where."""
        command = self._current
        if command is not None:
            command.notice_standstill()
        return {
            "running": command.name if command is not None and command.result is None else "",
            "last": command.name if command is not None else "",
            "last_s": command.lasted_s if command is not None else 0.0,
            "workdir": self._memory.workdir,
        }

    def start(self, request: Header) -> None:
        """Run a command; one that was asked for twice, as after a cut, does not run twice."""
        name, text, timeout_s = str(request["command"]), str(request["text"]), request["timeout_s"]
        if not isinstance(timeout_s, (int, float)):
            raise TypeError("timeout_s is no number")
        if self.follow(request):
            return
        if self._current is not None:
            if self._current.result is None:
                raise BlockingIOError(f"{self._current.name} still runs")
            self._current.spool.close()
        shell = self._take_shell()
        spool = Spool(self._setting.spool_folder, self._setting.spool_bytes)
        self._current = Command(name, shell, self._memory, spool, timeout_s, self._own, self._session)
        self._watch(shell.output, self._current)
        # What the kernel ended between two commands belongs to neither.
        self._oom_kills_before = self._oom_kills()
        self._household.running.add(self._session)
        self._current.start(text.replace("\0", "\\0"))

    def _own(self) -> list[Process]:
        return self._household.own(self._session, self._before)

    def _new_shell(self) -> Shell:
        shell = Shell(self._memory, self._setting.environment)
        self._household.adopt(shell.pid, self._session)
        return shell

    def _take_shell(self) -> Shell:
        """The waiting shell; where none could be started beside what its commands left, that is ended first."""
        if self._spare is None:
            for _ in range(_CLEARING_ROUNDS):
                send(self._household.own(self._session), signal.SIGSTOP)
                send(self._household.own(self._session), signal.SIGKILL)
                self._household.reap()
            self._spare = self._new_shell()
        shell, self._spare = self._spare, None
        return shell

    def _prepare_shell(self) -> None:
        try:
            self._spare = self._new_shell()
        except OSError:
            # No process may be started now, or no memory is left: asked for again with the next command.
            self._spare = None

    def follow(self, request: Header) -> bool:
        """Send the host the output of a command from an offset on; False where it is not the last one."""
        if self._current is None or self._current.name != request["command"]:
            return False
        offset = request.get("at", 0)
        if not isinstance(offset, int) or offset < 0:
            raise ValueError("at is no offset")
        self._current.streamed_bytes = min(offset, self._current.spool.kept_bytes)
        return True

    def forget_host(self) -> None:
        """A new host has come: it says itself from where on it wants the output."""
        if self._current is not None:
            self._current.streamed_bytes = _TOLD

    def interrupt(self) -> str:
        """Begin to end the running command; returns its name, empty where none runs."""
        if self._current is None or self._current.result is not None:
            return ""
        self._current.end("interrupted")
        return self._current.name

    def stood(self, seconds: float) -> None:
        """The sandbox was frozen so long until now."""
        if self._current is not None and self._current.result is None:
            self._current.stood(seconds)

    def pump(self, command: Command) -> None:
        """Take what a command has written; a slow writer is left alone for a moment."""
        descriptor = command.output
        if descriptor is None:
            return
        quiet_s = command.pump()
        if command.output is None:
            self._unwatch(descriptor)
        elif quiet_s:
            self._unwatch(descriptor)
            self._quiet[command] = time.monotonic() + quiet_s

    def go_on(self, channel: Channel | None) -> None:
        """All that is due after something happened: clocks looked at, output sent."""
        self._wake_quiet()
        self._look(channel)
        self._stream(channel)

    def _wake_quiet(self) -> None:
        now = time.monotonic()
        for command in [command for command, until in self._quiet.items() if until <= now]:
            del self._quiet[command]
            if command.output is not None:
                self._watch(command.output, command)

    def take_end(self, pid: int, code: int) -> bool:
        """A process has ended; False where it was none of its shells."""
        if self._current is not None and pid == self._current.pid:
            self._memory = self._current.exited(code if code >= 0 else 128 - code)
        elif self._spare is not None and pid == self._spare.pid:
            self._spare.discard()
            self._prepare_shell()
        else:
            return False
        return True

    def _look(self, channel: Channel | None) -> None:
        command = self._current
        if command is None or command.result is not None:
            return
        descriptor = command.output
        command.tick(self._household.childless)
        if command.output is None and descriptor is not None:
            self._unwatch(descriptor)
            self._quiet.pop(command, None)
        if command.result is None:
            return
        command.result["workdir"] = self._memory.workdir
        self._household.running.discard(self._session)
        command.result["oom_kills"] = self._killed_for_memory(command.result["exit_code"] == 0)
        self._before = set()
        if not self._household.childless:
            self._before = {process.key for process in self._household.own(self._session)}
        # The host hears of the end before the time that the next shell takes to start.
        self._stream(channel)
        if channel is not None:
            channel.flush()
        self._prepare_shell()

    def _killed_for_memory(self, well: bool) -> int:
        """Processes that the kernel ended since it started; beside others, one that ended well lost none of them."""
        if well and self._household.running:
            return 0
        return max(0, self._oom_kills() - self._oom_kills_before)

    def _stream(self, channel: Channel | None) -> None:
        """Send the host what it has not had of the command's output, and then how it ended."""
        command = self._current
        if command is None or channel is None or channel.closed or command.streamed_bytes == _TOLD:
            return
        while channel.has_room:
            data = command.spool.read(command.streamed_bytes, _OUTPUT_BYTES)
            if not data:
                break
            header: Header = {"event": "output", "command": command.name, "at": command.streamed_bytes}
            channel.send(header, data)
            command.streamed_bytes += len(data)
        if command.result is not None and command.streamed_bytes >= command.spool.kept_bytes:
            channel.send({"event": "ended", "command": command.name, **command.result})
            command.streamed_bytes = _TOLD
