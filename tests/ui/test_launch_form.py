"""The launch form: what it prefills, what it refuses, and that what it launches really runs."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select

from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Kill
from agent.record.request import read_request
from mlrb_tui.control.settings import read_settings
from mlrb_tui.screens.launch import LaunchScreen
from tests.ui.fleet_homes import home_of
from tests.ui.fleet_pilot import opened, shown, until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    with ExitStack() as nothing:
        return home_of(tmp_path, [], nothing)


async def _form(pilot: Pilot[int]) -> LaunchScreen:
    await until(pilot, lambda: "No runs yet" in shown(pilot), "the fleet")
    await pilot.press("n")
    await until(pilot, lambda: isinstance(pilot.app.screen, LaunchScreen), "the form")
    await until(pilot, lambda: "1 run · " in shown(pilot), "the first check")
    screen = pilot.app.screen
    assert isinstance(screen, LaunchScreen)
    return screen


async def test_limits_are_the_tasks_own_and_follow_the_task(home: Home) -> None:
    async with opened(home, size=(80, 24)) as pilot:
        form = await _form(pilot)
        first = {name: form.query_one(f"#{name}", Input).value for name in ("time", "steps", "cost")}
        assert all(first.values())
        form.query_one("#task", Select).value = "mlrb/baby_lm"
        await until(pilot, lambda: "mlrb/baby_lm · smoke" in shown(pilot), "the check")
        form.query_one("#scale", Select).value = "full"
        await until(pilot, lambda: form.query_one("#time", Input).value not in ("", first["time"]), "other limits")


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("time", "soon", "no duration"),
        ("steps", "many", "no number"),
        ("seed", "-1", "seed '-1'"),
        ("repeat", "0", "repeat '0'"),
        ("model", "gpt", "names no model"),
        ("model", " ", "no model is named"),
        ("base_url", "localhost:1", "no address"),
    ],
)
async def test_a_field_that_will_not_do_is_told_while_it_is_typed(home: Home, field: str, text: str, said: str) -> None:
    async with opened(home) as pilot:
        form = await _form(pilot)
        form.query_one(f"#{field}", Input).value = text
        await until(pilot, lambda: said in shown(pilot), "the complaint")
        assert form.query_one("#go", Button).disabled
        await pilot.press("ctrl+s")
        await until(pilot, lambda: said in shown(pilot), "the complaint again")
        assert home.run_ids() == []


async def test_a_missing_key_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with opened(home) as pilot:
        form = await _form(pilot)
        form.query_one("#model", Input).value = "anthropic:claude-sonnet-4-5"
        await until(pilot, lambda: "ANTHROPIC_API_KEY is not set" in shown(pilot), "the key's name")


async def test_what_is_launched_is_what_stands_in_the_form_and_the_run_is_opened(home: Home) -> None:
    async with opened(home) as pilot:
        form = await _form(pilot)
        form.query_one("#sandbox", Select).value = "local"
        form.query_one("#steps", Input).value = "1"
        form.query_one("#seed", Input).value = "3"
        form.query_one("#repeat", Input).value = "2"
        form.query_one("#approve", Select).value = "on"
        form.query_one("#on_limit", Select).value = "pause"
        await until(pilot, lambda: "2 runs" in shown(pilot) and "steps 1" in shown(pilot), "the check")
        await until(pilot, lambda: "asks before each call · pauses at a limit" in shown(pilot), "the check in full")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(pilot.app.screen, LaunchScreen), "the launch")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the run's screen")
        asked = sorted(
            (read_request(RunFolder(home.runs / run).request) for run in home.run_ids()), key=lambda r: r.seed
        )
        assert [(one.seed, one.sandbox, one.limits.steps) for one in asked] == [(3, "local", 1), (4, "local", 1)]
        assert [(one.approve, one.on_limit) for one in asked] == [(True, "pause")] * 2
        for run in home.run_ids():
            inbox = Inbox(RunFolder(home.runs / run).inbox)
            inbox.post(Kill())
            inbox.close()


async def test_escape_launches_nothing(home: Home) -> None:
    async with opened(home) as pilot:
        await _form(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, LaunchScreen), "the fleet")
        assert home.run_ids() == []


async def test_enter_goes_on_to_the_next_field_and_launches_nothing(home: Home) -> None:
    async with opened(home) as pilot:
        form = await _form(pilot)
        form.query_one("#model", Input).focus()
        await pilot.press("enter", "enter")
        assert home.run_ids() == []
        assert isinstance(pilot.app.screen, LaunchScreen)


async def test_a_broken_task_folder_is_named_and_does_not_break_the_app(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tasks" / "mine" / "broken"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text("nam = '[/bold]'")
    monkeypatch.setenv("MLRB_TASKS", str(tmp_path / "tasks"))
    async with opened(home) as pilot:
        await until(pilot, lambda: "No runs yet" in shown(pilot), "the fleet")
        await pilot.press("n")
        await until(pilot, lambda: "mine/broken" in shown(pilot), "the folder's name")
        await pilot.press("ctrl+s", "escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1, "the fleet")


async def test_the_form_works_at_any_size(home: Home) -> None:
    async with opened(home) as pilot:
        await _form(pilot)
        for width, height in ((20, 5), (1, 1), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.press("tab", "down", "up", "1")
        await until(pilot, lambda: "sandbox" in shown(pilot), "the form")


async def test_what_the_settings_say_of_limits_stands_in_the_form(home: Home) -> None:
    home.settings.write_text('on_limit = "pause"\n')
    async with opened(home, settings=read_settings(home)) as pilot:
        await _form(pilot)
        await until(pilot, lambda: "pauses at a limit" in shown(pilot), "the check")
