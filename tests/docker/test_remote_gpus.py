"""GPUs over SSH, with a fake `nvidia-smi`, NVIDIA hook and driver, all else real: no two containers share a card, and
each run's are read where they are."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Kill
from tests.docker.gpu_daemon import drive, gpu_daemon
from tests.docker.loopback import NAME, Loopback, loopback
from tests.docker.private_daemon import PrivateDaemon, may_run_daemons
from tests.gpu.fakes import FakeNvml
from tests.process.fake_gpus import FakeGpus
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.test_kill_hung import mlrb

WHERE = f"docker@{NAME}"
TELLS = [bash("echo visible $NVIDIA_VISIBLE_DEVICES; echo 5 > answer.txt"), script_line("submit")]
HOLDS = [bash("until [ -e never ]; do sleep 0.1; done")]
_FORMAT = '{{.TimeNano}} {{.Action}} {{index .Actor.Attributes "mlrb.run"}} {{index .Actor.Attributes "mlrb.gpus"}}'


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateDaemon]:
    """A daemon that takes itself for one with NVIDIA's runtime, as it does where it finds that hook."""
    if not may_run_daemons():
        pytest.skip("this user may not start a dockerd")
    with gpu_daemon(tmp_path_factory.mktemp("hook")) as running:
        yield running


@pytest.fixture
def there(tmp_path: Path, daemon: PrivateDaemon) -> Iterator[Loopback]:
    with loopback(tmp_path / "box", str(daemon.socket)) as machine:
        yield machine


@pytest.fixture
def cards(there: Loopback) -> list[str]:
    """Two of them."""
    return FakeGpus(there.programs).cards(2)


@pytest.fixture
def runs(tmp_path: Path, there: Loopback) -> Iterator[Runs]:
    made = Runs.under(tmp_path)
    there.enter_in(made.home)
    yield made
    made.close()


def test_eight_runs_launched_at_once_are_two_at_a_time_on_two_gpus(
    runs: Runs, daemon: PrivateDaemon, cards: list[str], tmp_path: Path
) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text("".join(TELLS))
    began_at = time.time()
    wish = ("run", "probe/number", "--model", f"scripted:{script}", "--sandbox", WHERE, "--gpus", "1", "--repeat", "8")
    ran = mlrb(runs, *wish)
    assert ran.returncode == 0, ran.stderr
    made = [Run(runs, RunFolder(runs.home.runs / run)) for run in ran.stdout.split()]
    assert len(made) == 8
    for run in made:
        assert run.wait_for(ev.RunEnded).outcome == "submitted"
        [placed] = run.bodies(ev.RunPlaced)
        output = "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput))
        assert output == f"visible {placed.gpus[0]}\n"
    assert any(run.bodies(ev.RunQueued) for run in made)
    span = ("--since", str(int(began_at)), "--until", str(int(time.time()) + 1))
    told = daemon.docker("events", *span, "--filter", "label=mlrb.gpus", "--format", _FORMAT).splitlines()
    using: dict[str, str] = {}
    for _, action, run_id, gpu in sorted(line.split() for line in told):
        if action == "start":
            assert gpu not in using, f"{gpu} is {using[gpu]}'s"
            using[gpu] = run_id
        elif action == "die":
            assert using.pop(gpu) == run_id
    assert {line.split()[3] for line in told} == set(cards)


