"""The hosts screen under a pilot: what is shown, keys that change a queue, hostile names, and how it looks."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import pytest
from textual.pilot import Pilot

from agent.record.home import Home
from agent.sandbox.gpu_list import ListedGpu
from agent.sandbox.ledger import Held, Ledger, LedgerFile, Waiting
from agent.sandbox.machines import HERE
from agent.sandbox.on_machine import SeenGpu, SeenMachine
from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import Settings
from mlrb_tui.screens.hosts import HostsScreen
from tests.ui.fleet_homes import a_run, home_of
from tests.ui.fleet_pilot import COLOURS, opened, posted, shown, until

HOSTILE = "[/bold]\x1b]0;owned\x07 \u202eevil"
RUNS = ("aaaa0001", "bbbb0002", "cccc0003")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Three runs, of which one works on this machine and two wait; no daemon answers, and no driver."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    empty = tmp_path / "bin"
    empty.mkdir()
    monkeypatch.setenv("PATH", f"{empty}:{os.environ['PATH']}")
    with ExitStack() as alive:
        made = home_of(tmp_path, [a_run(run, "mlrb/baby_lm", "scripted") for run in RUNS], alive)
        with LedgerFile(made, HERE).locked() as file:
            waiting = tuple(Waiting(run=run, gpus=1) for run in RUNS[1:])
            file.ledger = Ledger(held=(Held(run=RUNS[0], gpus=("GPU-1",)),), waiting=waiting)
        yield made


def waiting_in(home: Home) -> list[str]:
    return [one.run for one in LedgerFile(home, HERE).read().waiting]


async def open_hosts(pilot: Pilot[int]) -> None:
    await pilot.press("H")
    await until(pilot, lambda: RUNS[2] in shown(pilot), "the queue")


async def test_waiting_runs_are_moved_and_killed_from_here(home: Home) -> None:
    async with opened(home) as pilot:
        await open_hosts(pilot)
        await pilot.press("pagedown")
        await until(pilot, lambda: "sooner" in shown(pilot), "its keys")
        await pilot.press("u")
        await until(pilot, lambda: waiting_in(home) == [RUNS[2], RUNS[1]], "the other order")
        await until(pilot, lambda: f"1.       {RUNS[2]}" in shown(pilot), "that order is shown")
        await pilot.press("k", "y")
        await until(pilot, lambda: bool(posted(home, RUNS[2])), "the kill of the run that the cursor stayed with")
        await pilot.press("escape")
        await until(pilot, lambda: "hosts" not in shown(pilot), "back to all runs")


async def test_who_may_only_look_changes_no_queue(home: Home) -> None:
    async with opened(home, read_only=True) as pilot:
        await open_hosts(pilot)
        await pilot.press("pagedown", "u", "k")
        await until(pilot, lambda: "read-only" in shown(pilot), "the refusal")
        assert waiting_in(home) == list(RUNS[1:])
        assert posted(home, RUNS[2]) == []


async def test_mistake_in_the_file_is_shown_and_a_name_with_escapes_is_text(home: Home) -> None:
    (home.path / "hosts.toml").write_text("[box]\nmax_run = 1\n")
    async with opened(home) as pilot:
        await pilot.press("H")
        await until(pilot, lambda: "max_run" in shown(pilot), "the mistake")
    app = MlrbApp(home, Settings(theme="mlrb-dark"), environment=COLOURS)
    async with app.run_test(size=(100, 20)) as pilot:
        gpu = SeenGpu(gpu=ListedGpu(uuid="GPU-1", index="0", name=HOSTILE))
        strange = SeenMachine(name="box", reachable=True, labels=(HOSTILE,), gpus=(gpu,), gpu_trouble=HOSTILE)
        await app.push_screen(HostsScreen(home, look=lambda _: [strange]))
        await until(pilot, lambda: "[/bold]" in shown(pilot), "the text")
        assert not {"\x1b", "\x07", "\u202e"} & set(shown(pilot))


@pytest.mark.parametrize("size", [(20, 5), (1, 1), (300, 80)])
async def test_any_size_is_drawn(home: Home, size: tuple[int, int]) -> None:
    async with opened(home) as pilot:
        await open_hosts(pilot)
        await pilot.resize_terminal(*size)
        await pilot.press("down", "pageup")
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: RUNS[2] in shown(pilot), "the queue again")


def believable(_: Home) -> list[SeenMachine]:
    gb = 10**9
    name = "NVIDIA A100-SXM4-40GB"
    cards = [
        ListedGpu(uuid=f"GPU-{index}", index=str(index), name=name, memory_used_bytes=used * gb,
                  memory_total_bytes=40 * gb, utilization_percent=busy)
        for index, used, busy in ((0, 31, 97.0), (1, 12, 64.0), (2, 0, 0.0))
    ]  # fmt: skip
    mig = ListedGpu(uuid="MIG-1", index="3:0", name=f"{name} 3g.20gb", memory_total_bytes=20 * gb)
    seen = (
        SeenGpu(gpu=cards[0], run=RUNS[0]), SeenGpu(gpu=cards[1], run="99990000", elsewhere=True),
        SeenGpu(gpu=cards[2]), SeenGpu(gpu=mig, usable=False),
    )  # fmt: skip
    waiting = (Waiting(run=RUNS[1], gpus=2, moved_by="ann"), Waiting(run=RUNS[2], gpus=1))
    return [
        SeenMachine(name=HERE, reachable=True, docker="27.3.1", image=True, runs=("dddd0004",)),
        SeenMachine(
            name="gpu-box", target="gpu-box", reachable=True, docker="27.3.1", image=True, gpus=seen, runs=RUNS[:1],
            other_runs=1, waiting=waiting, max_runs=4, labels=("a100", "lab"), cost_per_hour=1.5,
        ),
        SeenMachine(name="old-box", reachable=True, docker="20.10.24", trouble="there is no image mlrb:latest",
                    hint="mlrb image build --host old-box", gpu_trouble="nvidia-smi has not answered for 10 s"),
        SeenMachine(name="attic", trouble="the host key of 'attic' is not the one that is known",
                    hint="ask whoever runs it why; if it is right: ssh-keygen -R attic, then ssh attic true"),
    ]  # fmt: skip


@pytest.mark.parametrize("size", [(80, 24), (160, 48), (200, 60)], ids=["80x24", "160x48", "200x60"])
@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
def test_hosts_screen_looks_as_it_should(
    snap_compare: Callable[..., bool], home: Home, size: tuple[int, int], theme: Literal["mlrb-dark", "mlrb-light"]
) -> None:
    app = MlrbApp(home, Settings(theme=theme), environment=COLOURS)

    async def act(pilot: Pilot[int]) -> None:
        await pilot.app.push_screen(HostsScreen(home, look=believable))
        await until(pilot, lambda: "gpu-box" in shown(pilot), "the machines")
        await pilot.press(*("down",) * 8)
        await pilot.wait_for_scheduled_animations()

    assert snap_compare(app, terminal_size=size, run_before=act)
