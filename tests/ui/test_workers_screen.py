"""The workers' screen: side by side or one below the other, live and in replay, and what is asked of one of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.crew import PlanStep
from agent.record.inbox import Inject, Interrupt
from mlrb_tui.control.recording import open_file
from mlrb_tui.screens.workers import WorkersScreen
from tests.ui.run_app import LOGS, RunApp, app_on, app_on_run, live_run, screen_text, until
from tests.ui.test_run_live import posted

SIZES = {"80x24": (80, 24), "160x48": (160, 48)}


@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
@pytest.mark.parametrize("size", list(SIZES))
def test_workers_side_by_side(snap_compare: Callable[..., bool], size: str, theme: str) -> None:
    assert snap_compare(app_on("crew", theme=theme), terminal_size=SIZES[size], press=["w", "_"])


def test_transcript_says_whose_each_line_is(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(app_on("crew"), terminal_size=(120, 30))


async def test_earlier_moment_shows_the_plan_and_the_workers_as_they_were_then() -> None:
    app = app_on("crew")
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("w")
        await until(pilot, lambda: "1 of 5 steps done, changed 1 time" in screen_text(app))
        await pilot.press("w")
        app.run_screen.move_to(next(e.seq for e in app.run_screen.view.reader.all() if e.worker == 2))
        await pilot.press("w")
        await until(pilot, lambda: "1 of 4 steps done" in screen_text(app))
        shown = screen_text(app)
        assert "train cosine" not in shown
        assert "worker 3" not in shown
        assert "an earlier moment" in shown
        # It plays on behind: what comes is shown here too.
        await pilot.press("space")
        await until(pilot, lambda: "worker 3" in screen_text(app))


async def test_every_worker_can_be_marked_however_little_room_there_is() -> None:
    app = app_on("crew")
    async with app.run_test(size=(60, 16)) as pilot:
        await pilot.press("w")
        await until(pilot, lambda: "worker 2" in screen_text(app))
        seen = set()
        for _ in range(4):
            await pilot.press("right")
            screen = app.screen
            assert isinstance(screen, WorkersScreen)
            seen.add(screen.chosen)
            name = f"worker {screen.chosen}" if screen.chosen else "supervisor"
            await until(pilot, lambda name=name: name in screen_text(app))  # type: ignore[misc]
        assert seen == {0, 1, 2, 3}


async def test_run_of_one_agent_has_no_workers_to_show() -> None:
    app = RunApp(open_file(LOGS / "short.jsonl"))
    async with app.run_test(size=(120, 30)) as pilot:
        assert "workers" not in screen_text(app)
        await pilot.press("w")
        await until(pilot, lambda: "one agent works here" in screen_text(app))
        assert not isinstance(app.screen, WorkersScreen)


async def test_message_and_interrupt_go_to_the_worker_that_is_marked(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        log.append(ev.PlanMade(steps=(PlanStep(name="a"), PlanStep(name="b"))), step=1)
        for worker, step in ((1, "a"), (2, "b")):
            log.append(ev.WorkerStarted(step=step), step=1, worker=worker)
            call = ev.ToolCalled(call_id=f"c{worker}", tool="bash", summary=f"python train_{step}.py")
            log.append(call, step=worker, worker=worker)
        app = app_on_run(home, run)
        async with app.run_test(size=(160, 40)) as pilot:
            await pilot.press("w")
            await until(pilot, lambda: "runs python train_b.py" in screen_text(app))
            await pilot.press("right", "i")
            await until(pilot, lambda: "Say to worker 2" in screen_text(app))
            await pilot.press(*"wider", "enter")
            await until(pilot, lambda: len(posted(run)) == 1)
            await pilot.press("x")
            await until(pilot, lambda: len(posted(run)) == 2)
            assert [each.request for each in posted(run)] == [Inject(text="wider", worker=2), Interrupt(worker=2)]
            await until(pilot, lambda: "has not read it yet" in screen_text(app))
            # What happens while it is open is shown.
            log.append(ev.ToolOutput(call_id="c1", text="loss 3.21\n"), step=1, worker=1)
            await until(pilot, lambda: "loss 3.21" in screen_text(app))


async def test_hostile_words_of_workers_stay_words(tmp_path: Path) -> None:
    bad = "[bold]\x1b[31m\x00\ud800" + "z" * 90_000
    with live_run(tmp_path) as (home, run, log):
        log.append(ev.PlanMade(steps=(PlanStep(name=bad, task=bad),), why=bad), step=1)
        log.append(ev.WorkerStarted(step=bad, folder=bad, model=bad), step=1, worker=1)
        log.append(ev.ToolCalled(call_id="c", tool=bad, summary=bad), step=1, worker=1)
        log.append(ev.ToolOutput(call_id="c", text=bad), step=1, worker=1)
        log.append(ev.WorkerEnded(outcome="failed", step=bad, submission=bad, why=bad, files=(bad,)), worker=1)
        app = app_on_run(home, run)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("w")
            await until(pilot, lambda: "worker 1" in screen_text(app))
            assert "\x1b" not in screen_text(app)
            assert "[bold]" in screen_text(app)
