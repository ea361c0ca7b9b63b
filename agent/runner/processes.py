"""Processes of our own that the runner starts: data preparation and the grader. Ended with all their children."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent.record.redact import without_secrets

STDERR_TAIL = 2_000
_TERM_GRACE_S = 5.0


@dataclass(frozen=True)
class Ended:
    """How a process ended, and the end of what it printed on stderr."""

    exit_code: int
    stderr: str


async def run_module(module: str, arguments: Sequence[str]) -> Ended:
    """Run `python -m module` to its end; cancelling ends it."""
    async with module_process(module, arguments) as process:
        assert process.stderr is not None
        tail = await read_tail(process.stderr)
        return Ended(await process.wait(), tail)


@asynccontextmanager
async def module_process(
    module: str, arguments: Sequence[str], *, pass_fds: Sequence[int] = ()
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`python -m module` in a session of its own, without our keys; gone with its group when the block is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        start_new_session=True, pass_fds=tuple(pass_fds), env=without_secrets(),
    )  # fmt: skip
    try:
        yield process
    finally:
        await _end(process)


async def read_tail(stream: asyncio.StreamReader) -> str:
    """The end of what a stream says until it closes."""
    tail = b""
    while piece := await stream.read(65536):
        tail = (tail + piece)[-STDERR_TAIL:]
    return tail.decode(errors="replace").strip()


async def _end(process: asyncio.subprocess.Process) -> None:
    """TERM, so that it can clear up after itself, then KILL to the whole group."""
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _TERM_GRACE_S)
    _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
