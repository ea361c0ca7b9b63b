"""What the app owes the terminal it runs in: to leave it sane however it ends, and to let go of the mouse."""

import base64
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

from textual.driver import Driver

MOUSE_OFF = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"
# Mouse, paste and focus reports off, in-band resize off, keyboard protocol off, alternate screen left, wrapping
# and cursor on, colours as they were. All of it is harmless where it holds already.
SETTLE = MOUSE_OFF + "\x1b[?25h\x1b[0m"
RESTORE = MOUSE_OFF + "\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[<u\x1b[?1049l\x1b[?7h\x1b[?25h\x1b[0m"
_PATIENCE_S = 2.0
_CLIPBOARD_BYTES = 74_000


@contextlib.contextmanager
def kept_sane(leave: Callable[[int], None]) -> Iterator[None]:
    """While the app runs: SIGTERM and SIGHUP make it leave; afterwards the terminal is as it was, in any case.

    `leave` gets the exit code; where the app doesn't follow in time, it is ended from here.
    """
    saved = _attributes()

    def on_signal(number: int, _: FrameType | None) -> None:
        code = 128 + number
        timer = threading.Timer(_PATIENCE_S, _end_hard, (code, saved))
        timer.daemon = True
        timer.start()
        leave(code)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGHUP)}
    left_well = False
    try:
        yield
        left_well = True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        # A second `leave the alternate screen` would move the cursor, a second keyboard pop take the shell's own.
        restore(saved, SETTLE if left_well else RESTORE)


def restore(saved: list[object] | None = None, sequence: str = RESTORE) -> None:
    """Make the terminal sane; quiet where it is gone."""
    with contextlib.suppress(OSError, ValueError):
        if sys.__stderr__ is not None and sys.__stderr__.isatty():
            os.write(sys.__stderr__.fileno(), sequence.encode())
    if saved is not None:
        import termios

        with contextlib.suppress(termios.error, OSError, ValueError):
            assert sys.__stdin__ is not None
            termios.tcsetattr(sys.__stdin__.fileno(), termios.TCSANOW, saved)  # type: ignore[arg-type]


def set_mouse(driver: Driver | None, on: bool) -> bool:
    """Take the mouse or let go of it, so that the terminal's own selection works; False where neither can be."""
    from textual.drivers.linux_driver import LinuxDriver

    if not isinstance(driver, LinuxDriver):
        return False
    if on:
        driver._mouse = True
        driver._enable_mouse_support()
        if driver._mouse_pixels:
            driver._enable_mouse_pixels()
    else:
        driver._disable_mouse_support()
        driver.write(MOUSE_OFF)
        driver.flush()
        driver._mouse = False
    return True


def in_gnu_screen(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether GNU screen is what we talk to."""
    return "STY" in environment and "TMUX" not in environment


def may_take_mouse(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the mouse may be taken from the start.

    GNU screen with a window's mouse on keeps a lone escape back until the next key, and hands on both as one.
    """
    return not in_gnu_screen(environment)


def clipboard_sequence(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """OSC 52 for that text: the terminal at the other end of an SSH connection puts it into its clipboard.

    GNU screen passes it on only inside its own envelope, in small pieces. What is too long for terminals is cut.
    """
    packed = base64.b64encode(text.encode("utf-8", "replace")[:_CLIPBOARD_BYTES]).decode()
    sequence = f"\x1b]52;c;{packed}\x07"
    if not in_gnu_screen(environment):
        return sequence
    pieces = (sequence[at : at + 250] for at in range(0, len(sequence), 250))
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)


def _attributes() -> list[object] | None:
    import termios

    try:
        return termios.tcgetattr(sys.__stdin__.fileno()) if sys.__stdin__ is not None else None
    except (termios.error, OSError, ValueError):
        return None


def _end_hard(code: int, saved: list[object] | None) -> None:
    restore(saved)
    os._exit(code)
