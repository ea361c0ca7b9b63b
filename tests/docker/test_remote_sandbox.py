"""A sandbox on a machine reached by SSH: a tunnel that drops costs no byte and no command."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from agent.sandbox.base import SandboxLimits
from agent.sandbox.remote import RemoteDockerSandbox
from tests.docker.loopback import Loopback, loopback
from tests.process.sandbox_promises import Bench, Started, make_plan, until

LIMITS = SandboxLimits(
    memory_bytes=256 * 1024**2, cpus=1.0, processes=64, output_bytes=8 * 1024**2, copy_bytes=50 * 1024**2
)
_FLOOD = "python3 -c 'import random; random.seed(1); [print(random.random()) for _ in range(150_000)]'"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    with loopback(tmp_path_factory.mktemp("there") / "box") as machine:
        yield machine


@pytest.fixture
async def bench(tmp_path: Path, there: Loopback, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-to-be-seen")
    plan = make_plan(tmp_path, limits=LIMITS)
    sandbox = RemoteDockerSandbox(plan, there.machine)
    await sandbox.start()
    try:
        yield Bench(sandbox, plan)
    finally:
        proofs = await sandbox.stop()
    assert all(proof.proven for proof in proofs)


async def test_tunnel_cut_in_the_middle_of_a_flood_costs_no_byte(bench: Bench, there: Loopback) -> None:
    whole = (await bench.run(_FLOOD))[1]
    started = bench.begin(f"{_FLOOD}; sleep 0.2; echo between; sleep 0.2; {_FLOOD}; echo end")
    for number in range(1, 4):
        ups = there.word().ups
        await until(_longer(started, number * len(whole) // 2))
        there.cut()
        await until(_up_again(there, ups))
    result = await started.task
    assert started.output.decode() == f"{whole}between\n{whole}end\n"
    assert result.exit_code == 0


def _longer(started: Started, than: int) -> Callable[[], bool]:
    return lambda: len(started.output) > than


def _up_again(there: Loopback, ups: int) -> Callable[[], bool]:
    return lambda: there.word().ups > ups
