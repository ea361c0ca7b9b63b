"""What bash and python share: how a command's end is told to the model."""

import math

from agent.sandbox.base import CommandResult
from agent.tools.base import ToolContext, ToolResult

LONGEST_S = 7 * 24 * 3600.0
_KEPT = "files are kept, but folder and variables are as at the start, and nothing runs in the background any more"


async def run_command(context: ToolContext, command: str, timeout_s: float) -> ToolResult:
    """Run a command and tell how it ended, below its output."""
    if not math.isfinite(timeout_s) or timeout_s <= 0:
        return ToolResult(observation="timeout_s must be more than zero", failed=True)
    timeout_s = min(timeout_s, LONGEST_S)
    result, output = await context.command(command, timeout_s=timeout_s)
    said = "\n".join(part for part in (output.rstrip("\n"), _ending(result, timeout_s, context.workdir)) if part)
    return ToolResult(
        observation=said,
        failed=result.exit_code != 0,
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        interrupted=result.interrupted,
        output_bytes=result.output_bytes,
        duration_s=result.duration_s,
        oom_kills=result.oom_kills,
    )


def _ending(result: CommandResult, timeout_s: float, workdir: str) -> str:
    """The line below the output: how it ended, and what is not as one would expect."""
    if result.cut_off:
        how = f"cut off: the sandbox was restarted under it, how far it came is not known; {_KEPT}"
    elif result.interrupted:
        how = f"interrupted by the operator after {result.duration_s:.1f} s"
    elif result.timed_out:
        how = f"timed out after {timeout_s:g} s and was ended; a longer time-out or a background job may help"
    else:
        how = f"exit code {result.exit_code}, {result.duration_s:.1f} s"
    parts = [how]
    if result.afresh:
        parts.append(f"the sandbox was restarted before it ran; {_KEPT}")
    if result.oom_kills:
        killed = "one of its processes" if result.oom_kills == 1 else f"{result.oom_kills} of its processes"
        parts.append(f"out of memory: the sandbox's memory limit was reached, and the kernel ended {killed}")
    if result.left_alive:
        parts.append(f"{result.left_alive} of its processes still run in the background")
    if result.workdir and result.workdir != workdir:
        parts.append(f"now in {result.workdir}")
    return f"[{'; '.join(parts)}]"
