"""The local sandbox: every sandbox's promises, and those of a process tree on this machine."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.errors import SandboxLost, SandboxUnavailable
from agent.sandbox.base import SandboxLimits, SandboxPlan
from agent.sandbox.guest.processes import descendants, look, table
from agent.sandbox.local import LocalSandbox
from tests.process.sandbox_promises import Bench, SandboxPromises, make_plan, stands, until
from tests.process.session_promises import SessionPromises

LIMITS = SandboxLimits(output_bytes=8 * 1024**2, copy_bytes=50 * 1024**2)


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-to-be-seen")
    plan = make_plan(tmp_path, limits=LIMITS)
    sandbox = LocalSandbox(plan)
    await sandbox.start()
    try:
        yield Bench(sandbox, plan)
    finally:
        await sandbox.stop()


class TestLocalKeepsEveryPromise(SandboxPromises, SessionPromises):
    """All that any sandbox promises."""


async def test_local_says_that_it_isolates_nothing(tmp_path: Path) -> None:
    sandbox = LocalSandbox(make_plan(tmp_path))
    started = await sandbox.start()
    await sandbox.stop()
    assert not started.isolates
    assert "isolates nothing" in started.notice


async def test_python_inside_is_this_interpreter_with_its_packages(bench: Bench) -> None:
    _, text = await bench.run("python -c 'import sys, msgspec; print(sys.prefix)'")
    assert text.strip() == sys.prefix


async def test_deep_folder_does_not_break_the_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    sandbox = LocalSandbox(make_plan(deep))
    await sandbox.start()
    assert all(proof.proven for proof in await sandbox.stop())


async def test_memory_limit_fails_the_process_and_not_the_sandbox(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, limits=SandboxLimits(memory_bytes=400 * 1024**2))
    bench = Bench(LocalSandbox(plan), plan)
    await bench.sandbox.start()
    result, text = await bench.run("python -c 'x = bytearray(600_000_000)'")
    assert result.exit_code == 1
    assert "MemoryError" in text
    assert (await bench.run("echo fine"))[1] == "fine\n"
    await bench.sandbox.stop()


async def test_frozen_tree_stands_still_for_the_kernel(bench: Bench) -> None:
    started = bench.begin("sh -c 'while :; do :; done' & echo up; while :; do :; done")
    await started.says("up")
    mine = _busy(bench.plan)
    await bench.sandbox.freeze()
    states = [look(pid) for pid in mine]
    assert [process.state for process in states if process is not None] == ["T"] * len(mine)
    await stands(lambda: [process.cpu_s for pid in mine if (process := look(pid)) is not None])
    await bench.sandbox.thaw()
    await bench.sandbox.interrupt()
    await started.task


def _busy(plan: SandboxPlan) -> list[int]:
    """The processes of the sandbox that burn CPU."""
    mark = f"MLRB_RUN={plan.run}".encode()
    mine = []
    for pid, process in table().items():
        try:
            marked = mark in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if marked and process.state == "R":
            mine.append(pid)
    return mine


async def test_guest_ended_from_outside_is_lost_and_not_a_result(bench: Bench) -> None:
    started = bench.begin("echo $PPID; sleep 999")
    await started.says("\n")
    os.kill(int(started.text), signal.SIGKILL)
    with pytest.raises(SandboxLost):
        await started.task
    [proof] = await bench.sandbox.stop()
    assert proof.proven
    assert not _busy(bench.plan)


async def test_workspace_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    missing = SandboxPlan(plan.run, tmp_path / "nowhere", plan.folder)
    with pytest.raises(SandboxUnavailable):
        await LocalSandbox(missing).start()


async def test_attach_without_a_sandbox_is_lost(tmp_path: Path) -> None:
    with pytest.raises(SandboxLost):
        await LocalSandbox(make_plan(tmp_path)).attach()


_RUNNER = """
import asyncio, sys
from pathlib import Path
from agent.sandbox.base import SandboxPlan
from agent.sandbox.local import LocalSandbox

async def main() -> None:
    plan = SandboxPlan(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    command, frozen = sys.argv[4], sys.argv[5] == "True"
    sandbox = LocalSandbox(plan)
    await sandbox.start()
    speaks = asyncio.Event()
    running = asyncio.create_task(
        sandbox.execute(command, command_id="long", timeout_s=60, on_output=lambda _: speaks.set())
    )
    await speaks.wait()
    if frozen:
        await sandbox.freeze()
    print("so far", flush=True)
    await running

asyncio.run(main())
"""


async def _ran_by_a_runner_that_dies(plan: SandboxPlan, command: str, *, frozen: bool = False) -> None:
    """A command that has begun, and whose runner was killed then."""
    runner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _RUNNER, plan.run, str(plan.workspace), str(plan.folder), command, str(frozen)),
        stdout=subprocess.PIPE,
    )
    assert runner.stdout is not None
    assert await runner.stdout.readline() == b"so far\n"
    runner.kill()
    await runner.wait()


async def test_command_goes_on_when_its_runner_is_killed(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    await _ran_by_a_runner_that_dies(plan, "for i in $(seq 1 40); do echo line $i; sleep 0.05; done")
    sandbox = LocalSandbox(plan)
    try:
        started = await sandbox.attach()
        assert started.running == "long"
        output = bytearray()
        result = await sandbox.follow(command_id="long", offset=5, on_output=output.extend)
        assert output.decode() == "".join(f"line {i}\n" for i in range(1, 41))[5:]
        assert result.exit_code == 0
        with pytest.raises(LookupError):
            await sandbox.follow(command_id="another", offset=0, on_output=output.extend)
    finally:
        proofs = await sandbox.stop()
    assert all(proof.proven for proof in proofs)


async def test_frozen_sandbox_of_a_dead_runner_can_be_taken_up(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    command = "echo up; while [ ! -e go ]; do sleep 0.05; done; echo down"
    await _ran_by_a_runner_that_dies(plan, command, frozen=True)
    again = LocalSandbox(plan)
    try:
        assert (await again.attach()).running == "long"
        await again.write_file("go", b"")
        output = bytearray()
        await again.follow(command_id="long", offset=0, on_output=output.extend)
        assert bytes(output) == b"up\ndown\n"
    finally:
        await again.stop()


async def test_nothing_of_the_sandbox_outlives_its_stop(bench: Bench) -> None:
    started = bench.begin("trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM; while :; do :; done' & echo up; wait")
    await started.says("up")
    guest = [process for process in descendants(os.getpid(), table()) if process.alive]
    await bench.sandbox.stop()
    await until(lambda: not [now for old in guest if (now := look(old.pid)) and now.key == old.key and now.alive])
    with pytest.raises(SandboxLost):
        await started.task
