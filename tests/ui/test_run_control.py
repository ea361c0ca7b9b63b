"""Several viewers of one run: who steers is shown, taken, asked for, handed over and lost with notice."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from textual.binding import Binding
from textual.pilot import Pilot

from agent.record.home import RunFolder
from agent.record.inbox import Inbox, Inject, Pause
from agent.record.lease import Standing
from agent.record.lease_watch import standing_of
from agent.record.viewer import Viewer
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.recording import open_recording
from mlrb_tui.control.settings import Settings
from mlrb_tui.screens.fleet import FleetScreen
from mlrb_tui.screens.run import RunScreen
from mlrb_tui.screens.run_steering import STEERING_KEYS
from mlrb_tui.widgets.who_steers import WhoSteers
from tests.ui.fleet_homes import believable, home_of
from tests.ui.fleet_pilot import COLOURS, at_cursor, opened, shown
from tests.ui.fleet_pilot import until as fleet_until
from tests.ui.run_app import RunApp, app_on, app_on_run, live_run, screen_text, until
from tests.ui.test_run_live import posted

WIDE, SMALL = (140, 30), (80, 24)


def other(who: str = "ann") -> Viewer:
    """Somebody else's app on this machine."""
    return msgspec.structs.replace(Viewer.here("app"), who=who, terminal="pts/9")


def take(run: RunFolder, viewer: Viewer, *, take_over: bool = False) -> None:
    inbox = Inbox(run.inbox)
    inbox.control.take(viewer, take_over=take_over)
    inbox.close()


def holder(run: RunFolder) -> str:
    """Who steers, as the file says."""
    found = standing_of(run.inbox).holder
    return "" if found is None else found.viewer


def notices(app: RunApp) -> list[str]:
    return [notice.message for notice in app._notifications]


async def asked_what_to_do(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, WhoSteers))


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["140x30", "80x24"])
async def test_the_first_request_takes_control_and_leaving_the_screen_lets_it_go(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=size) as pilot:
            assert "steer" not in screen_text(app).splitlines()[0]
            assert holder(run) == ""
            await pilot.press("p")
            await until(pilot, lambda: "you steer" in screen_text(app).splitlines()[0])
            assert holder(run) == app.run_screen.viewer.viewer
            assert posted(run)[0].viewer == app.run_screen.viewer.viewer
            await pilot.press("q")
            await until(pilot, lambda: holder(run) == "")


async def test_control_is_taken_and_let_go_by_key_without_asking_anything_of_the_run(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=WIDE) as pilot:
            await pilot.press("c")
            await until(pilot, lambda: holder(run) == app.run_screen.viewer.viewer)
            await until(pilot, lambda: app.run_screen.mine)
            await pilot.press("c")
            await until(pilot, lambda: holder(run) == "")
            assert posted(run) == []


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["140x30", "80x24"])
async def test_who_else_steers_is_shown_and_a_request_is_sent_only_after_a_take_over(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with live_run(tmp_path) as (home, run, _):
        take(run, other())
        app = app_on_run(home, run)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: "ann steers" in screen_text(app).splitlines()[0])
            await pilot.press("p")
            await asked_what_to_do(pilot)
            assert "ann (app on pts/9) has steered this run since" in screen_text(app)
            await pilot.press("enter", "escape")
            await until(pilot, lambda: app.screen is app.run_screen)
            assert posted(run) == []
            await pilot.press("p")
            await asked_what_to_do(pilot)
            await pilot.press("t")
            await until(pilot, lambda: [each.request for each in posted(run)] == [Pause()])
            assert holder(run) == app.run_screen.viewer.viewer
            await until(pilot, lambda: "you steer" in screen_text(app).splitlines()[0])


async def test_a_message_is_not_written_in_vain_while_somebody_else_steers(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        take(run, other())
        app = app_on_run(home, run)
        async with app.run_test(size=WIDE) as pilot:
            await pilot.press("i")
            await asked_what_to_do(pilot)
            await pilot.press("t")
            await until(pilot, lambda: "Say to" in screen_text(app))
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: [each.request for each in posted(run)] == [Inject(text="go")])


async def test_who_loses_control_is_told_at_once_by_whom_and_when(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=WIDE, notifications=True) as pilot:
            await pilot.press("p")
            await until(pilot, lambda: app.run_screen.mine)
            take(run, other("carol"), take_over=True)
            await until(pilot, lambda: any("carol (app on pts/9) took over at" in said for said in notices(app)))
            await until(pilot, lambda: "carol steers" in screen_text(app).splitlines()[0])