def test_gpu_that_a_run_of_another_home_has_is_not_given(
    runs: Runs, there: Loopback, daemon: PrivateDaemon, cards: list[str], tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    others = Runs.under(tmp_path / "other")
    there.enter_in(others.home)
    try:
        theirs = others.start(HOLDS, sandbox=WHERE, gpus="1")
        theirs.wait_for(ev.ToolCalled)
        mine = runs.start(HOLDS, sandbox=WHERE, gpus="1")
        assert set(mine.wait_for(ev.RunPlaced).gpus) == set(cards) - set(theirs.wait_for(ev.RunPlaced).gpus)
        mine.wait_for(ev.ToolCalled)
        waits = runs.start(HOLDS, sandbox=WHERE, gpus="1")
        assert waits.wait_for(ev.RunQueued).ahead == 0
        shown = json.loads(mlrb(runs, "hosts", NAME, "--json").stdout)
        holders = {gpu["uuid"]: (gpu["run"], gpu["elsewhere"]) for gpu in shown["gpus"]}
        assert holders == {
            theirs.wait_for(ev.RunPlaced).gpus[0]: (theirs.folder.run, True),
            mine.wait_for(ev.RunPlaced).gpus[0]: (mine.folder.run, False),
        }
        assert [one["run"] for one in shown["waiting"]] == [waits.folder.run]
        assert (shown["reachable"], shown["image"], shown["other_runs"]) == (True, True, 1)
        assert mlrb(runs, "kill", waits.folder.run).returncode == 0
        assert mlrb(runs, "kill", mine.folder.run).returncode == 0
        assert mlrb(others, "kill", theirs.folder.run).returncode == 0
    finally:
        others.close()
    until(lambda: daemon.docker("ps", "--all", "--quiet") == "", "no container is left")


def test_gpus_are_read_by_the_guest_over_there_and_never_from_this_machine(
    runs: Runs, there: Loopback, daemon: PrivateDaemon, cards: list[str], tmp_path: Path
) -> None:
    here = FakeNvml(tmp_path / "here")
    met = tmp_path / "met.txt"
    runs.environment |= {name: here.environment[name] for name in ("LD_LIBRARY_PATH", "FAKE_NVML")}
    runs.environment["FAKE_NVML_MET"] = str(met)
    run = runs.start(HOLDS, sandbox=WHERE, gpus="1,")
    first = run.wait_for(ev.GpuSampled).gpus
    assert run.wait_for(ev.RunPlaced).gpus == (cards[1],)
    # In its container it is the first; which it is on the machine, its UUID says.
    assert [(gpu.index, gpu.uuid, gpu.memory_used_bytes) for gpu in first] == [(0, cards[1], 1024**3)]
    # The machine's numbers of processes mean nothing in a container.
    assert {gpu.own_processes for gpu in first} == {None}
    run.wait_for(ev.ToolCalled)
    [container] = daemon.docker("ps", "--quiet").split()
    drive(daemon, container, count=1, first=1, used_mib=31 * 1024, util=97, pid=4711, pid_mib=30 * 1024)
    busy = run.wait_for(ev.GpuSampled, lambda body: body.gpus[0].utilization_percent == 97.0).gpus[0]
    assert (busy.memory_used_bytes, busy.processes, busy.own_processes) == (31 * 1024**3, 1, None)
    FakeGpus(there.programs).cards(2, used=31 * 1024)
    run.post(Kill())
    waits = run.wait_for(ev.ProofFound, lambda body: body.what == "gpu memory")
    assert (waits.proven, waits.detail) == (False, "waiting: gpu 0 holds 31.0 GB, 1.0 GB before the run")
    FakeGpus(there.programs).cards(2, used=700)
    assert run.ended().outcome == "killed"
    assert run.bodies(ev.ProofFound)[-1] == ev.ProofFound(what="gpu memory", proven=True, detail="as before the run")
    assert run.summary().leftovers == ()
    assert not met.exists()


def test_card_that_falls_off_over_there_alarms_and_a_driver_that_hangs_is_na(
    runs: Runs, daemon: PrivateDaemon, cards: list[str]
) -> None:
    run = runs.start(HOLDS, sandbox=WHERE, gpus="1")
    run.wait_for(ev.GpuSampled)
    [container] = daemon.docker("ps", "--quiet").split()
    drive(daemon, container, count=1, error__Handle=15)
    assert "is lost" in run.wait_for(ev.AlertRaised, lambda body: body.alert == "gpu_trouble").message
    drive(daemon, container, count=1, hang__Memory=1)
    assert mlrb(runs, "kill", run.folder.run).returncode == 0


def test_driver_that_hangs_over_there_is_named_and_the_others_are_shown(runs: Runs, there: Loopback) -> None:
    FakeGpus(there.programs).hang()
    began_at = time.monotonic()
    lines = [json.loads(line) for line in mlrb(runs, "hosts", "--json").stdout.splitlines()]
    assert time.monotonic() - began_at < 28
    by_name = {line["name"]: line for line in lines}
    assert "driver may hang" in by_name[NAME]["gpu_trouble"]
    assert by_name[NAME]["docker"]
    assert by_name["local"]["reachable"]


def test_machine_without_the_nvidia_runtime_says_so(tmp_path: Path) -> None:
    with loopback(tmp_path / "box") as plain:
        FakeGpus(plain.programs).cards(1)
        made = Runs.under(tmp_path)
        plain.enter_in(made.home)
        run = made.start(HOLDS, sandbox=WHERE, gpus="1")
        ended = run.ended()
        assert ended.outcome == "failed"
        assert "nvidia-container-toolkit" in ended.detail
        made.close()
