"""What a launch needs and can be looked at beforehand, so that no run is begun only to fail at its start."""

import csv
import subprocess
from pathlib import Path

from agent.errors import SandboxUnavailable
from agent.models.scripted import read_script
from tasks.spec import Task

_LIST_GPUS = ("nvidia-smi", "--query-gpu=index,uuid,mig.mode.current", "--format=csv,noheader")
_PATIENCE_S = 10.0


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


def check_gpus(sandbox: str, gpus: str) -> None:
    """Raise `SandboxUnavailable` where this machine does not have the GPUs that are asked for."""
    if gpus in ("", "none") or "@" in sandbox:
        return
    there = _gpus_here()
    if there is None:
        return
    named = gpus.split(",") if "," in gpus else []
    if named and (missing := [name for name in named if name.isdigit() and int(name) >= there]):
        wanted = f"GPUs {', '.join(missing)} are" if len(missing) > 1 else f"GPU {missing[0]} is"
    elif not named and gpus.isdigit() and int(gpus) > there:
        wanted = f"{gpus} GPUs are" if int(gpus) > 1 else "1 GPU is"
    else:
        return
    has = f"{there} of them" if there else "none"
    hint = "leave out --gpus, or ask for less"
    raise SandboxUnavailable(f"{wanted} asked for, and this machine has {has}", hint=hint)


def _gpus_here() -> int | None:
    """How many GPUs the driver lists; None where it hangs, or has cut some into slices."""
    try:
        asked = subprocess.run(_LIST_GPUS, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except FileNotFoundError:
        return 0
    except (subprocess.TimeoutExpired, OSError):
        return None
    rows = [row for row in csv.reader(asked.stdout.splitlines(), skipinitialspace=True) if len(row) > 1]
    if any("Enabled" in row for row in rows):
        return None
    return sum(row[1].startswith("GPU-") for row in rows)
