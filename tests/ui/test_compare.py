"""Runs marked in the fleet and laid over each other."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox
from agent.record.lock import hold
from agent.record.log import EventLog, write_events
from agent.record.request import RunRequest, write_request
from agent.record.summary import fold_all
from agent.record.values import Limits, Progress, Scale
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import Settings, ThemeName
from mlrb_tui.screens.compare import CompareScreen
from mlrb_tui.screens.fleet import FleetScreen
from mlrb_tui.views.plot_runs import RunsPlot
from mlrb_tui.widgets.plot_canvas import PlotCanvas
from tests.ui.fleet_homes import NOON
from tests.ui.fleet_pilot import COLOURS, opened, shown, until


@pytest.fixture
def alive() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def trained(run: str, model: str, floor: float, *, scale: Scale = "smoke", points: int = 60) -> Iterator[ev.Event]:
    """A run that trained once and ended."""
    bodies: list[ev.AnyBody] = [
        ev.RunCreated(
            run=run, task="mlrb/baby_lm", scale=scale, scaffold="react", model=model, sandbox="local", seed=0,
            limits=Limits(),
        ),
        ev.RunStarted(pid=1, host="box"),
        ev.StepStarted(),
        ev.ToolCalled(call_id="c", tool="bash", summary="python train.py"),
    ]  # fmt: skip
    for step in range(1, points + 1):
        values = {"loss": floor + 6 / step, **({"eval_loss": floor + 4 / step} if step % 20 == 0 else {})}
        bodies.append(ev.ProgressSeen(call_id="c", progress=Progress(values=values, step=step * 10)))
    bodies.append(ev.RunEnded(outcome="submitted"))
    for seq, body in enumerate(bodies, 1):
        yield ev.Event(seq=seq, at=NOON - 900 + seq, step=int(seq > 2), body=body)


def home_with(path: Path, *runs: tuple[str, str, float, Scale]) -> Home:
    """A home with ended runs, the first of them the newest."""
    home = Home(path).ensure()
    for run, model, floor, scale in runs:
        folder = RunFolder(home.runs / run)
        folder.path.mkdir()
        write_request(folder.request, RunRequest(run=run, task="mlrb/baby_lm", model=model, scale=scale))
        write_events(folder.events, trained(run, model, floor, scale=scale))
    index.reindex(home)
    return home


RUNS: tuple[tuple[str, str, float, Scale], ...] = (
    ("aaaa0001", "anthropic:claude-sonnet-4-5", 3.1, "smoke"), ("bbbb0002", "openai:gpt-5.2", 2.4, "smoke"),
    ("cccc0003", "scripted", 4.0, "full"),
)  # fmt: skip


def compared(pilot: Pilot[int]) -> RunsPlot:
    """What the comparison shows."""
    assert isinstance(pilot.app.screen, CompareScreen)
    assert pilot.app.screen.plot is not None
    return pilot.app.screen.plot


def drawn(pilot: Pilot[int]) -> bool:
    """Whether a comparison is open and its curves are drawn."""
    screen = pilot.app.screen
    if not isinstance(screen, CompareScreen) or screen.plot is None:
        return False
    canvas = screen.query_one(PlotCanvas)
    return canvas.drawings > 0 and canvas.settled


async def mark_all(pilot: Pilot[int], count: int) -> None:
    """Mark the first runs of the list, and compare them."""
    await until(pilot, lambda: RUNS[0][0][:4] in shown(pilot), "the rows")
    await pilot.press("home", *["space"] * count, "m")
    await until(pilot, lambda: drawn(pilot), "the curves")


async def test_marked_runs_are_compared_with_their_marks_as_signs(tmp_path: Path) -> None:
    async with opened(home_with(tmp_path, *RUNS[:2]), size=(140, 40)) as pilot:
        await until(pilot, lambda: "bbbb" in shown(pilot), "the rows")
        assert " m plots" not in shown(pilot)
        await pilot.press("home", "space")
        await until(pilot, lambda: " m plots" in shown(pilot), "the key of the comparison")
        await mark_all(pilot, 0)
        assert len(compared(pilot).runs) == 1
        await pilot.press("q", "down", "space", "m")
        await until(pilot, lambda: drawn(pilot) and len(compared(pilot).strokes) == 2, "both")
        said = shown(pilot)
        for part in ("1 aaaa0001", "2 bbbb0002", "best 2.5", "all smoke", "baby_lm · gpt-5.2", "over training steps"):
            assert part in said
        await pilot.press("escape", "home", "space", "space")
        fleet = pilot.app.screen
        assert isinstance(fleet, FleetScreen)
        await until(pilot, lambda: fleet.marked == (), "no marks")


async def test_smoke_and_full_are_never_mixed_silently(tmp_path: Path) -> None:
    async with opened(home_with(tmp_path, *RUNS), size=(140, 40)) as pilot:
        await mark_all(pilot, 3)
        assert "smoke and full runs together: their figures can't be compared" in shown(pilot)
        full = next(run for run in compared(pilot).runs if run.summary.scale == "full")
        await pilot.press(*["down"] * (int(full.sign) - 1), "space")
        await until(pilot, lambda: "all smoke" in shown(pilot), "one scale")
        assert "hidden" in shown(pilot)


async def test_another_metric_is_chosen_and_the_cursor_reads_every_run(tmp_path: Path) -> None:
    async with opened(home_with(tmp_path, *RUNS[:2]), size=(140, 40)) as pilot:
        await mark_all(pilot, 2)
        await pilot.press("home")
        await until(pilot, lambda: "step 10   1 " in shown(pilot), "the first point")
        await pilot.press("down", "down", "down", "space")
        await until(pilot, lambda: compared(pilot).metric is not None and "step 200" in shown(pilot), "evaluations")
        metric = compared(pilot).metric
        assert metric is not None
        assert metric.name == "eval_loss"
        await pilot.press("x", "l", "plus", "w", "left", "0")
        await until(pilot, lambda: "after its start" in shown(pilot), "time")


async def test_without_marks_the_run_at_the_cursor_is_plotted(tmp_path: Path) -> None:
    async with opened(home_with(tmp_path, RUNS[1]), size=(100, 30)) as pilot:
        await until(pilot, lambda: "bbbb" in shown(pilot), "the row")
        await pilot.press("m")
        await until(pilot, lambda: drawn(pilot), "its curves")
        assert "1 bbbb0002" in shown(pilot)


async def test_a_tenth_mark_is_refused_with_a_word(tmp_path: Path) -> None:
    runs: list[tuple[str, str, float, Scale]] = [(f"aaaa{index:04}", "m", 1.0, "smoke") for index in range(11)]
    async with opened(home_with(tmp_path, *runs), size=(140, 40)) as pilot:
        await mark_all(pilot, 11)
        assert len(compared(pilot).runs) == 9
        await pilot.press("q")
        await until(pilot, lambda: "9 runs at most are compared" in shown(pilot), "the word")


async def test_live_runs_go_on_and_unreadable_ones_are_named(tmp_path: Path, alive: ExitStack) -> None:
    home = home_with(tmp_path, RUNS[0], RUNS[1])
    live = RunFolder(home.runs / "dddd0004")
    live.path.mkdir()
    Inbox(live.inbox).close()
    alive.enter_context(hold(live.lock))
    write_request(live.request, RunRequest(run="dddd0004", task="mlrb/baby_lm", model="m"))
    write_events(live.events, list(trained("dddd0004", "m", 1.0, points=5))[:-1])
    with EventLog(live.events) as log:
        summary = fold_all(trained("aaaa0001", "m", 1.0))
        broken = RunFolder(home.runs / "bbbb0002")
        broken.events.write_bytes(b"no database")
        app = MlrbApp(home, Settings(theme="mlrb-dark"), environment=COLOURS)
        async with app.run_test(size=(120, 30), notifications=True) as pilot:
            named = [(live, log.summary), (broken, summary)]
            app.push_screen(CompareScreen(named))
            await until(pilot, lambda: drawn(pilot), "the readable one")
            await until(pilot, lambda: "bbbb0002:" in shown(pilot), "the other one's trouble")
            assert compared(pilot).whole.high == 50
            log.append(ev.ProgressSeen(call_id="c", progress=Progress(values={"loss": 0.5}, step=60)))
            await until(pilot, lambda: compared(pilot).whole.high == 60, "the next step")
            await until(pilot, lambda: "step 60" in shown(pilot), "it in words")


def comparing(count: int, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Compare that many runs, then press keys."""

    async def run(pilot: Pilot[int]) -> None:
        await mark_all(pilot, count)
        await pilot.press(*keys)
        await until(pilot, lambda: drawn(pilot), "the curves")
        await pilot.pause()

    return run


