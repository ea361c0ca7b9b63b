"""GPU-hours of each command of a run: a pure sum over its events."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from agent.record import events as ev
from agent.record.gpu_time import GpuHours, hours
from agent.record.log import EventReader
from agent.record.summary import fold, preview
from agent.record.text import one_line
from agent.record.values import RunSummary

_COMMAND_CHARACTERS = 80
_KINDS = (
    "run_created", "run_started", "run_placed", "gpu_sampled", "tool_called", "tool_finished", "sandbox_lost", "graded",
    "run_ended",
)  # fmt: skip
"""The kinds of events that the sums hang on."""


class CommandHours(Struct, frozen=True, kw_only=True):
    """One tool call's part of it."""

    call_id: str
    step: int
    command: str
    seconds: float
    gpu_hours: GpuHours


def read_commands(path: Path) -> list[CommandHours]:
    """The tool calls of a log that held a GPU, in order."""
    with EventReader(path) as reader:
        return in_log(reader)


def in_log(reader: EventReader) -> list[CommandHours]:
    """As `read_commands`, of a log that is open."""
    return of_commands(reader.of_kinds(_KINDS))


def of_call(reader: EventReader, called: int, upto: int) -> GpuHours:
    """What the GPUs were held and used for from that event to the other, however long the log is."""
    before, after = reader.summary(called), reader.summary(upto)
    return _between(before, after)


def of_commands(events: Iterable[ev.Event]) -> list[CommandHours]:
    """As `read_commands`, of these events: all of a run's, or those that the sums hang on."""
    found: list[CommandHours] = []
    summary = RunSummary()
    open_calls: dict[str, tuple[ev.ToolCalled, RunSummary]] = {}
    for event in events:
        summary = fold(summary, event)
        match event.body:
            case ev.ToolCalled(call_id=call_id) as body:
                open_calls[call_id] = body, summary
            case ev.ToolFinished(call_id=call_id) if call_id in open_calls:
                called, before = open_calls.pop(call_id)
                if summary.gpu_held_s > before.gpu_held_s:
                    found.append(_command(called, before, summary))
    return found


def _command(called: ev.ToolCalled, before: RunSummary, after: RunSummary) -> CommandHours:
    return CommandHours(
        call_id=called.call_id,
        step=after.step,
        command=one_line(preview(called.summary), _COMMAND_CHARACTERS) or called.tool,
        seconds=round(after.at - before.at, 3),
        gpu_hours=_between(before, after),
    )


def _between(before: RunSummary, after: RunSummary) -> GpuHours:
    held_s, busy_s = after.gpu_held_s - before.gpu_held_s, after.gpu_busy_s - before.gpu_busy_s
    return hours(held_s, busy_s, after.gpu_usd_per_hour)
