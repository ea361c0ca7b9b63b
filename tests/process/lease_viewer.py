"""A viewer as a process of its own, for the lease's tests: does one thing with a run's lease, says so, stays on."""

import argparse
import sys
from pathlib import Path

from agent.errors import ControlHeld
from agent.record.inbox import Inbox
from agent.record.lease import Control
from agent.record.viewer import Viewer


def main() -> None:
    """`lease_viewer INBOX [--go FILE] [--ask]`: take the lease (or ask for it), then live until stdin closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("inbox", type=Path)
    parser.add_argument("--go", type=Path, help="say `ready`, and begin as soon as that file is there")
    parser.add_argument("--ask", action="store_true")
    given = parser.parse_args()
    inbox, viewer = Inbox(given.inbox), Viewer.here("app")
    if given.go is not None:
        print("ready", flush=True)
        while not given.go.exists():
            pass
    print(_done(inbox.control, viewer, asks=given.ask), viewer.viewer, flush=True)
    sys.stdin.read()


def _done(control: Control, viewer: Viewer, *, asks: bool) -> str:
    try:
        control.ask(viewer) if asks else control.take(viewer)
    except ControlHeld:
        return "refused"
    return "asked" if asks else "taken"


if __name__ == "__main__":
    main()