@pytest.mark.parametrize(
    ("size", "theme"),
    [((160, 48), "mlrb-dark"), ((160, 48), "mlrb-light"), ((80, 24), "mlrb-dark"), ((80, 24), "mlrb-light")],
    ids=["160x48-dark", "160x48-light", "80x24-dark", "80x24-light"],
)
def test_picture(tmp_path: Path, snap_compare: Callable[..., bool], size: tuple[int, int], theme: ThemeName) -> None:
    app = MlrbApp(home_with(tmp_path, *RUNS), Settings(theme=theme), environment=COLOURS, clock=lambda: NOON)
    assert snap_compare(app, terminal_size=size, run_before=comparing(3, "shift+left", "shift+left"))


def test_picture_in_ascii(tmp_path: Path, snap_compare: Callable[..., bool]) -> None:
    settings = Settings(theme="mlrb-dark", glyphs="ascii")
    app = MlrbApp(home_with(tmp_path, *RUNS[:2]), settings, environment=COLOURS, clock=lambda: NOON)
    assert snap_compare(app, terminal_size=(100, 30), run_before=comparing(2))


def test_picture_of_marks_in_the_fleet(tmp_path: Path, snap_compare: Callable[..., bool]) -> None:
    async def mark(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: "cccc" in shown(pilot), "the rows")
        await pilot.press("home", "space", "down", "space")
        await pilot.pause()

    app = MlrbApp(home_with(tmp_path, *RUNS), Settings(theme="mlrb-dark"), environment=COLOURS, clock=lambda: NOON)
    assert snap_compare(app, terminal_size=(120, 30), run_before=mark)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day as they are in Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
