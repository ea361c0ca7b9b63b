"""A real pseudo-terminal with a program in it: keys go in, bytes come out, a screen is kept of them."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import pyte

MLRB = (sys.executable, "-m", "mlrb_tui.cli")
_READ_BYTES = 65_536
# What pyte 0.8 would print as text: keyboard protocol, mode queries.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p|\x1bP[^\x1b]*\x1b\\")


class PtyTerminal:
    """A program under a pseudo-terminal of its own; leave the `with` block and it is gone."""

    def __init__(
        self,
        command: Sequence[str] = MLRB,
        *,
        columns: int = 80,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = bytearray()
        """Every byte that the program has written."""
        self.columns, self.lines = columns, lines
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        self.attributes_before = termios.tcgetattr(slave)
        self._set_size(slave)
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
            env=terminal_environment(environment or {}), preexec_fn=_take_terminal,
        )  # fmt: skip
        self._slave = slave

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────

    def read(self, timeout_s: float = 0.05) -> bytes:
        """What has come since the last read; waits at most that long for something."""
        ready, _, _ = select.select([self._master], [], [], timeout_s)
        if not ready:
            return b""
        try:
            data = os.read(self._master, _READ_BYTES)
        except OSError:
            return b""
        self.raw += data
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        self._answer(data)
        return data

    def wait_until(self, condition: Callable[[], bool], *, timeout_s: float = 20.0, what: str = "") -> None:
        """Read until the condition holds; fails with the screen where it does not in time."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {timeout_s} s for {what or condition}; on the screen:\n{self.text}")
            self.read()

    def wait_for(self, text: str, *, timeout_s: float = 20.0) -> None:
        """Read until the text is on the screen."""
        self.wait_until(lambda: text in self.text, timeout_s=timeout_s, what=repr(text))

    def wait_for_bytes(self, wanted: bytes, *, after: int = 0, timeout_s: float = 20.0) -> None:
        """Read until the program has written these bytes."""
        self.wait_until(lambda: self.raw.find(wanted, after) >= 0, timeout_s=timeout_s, what=repr(wanted))

    def wait_for_end(self, *, timeout_s: float = 20.0) -> int:
        """Read until the program has ended and all it wrote is read; its exit code."""
        self.wait_until(lambda: self.process.poll() is not None, timeout_s=timeout_s, what="the end")
        while self.read(0.1):
            pass
        return self.process.wait()

    def settle(self, quiet_s: float = 0.4, *, timeout_s: float = 10.0) -> None:
        """Read until nothing has come for so long."""
        deadline = time.monotonic() + timeout_s
        while self.read(quiet_s) and time.monotonic() < deadline:
            pass

    def bytes_in(self, seconds: float) -> int:
        """How many bytes come in that time."""
        before, deadline = len(self.raw), time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read(left)
        return len(self.raw) - before

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    # ── doing ────────────────────────────────────────────────────────────────────────────────────────────

    def press(self, keys: str) -> None:
        """Type these characters."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size; the program gets SIGWINCH from the kernel."""
        self.columns, self.lines = columns, lines
        self._set_size(self._master)
        self._screen.resize(lines, columns)

    def wipe(self) -> None:
        """Empty the screen, as a terminal does that goes to the alternate one; pyte knows only one."""
        self._screen.reset()

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal, as a lost SSH connection does."""
        os.close(self._slave)
        os.close(self._master)
        self._slave = self._master = -1

    @property
    def attributes(self) -> list[object]:
        """The line's settings now: echo, canonical mode and so on."""
        return list(termios.tcgetattr(self._slave))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for descriptor in (self._master, self._slave):
            if descriptor >= 0:
                os.close(descriptor)

    def _set_size(self, descriptor: int) -> None:
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", self.lines, self.columns, 0, 0))

    def _answer(self, data: bytes) -> None:
        """Say, as terminals do, that synchronised output is known here."""
        if b"\x1b[?2026$p" in data:
            os.write(self._master, b"\x1b[?2026;2$y")


def terminal_environment(changes: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program in a terminal: ours, without what says anything about our own terminal."""
    ours = ("TMUX", "TMUX_PANE", "STY", "NO_COLOR", "COLORTERM", "COLORFGBG", "TERM_PROGRAM", "COLUMNS", "LINES")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", **changes}


def _take_terminal() -> None:
    """In the child: make the pseudo-terminal the controlling one."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
