"""Questions across runs in the fleet: seen, counted, and answered by the keys of the run at the cursor."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.record.inbox import Approve
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import Settings
from mlrb_tui.widgets.dialogs import Confirm, TextPrompt
from mlrb_tui.widgets.fleet_look import Look
from tests.ui.fleet_homes import NOON, believable, home_of, waiting_for_words
from tests.ui.fleet_pilot import COLOURS, at_cursor, opened, posted, shown, until

FIRST, SECOND = "7f3a21c4", "a91c0d2e"


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


async def _go_to(pilot: Pilot[int], run: str) -> None:
    await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
    while at_cursor(pilot) != run:
        before = at_cursor(pilot)
        await pilot.press("down")
        assert at_cursor(pilot) != before, f"{run} is not in the list"


async def test_runs_that_wait_are_counted_and_those_of_other_runs_are_queued_below(
    tmp_path: Path, alive: ExitStack
) -> None:
    async with opened(home_of(tmp_path, waiting_for_words(), alive), size=(160, 48)) as pilot:
        await until(pilot, lambda: "3 need you" in shown(pilot), "the count")
        await _go_to(pilot, FIRST)
        await until(pilot, lambda: "always let `python train.py *` through" in shown(pilot), "the question")
        await until(pilot, lambda: "waiting in other runs: 1" in shown(pilot), "the queue")
        assert "limit time" in shown(pilot)
        assert "a accept" in shown(pilot).splitlines()[-1]


async def test_each_key_says_its_word_to_the_run_at_the_cursor(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, waiting_for_words(), alive)
    async with opened(home, size=(160, 48)) as pilot:
        await _go_to(pilot, FIRST)
        await pilot.press("a")
        await until(pilot, lambda: len(posted(home, FIRST)) == 1, "the word")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextPrompt), "the dialog")
        assert "python train.py --resume ckpt/8000 --lr 3e-4" in shown(pilot)
        await pilot.press(*"5", "enter")
        await until(pilot, lambda: len(posted(home, FIRST)) == 2, "the edit")
        await pilot.press("d")
        await pilot.press(*"no [/b]", "enter")
        await until(pilot, lambda: len(posted(home, FIRST)) == 3, "the rejection")
        await pilot.press("A")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm), "what it lets through")
        assert "Always let `python train.py *` through?" in shown(pilot)
        await pilot.press("n", "A", "y")
        await until(pilot, lambda: len(posted(home, FIRST)) == 4, "the rule")
        assert posted(home, FIRST) == [
            Approve(approval_id="q9"),
            Approve(approval_id="q9", word="edit", text="python train.py --resume ckpt/8000 --lr 3e-45"),
            Approve(approval_id="q9", word="reject", text="no [/b]"),
            Approve(approval_id="q9", word="always", text="python train.py *"),
        ]
        assert posted(home, SECOND) == []


async def test_a_key_on_a_run_that_waits_for_nothing_answers_none_and_goes_to_the_one_that_waits_longest(
    tmp_path: Path, alive: ExitStack
) -> None:
    home = home_of(tmp_path, waiting_for_words(), alive)
    async with opened(home, size=(160, 48)) as pilot:
        await _go_to(pilot, "03be77f0")
        await pilot.press("a")
        await until(pilot, lambda: at_cursor(pilot) == FIRST, "the cursor")
        assert posted(home, FIRST) == posted(home, "03be77f0") == []
        await pilot.press("a")
        await until(pilot, lambda: len(posted(home, FIRST)) == 1, "the word")


async def test_a_call_without_a_safe_class_has_no_always(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, waiting_for_words(), alive)
    async with opened(home, size=(160, 48)) as pilot:
        await _go_to(pilot, SECOND)
        await pilot.press("A")
        await until(pilot, lambda: "no class of calls" in shown(pilot), "the word why not")
        assert posted(home, SECOND) == []


async def test_who_may_only_look_answers_nothing_and_without_questions_the_keys_are_not_offered(
    tmp_path: Path, alive: ExitStack
) -> None:
    home = home_of(tmp_path / "a", waiting_for_words(), alive)
    async with opened(home, size=(160, 48), read_only=True) as pilot:
        await _go_to(pilot, FIRST)
        await pilot.press("a")
        await until(pilot, lambda: "look only" in shown(pilot), "the word why not")
        assert posted(home, FIRST) == []
    async with opened(home_of(tmp_path / "b", believable(), alive), size=(160, 48)) as pilot:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        assert "accept" not in shown(pilot)


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["80x24", "160x48"])
def test_picture(snap_compare: Callable[..., bool], tmp_path: Path, alive: ExitStack, size: tuple[int, int]) -> None:
    home = home_of(tmp_path, waiting_for_words(), alive)
    app = MlrbApp(home, Settings(theme="mlrb-dark"), environment=COLOURS, clock=lambda: NOON)

    async def wait(pilot: Pilot[int]) -> None:
        await _go_to(pilot, FIRST)
        if pilot.app.screen.query_one(Look).size.height:
            await until(pilot, lambda: "may this run?" in shown(pilot), "the look")

    assert snap_compare(app, terminal_size=size, run_before=wait)
