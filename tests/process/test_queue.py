"""Runs that want GPUs come one after another: no two have the same, and the queue is seen, changed and outlived."""

import json
import os
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.inbox import Inject, Kill
from tests.process.fake_gpus import FakeGpus
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.test_kill_hung import mlrb

WAITS = [bash("echo $CUDA_VISIBLE_DEVICES > gpus.txt; until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    made = Runs.under(tmp_path)
    made.environment["DOCKER_HOST"] = f"unix://{tmp_path}/nothing.sock"
    made.environment["PATH"] = f"{tmp_path}/bin:{os.environ['PATH']}"
    yield made
    made.close()


@pytest.fixture
def cards(tmp_path: Path, runs: Runs) -> list[str]:
    """Two GPUs on this machine."""
    return FakeGpus(tmp_path / "bin").cards(2)


def start(runs: Runs, count: int, gpus: str = "1") -> list[Run]:
    """So many runs, each in the queue or at work before the next is started."""
    made = []
    for _ in range(count):
        made.append(runs.start(WAITS, gpus=gpus))
        settled = made[-1]
        until(lambda settled=settled: bool(settled.bodies(ev.RunPlaced) or settled.bodies(ev.RunQueued)), "it settles")  # type: ignore[misc]
    return made


def go(run: Run) -> None:
    """Let its command end."""
    run.wait_for(ev.ToolCalled)
    (run.folder.work / "go.txt").touch()


def given(run: Run) -> str:
    """The GPU that it was given."""
    [gpu] = run.wait_for(ev.RunPlaced).gpus
    return gpu


def queue(runs: Runs) -> list[str]:
    """Who waits, in order."""
    lines = [json.loads(line) for line in mlrb(runs, "queue", "--json").stdout.splitlines()]
    return [one["run"] for line in lines for one in line.get("waiting", [])]


def test_eight_runs_on_two_gpus_work_two_at_a_time(runs: Runs, cards: list[str]) -> None:
    made = start(runs, 8)
    waiting = [run for run in made if not run.bodies(ev.RunPlaced)]
    assert len(waiting) == 6
    assert queue(runs) == [run.folder.run for run in waiting]
    assert {run.summary().state for run in waiting} == {"queued"}
    assert waiting[-1].summary().now == "waits for a GPU on local, 5 ahead"
    for run in made:
        go(run)
    spans = []
    for run in made:
        assert run.ended().outcome == "submitted"
        at = {type(event.body): event.at for event in run.events()}
        spans.append((at[ev.RunPlaced], at[ev.SandboxStopped], given(run)))
        assert (run.folder.work / "gpus.txt").read_text().strip() == given(run)
        assert run.summary().working_s < 30
    for gpu in cards:
        times = sorted((start, end) for start, end, used in spans if used == gpu)
        assert times
        assert all(later >= end for (_, end), (later, _) in pairwise(times))
    assert queue(runs) == []


def test_slices_of_two_cards_are_given_one_by_one(runs: Runs, tmp_path: Path) -> None:
    slices = FakeGpus(tmp_path / "bin").slices(cards=2, each=2)
    made = start(runs, 6)
    assert sorted(given(run) for run in made[:4]) == slices
    waiting = [run.folder.run for run in made[4:]]
    assert queue(runs) == waiting
    listed = {line["run"]: line for line in map(json.loads, mlrb(runs, "ls", "--json").stdout.splitlines())}
    assert {listed[run]["state"] for run in waiting} == {"queued"}
    assert "waits for a GPU on local" in mlrb(runs, "ls").stdout
    shown = json.loads(mlrb(runs, "hosts", "--json").stdout)
    assert {gpu["uuid"]: gpu["run"] for gpu in shown["gpus"]} == {given(run): run.folder.run for run in made[:4]}
    assert [one["run"] for one in shown["waiting"]] == waiting
    for run in made:
        go(run)
    for run in made:
        assert run.ended().outcome == "submitted"
        assert (run.folder.work / "gpus.txt").read_text().strip() == given(run)


def test_waiting_runs_are_moved_and_killed(runs: Runs, cards: list[str]) -> None:
    one, two, third, fourth, fifth = start(runs, 5)
    assert queue(runs) == [run.folder.run for run in (third, fourth, fifth)]
    moved = mlrb(runs, "queue", fifth.folder.run, "1")
    assert moved.returncode == 0, moved.stderr
    assert queue(runs) == [run.folder.run for run in (fifth, third, fourth)]
    assert fifth.wait_for(ev.RunQueued, lambda body: body.ahead == 0).by
    began_at = time.monotonic()
    killed = mlrb(runs, "kill", third.folder.run)
    assert killed.returncode == 0, killed.stderr
    assert time.monotonic() - began_at < 30
    assert third.ended().outcome == "killed"
    assert third.bodies(ev.SandboxStarted) == []
    assert queue(runs) == [run.folder.run for run in (fifth, fourth)]
    go(one)
    assert given(fifth) == given(one)
    assert mlrb(runs, "queue", fifth.folder.run, "1").returncode == 6
    assert fourth.bodies(ev.RunPlaced) == []
    for run in (two, fifth, fourth):
        go(run)
        assert run.ended().outcome == "submitted"


def test_killed_runner_keeps_its_gpu_and_a_waiting_one_its_place(runs: Runs, cards: list[str]) -> None:
    one, two, third, fourth = start(runs, 4)
    message = third.post(Inject(text="hello"))
    third.wait_for(ev.RequestReceived)
    for run in (one, third):
        assert run.process is not None
        run.process.kill()
        run.process.wait()
    # The lost one keeps its place, and holds nobody up; what the other had may still be in use.
    go(two)
    assert given(fourth) == given(two)
    assert queue(runs) == [third.folder.run]
    third.launch("--resume")
    one.launch("--resume")
    go(one)
    assert one.ended().outcome == "submitted"
    assert given(third) == given(one)
    go(third)
    go(fourth)
    assert third.ended().outcome == "submitted"
    assert [body.request_id for body in third.bodies(ev.RequestDelivered)] == [message]
    assert fourth.ended().outcome == "submitted"


def test_gpu_of_a_lost_run_is_free_once_that_is_killed(runs: Runs, cards: list[str]) -> None:
    one, _, third = start(runs, 3)
    assert one.process is not None
    one.process.kill()
    one.process.wait()
    assert mlrb(runs, "kill", one.folder.run).returncode == 0
    assert given(third) == given(one)


def test_runs_over_the_most_that_a_machine_takes_wait_too(runs: Runs) -> None:
    (runs.home.path / "hosts.toml").write_text("[local]\nmax_runs = 1\n")
    one, two = start(runs, 2, gpus="")
    assert two.summary().now == "waits for a place on local, next"
    go(one)
    go(two)
    assert two.ended().outcome == "submitted"


def test_named_gpus_are_those_and_too_many_are_refused_at_once(runs: Runs, cards: list[str]) -> None:
    [named] = start(runs, 1, gpus="1,")
    assert given(named) == cards[1]
    run = runs.start(WAITS, gpus="3")
    assert "has 2 of the 3 GPUs wanted" in run.ended().detail
    named.post(Kill())


def test_driver_that_hangs_ends_the_wish_and_not_the_patience(runs: Runs, tmp_path: Path) -> None:
    FakeGpus(tmp_path / "bin").hang()
    run = runs.start(WAITS, gpus="1")
    assert "driver may hang" in run.ended().detail
    hosts = mlrb(runs, "hosts", "--json")
    assert json.loads(hosts.stdout)["gpu_trouble"]
