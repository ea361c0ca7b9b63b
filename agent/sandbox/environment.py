"""The variables that a sandbox's commands see: built up from a list, never the runner's own with keys in it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from agent.sandbox.base import SandboxPlan

_PASSED_LOCALLY = (
    "TZ",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
)
"""What describes this machine and holds no secret; a container describes itself."""


def container_environment(plan: SandboxPlan, home: str) -> dict[str, str]:
    """For a container: its image adds its own PATH."""
    return {**_common(plan, home), **dict(plan.environment)}


def local_environment(plan: SandboxPlan, home: str, machine: Mapping[str, str]) -> dict[str, str]:
    """For a process tree here: `python` is the interpreter that runs this, with its packages."""
    binaries = str(Path(sys.executable).parent)
    own = {
        "PATH": os.pathsep.join((binaries, machine.get("PATH", os.defpath))),
        **{name: machine[name] for name in _PASSED_LOCALLY if name in machine},
    }
    if sys.prefix != sys.base_prefix:
        own["VIRTUAL_ENV"] = sys.prefix
    return {**_common(plan, home), **own, **dict(plan.environment)}


def _common(plan: SandboxPlan, home: str) -> dict[str, str]:
    threads = str(max(1, int(plan.limits.cpus)))
    common = {
        "HOME": home,
        "USER": "agent",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "MLRB_RUN": plan.run,
        # Output is watched while it is written, and a pipe would hold it back.
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": threads,
        "TOKENIZERS_PARALLELISM": "false",
    }
    if not plan.network:
        # Libraries that ask the hub first wait long for an answer that cannot come.
        common |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "PIP_NO_INPUT": "1"}
    return common
