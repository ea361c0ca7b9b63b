"""A no-op command in a container reached by SSH beside the same in a local one; sshd on loopback is the machine."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from agent.sandbox.base import Sandbox, SandboxPlan
from agent.sandbox.choose import docker_answers
from agent.sandbox.docker import DockerSandbox
from agent.sandbox.machines import Machine
from agent.sandbox.remote import RemoteDockerSandbox
from tests.bench.figures import Bar, Figure, figure
from tests.docker.loopback import SSHD, loopback

REPEAT = 60


def remote_no_op() -> Iterator[Figure]:
    """The bar: at most three times a local one. Nothing is measured without a daemon and an SSH server."""
    if not docker_answers() or SSHD is None or os.geteuid() != 0:
        print("remote_no_op: no docker daemon, or no sshd that we may start; not measured")
        return
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path, loopback(Path(path) / "box") as there:
        far, near = asyncio.run(_measured(Path(path), there.machine))
    yield figure(
        "remote_no_op", far * 1000, "ms", near * 1000, Bar(3.0, on="ratio"), "reference: a local docker command"
    )


async def _measured(folder: Path, machine: Machine) -> tuple[float, float]:
    """Both medians in seconds, taken in turns."""
    sandboxes: list[Sandbox] = [
        RemoteDockerSandbox(_plan(folder, "bench-far"), machine), DockerSandbox(_plan(folder, "bench-near")),
    ]  # fmt: skip
    try:
        for sandbox in sandboxes:
            await sandbox.start()
        taken: list[list[float]] = [[], []]
        for number in range(REPEAT):
            for times, sandbox in zip(taken, sandboxes, strict=True):
                began_at = time.perf_counter()
                await sandbox.execute("true", command_id=f"c{number}", timeout_s=10, on_output=lambda piece: None)
                times.append(time.perf_counter() - began_at)
        return median(taken[0]), median(taken[1])
    finally:
        for sandbox in sandboxes:
            await sandbox.stop()


def _plan(folder: Path, run: str) -> SandboxPlan:
    workspace = folder / run
    workspace.mkdir()
    return SandboxPlan(run=run, workspace=workspace, folder=folder)
