"""Alarms in the app: rung for once, marked, and whole behind one key."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.values import RunSummary, StandingAlert
from mlrb_tui.control.alarm_bell import AlarmBell
from mlrb_tui.widgets.alarm_list import AlarmList
from tests.ui.fleet_homes import a_run, home_of
from tests.ui.fleet_pilot import at_cursor, opened, shown
from tests.ui.fleet_pilot import until as wait
from tests.ui.run_app import app_on, app_on_run, live_run, screen_text, until

LONG = "the loss is not a finite number " * 12
NAN = StandingAlert(alert="diverged", message=LONG.strip(), hint="[/bold] a smaller learning rate?", at=1.0)


@pytest.fixture
def alive() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def alarmed(run: RunSummary, *standing: StandingAlert) -> RunSummary:
    said = standing[-1].message if standing else ""
    return msgspec.structs.replace(run, seq=run.seq + 1, at=run.at + 1, standing=standing, last_alert=said)


async def test_run_screen_rings_once_marks_the_run_and_shows_all_of_the_alarm(tmp_path: Path) -> None:
    rings: list[int] = []
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        app.run_screen.alarm_bell = AlarmBell(lambda: rings.append(1))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "RUNNING" in screen_text(app))
            assert "! alarms" not in screen_text(app)
            await pilot.press("exclamation_mark")
            assert not isinstance(app.screen, AlarmList)
            log.append(ev.AlertRaised(alert="diverged", message=LONG.strip()[:190], hint="[/bold] slower?"), step=1)
            await until(pilot, lambda: "▲ 1 alarm" in screen_text(app))
            await until(pilot, lambda: rings == [1])
            await until(pilot, lambda: " alarms · ! shows all " in screen_text(app))
            assert "! alarms" in screen_text(app).splitlines()[-1]
            await pilot.press("exclamation_mark")
            await until(pilot, lambda: isinstance(app.screen, AlarmList) and "slower?" in screen_text(app))
            assert "diverged" in screen_text(app)
            await pilot.press("escape")
            log.append(ev.AlertCleared(alert="diverged", message="no longer"), step=1)
            await until(pilot, lambda: "▲ 1 alarm" not in screen_text(app))
            assert "no longer" in screen_text(app)
    assert rings == [1]


async def test_fleet_shows_the_alarms_of_the_run_at_the_cursor(tmp_path: Path, alive: ExitStack) -> None:
    run = a_run("5d20aa17", "mlrb/baby_lm", "openai:gpt-5.2", now="python train.py")
    home = home_of(tmp_path, [run], alive)
    async with opened(home) as pilot:
        await wait(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the row")
        rings: list[int] = []
        pilot.app.screen.alarm_bell = AlarmBell(lambda: rings.append(1))  # type: ignore[attr-defined]
        pilot.app.screen.hear_alarms([run])  # type: ignore[attr-defined]
        index.update(home.index, alarmed(run, NAN))
        await wait(pilot, lambda: "▲ 1 alarm" in shown(pilot), "the count in the head")
        assert rings == [1]
        await pilot.press("exclamation_mark")
        await wait(pilot, lambda: isinstance(pilot.app.screen, AlarmList), "the list")
        await wait(pilot, lambda: "[/bold] a smaller" in shown(pilot), "what helps")


async def test_marks_of_alarms_are_jumped_to() -> None:
    app = app_on("gpu_trouble")
    async with app.run_test(size=(120, 40)) as pilot:
        while app.run_screen.stop != "alarms":
            await pilot.press("semicolon")
        alerts = [event.seq for event in app.run_screen.view.reader.of_kinds(("alert_raised",))]
        await pilot.press("comma")
        assert app.run_screen.view.position == alerts[-1]
        await pilot.press("comma", "comma", "full_stop")
        assert app.run_screen.view.position == alerts[-2]
