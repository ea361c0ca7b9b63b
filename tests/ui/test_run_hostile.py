"""A log in which every text attacks the terminal: each screen shows it, and none passes it on."""

import pytest

from agent.record.log import write_events
from mlrb_tui.control.recording import open_file
from mlrb_tui.screens.step_detail import StepDetail
from mlrb_tui.widgets.transcript import TranscriptLines
from tests.logs import hostile
from tests.ui.run_app import RunApp, app_on, screen_text, until

FORBIDDEN = {
    *map(chr, (*range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0))),
    *"\u202e\u202a\u2066\u2067\u2069\u200e\u200f\u061c\u2028\ufeff", *map(chr, range(0xD800, 0xE000)),
}  # fmt: skip


def harmless(app: RunApp) -> bool:
    return not FORBIDDEN & set(screen_text(app))


@pytest.mark.parametrize("size", [(160, 48), (80, 24), (30, 9)])
async def test_every_moment_of_a_hostile_run_is_shown_harmless(size: tuple[int, int]) -> None:
    app = app_on("hostile")
    async with app.run_test(size=size) as pilot:
        view = app.run_screen.view
        for seq in range(1, view.newest, max(1, view.newest // 60)):
            app.run_screen.move_to(seq)
            await pilot.pause()
            assert harmless(app), seq
        for _ in range(4):
            await pilot.press("pageup")
            assert harmless(app)


async def test_every_kind_of_block_of_a_hostile_run_opens_harmless() -> None:
    app = app_on("hostile")
    async with app.run_test(size=(100, 30)) as pilot:
        app.run_screen.move_to(800)
        opened = 0
        transcript = app.run_screen.query_one(TranscriptLines)
        for block in list(app.run_screen.view.transcript.blocks)[-30:]:
            transcript.post_message(TranscriptLines.Opened(block))
            await until(pilot, lambda: isinstance(app.screen, StepDetail))
            await pilot.press("home", "w")
            assert harmless(app), block
            opened += 1
            await pilot.press("q")
            await until(pilot, lambda: app.screen is app.run_screen)
        assert opened == 30


@pytest.mark.parametrize("needle", ["[/bold]", "[00] x", "%", "_", "\\", '"', "'; DROP TABLE events"])
async def test_a_search_for_anything_is_taken_literally(needle: str) -> None:
    app = app_on("hostile")
    async with app.run_test(size=(100, 30)) as pilot:
        app.run_screen._needle = needle
        app.run_screen.action_search_on(False)
        await until(pilot, lambda: not app.run_screen.view.at_end or "is nowhere" in screen_text(app))
        assert harmless(app)


async def test_a_step_with_50000_lines_of_output_opens_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("long") / "events.db"
    write_events(path, hostile.events(output_lines=50_000))
    app = RunApp(open_file(path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("slash", *"49999 of many", "enter")
        await until(pilot, lambda: not app.run_screen.view.at_end)
        await pilot.press("up", "enter")
        await until(pilot, lambda: "49999 of many lines" in screen_text(app))
        await pilot.press("home")
        await until(pilot, lambda: "0 of many lines" in screen_text(app))
        assert harmless(app)
