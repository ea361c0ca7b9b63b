"""The fleet screen under a pilot: keys, filter, hostile text, any size, and how it looks."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inject, Interrupt, Kill, Pause, Request, Resume, ScoreNow
from agent.record.log import EventLog
from agent.record.values import RunSummary
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import Settings, ThemeName
from mlrb_tui.widgets.dialogs import Confirm, TextPrompt
from tests.ui.fleet_homes import NOON, a_run, believable, ended, home_of, many
from tests.ui.fleet_pilot import COLOURS, at_cursor, opened, posted, shown, until

HOSTILE = "[/bold]\x1b]0;owned\x07[b +[/#888888] [00] x \u202eevil\x00 \x9b31m"


@pytest.fixture
def alive() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day as they are in Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def test_all_runs_are_listed_and_the_one_that_needs_a_person_is_selected(
    tmp_path: Path, alive: ExitStack
) -> None:
    async with opened(home_of(tmp_path, believable(), alive)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        for run in believable():
            await until(pilot, lambda run=run: run.run[:4] in shown(pilot), run.run)  # type: ignore[misc]


async def test_an_empty_home_says_how_to_start(tmp_path: Path, alive: ExitStack) -> None:
    async with opened(home_of(tmp_path, [], alive), size=(80, 24)) as pilot:
        await until(pilot, lambda: "No runs yet" in shown(pilot), "the empty state")
        assert "mlrb run mlgym/battle_of_sexes" in shown(pilot)


async def test_the_list_follows_a_filter_as_it_is_typed_and_escape_brings_all_back(
    tmp_path: Path, alive: ExitStack
) -> None:
    async with opened(home_of(tmp_path, believable(), alive)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("slash", *"state:paused")
        await until(pilot, lambda: at_cursor(pilot) == "e6f70b1c", "the paused run")
        assert "44d1" not in "\n".join(line for line in shown(pilot).splitlines() if "house" in line or "sexes" in line)
        await pilot.press("escape")
        await until(pilot, lambda: "44d1" in shown(pilot), "all runs")


async def test_a_filter_that_finds_nothing_says_so(tmp_path: Path, alive: ExitStack) -> None:
    async with opened(home_of(tmp_path, believable(), alive)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: "No run matches" in shown(pilot), "the word")


async def test_the_cursor_stays_on_its_run_while_the_list_moves_under_it(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("down", "down")
        chosen = at_cursor(pilot)
        newer = a_run("eeee0000", "mlgym/house_price", "scripted", alerts=1, last_alert="look", created_at=2e9)
        folder = RunFolder(home.runs / newer.run)
        folder.path.mkdir()
        folder.lock.touch()
        index.update(home.index, newer)
        await until(pilot, lambda: "eeee" in shown(pilot), "the new run")
        assert at_cursor(pilot) == chosen


async def test_order_and_its_reverse(tmp_path: Path, alive: ExitStack) -> None:
    async with opened(home_of(tmp_path, believable(), alive)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("o", "o", "home")
        await until(pilot, lambda: "by task" in shown(pilot), "the order's name")
        await until(pilot, lambda: at_cursor(pilot) == "44d1e0a9", "the first task first")
        await pilot.press("O", "home")
        await until(pilot, lambda: "by task, reversed" in shown(pilot), "the order's name")
        await until(pilot, lambda: "baby_lm" in shown(pilot).splitlines()[3], "the last task first")


# ── steering ─────────────────────────────────────────────────────────────────────────────────────────────

KEYS: list[tuple[str, Request]] = [
    ("p", Pause(strength="step")),
    ("P", Pause(strength="now")),
    ("r", Resume()),
    ("x", Interrupt()),
    ("s", ScoreNow()),
]


@pytest.mark.parametrize(("key", "request_made"), KEYS, ids=[key for key, _ in KEYS])
async def test_a_key_puts_its_request_into_the_inbox_of_the_run_at_the_cursor(
    tmp_path: Path, alive: ExitStack, key: str, request_made: Request
) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        await pilot.press(key)
        await until(pilot, lambda: bool(posted(home, "5d20aa17")), "the request")
        assert posted(home, "5d20aa17") == [request_made]


async def test_what_is_injected_is_what_was_typed_on_both_lines(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextPrompt), "the prompt")
        await pilot.press(*"try", "space", *"[/b]", "ctrl+j", *"lr=1e-3", "enter")
        await until(pilot, lambda: bool(posted(home, "5d20aa17")), "the request")
        assert posted(home, "5d20aa17") == [Inject(text="try [/b]\nlr=1e-3")]


async def test_nothing_is_killed_without_a_yes(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        for no in ("n", "escape"):
            await pilot.press("k")
            await until(pilot, lambda: isinstance(pilot.app.screen, Confirm), "the question")
            await pilot.press("enter", no)
            await until(pilot, lambda: not isinstance(pilot.app.screen, Confirm), "the list")
        assert posted(home, "5d20aa17") == []
        await pilot.press("k")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm), "the question")
        await pilot.press("y")
        await until(pilot, lambda: bool(posted(home, "5d20aa17")), "the request")
        assert posted(home, "5d20aa17") == [Kill()]


async def test_steering_a_run_that_has_ended_is_refused_with_a_word(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, [a_run("abcd1234", "a/b", "m", **ended("submitted", 9))], alive)
    with EventLog(home.find("abcd1234").events) as log:
        log.append(ev.RunEnded(outcome="submitted"))
    async with opened(home) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "abcd1234", "the rows")
        await pilot.press("p")
        await until(pilot, lambda: "abcd1234 has ended: submitted" in shown(pilot), "the refusal")


async def test_an_app_opened_to_look_asks_nothing_of_a_run(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, believable(), alive)
    async with opened(home, read_only=True) as pilot:
        await until(pilot, lambda: at_cursor(pilot) == "5d20aa17", "the rows")
        await pilot.press("p", "k", "i", "n")
        await until(pilot, lambda: "--read-only" in shown(pilot), "the word")
        assert len(pilot.app.screen_stack) == 1
        assert posted(home, "5d20aa17") == []


# ── text that is not ours, sizes ─────────────────────────────────────────────────────────────────────────


def hostile_runs() -> list[RunSummary]:
    """Runs whose every text is an attack."""
    return [
        a_run("aaaa0000", HOSTILE, HOSTILE, now=HOSTILE, sandbox=HOSTILE, alerts=1, last_alert=HOSTILE, who=HOSTILE),
        a_run("bbbb0000", HOSTILE, HOSTILE, outcome_detail=HOSTILE, leftovers=(HOSTILE,), **ended("failed", 5)),
        a_run("cccc0000", "界" * 40, "🧪" * 20, now="日本語 " * 30),
    ]


async def test_hostile_names_are_shown_as_text(tmp_path: Path, alive: ExitStack) -> None:
    async with opened(home_of(tmp_path, hostile_runs(), alive), size=(200, 40)) as pilot:
        await until(pilot, lambda: "[/bold]" in shown(pilot), "the rows")
        for key in ("down", "down", "slash", "[", "/", "b", "escape", "question_mark", "escape"):
            await pilot.press(key)
        text = shown(pilot)
        assert "[b +[/#888888]" in text
        assert not any(sign in text for sign in ("\x1b", "\x07", "\u202e", "\x00", "\x9b"))


async def test_any_size_down_to_nothing_and_back(tmp_path: Path, alive: ExitStack) -> None:
    async with opened(home_of(tmp_path, [*believable(), *hostile_runs()], alive)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        for width, height in ((200, 60), (20, 5), (1, 1), (7, 2), (80, 24), (1, 60), (300, 3), (120, 40)):
            await pilot.resize_terminal(width, height)
            await pilot.press("down", "slash", "x", "escape")
        await until(pilot, lambda: "baby_lm" in shown(pilot) and "score" in shown(pilot), "the list again")


async def test_five_thousand_runs_scroll_to_the_last(tmp_path: Path, alive: ExitStack) -> None:
    runs = many(5_000)
    async with opened(home_of(tmp_path, runs, alive, logs=False), size=(80, 24)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await pilot.press("end")
        last = min(runs, key=lambda run: run.ended_at or 0)
        await until(pilot, lambda: at_cursor(pilot) == last.run, "the last run")
        assert last.run[:8] in shown(pilot).replace("…", "")
        await pilot.press("home", "pagedown", "pageup", "up")
        await until(pilot, lambda: at_cursor(pilot) != last.run, "the first again")


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────

Snap = Callable[..., bool]


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["80x24", "160x48"])
def test_picture(snap_compare: Snap, tmp_path: Path, alive: ExitStack, size: tuple[int, int], theme: ThemeName) -> None:
    home = home_of(tmp_path, believable(), alive)
    app = MlrbApp(home, Settings(theme=theme), environment=COLOURS, clock=lambda: NOON)

    async def wait(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: "saved ckpt/8100" in shown(pilot), "the look")

    assert snap_compare(app, terminal_size=size, run_before=wait)


async def test_leftovers_are_told_at_the_start(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").ensure()
    run = home.new_run()
    stray = subprocess.Popen(["sleep", "761.25"], env={"MLRB_RUN": run.run, "HOME": str(run.work)})
    try:
        async with opened(home) as pilot:
            await until(pilot, lambda: "without a runner: mlrb reap" in shown(pilot), "the word on leftovers")
    finally:
        stray.kill()
        stray.wait()
