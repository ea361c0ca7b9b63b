"""Looking at all runs again and again: what changed is seen, what did not is not read twice."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.lock import hold
from agent.record.log import write_events
from agent.record.values import RunSummary
from agent.record.watch import RunsWatch
from tests.ui.fleet_homes import a_log, a_run, believable, ended, home_of


@pytest.fixture
def alive() -> Iterator[ExitStack]:
    """What holds the locks of live runs."""
    with ExitStack() as stack:
        yield stack


def _by_run(watch: RunsWatch) -> dict[str, RunSummary]:
    return {summary.run: summary for summary in watch.look()}


def test_every_run_is_seen_as_the_index_has_it(tmp_path: Path, alive: ExitStack) -> None:
    runs = [run for run in believable() if run.state != "queued"]
    watch = RunsWatch(home_of(tmp_path, runs, alive))
    assert _by_run(watch) == {run.run: run for run in runs}


def test_a_changed_row_is_seen_at_the_next_look(tmp_path: Path, alive: ExitStack) -> None:
    run = believable()[0]
    home = home_of(tmp_path, [run], alive)
    watch = RunsWatch(home)
    assert _by_run(watch)[run.run].step == 41
    index.update(home.index, msgspec.structs.replace(run, step=42, at=run.at + 1))
    assert _by_run(watch)[run.run].step == 42


def test_a_run_that_is_not_in_the_index_is_read_from_its_folder(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, [], alive)
    watch = RunsWatch(home)
    assert watch.look() == []
    run = a_run("abcd1234", "mlgym/house_price", "scripted")
    folder = RunFolder(home.runs / run.run)
    folder.path.mkdir()
    write_events(folder.events, a_log(run))
    with hold(folder.lock):
        assert _by_run(watch)["abcd1234"].task == "mlgym/house_price"


def test_a_run_whose_runner_was_killed_is_lost_not_running(tmp_path: Path) -> None:
    run = a_run("abcd1234", "mlgym/house_price", "scripted")
    with ExitStack() as alive:
        watch = RunsWatch(home_of(tmp_path, [run], alive))
        assert _by_run(watch)["abcd1234"].state == "running"
    assert _by_run(watch)["abcd1234"].outcome == "lost"
    assert _by_run(watch)["abcd1234"].outcome == "lost"


def test_a_lost_run_that_is_taken_up_again_lives(tmp_path: Path, alive: ExitStack) -> None:
    run = a_run("abcd1234", "mlgym/house_price", "scripted")
    with ExitStack() as before:
        home = home_of(tmp_path, [run], before)
    watch = RunsWatch(home)
    assert _by_run(watch)["abcd1234"].outcome == "lost"
    with hold(RunFolder(home.runs / run.run).lock):
        assert _by_run(watch)["abcd1234"].state == "running"


def test_a_rebuilt_index_is_read_anew(tmp_path: Path, alive: ExitStack) -> None:
    run = a_run("abcd1234", "mlgym/house_price", "scripted", **ended("submitted", 10))
    home = home_of(tmp_path, [run], alive)
    watch = RunsWatch(home)
    assert _by_run(watch)["abcd1234"].outcome == "submitted"
    home.index.unlink()
    index.create(home.index)
    index.put_all(home.index, [msgspec.structs.replace(run, outcome="killed", at=run.at - 5_000)])
    assert _by_run(watch)["abcd1234"].outcome == "killed"


def test_one_row_that_cannot_be_read_hides_no_other(tmp_path: Path, alive: ExitStack) -> None:
    runs = [a_run("abcd1234", "a/b", "m", **ended("killed", 1)), a_run("abcd9999", "a/b", "m", **ended("killed", 1))]
    home = home_of(tmp_path, runs, alive)
    _spoil(home, "abcd1234")
    seen = _by_run(RunsWatch(home))
    assert seen["abcd9999"] == runs[1]
    assert "abcd1234" in seen


def test_without_an_index_folders_are_read(tmp_path: Path, alive: ExitStack) -> None:
    home = home_of(tmp_path, [a_run("abcd1234", "a/b", "m", **ended("killed", 1))], alive)
    home.index.write_bytes(b"this is no database, and long enough to be looked at as one")
    assert _by_run(RunsWatch(home))["abcd1234"].task == "a/b"


def _spoil(home: Home, run: str) -> None:
    connection = sqlite3.connect(home.index)
    connection.execute("UPDATE runs SET summary = '{\"step\": null}' WHERE run = ?", (run,))
    connection.commit()
    connection.close()
