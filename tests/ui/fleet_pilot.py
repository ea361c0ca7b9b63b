"""Driving the app under a pilot: open it, wait for something, read the screen."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Request
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import Settings
from mlrb_tui.widgets.run_table import RunTable

COLOURS = {"TERM": "xterm-256color"}


@asynccontextmanager
async def opened(
    home: Home, *, size: tuple[int, int] = (120, 36), read_only: bool = False, settings: Settings | None = None
) -> AsyncIterator[Pilot[int]]:
    """The app on that home."""
    app = MlrbApp(home, settings or Settings(theme="mlrb-dark"), read_only=read_only, environment=COLOURS)
    async with app.run_test(size=size, notifications=True) as pilot:
        yield pilot


async def until(pilot: Pilot[int], condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition, with a deadline."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, f"waited for {what}; on the screen:\n{shown(pilot)}"
        await pilot.pause(0.02)


def shown(pilot: Pilot[int]) -> str:
    """The text on the screen."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def at_cursor(pilot: Pilot[int]) -> str | None:
    """The run that the fleet's cursor stands on."""
    return pilot.app.screen_stack[0].query_one(RunTable).run_at_cursor


def posted(home: Home, run: str) -> list[Request | None]:
    """What lies in a run's inbox."""
    inbox = Inbox(RunFolder(home.runs / run).inbox)
    try:
        return [each.request for each in inbox.after(0)]
    finally:
        inbox.close()
