"""The plots of a run: what keys do, what live runs add, what is said where there is nothing."""

import math
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.values import Gpu, Progress
from mlrb_tui.control.recording import open_file
from mlrb_tui.screens.plots import PlotScreen
from mlrb_tui.views.plot_run import RunPlot
from mlrb_tui.widgets.plot_canvas import PlotCanvas
from tests.ui.run_app import LOGS, RunApp, app_on, app_on_run, live_run, screen_text, until


def screen(app: RunApp) -> PlotScreen:
    """The plots, which are open."""
    assert isinstance(app.screen, PlotScreen)
    return app.screen


def plot(app: RunApp) -> RunPlot:
    """What they show."""
    found = screen(app).plot
    assert found is not None
    return found


def shows(app: RunApp, text: str) -> bool:
    """Whether the plots are open, drawn, and say that."""
    return isinstance(app.screen, PlotScreen) and "└" in screen_text(app) and text in screen_text(app)


def loss(step: int, value: float, **more: float) -> ev.ProgressSeen:
    """A line of a training."""
    values = {"loss": value, **more} if math.isfinite(value) else more
    diverged = () if math.isfinite(value) else ("loss",)
    return ev.ProgressSeen(call_id="c", progress=Progress(step=step, values=values, diverged=diverged))


async def test_the_newest_training_opens_over_its_steps_with_a_readout_of_its_end() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))
        said = screen_text(app)
        for part in ("training 3 of 3", "--schedule cosine", "1 loss 3.339", "2 eval_loss 3.429", "gpu 0 memory"):
            assert part in said


async def test_the_cursor_reads_out_each_series_and_every_figure_at_its_time() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))
        await pilot.press("left")
        await until(pilot, lambda: "step 11,900" in screen_text(app))
        await pilot.press("home")
        await until(pilot, lambda: "step 100 " in screen_text(app))
        early = next(line for line in screen_text(app).splitlines() if "gpu 0 memory" in line)
        await pilot.press("shift+right", "shift+right")
        await until(pilot, lambda: early not in screen_text(app))
        drawings = screen(app).query_one(PlotCanvas).drawings
        await pilot.press("right", "right", "shift+right")
        assert screen(app).query_one(PlotCanvas).drawings == drawings
        await pilot.press("end")
        await until(pilot, lambda: "step 12,000" in screen_text(app))
        assert plot(app).cursor is None


async def test_enter_leads_to_that_moment_of_the_run() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))
        await pilot.press("shift+left", "shift+left", "enter")
        await until(pilot, lambda: app.screen is app.run_screen)
        view = app.run_screen.view
        assert not view.at_end
        event = view.reader.get(view.position)
        assert event is not None
        assert isinstance(event.body, ev.ProgressSeen)
        await until(pilot, lambda: "replay" in screen_text(app))


async def test_plots_of_a_moment_show_all_and_mark_it() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("slash", *"step  6000/12000", "enter")
        await until(pilot, lambda: not app.run_screen.view.at_end)
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "┊ the run's screen"))
        assert plot(app).cursor is not None
        assert plot(app).whole.high == 12_000
        await pilot.press("home")
        await until(pilot, lambda: sum("┊" in line for line in screen_text(app).splitlines()) > 10)


async def test_series_are_chosen_with_the_list() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))
        await pilot.press("down", "space")
        await until(pilot, lambda: "3 lr" in screen_text(app))
        await pilot.press("end", *["down"] * 20, "o")
        await until(pilot, lambda: [metric.name for metric in plot(app).chosen] == ["tokens"])
        await until(pilot, lambda: "tokens has no steps" in screen_text(app))
        await pilot.press("space")
        assert [metric.name for metric in plot(app).chosen] == ["tokens"]


async def test_axis_log_smoothing_zoom_and_trainings_have_keys() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))
        await pilot.press("l", "plus", "plus", "w")
        await until(pilot, lambda: "log   smoothed 0.6   zoom ×2" in screen_text(app))
        await pilot.press("a")
        assert plot(app).shown.high < 12_000
        await pilot.press("0", "minus", "minus", "l")
        await until(pilot, lambda: "smoothed" not in screen_text(app) and "zoom ×" not in screen_text(app))
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: "training 2 of 3" in screen_text(app))
        await pilot.press("x")
        await until(pilot, lambda: "over time of the run" in screen_text(app))
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: "all 3 trainings" in screen_text(app))


