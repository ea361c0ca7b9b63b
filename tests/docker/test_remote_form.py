"""The launch form and a machine reached by SSH: what is wrong is shown in the form, and no run is made."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Kill
from agent.record.request import read_request
from mlrb_tui.screens.launch import LaunchScreen
from tests.docker.loopback import NAME, Loopback, loopback
from tests.process.runner_runs import Runs
from tests.ui.fleet_pilot import opened, shown, until


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Loopback]:
    with loopback(tmp_path / "box") as machine:
        yield machine


@pytest.fixture
def home(tmp_path: Path, there: Loopback) -> Iterator[Home]:
    made = Runs.under(tmp_path)
    there.enter_in(made.home)
    yield made.home
    made.close()


async def form_on_the_machine(pilot: Pilot[int], gpus: str = "") -> LaunchScreen:
    """The form, filled in for a run over there."""
    await until(pilot, lambda: "No runs yet" in shown(pilot), "the fleet")
    await pilot.press("n")
    await until(pilot, lambda: "1 run · " in shown(pilot), "the first check")
    screen = pilot.app.screen
    assert isinstance(screen, LaunchScreen)
    screen.query_one("#sandbox", Select).value = f"docker@{NAME}"
    screen.query_one("#gpus", Input).value = gpus
    await until(pilot, lambda: f"docker@{NAME} · " in shown(pilot), "the check with that machine")
    return screen


async def test_machine_that_lets_nobody_in_is_told_in_the_form_and_makes_no_run(home: Home, there: Loopback) -> None:
    there.know("other_key")
    async with opened(home) as pilot:
        await form_on_the_machine(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "is not the one that is known" in shown(pilot), "the error")
        assert "ssh-keygen -R" in shown(pilot)
        assert isinstance(pilot.app.screen, LaunchScreen)
        assert home.run_ids() == []
        there.know("host_key")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(pilot.app.screen, LaunchScreen), "the launch, once that is mended")
    _end_all(home)


async def test_gpus_that_are_not_over_there_are_told_in_the_form(home: Home) -> None:
    async with opened(home) as pilot:
        screen = await form_on_the_machine(pilot, gpus="2")
        assert "GPUs 2" in shown(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "has 0 of the 2 GPUs wanted" in shown(pilot), "the error")
        assert home.run_ids() == []
        screen.query_one("#gpus", Input).value = "none"
        await until(pilot, lambda: "GPUs none" in shown(pilot), "the check")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(pilot.app.screen, LaunchScreen), "the launch")
        [run] = home.run_ids()
        assert read_request(RunFolder(home.runs / run).request).gpus == "none"
    _end_all(home)


def _end_all(home: Home) -> None:
    for run in home.run_ids():
        inbox = Inbox(RunFolder(home.runs / run).inbox)
        inbox.post(Kill())
        inbox.close()
