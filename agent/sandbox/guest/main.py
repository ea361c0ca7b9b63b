"""Start the guest: as a container's first process, on its standard streams or a socket for root; or beside a host."""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import signal
import socket
from collections.abc import Sequence

from .commands import Setting
from .daemon import Daemon

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def main(arguments: Sequence[str] | None = None) -> None:
    """Run until the sandbox ends."""
    parser = argparse.ArgumentParser(prog="guest")
    parser.add_argument("--workdir", required=True)
    parser.add_argument("--spool-folder", required=True)
    parser.add_argument("--spool-bytes", type=int, required=True)
    parser.add_argument("--memory-bytes", type=int, default=0)
    parser.add_argument("--listen", type=int, default=-1, help="an inherited, listening socket")
    parser.add_argument("--name", default="", help="listen on an abstract socket of that name, to root alone")
    wish = parser.parse_args(arguments)
    contained = wish.listen < 0
    _settle(contained, wish.memory_bytes)
    os.chdir(wish.workdir)
    daemon = Daemon(
        Setting(wish.workdir, wish.spool_folder, wish.spool_bytes, own_group=contained, environment=dict(os.environ))
    )
    if wish.name:
        daemon.serve_socket(_named(wish.name), admitted=0)
    elif contained:
        daemon.serve_stream(0, 1)
    else:
        daemon.serve_socket(socket.socket(fileno=wish.listen))


def _named(name: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{name}")
    listener.listen(4)
    return listener


def _settle(contained: bool, memory_bytes: int) -> None:
    # Orphans come to us and not to the machine's init, so that nothing gets lost.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if contained:
        # The agent's processes have the same user: they may not look into this one or take its streams.
        _prctl(_PR_SET_DUMPABLE, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))


def _prctl(option: int, value: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
