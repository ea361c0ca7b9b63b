"""What runs leave behind without a runner is found, and adopted or removed; what has a runner is left alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.record import events as ev
from agent.record.home import Home
from agent.record.lock import is_held
from agent.sandbox import leftovers
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until
from tests.process.test_kill_hung import mlrb, pid_of, reap_child, sleeping


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task."""
    made = Runs.under(tmp_path)
    yield made
    made.close()
    for run in made.home.run_ids():
        leftovers.clear_processes(made.home, run)


def lost(runs: Runs, seconds: str) -> Run:
    """A run in the middle of a command whose runner was shot."""
    run = sleeping(runs, seconds)
    os.kill(pid_of(run), signal.SIGKILL)
    reap_child(run)
    return run


def listed(runs: Runs, *arguments: str) -> list[dict[str, Any]]:
    """What `mlrb reap` says of this home's."""
    ran = mlrb(runs, "reap", "--json", *arguments)
    assert ran.returncode == 0, ran.stderr
    found: list[dict[str, Any]] = json.loads(ran.stdout)["leftovers"]
    return [one for one in found if one["whose"] == "ours"]


def test_live_run_is_no_leftover_and_nothing_is_removed_unasked(runs: Runs) -> None:
    run = sleeping(runs, "731.25")
    assert listed(runs) == []
    assert listed(runs, "--remove", "--yes") == []
    assert len(processes_with("731.25")) >= 2
    assert is_held(run.folder.lock)


def test_lost_run_is_listed_and_a_list_changes_nothing(runs: Runs) -> None:
    run = lost(runs, "732.25")
    [found] = listed(runs)
    assert (found["run"], found["kind"], found["run_is"]) == (run.folder.run, "processes", "lost")
    assert found["adoptable"]
    assert len(found["pids"]) >= 3
    assert set(processes_with("732.25")) <= set(found["pids"])
    before = len(run.events())
    assert "lost" in mlrb(runs, "reap").stdout
    assert (len(run.events()), len(listed(runs))) == (before, 1)


def test_acting_without_a_terminal_takes_a_yes(runs: Runs) -> None:
    lost(runs, "733.25")
    ran = mlrb(runs, "reap", "--remove")
    assert ran.returncode == 2
    assert "--yes" in ran.stderr
    assert len(listed(runs)) == 1


def test_removed_run_has_ended_and_nothing_of_it_is_left(runs: Runs) -> None:
    run = lost(runs, "734.25")
    [removed] = listed(runs, "--remove", "--yes")
    assert removed["done"]
    assert processes_with("734.25") == []
    assert not run.folder.guest_socket.exists()
    ended = run.bodies(ev.RunEnded)[0]
    assert (ended.outcome, "left over without a runner" in ended.detail) == ("killed", True)
    assert listed(runs) == []
    assert mlrb(runs, "reap").stdout.startswith("Nothing is left over.") or "ours" not in mlrb(runs, "reap").stdout


def test_adopted_run_goes_on_with_a_new_runner(runs: Runs) -> None:
    run = lost(runs, "735.25")
    [adopted] = listed(runs, "--adopt", "--yes")
    assert adopted["done"]
    until(lambda: isinstance(run.events()[-1].body, ev.RunEnded), "the adopted run ends")
    assert run.bodies(ev.RunEnded)[0].outcome == "submitted"
    assert processes_with("735.25") == []


def test_runs_of_another_home_are_not_seen(runs: Runs, tmp_path: Path) -> None:
    run = lost(runs, "736.25")
    other = Home(tmp_path / "other").ensure()
    assert [one for one in leftovers.find(other).leftovers if one.kind != "container"] == []
    assert not leftovers.processes_of(other, run.folder.run)


def test_process_that_cleared_its_environment_is_found_below_the_one_that_did_not(runs: Runs) -> None:
    run = runs.start([bash("env -i setsid sleep 737.25 & sleep 737.25")])
    until(lambda: len(processes_with("737.25")) >= 2, "the command runs")
    os.kill(pid_of(run), signal.SIGKILL)
    reap_child(run)
    assert listed(runs, "--remove", "--yes")[0]["done"]
    assert processes_with("737.25") == []


def test_runner_whose_folder_was_removed_is_found_and_ended(runs: Runs) -> None:
    run = sleeping(runs, "738.25")
    os.kill(pid_of(run), signal.SIGSTOP)
    shutil.rmtree(run.folder.path)
    kinds = {one["kind"]: one["run_is"] for one in listed(runs)}
    assert kinds == {"processes": "without a folder", "runner": "without a folder"}
    assert all(one["done"] for one in listed(runs, "--remove", "--yes"))
    reap_child(run)
    assert processes_with("738.25") == []


def test_what_an_ended_run_left_is_cleared_and_its_alarm_with_it(runs: Runs) -> None:
    run = runs.start([script_line("submit")])
    run.ended()
    stray = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(739.25)"],
        env={"MLRB_RUN": run.folder.run, "HOME": str(run.folder.work)},
    )
    until(lambda: bool(leftovers.processes_of(runs.home, run.folder.run)), "the stray process runs")
    [found] = listed(runs)
    assert (found["run_is"], found["adoptable"]) == ("ended", False)
    ran = mlrb(runs, "reap", "--adopt", "--yes")
    assert ran.returncode == 6
    assert "--remove" in ran.stdout
    assert listed(runs, "--remove", "--yes")[0]["done"]
    assert stray.wait(10) == -signal.SIGKILL
    assert run.bodies(ev.RunEnded)[0].outcome == "submitted"


def test_leftovers_are_told_of_when_a_run_is_launched(runs: Runs) -> None:
    lost(runs, "740.25")
    ran = mlrb(runs, "run", "probe/number", "--model", "scripted", "--sandbox", "local", "--wait")
    assert "notice: 1 thing is left over of 1 run without a runner: mlrb reap" in ran.stderr
    assert listed(runs, "--remove", "--yes")
    ran = mlrb(runs, "run", "probe/number", "--model", "scripted", "--sandbox", "local", "--wait")
    assert "notice" not in ran.stderr
