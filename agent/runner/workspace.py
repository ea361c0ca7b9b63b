"""What the agent starts with: the task's data made, its public part laid beside the starter files."""

import asyncio
import shutil
from pathlib import Path

from agent.errors import RunError
from agent.record.home import Home, RunFolder
from agent.record.request import RunRequest
from agent.record.text import one_line
from agent.runner.processes import run_module
from agent.sandbox.base import SandboxLimits, SandboxPlan
from tasks.prepare import prepared
from tasks.spec import Scale, Task

_GB = 1024**3
_PROTECTED_BYTES = 16 * 1024**2
"""Room for the protected files that are copied out with an artefact."""


def data_folder(folder: RunFolder, task: Task, scale: Scale, seed: int) -> Path:
    """Where the task's data lies: beside all runs of the same home."""
    return prepared(Home(folder.path.parent.parent).data, task.spec.name, scale, seed)


async def prepare_data(folder: RunFolder, task: Task, request: RunRequest) -> Path:
    """Have the data made in a process of its own, where it is not there yet."""
    out = data_folder(folder, task, request.scale, request.seed)
    ended = await run_module(
        "tasks.prepare",
        [task.spec.name, "--scale", request.scale, "--seed", str(request.seed), "--out", str(out)],
    )
    if ended.exit_code != 0:
        said, _, hint = ended.stderr.partition("\nhint: ")
        raise RunError(f"the task's data could not be made: {one_line(said)}", hint=one_line(hint))
    return out


async def lay_out(folder: RunFolder, task: Task, data: Path) -> Path:
    """Starter files and public data in one folder, from which the sandbox copies them."""
    workspace = workspace_of(folder)
    await asyncio.to_thread(_lay_out, workspace, task.starter, data / "public")
    return workspace


def workspace_of(folder: RunFolder) -> Path:
    """Where that folder lies until the sandbox has it."""
    return folder.path / "workspace"


def _lay_out(workspace: Path, starter: Path, public: Path) -> None:
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir(mode=0o700)
    for source in (starter, public):
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(source, workspace, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    workspace.chmod(0o700)


def plan_of(
    folder: RunFolder, task: Task, request: RunRequest, workspace: Path, gpus: tuple[str, ...] = ()
) -> SandboxPlan:
    """What the sandbox is told."""
    compute = task.at(request.scale).compute
    return SandboxPlan(
        run=folder.run,
        workspace=workspace,
        folder=folder.path,
        home=Home(folder.path.parent.parent).mark(),
        image=request.image,
        network=task.spec.network,
        limits=SandboxLimits(
            memory_bytes=int(compute.memory_gb * _GB),
            cpus=compute.cpus,
            processes=compute.processes,
            shm_bytes=int(compute.shm_gb * _GB),
            copy_bytes=task.spec.artefact.max_bytes + _PROTECTED_BYTES,
        ),
        # Without it a script's progress is seen only when it has ended.
        environment=(("PYTHONUNBUFFERED", "1"), *_shown_gpus(request.sandbox, gpus)),
        gpus=gpus,
        read_only=task.spec.protected,
    )


def bare_plan(folder: RunFolder) -> SandboxPlan:
    """Enough to take a sandbox of this run down."""
    home = Home(folder.path.parent.parent).mark()
    return SandboxPlan(run=folder.run, workspace=workspace_of(folder), folder=folder.path, home=home)


def _shown_gpus(sandbox: str, gpus: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """What tells a process tree here which GPUs are its own, if any; a container is shown no others."""
    if sandbox != "local":
        return ()
    return (("CUDA_VISIBLE_DEVICES", ",".join(gpus)), ("NVIDIA_VISIBLE_DEVICES", ",".join(gpus) or "none"))
