"""Runs the `mlrb` command as people do, one process each; all that it says on stderr is kept."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PATIENCE_S = 330.0
"""More than any command waits by itself."""


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Commands:
    """Where commands run: their environment, and the file that keeps what they complain of."""

    environment: Mapping[str, str]
    complaints: Path

    async def mlrb(self, *arguments: str) -> Said:
        """Run `mlrb` with these arguments; raises `RuntimeError` where it does not end."""
        return await self.run([sys.executable, "-m", "mlrb_tui.cli", *arguments])

    async def run(self, command: Sequence[str]) -> Said:
        """Run any command in that environment."""
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env={**os.environ, **self.environment}, start_new_session=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(_PATIENCE_S):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise RuntimeError(f"{' '.join(command)} does not end") from error
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        said = Said(process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))
        with self.complaints.open("a") as file:
            file.write(f"$ {' '.join(command[2:])}  [{said.code}]\n{said.err}")
        return said
