"""A recorded run in the run screen: one axis moves everything."""

from pathlib import Path

import pytest

from agent.errors import RecordError
from mlrb_tui.control.recording import open_file
from mlrb_tui.screens.step_detail import StepDetail
from mlrb_tui.widgets.pager import Pager
from mlrb_tui.widgets.transcript import TranscriptLines
from tests.logs import baby_lm
from tests.ui.run_app import LOGS, RunApp, app_on, screen_text, until


async def test_a_recorded_run_opens_at_its_end() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await until(pilot, lambda: "SUBMITTED" in screen_text(app))
        said = screen_text(app)
        for part in ("final score", "0.629", "full · final · held-out", "2:07:38 end", "mlrb/baby_lm · full"):
            assert part in said


async def test_moving_the_time_line_moves_transcript_panels_and_numbers() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("home")
        for _ in range(6):
            await pilot.press("right")
        await until(pilot, lambda: "step 5 of 200" in screen_text(app))
        said = screen_text(app)
        assert "not above baseline" in said
        assert "0.629" not in said
        assert "replay" in said
        assert "RUNNING" in said
        await pilot.press("end")
        await until(pilot, lambda: "SUBMITTED" in screen_text(app))


async def test_marks_are_stopped_at_by_kind() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("home", "semicolon", "full_stop")
        await until(pilot, lambda: "exit 1" in screen_text(app))
        assert "KeyError: 'lm_head.weight'" in screen_text(app)
        await pilot.press("comma")
        await until(pilot, lambda: "no mark (errors) before this moment" in screen_text(app))


async def test_a_recording_plays_from_its_start_and_stops_when_told() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("home", "plus", "plus", "plus", "plus", "space")
        await until(pilot, lambda: app.run_screen.view.position > 20)
        assert "▶ ×600" in screen_text(app)
        await pilot.press("space")
        stopped = app.run_screen.view.position
        await pilot.pause(0.3)
        assert app.run_screen.view.position == stopped


async def test_search_moves_to_the_moment_and_marks_the_place() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("slash", *"lm_head.weight'", "enter")
        await until(pilot, lambda: not app.run_screen.view.at_end)
        await until(pilot, lambda: "KeyError: 'lm_head.weight'" in screen_text(app))
        transcript = app.run_screen.query_one(TranscriptLines)
        assert any(span.tone == "found" for row in transcript.shown for span in row)
        await pilot.press("escape")
        assert not any(span.tone == "found" for row in transcript.shown for span in row)
        assert app.screen is app.run_screen


async def test_search_for_what_is_not_there_says_so() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("slash", *"[/bold] nope", "enter")
        await until(pilot, lambda: "“[/bold] nope” is nowhere in this run" in screen_text(app))


async def test_the_block_under_the_cursor_opens_whole() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("slash", *"transformers/modeling", "enter")
        await until(pilot, lambda: not app.run_screen.view.at_end)
        await pilot.press("up", "enter")
        await until(pilot, lambda: isinstance(app.screen, StepDetail))
        await pilot.press("home")
        await until(pilot, lambda: "python check_load.py ckpt/4000" in screen_text(app))
        await pilot.press("slash", *"line 4020", "enter")
        await pilot.press("n")
        await until(pilot, lambda: "line 4020" in screen_text(app))
        await pilot.press("q")
        await until(pilot, lambda: app.screen is app.run_screen)


async def test_a_copied_step_is_whole_in_a_file_and_on_the_clipboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("slash", *"transformers/modeling", "enter")
        await until(pilot, lambda: not app.run_screen.view.at_end)
        await pilot.press("y")
        await until(pilot, lambda: (tmp_path / "mlrb-7f3a21c4-step-6.txt").exists())
        text = (tmp_path / "mlrb-7f3a21c4-step-6.txt").read_text()
        assert text.count("transformers/modeling_utils.py") == 38
        assert "Before the long run, check" in text
        assert "KeyError" in app.clipboard


async def test_thoughts_can_be_hidden_and_long_lines_wrapped() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(100, 40)) as pilot:
        assert "0.634 on dev, from" in screen_text(app)
        await pilot.press("t")
        await until(pilot, lambda: "0.634 on dev, from" not in screen_text(app))
        await pilot.press("t", "z")
        await until(pilot, lambda: "0.634 on dev, from" in screen_text(app))


async def test_a_click_on_the_time_line_goes_there() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.click("#run-timeline", offset=(60, 0))
        await until(pilot, lambda: "replay" in screen_text(app))
        events = baby_lm.events()
        assert events[0].at < app.run_screen.view.at < events[-1].at


async def test_a_recording_cannot_be_steered_and_says_why() -> None:
    app = app_on("short")
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("p")
        await until(pilot, lambda: "this is a file: there is no run to steer" in screen_text(app))
        assert "freeze" not in screen_text(app)


async def test_going_back_leaves_the_screen() -> None:
    app = app_on("short")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
        await until(pilot, lambda: app.screen is not app.run_screen)


@pytest.mark.parametrize("size", [(160, 48), (80, 24), (40, 12), (20, 5)])
async def test_the_state_is_on_the_screen_at_every_size(size: tuple[int, int]) -> None:
    app: RunApp = app_on("baby_lm")
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "SUBMITTED" in screen_text(app) or size[0] <= 20


async def test_a_line_of_90000_characters_wraps_and_scrolls_sideways() -> None:
    app = app_on("hostile")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("slash", *"zzzzzzzz", "enter")
        await until(pilot, lambda: not app.run_screen.view.at_end)
        await pilot.press("up", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, StepDetail))
        pager = app.screen.query_one(Pager)
        await pilot.press("home", "z")
        await until(pilot, lambda: sum("z" * 90 in line for line in screen_text(app).splitlines()) > 20)
        await pilot.press("z", "right", "right")
        await until(pilot, lambda: "column 32" in screen_text(app))
        assert pager.document.count < 10


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "textual-light", "dracula", "mlrb-light"])
async def test_every_kind_of_theme_shows_the_run(theme: str) -> None:
    app = app_on("baby_lm", theme=theme)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "SUBMITTED" in screen_text(app))
        tones = {span.tone for row in app.run_screen.query_one(TranscriptLines).shown for span in row}
        assert len(tones) > 5


async def test_without_colour_every_meaning_still_stands_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_on("baby_lm")
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("home", "semicolon", "full_stop", "right")
        await until(pilot, lambda: "exit 1" in screen_text(app))
        said = screen_text(app)
        for word in ("RUNNING", "not above baseline", "paused", "×", "◆"):
            assert word in said


async def test_a_terminal_with_ascii_only_gets_no_other_sign() -> None:
    app = RunApp(open_file(LOGS / "baby_lm.jsonl"), ascii_only=True)
    async with app.run_test(size=(160, 48)) as pilot:
        await until(pilot, lambda: "SUBMITTED" in screen_text(app))
        body = "\n".join(screen_text(app).splitlines()[:-1])
        assert not {character for character in body if not character.isascii()}


def test_a_file_without_events_is_an_error_not_a_run_that_waits(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(RecordError, match="holds no events"):
        open_file(empty)
