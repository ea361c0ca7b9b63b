"""A bash that waits for its command, with the working directory, variables and functions of the one before it.

Starting bash and reading its state takes a millisecond or two. That time passes after the last command has ended,
so that the next one starts at once.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass

_KEPT, _STATE, _COMMAND, _GO = 200, 201, 202, 203
"""Descriptors of the waiting bash: high, so that a command's own `exec 3>` does not meet them."""

_BOOT = (
    "echo 500 2>/dev/null >/proc/self/oom_score_adj; "
    f"builtin . /dev/fd/{_STATE} 2>/dev/null; "
    "_mlrb_keep() { "
    "{ builtin set +xveu; } 2>/dev/null; [[ $_mlrb_kept ]] && return; _mlrb_kept=1; "
    '{ builtin printf \'%s\\0builtin cd -- %q\\n\' "$PWD" "$PWD"; builtin declare -px; builtin declare -f; } '
    f">&{_KEPT} 2>/dev/null; }}; "
    f"IFS= builtin read -r -u {_GO} _mlrb_command || builtin exit 125; "
    f"IFS= builtin read -r -d '' -u {_COMMAND} _mlrb_command; "
    f"builtin exec {_STATE}<&- {_COMMAND}<&- {_GO}<&-; "
    "builtin trap _mlrb_keep EXIT; "
    'builtin eval "$_mlrb_command"; '
    "_mlrb_command=$?; _mlrb_keep; builtin exit $_mlrb_command"
)

_MAX_STATE_BYTES = 4 * 1024**2
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1024**2
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Memory:
    """What one command leaves to the next."""

    workdir: str
    script: bytes | None = None
    """Bash code that brings directory, variables and functions back; None before the first command."""


class Shell:
    """One bash, waiting; `run` gives it its command, and then it is used up."""

    def __init__(self, memory: Memory, environment: Mapping[str, str]) -> None:
        self._kept = os.memfd_create("kept")
        state = os.memfd_create("state")
        self._command = os.memfd_create("command")
        go, self._go = os.pipe()
        self.output, into = os.pipe()
        os.set_blocking(self.output, False)
        _widen(self.output)
        os.write(state, memory.script or b"")
        os.lseek(state, 0, os.SEEK_SET)
        nothing = os.open(os.devnull, os.O_RDONLY)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, target)
            for source, target in (
                (nothing, 0), (into, 1), (into, 2),
                (self._kept, _KEPT), (state, _STATE), (self._command, _COMMAND), (go, _GO),
            )
        ]  # fmt: skip
        self.pid = os.posix_spawn(
            _bash(),
            ["bash", "--noprofile", "--norc", "-c", _BOOT, "bash"],
            dict(environment) if memory.script is None else {},
            file_actions=actions,
            setsid=True,
            setsigdef=_DEFAULT_SIGNALS,
        )
        for descriptor in (nothing, into, state, go):
            os.close(descriptor)

    def run(self, command: str) -> None:
        """Let it run `command`."""
        data = command.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(self._command, data) :]
        os.lseek(self._command, 0, os.SEEK_SET)
        try:
            os.write(self._go, b"\n")
        except BrokenPipeError:
            return
        finally:
            os.close(self._command)
            os.close(self._go)

    def memory(self, before: Memory) -> Memory:
        """What it left, once it has ended; where it was killed before it could say, what was before."""
        size = os.fstat(self._kept).st_size
        kept = os.pread(self._kept, size, 0) if size <= _MAX_STATE_BYTES else b""
        os.close(self._kept)
        workdir, found, script = kept.partition(b"\0")
        if not found:
            return before
        return Memory(workdir=os.fsdecode(workdir), script=script)

    def discard(self) -> None:
        """End it unused."""
        for descriptor in (self._command, self._go, self._kept, self.output):
            os.close(descriptor)


def _bash() -> str:
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if os.path.exists(path)), "/usr/local/bin/bash")


def _widen(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:
        # The user's allowance for pipe buffers is used up; the usual 64 KiB do as well.
        return
