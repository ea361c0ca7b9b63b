"""The app on a run in a real pseudo-terminal, shot after a while: `python -m tests.soak.viewer RUN SECONDS`."""

import signal
import sys
import time

from tests.process.pty_terminal import MLRB, PtyTerminal


def main(run: str, seconds: str) -> None:
    """Watch, and be shot."""
    with PtyTerminal((*MLRB, "watch", run), columns=120, lines=40) as terminal:
        deadline = time.monotonic() + float(seconds)
        while time.monotonic() < deadline and terminal.process.poll() is None:
            terminal.read(0.1)
        terminal.signal(signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
