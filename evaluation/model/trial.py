"""Tries something in a copy of this process first, so that a hang, a crash or a flood of memory is only a reason."""

import contextlib
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path

from evaluation.model.words import one_line

SHARE = 0.8
"""Of the memory that is free, what a trial may take."""
NOT_DONE = "not done after"
CRASHED = "it crashed"
_WORDS_BYTES = 4096


def trial(function: Callable[[], object], *, timeout_s: float) -> str:
    """Call it in a fork; why it failed in one line, empty where it did not. What it returns or changes is lost.

    The libraries are loaded already, so this costs little more than the call. In the fork, torch has one thread:
    those of the parent are not copied.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _try(function, writing)
    os.close(writing)
    with open(reading, "rb", buffering=0) as channel:
        said, in_time = _said(channel.fileno(), time.monotonic() + timeout_s)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not in_time:
        return f"{NOT_DONE} {timeout_s:.0f} s"
    if said == b"ok":
        return ""
    return one_line(said.decode(errors="replace")) if said else f"{CRASHED} ({_how(status)})"


def _try(function: Callable[[], object], channel: int) -> None:
    """The fork's side; never returns."""
    answer = b"ok"
    try:
        import torch

        torch.set_num_threads(1)
        _limit_memory()
        # What a library prints on its way to a crash is not the grader's to say.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        function()
    except BaseException as error:  # noqa: BLE001 -- the border of a grader's call; nothing of it may go on in the fork
        answer = one_line(error).encode(errors="replace")[:_WORDS_BYTES]
    finally:
        os.write(channel, answer)
        os._exit(0)


def _said(channel: int, deadline: float) -> tuple[bytes, bool]:
    """What came until the other end was closed, and whether that was in time."""
    said = b""
    while (left_s := deadline - time.monotonic()) > 0:
        if not select.select([channel], [], [], left_s)[0]:
            continue
        piece = os.read(channel, _WORDS_BYTES)
        if not piece:
            return said, True
        said += piece
    return said, False


def _how(status: int) -> str:
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit code {status >> 8}"


def _limit_memory() -> None:
    most = status_bytes("VmData") + int(SHARE * spare_bytes())
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def spare_bytes() -> int:
    """Memory that this process could still take: what the machine has free, or its cgroup allows."""
    spare = _line("/proc/meminfo", "MemAvailable")
    with contextlib.suppress(OSError, ValueError):
        # "max" is no number: then there is no limit.
        most = int(Path("/sys/fs/cgroup/memory.max").read_text())
        spare = min(spare, most - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    return max(0, spare)


def status_bytes(name: str) -> int:
    """A figure of this process, as /proc/self/status names it."""
    return _line("/proc/self/status", name)


def _line(file: str, name: str) -> int:
    for line in Path(file).read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"the kernel does not tell {name}")
