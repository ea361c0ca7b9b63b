"""Two homes that choose a card at the very same moment: one of them gets it, and the other waits or takes the next."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.record.home import Home
from agent.record.log import EventLog
from agent.runner.ballast import Ballast
from agent.runner.journal import Journal
from agent.runner.placement import MachinePlacement, Place
from agent.sandbox import claims, containers
from agent.sandbox.gpu_wish import GpuWish
from agent.sandbox.machines import HERE, machine
from tests.process.fake_gpus import FakeGpus, row


class Claimant:
    """A run of a home of its own, as far as its placement goes: it never comes to make its sandbox."""

    def __init__(self, folder: Path, log: ExitStack) -> None:
        self.home = Home(folder).ensure()
        run = self.home.new_run()
        self.run = run.run
        self.log = log.enter_context(EventLog(run.events))
        self.placement = MachinePlacement(
            self.home, run.run, machine(self.home, HERE), GpuWish(count=1), Journal(self.log, Ballast(run.ballast)),
            image="",
        )  # fmt: skip

    @property
    def queued(self) -> bool:
        """Whether it was told to wait."""
        return self.log.summary.state == "queued"


@pytest.fixture
def cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two cards that no other test knows, on a daemon that all share."""
    fake = FakeGpus(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(fake.folder), prepend=":")
    mark = secrets.token_hex(4)
    rows = [row(index).replace(f"GPU-{index:08d}", f"GPU-{mark}{index}") for index in range(2)]
    fake.says("".join(rows))
    return [line.split(", ")[1] for line in rows]


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[list[Claimant]]:
    """Three homes."""
    with ExitStack() as logs:
        made = [Claimant(tmp_path / f"home{number}", logs) for number in range(3)]
        yield made
        for one in made:
            claims.release(one.run, one.home.mark(), None)


def gpu_of(place: Place) -> str:
    [gpu] = place.gpus
    return gpu


async def test_card_is_given_once_though_no_container_shows_yet_who_has_it(
    cards: list[str], homes: list[Claimant]
) -> None:
    one, two, three = homes
    # None of them has looked yet when the first has its card, and none ever makes its sandbox.
    places = await asyncio.gather(one.placement.take(), two.placement.take())
    assert {gpu_of(place) for place in places} == set(cards)
    waits = asyncio.create_task(three.placement.take())
    async with asyncio.timeout(30):
        while not three.queued:
            await asyncio.sleep(0.02)
    assert not waits.done()
    await one.placement.give_back()
    async with asyncio.timeout(30):
        assert gpu_of(await waits) == gpu_of(places[0])


async def test_both_who_saw_the_same_card_free_do_not_get_it(cards: list[str], homes: list[Claimant]) -> None:
    one, two, _ = homes
    # Each has looked at the machine, and by what it saw nobody has anything.
    for each in (one, two):
        each.placement._look_afar(each.placement._file.read())
    first, second = await one.placement.take(), await two.placement.take()
    assert gpu_of(first) != gpu_of(second)


async def test_claim_of_a_run_that_is_over_is_taken_over_in_its_own_home(
    cards: list[str], homes: list[Claimant]
) -> None:
    one = homes[0]
    for gpu in cards:
        assert claims.claim([gpu], "dead0000", one.home.mark(), "mlrb:latest", None) == ""
    assert gpu_of(await one.placement.take()) in cards
    claims.release("dead0000", one.home.mark(), None)
    assert len([found for found in containers.labelled(one.run) if found.role == containers.CLAIM]) == 1
