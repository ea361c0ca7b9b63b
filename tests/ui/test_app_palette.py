"""The app around its screens: help, palette, themes, what a crash does."""

from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import pytest
from textual.binding import Binding
from textual.command import CommandPalette
from textual.screen import Screen

from agent.record.home import Home
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import ThemeName, read_settings
from mlrb_tui.screens.fleet import FleetScreen
from mlrb_tui.screens.help import HelpScreen
from mlrb_tui.themes import DARK, LIGHT, starting_theme
from mlrb_tui.widgets.run_table import RunTable
from tests.ui.fleet_homes import believable, home_of
from tests.ui.fleet_pilot import COLOURS, at_cursor, opened, shown, until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    with ExitStack() as nothing:
        return home_of(tmp_path, [run for run in believable() if run.state == "ended"], nothing)


def _bound(*owners: type) -> list[Binding]:
    return [each for owner in owners for each in owner.BINDINGS if isinstance(each, Binding)]  # type: ignore[attr-defined]


async def test_help_names_every_key_of_the_screen_it_was_called_from(home: Home) -> None:
    async with opened(home, size=(120, 60)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen), "help")
        await until(pilot, lambda: "steering a run" in shown(pilot), "help")
        for binding in _bound(FleetScreen, RunTable, MlrbApp):
            assert binding.description in shown(pilot), binding.id
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, FleetScreen), "the fleet")


def test_every_binding_has_an_id_of_its_own_so_that_keys_can_be_mapped() -> None:
    ids = [binding.id for binding in _bound(FleetScreen, RunTable, MlrbApp)]
    assert all(ids)
    assert len(set(ids)) == len(ids)


async def test_every_action_is_a_command_of_the_palette(home: Home) -> None:
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        screen: Screen[object] = pilot.app.screen
        names = {command.title.lower() for command in pilot.app.get_system_commands(screen)}
        for binding in _bound(FleetScreen, MlrbApp):
            assert binding.description.lower() in names, binding.id
        assert "theme" in names


async def test_a_command_of_the_palette_does_what_its_key_does(home: Home) -> None:
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette), "the palette")
        await pilot.press(*"order", "enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, CommandPalette), "the fleet")
        await until(pilot, lambda: "by newest" in shown(pilot), "another order")


async def test_a_chosen_theme_is_there_the_next_time(home: Home) -> None:
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        pilot.app.theme = LIGHT.name
        await until(pilot, lambda: read_settings(home).theme == LIGHT.name, "the setting")
    app = MlrbApp(home, read_settings(home), environment=COLOURS)
    assert app.theme == LIGHT.name


async def test_every_theme_draws_the_fleet(home: Home) -> None:
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        for name in pilot.app.available_themes:
            pilot.app.theme = name
            await pilot.pause()
            assert "battle_of_sexes" in shown(pilot), name


@pytest.mark.parametrize(
    ("wish", "environment", "theme"),
    [
        ("auto", {"TERM": "xterm-256color"}, DARK.name),
        ("auto", {"TERM": "tmux-256color", "COLORFGBG": "0;15"}, LIGHT.name),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "15;0"}, DARK.name),
        ("auto", {"TERM": "xterm"}, "ansi-dark"),
        ("auto", {"TERM": "screen", "COLORFGBG": "0;default;15"}, "ansi-light"),
        ("auto", {"TERM": "linux", "COLORTERM": "truecolor"}, DARK.name),
        ("auto", {"TERM": "xterm-256color", "NO_COLOR": "1"}, "ansi-dark"),
        ("auto", {}, "ansi-dark"),
        ("nord", {"TERM": "xterm-256color"}, "nord"),
        ("mlrb-light", {"TERM": "xterm"}, "ansi-light"),
    ],
)
def test_the_first_theme_is_one_that_the_terminal_can_show(wish: str, environment: dict[str, str], theme: str) -> None:
    assert starting_theme(wish, environment) == theme


async def test_the_settings_know_every_theme_that_the_app_has(home: Home) -> None:
    assert set(get_args(ThemeName)) == {"auto", *MlrbApp(home, environment=COLOURS).available_themes}


async def test_a_run_that_is_gone_is_told_not_a_crash(home: Home) -> None:
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        assert isinstance(pilot.app, MlrbApp)
        pilot.app.open_run("nosuchrun")
        await until(pilot, lambda: "there is no run" in shown(pilot), "the word")
