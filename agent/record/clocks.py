"""Which of a run's clocks runs, and what it shows between two events. Imports little: listings need it."""

from typing import Literal

from agent.record.values import RunSummary

Clock = Literal["working_s", "waited_s", "paused_s", "approval_s"]
"""The clocks of a summary; at most one runs at a time."""

LONGEST_SILENCE_S = 15.0
"""A runner that lives beats every five seconds: what a wall clock says beyond this was added by setting it."""


def clock_of(summary: RunSummary) -> Clock | None:
    """The clock that runs: making data, starting a sandbox and the final scoring are nobody's working time."""
    if summary.state == "paused":
        return "paused_s"
    if summary.state != "running":
        return None
    if summary.approval is not None and not summary.crew.working:
        return "approval_s"
    return "waited_s" if summary.waiting or summary.away else "working_s"


def clocks_at(summary: RunSummary, now: float) -> dict[str, float]:
    """What the clock that runs shows at `now`: events come in steps, clocks do not."""
    clock = clock_of(summary)
    if clock is None or summary.at == 0.0 or now <= summary.at:
        return {}
    return {clock: getattr(summary, clock) + now - summary.at}


def moment_by_wall(at: float, wall: float) -> float:
    """What time it is in a live run's record, whose last event was at `at`; its runner heeds no clock that is set."""
    return min(max(wall, at), at + LONGEST_SILENCE_S)
