"""A no-op command in docker beside `docker exec` of the same, in the same container."""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from agent.sandbox.base import SandboxPlan
from agent.sandbox.choose import docker_answers
from agent.sandbox.docker import DockerSandbox
from agent.sandbox.engine import DEFAULT_IMAGE
from tests.bench.figures import Bar, Figure, figure

REPEAT = 40


def docker_no_op() -> Iterator[Figure]:
    """The bar: at least ten times faster. Nothing is measured where no daemon answers."""
    if not docker_answers():
        print("docker_no_op: no docker daemon answers; not measured")
        return
    taken, reference = asyncio.run(_measured())
    yield figure(
        "docker_no_op",
        taken * 1000,
        "ms",
        reference * 1000,
        Bar(0.1, on="ratio"),
        "reference: docker exec, the same no-op",
    )


async def _measured() -> tuple[float, float]:
    """Both medians in seconds, taken in turns."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        workspace = Path(path) / "workspace"
        workspace.mkdir()
        plan = SandboxPlan(run="bench-no-op", workspace=workspace, folder=Path(path), image=DEFAULT_IMAGE)
        sandbox = DockerSandbox(plan)
        started = await sandbox.start()
        try:
            guest: list[float] = []
            execs: list[float] = []
            for number in range(REPEAT):
                start = time.perf_counter()
                result = await sandbox.execute("true", command_id=f"c{number}", timeout_s=10, on_output=_ignore)
                guest.append(time.perf_counter() - start)
                if result.exit_code != 0:
                    raise RuntimeError(f"the no-op ended with {result.exit_code}")
                start = time.perf_counter()
                await asyncio.to_thread(_docker_exec, started.name)
                execs.append(time.perf_counter() - start)
            return median(guest), median(execs)
        finally:
            await sandbox.stop()


def _docker_exec(name: str) -> None:
    subprocess.run(["docker", "exec", name, "bash", "-c", "true"], check=True)


def _ignore(piece: bytes) -> None:
    """A no-op says nothing."""
