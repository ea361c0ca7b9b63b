"""The commands that open the terminal app."""

import argparse
import gc
import os
import sys

from agent.record.home import Home
from tasks.errors import UsageError


def fleet(options: argparse.Namespace) -> int:
    """`mlrb`: the app on all runs."""
    return _open(read_only=options.read_only)


def watch(options: argparse.Namespace) -> int:
    """`mlrb watch RUN`: the app on one run."""
    home = Home.of_user()
    return _open(home, open_run=home.find(options.run).run, read_only=options.read_only)


def replay(options: argparse.Namespace) -> int:
    """`mlrb replay RUN|FILE`: the app on a recorded run."""
    return _open(replay=options.run)


def _open(
    home: Home | None = None,
    *,
    open_run: str | None = None,
    replay: str | None = None,
    read_only: bool = False,
) -> int:
    without = "mlrb ls, mlrb show RUN and mlrb events RUN --follow do without"
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the app needs a terminal", hint=without)
    if os.environ.get("TERM", "") in ("dumb", ""):
        raise UsageError("the app cannot draw on this terminal (TERM is dumb or empty)", hint=without)
    # What is made at the start lives as long as the app: to look for garbage meanwhile takes a twentieth of it.
    gc.disable()
    from mlrb_tui.app import run_app

    return run_app(home or Home.of_user(), open_run=open_run, replay=replay, read_only=read_only)
