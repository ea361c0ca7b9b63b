"""Dialogs in a terminal of twenty columns and five lines: what is asked can be read before it is answered."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.ui.fleet_homes import believable, home_of
from tests.ui.fleet_pilot import at_cursor, opened, shown, until


@pytest.mark.parametrize(("key", "seen"), [("k", ("Kill", "y yes")), ("i", ("esc",))])
async def test_a_dialog_shows_what_it_asks(tmp_path: Path, key: str, seen: tuple[str, ...]) -> None:
    with ExitStack() as alive:
        home = home_of(tmp_path, [run for run in believable() if run.state == "paused"], alive)
        async with opened(home, size=(20, 5)) as pilot:
            await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
            await pilot.press(key)
            await until(pilot, lambda: all(part in shown(pilot) for part in seen), f"{seen}")
