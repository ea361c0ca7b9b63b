"""The Docker daemon that a sandbox is on: this machine's, or another's through a tunnel that is held open meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.record.home import Home
from agent.sandbox.machines import Machine, machine_of
from agent.sandbox.tunnel import OPEN_S, Tunnel


@contextmanager
def daemon_of(home: Home, sandbox: str) -> Iterator[Path | None]:
    """The socket of the daemon that a sandbox of that kind (`docker`, `docker@HOST`) is on; None is this machine's own.

    Raises `SandboxUnavailable` where the machine cannot be reached.
    """
    with daemon_on(machine_of(home, sandbox)) as socket:
        yield socket


@contextmanager
def daemon_on(machine: Machine, *, patience_s: float = OPEN_S) -> Iterator[Path | None]:
    """The same, for a machine that is known."""
    if machine.here:
        yield None
        return
    tunnel = Tunnel(machine)
    tunnel.open(patience_s=patience_s)
    try:
        yield tunnel.socket
    finally:
        tunnel.close()
