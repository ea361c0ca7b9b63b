"""A disk that takes nothing for a while costs no event, keeps their order, and holds the agent at its gates."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.inbox import Inbox, Inject
from agent.record.log import EventLog, EventReader
from agent.record.values import Text
from agent.runner.ending import Ending
from agent.runner.gates import Gates
from agent.runner.journal import BEAT_EVERY_EVENTS, Journal
from agent.runner.pausing import Pausing
from tests.unit.runner_parts import Desk


@contextmanager
def _no_file_may_grow() -> Iterator[None]:
    """The kernel refuses every write that makes a file longer, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _notes(desk: Desk) -> list[Text]:
    return [body.text for body in desk.bodies() if isinstance(body, ev.NoteTaken)]


async def test_events_of_a_full_disk_are_written_later_in_order_without_a_gap(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    gates = Gates(desk.journal, Pausing(desk.journal), Ending())
    desk.journal.append(ev.NoteTaken(text="before"))
    heard: list[ev.Known] = []
    desk.journal.listeners.append(heard.append)
    with _no_file_may_grow():
        for number in range(50):
            desk.journal.append(ev.NoteTaken(text=f"{number} " + "x" * 500))
        desk.journal.retry()
        stuck = desk.journal.stuck
        agent = asyncio.create_task(gates.before_model())
        await asyncio.sleep(0)
        held = not agent.done()
    assert stuck
    assert held
    desk.journal.retry()
    await agent
    assert not desk.journal.stuck
    assert [str(text).split()[0] for text in _notes(desk)] == ["before", *(str(number) for number in range(50))]
    (alert,) = [body for body in desk.bodies() if isinstance(body, ev.AlertRaised)]
    assert (alert.alert, alert.hint) == ("disk_full", "the run waits; make room")
    # Whoever is told of alarms is told of this one while the disk is still full.
    assert heard[0] == alert
    with EventReader(desk.path) as reader:
        seqs = [event.seq for event in reader.all()]
    assert seqs == list(range(1, len(seqs) + 1))


def test_request_that_a_full_disk_does_not_take_is_a_plain_error(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox.db")
    with _no_file_may_grow(), pytest.raises(RecordError, match="cannot be kept") as caught:
        inbox.post(Inject(text="x" * 50_000))
    assert caught.value.hint == "is the disk full?"
    assert inbox.after(0) == []
    inbox.close()


def test_record_that_a_full_disk_does_not_let_begin_is_a_plain_error(tmp_path: Path) -> None:
    with _no_file_may_grow(), pytest.raises(RecordError):
        EventLog(tmp_path / "events.db")


def test_readers_never_fold_far(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for number in range(BEAT_EVERY_EVENTS * 3):
        desk.journal.append(ev.NoteTaken(text=f"{number}"))
    beats = [number for number, kind in enumerate(desk.kinds()) if kind == "heartbeat"]
    assert len(beats) >= 2
    assert all(later - earlier <= BEAT_EVERY_EVENTS + 1 for earlier, later in zip([0, *beats], beats, strict=False))


@pytest.mark.parametrize("times", [1, 3])
def test_ids_are_not_given_out_twice_even_by_the_runner_that_takes_over(tmp_path: Path, times: int) -> None:
    given: list[str] = []
    desk = Desk(tmp_path)
    for _ in range(times):
        journal = Journal(desk.log)
        for _ in range(20):
            given.append(journal.fresh_id("c"))
            journal.append(ev.NoteTaken(text="one event at least"))
    assert len(set(given)) == len(given)