async def test_control_that_is_asked_for_is_handed_over_by_key(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        ann, bob = app_on_run(home, run), app_on_run(home, run)
        async with ann.run_test(size=WIDE, notifications=True) as holding:
            await holding.press("c")
            await until(holding, lambda: ann.run_screen.mine)
            async with bob.run_test(size=WIDE, notifications=True) as asking:
                await asking.press("c")
                await asked_what_to_do(asking)
                await asking.press("a")
                await until(holding, lambda: "asks for control: C hands it over" in screen_text(ann))
                await holding.press("C")
                await until(asking, lambda: bob.run_screen.mine)
                await until(asking, lambda: any("handed over: you steer" in said for said in notices(bob)))
                assert not ann.run_screen.mine
                assert holder(run) == bob.run_screen.viewer.viewer


async def test_a_dead_viewers_lease_holds_nobody_up(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        take(run, msgspec.structs.replace(other(), started=1))
        app = app_on_run(home, run)
        async with app.run_test(size=WIDE) as pilot:
            assert "steers" not in screen_text(app).splitlines()[0]
            await pilot.press("p")
            await until(pilot, lambda: len(posted(run)) == 1)


async def test_ones_own_command_that_went_past_the_app_is_told(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=WIDE, notifications=True) as pilot:
            await pilot.press("c")
            await until(pilot, lambda: app.run_screen.mine)
            inbox = Inbox(run.inbox)
            inbox.post_by(Viewer.here("cli"), Pause())
            inbox.close()
            await until(pilot, lambda: any("you still steer" in said for said in notices(app)))
            assert app.run_screen.mine


async def test_a_viewer_that_may_only_look_steers_by_no_key_no_palette_and_no_mouse(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        recording = open_recording(home, run.run)
        app = MlrbApp(home, Settings(theme="mlrb-dark"), recording=recording, read_only=True, environment=COLOURS)
        before = run.inbox.read_bytes()
        async with app.run_test(size=WIDE) as pilot:
            await fleet_until(pilot, lambda: "LIVE" in shown(pilot), "the run")
            screen = app.screen
            for key in STEERING_KEYS:
                await pilot.press(key)
                assert app.screen is screen, key
            commands = {command.title: command.callback for command in app.get_system_commands(screen)}
            for binding in (*RunScreen.STEERING_BINDINGS, *RunScreen.CONTROL_BINDINGS, *RunScreen.ANSWER_BINDINGS):
                assert isinstance(binding, Binding)
                await commands[binding.description.capitalize()]()
                assert app.screen is screen, binding.description
            await fleet_until(pilot, lambda: "look only" in shown(pilot), "the word why not")
            for row in range(30):
                await pilot.click(offset=(10, row))
                if app.screen is not screen:
                    await pilot.press("escape")
        assert posted(run) == []
        assert standing_of(run.inbox) == Standing()
        assert run.inbox.read_bytes() == before


async def test_in_the_fleet_a_run_that_another_steers_is_named_and_taken_over_only_for_the_request(
    tmp_path: Path,
) -> None:
    with ExitStack() as alive:
        home = home_of(tmp_path, [run for run in believable() if run.state == "running"][:1], alive)
        async with opened(home) as pilot:
            await fleet_until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
            run = RunFolder(home.runs / str(at_cursor(pilot)))
            take(run, other())
            await pilot.press("p")
            await fleet_until(pilot, lambda: isinstance(pilot.app.screen, WhoSteers), "the question")
            assert "ask for control" not in shown(pilot)
            await pilot.press("a", "escape")
            await fleet_until(pilot, lambda: isinstance(pilot.app.screen, FleetScreen), "the fleet")
            assert posted(run) == []
            await pilot.press("p")
            await fleet_until(pilot, lambda: isinstance(pilot.app.screen, WhoSteers), "the question")
            await pilot.press("t")
            await fleet_until(pilot, lambda: len(posted(run)) == 1, "the request")
            assert holder(run) == ""
            await pilot.press("p")
            await fleet_until(pilot, lambda: len(posted(run)) == 2, "the second request")


@pytest.mark.parametrize("size", [SMALL, (160, 48)], ids=["80x24", "160x48"])
def test_picture(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    app = app_on("short")

    async def ask(pilot: Pilot[None]) -> None:
        said = "ann (app on pts/3) has steered this run since 14:02"
        await app.push_screen(WhoSteers(said, can_ask=True))

    assert snap_compare(app, terminal_size=size, run_before=ask)
