"""Podman's Docker-compatible service does as well, here and over SSH: whole runs, cut, frozen, killed."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent.errors import SandboxUnavailable
from agent.record import events as ev
from agent.record.inbox import Kill, Pause, Resume
from agent.sandbox.base import SandboxLimits
from agent.sandbox.containers import labelled
from agent.sandbox.docker import DockerSandbox
from tests.docker.loopback import NAME, Loopback, loopback
from tests.docker.podman_service import PodmanService, podman_service
from tests.docker.test_remote_run import LINES, WRITES, cut_and_wait, output_of
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.sandbox_promises import Bench, make_plan
from tests.process.test_kill_hung import mlrb

WHERE = f"docker@{NAME}"
COUNTS = bash("echo once >> count.txt; cat count.txt; until [ -e go.txt ]; do sleep 0.05; done; echo 7 > answer.txt")


@pytest.fixture(scope="module")
def service() -> Iterator[PodmanService]:
    with podman_service() as running:
        yield running


@pytest.fixture
def there(tmp_path: Path, service: PodmanService) -> Iterator[Loopback]:
    with loopback(tmp_path / "box", str(service.socket)) as machine:
        yield machine


@pytest.fixture
def runs(tmp_path: Path, there: Loopback, service: PodmanService) -> Iterator[Runs]:
    """Runs that meet Podman here as well, where their submissions are graded."""
    made = Runs.under(tmp_path)
    there.enter_in(made.home)
    made.environment["DOCKER_HOST"] = service.address
    yield made
    made.close()
    assert labelled(daemon=service.socket) == []


@pytest.fixture
async def bench(tmp_path: Path, service: PodmanService) -> AsyncIterator[Bench]:
    plan = make_plan(tmp_path, limits=SandboxLimits(memory_bytes=256 * 1024**2, cpus=1.0, processes=64))
    sandbox = DockerSandbox(plan, service.socket)
    await sandbox.start()
    try:
        yield Bench(sandbox, plan)
    finally:
        proofs = await sandbox.stop()
    assert all(proof.proven for proof in proofs), proofs


def go(run: Run, service: PodmanService) -> None:
    """Let its command end."""
    service.podman("exec", f"mlrb-{run.folder.run}", "touch", "/home/agent/workspace/go.txt")


def test_run_over_ssh_with_three_cut_tunnels_loses_no_byte(runs: Runs, there: Loopback) -> None:
    run = runs.start([WRITES, script_line("validate"), script_line("submit")], sandbox=WHERE)
    for part in (1, 2, 3):
        until(lambda part=part: len(output_of(run)) > part * 4000, "it writes")  # type: ignore[misc]
        cut_and_wait(there)
    assert run.ended().outcome == "submitted", run.said()
    numbers = re.findall(r"^line (\d+) of", output_of(run), re.MULTILINE)
    assert [int(number) for number in numbers] == list(range(1, LINES + 1))
    assert output_of(run).endswith(" ".join(map(str, range(20_000))) + "\n")
    assert [body.score.value for body in run.bodies(ev.Graded)] == [5.0, 5.0]
    assert all(proof.proven for proof in run.bodies(ev.SandboxStopped)[-1].proofs)


def test_frozen_run_is_thawed_after_its_tunnel_was_cut(runs: Runs, there: Loopback, service: PodmanService) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    run.answer_to(run.post(Pause(strength="now")))
    assert [one.state for one in labelled(run.folder.run, service.socket)] == ["paused"]
    cut_and_wait(there)
    run.answer_to(run.post(Resume()))
    go(run, service)
    assert run.ended().outcome == "submitted"
    assert output_of(run) == "once\n"


def test_local_run_through_docker_host_outlives_its_runner(runs: Runs, service: PodmanService) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox="docker")
    until(lambda: "once" in output_of(run), "the command runs")
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    go(run, service)
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    assert output_of(run) == "once\n"
    assert run.bodies(ev.Graded)[-1].score.value == 7.0


def test_kill_over_ssh_is_proven_and_hosts_tells_what_is_there(runs: Runs) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    shown = mlrb(runs, "hosts", NAME)
    assert run.folder.run in mlrb(runs, "hosts", NAME, "--json").stdout
    assert NAME in shown.stdout
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert run.summary().leftovers == ()


async def test_limits_hold_and_the_agent_cannot_speak_to_the_guest(bench: Bench) -> None:
    result, _ = await bench.run("python3 -c 'x = bytearray(600_000_000)'")
    assert result.exit_code == 137
    tries = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0mlrb-guest'); print(s.recv(9))"
    _, text = await bench.run(f'id -u; python3 -c "{tries}"; cat /proc/1/environ')
    assert text.splitlines()[:2] == ["2000", "b''"]
    assert "ermission denied" in text
    host = await bench.sandbox.sample()
    assert host.memory_limit_bytes == 256 * 1024**2


async def test_container_ended_from_outside_is_lost(bench: Bench, service: PodmanService) -> None:
    from agent.errors import SandboxLost

    started = bench.begin("echo up; sleep 999")
    await started.says("up")
    await asyncio.to_thread(service.podman, "kill", f"mlrb-{bench.plan.run}")
    with pytest.raises(SandboxLost):
        await started.task


async def test_gpus_are_refused_and_not_forgotten(tmp_path: Path, service: PodmanService) -> None:
    sandbox = DockerSandbox(make_plan(tmp_path, gpus=("GPU-1",)), service.socket)
    with pytest.raises(SandboxUnavailable, match="gives no GPUs"):
        await sandbox.start()
    assert labelled(daemon=service.socket) == []