async def test_a_live_run_goes_on_and_stays_where_one_looks(tmp_path: Path) -> None:
    def grow(first: int, last: int) -> None:
        for step in range(first, last):
            log.append(loss(step, 1.0 / step), step=1)

    with live_run(tmp_path) as (home, run, log):
        grow(1, 20)
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("m")
            await until(pilot, lambda: shows(app, "step 19"))
            grow(20, 40)
            await until(pilot, lambda: "step 39" in screen_text(app))
            await pilot.press("left", "left")
            await until(pilot, lambda: "step 37" in screen_text(app))
            grow(40, 50)
            await until(pilot, lambda: plot(app).whole.high == 49)
            assert "step 37" in screen_text(app)
            await pilot.press("end")
            grow(50, 60)
            await until(pilot, lambda: "step 59" in screen_text(app))


async def test_nothing_to_plot_says_what_would_come_and_then_it_does(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("m")
            await until(pilot, lambda: "nothing to plot yet" in screen_text(app))
            assert "Loss, accuracy, learning rate and speed appear when" in screen_text(app)
            await pilot.press("left", "w", "l", "x", "space", "o", "enter", "plus", "left_square_bracket", "home")
            log.append(ev.GpuSampled(gpus=(Gpu(index=0, utilization_percent=40.0),)), step=1)
            log.append(ev.GpuSampled(gpus=(Gpu(index=0, utilization_percent=60.0),)), step=1)
            await until(pilot, lambda: shows(app, "60 %"))
            log.append(loss(1, 2.0), step=1)
            await until(pilot, lambda: "loss" in screen_text(app))
            assert [metric.name for metric in plot(app).chosen] == ["gpu 0 use"]


async def test_losses_that_are_no_number_are_marked_and_nothing_breaks(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        for step in range(1, 40):
            log.append(loss(step, math.nan if step % 10 == 0 else (-1.0) ** step * 10.0**step, lr=0.0), step=1)
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("m")
            await until(pilot, lambda: shows(app, "× 3 nan/inf"))
            assert any("×" in line and "nan" not in line for line in screen_text(app).splitlines())
            await pilot.press("l")
            await until(pilot, lambda: "not above zero, not shown" in screen_text(app))
            await pilot.press("down", "o")
            await until(pilot, lambda: "nothing above zero: no log scale" in screen_text(app))


async def test_hostile_names_neither_break_nor_reach_the_terminal() -> None:
    app = app_on("hostile")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "loss"))
        for _ in range(12):
            await pilot.press("down", "space")
        await until(pilot, lambda: len(plot(app).chosen) == 9)
        said = screen_text(app)
        assert not {character for character in said if ord(character) < 32 and character != "\n"}
        await pilot.press("x", "l", "plus", "w", "left_square_bracket")
        await until(pilot, lambda: shows(app, "zoom") or plot(app).window is None)


async def test_in_ascii_no_other_sign_is_drawn() -> None:
    app = RunApp(open_file(LOGS / "baby_lm.jsonl"), ascii_only=True)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("home", "m")
        await until(pilot, lambda: isinstance(app.screen, PlotScreen) and "1111" in screen_text(app))
        await pilot.press("plus")
        await until(pilot, lambda: "smoothed" in screen_text(app))
        body = "\n".join(screen_text(app).splitlines()[:-1])
        assert not {character for character in body if not character.isascii()}


@pytest.mark.parametrize("size", [(60, 16), (40, 10), (20, 5), (8, 3), (3, 2)])
async def test_every_size_is_drawn(size: tuple[int, int]) -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=size) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, PlotScreen) and screen(app).plot is not None)
        await pilot.press("down", "space", "w", "left")
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: shows(app, "loss"))


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "textual-light", "dracula", "mlrb-light"])
async def test_every_kind_of_theme_draws_curves(theme: str) -> None:
    app = app_on("baby_lm", theme=theme)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))


async def test_a_click_puts_the_cursor_and_the_wheel_zooms() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: shows(app, "step 12,000"))
        await pilot.click("#plot-canvas", offset=(50, 10))
        await until(pilot, lambda: plot(app).cursor is not None)
        assert 4_000 < (plot(app).cursor or 0) < 8_000
        assert "│" in [line[50] for line in screen_text(app).splitlines()]


async def test_going_back_leaves_nothing_running() -> None:
    app = app_on("baby_lm")
    async with app.run_test(size=(120, 30)) as pilot:
        for key in ("q", "escape"):
            await pilot.press("m", key)
            await until(pilot, lambda: app.screen is app.run_screen)
        assert not [
            worker for worker in app.workers if worker.group in ("read", "closer", "draw") and worker.is_running
        ]
