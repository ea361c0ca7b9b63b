"""What a launch needs and can be looked at beforehand, so that no run is begun only to fail at its start."""

from pathlib import Path

from agent.models.scripted import read_script
from agent.record.home import Home
from agent.sandbox.gpu_wish import GpuWish
from agent.sandbox.machines import machine_of
from tasks.spec import Task


def check_script(model: str, task: Task) -> None:
    """Raise `ModelUnavailable` where a scripted model's script can't be read; it names file and line."""
    kind, _, path = model.partition(":")
    if kind == "scripted":
        read_script(Path(path) if path else task.baseline_script)


def check_place(home: Home, sandbox: str, image: str, wish: GpuWish) -> None:
    """Raise `SandboxUnavailable` where a run in that sandbox could not begin.

    It looks at what the run itself will: the machine is reached, its daemon answers and has the image, its GPUs are
    those wished for. Blocks, for some ten seconds at most with each thing that does not answer.
    """
    from agent.sandbox.on_machine import require_place

    if sandbox != "local" or wish.wanted:
        require_place(machine_of(home, sandbox), wish, None if sandbox == "local" else image)
