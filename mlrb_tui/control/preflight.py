"""What a launch needs and can be looked at beforehand, so that no run is begun only to fail at its start."""

from pathlib import Path

from agent.models.scripted import read_script
from agent.record.home import Home
from agent.sandbox.gpu_wish import parse_wish
from agent.sandbox.machines import HERE, machine
from agent.sandbox.on_machine import gpus_of, suiting
from tasks.spec import Task


def check_script(model: str, task: Task) -> None:
    """Raise `ModelUnavailable` where a scripted model's script can't be read; it names file and line."""
    kind, _, path = model.partition(":")
    if kind == "scripted":
        read_script(Path(path) if path else task.baseline_script)


def check_docker(sandbox: str, image: str) -> None:
    """Raise `SandboxUnavailable` where this machine's daemon is asked for and does not answer, or lacks the image."""
    from agent.sandbox.engine import require

    if sandbox == "docker":
        require(image)


def check_gpus(home: Home, sandbox: str, gpus: str) -> None:
    """Raise `SandboxUnavailable` where this machine does not have the GPUs that are asked for."""
    wish = parse_wish(gpus)
    if not wish.wanted or "@" in sandbox:
        return
    here = machine(home, HERE)
    found = gpus_of(here)
    # A driver that hangs is the run's to tell of.
    if not found.trouble:
        suiting(here.name, found.gpus, wish)
