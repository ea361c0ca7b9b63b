"""The fleet goes on following all runs, whatever was opened and closed over it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.log import EventLog
from agent.record.values import RunSummary
from mlrb_tui.screens.run import RunScreen
from mlrb_tui.widgets.fleet_look import Look
from tests.ui.fleet_homes import believable, home_of
from tests.ui.fleet_pilot import at_cursor, opened, posted, shown, until


@pytest.fixture
def alive() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _news(home: Home, run: RunSummary, **changes: object) -> None:
    newest = max(each.at for each in believable())
    index.update(home.index, msgspec.structs.replace(run, seq=run.seq + 1, at=newest + 1, **changes))


async def test_it_still_follows_after_a_run_was_opened_and_left(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen), "the run")
        await pilot.press("q")
        await until(pilot, lambda: not isinstance(pilot.app.screen, RunScreen), "the fleet")
        running = next(run for run in believable() if run.state == "running" and not run.alerts)
        _news(home, running, now="a new thing to do")
        await until(pilot, lambda: "a new" in shown(pilot), "what has happened meanwhile")


async def test_the_look_says_the_state_that_the_run_is_in_now(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        selected = next(run for run in believable() if run.run == at_cursor(pilot))
        look = pilot.app.screen.query_one(Look)
        await until(pilot, lambda: selected.run in str(look.border_title), "the look")
        _news(home, selected, task="another/task")
        await until(pilot, lambda: "another/task" in str(look.border_title), "the new title")


def _keys(pilot: Pilot[int]) -> str:
    return shown(pilot).rstrip().splitlines()[-1]


async def test_a_refusal_is_told_where_the_key_was_pressed(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        await pilot.press("x")
        await until(pilot, lambda: bool(posted(home, "5d20aa17")), "the request")
        with EventLog(RunFolder(home.runs / "5d20aa17").events) as log:
            log.append(ev.RequestReceived(request_id=1, verb="interrupt", who="lea"))
            log.append(ev.RequestRefused(request_id=1, reason="no [/b] command is running"))
        await until(pilot, lambda: "no [/b] command is running" in " ".join(shown(pilot).split()), "the reason")


async def test_keys_are_those_that_make_sense_for_the_run_at_the_cursor(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home, size=(200, 40)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        await until(
            pilot, lambda: "p pause" in _keys(pilot) and "r resume" not in _keys(pilot), "keys of a running one"
        )
        await pilot.press("slash", *"state:paused", "enter")
        await until(pilot, lambda: "r resume" in _keys(pilot) and "p pause" not in _keys(pilot), "keys of a paused one")
        await pilot.press("escape", "end")
        await until(pilot, lambda: "k kill" not in _keys(pilot), "keys of one that has ended")
        assert "n new run" in _keys(pilot)
