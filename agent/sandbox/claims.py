"""GPUs claimed on a machine for all who use its daemon: a container that is never started, named after the card.

The daemon gives a name once, so that of two homes that choose the same card at the same moment one is refused.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from agent.errors import SandboxUnavailable
from agent.sandbox.containers import CLAIM, Container, labelled, labels, remove
from agent.sandbox.daemon_http import ask_daemon, reason

_TRIES = 3


def claim(gpus: Sequence[str], run: str, home: str, image: str, daemon: Path | None) -> str:
    """Claim them for a run; the first that another has, in which case none is claimed. Raises `SandboxUnavailable`."""
    for gpu in gpus:
        if not _claimed(gpu, run, home, image, daemon):
            release(run, home, daemon)
            return gpu
    return ""


def release(run: str, home: str, daemon: Path | None) -> None:
    """Let others have what that run had claimed; raises `SandboxUnavailable`."""
    for container in _claims_of(run, home, daemon):
        remove(container, daemon)


def _claimed(gpu: str, run: str, home: str, image: str, daemon: Path | None) -> bool:
    wish = {
        "Image": image, "Cmd": ["true"], "Labels": labels(run, CLAIM, home, (gpu,)),
        "HostConfig": {"NetworkMode": "none"},
    }  # fmt: skip
    for _ in range(_TRIES):
        status, body = ask_daemon("POST", f"/containers/create?name={quote(_name(gpu))}", daemon, body=wish)
        if status == 201:
            return True
        if status not in (409, 500) or not (holder := _holder(gpu, daemon)):
            if status == 409:
                # It has just gone.
                continue
            raise SandboxUnavailable(f"{gpu} cannot be claimed: {reason(status, body)}")
        if (holder.run, holder.home) == (run, home):
            return True
        if holder.home != home:
            return False
        # By our own ledger nobody here has it: whoever claimed it is gone.
        remove(holder, daemon)
    return False


def _name(gpu: str) -> str:
    return "mlrb-" + gpu.replace("/", ".")


def _holder(gpu: str, daemon: Path | None) -> Container | None:
    return next((one for one in labelled(daemon=daemon) if one.role == CLAIM and gpu in one.gpus), None)


def _claims_of(run: str, home: str, daemon: Path | None) -> Iterator[Container]:
    return (one for one in labelled(run, daemon) if one.role == CLAIM and one.home == home)
