"""A summary brought forward to this moment: events come in steps, clocks do not."""

import msgspec

from agent.record.values import RunSummary


def at_moment(summary: RunSummary, now: float) -> RunSummary:
    """The summary with the time since its last event booked on the clock that runs."""
    passed = now - summary.at
    if passed <= 0 or summary.at == 0.0 or summary.state in ("queued", "ended"):
        return summary
    if summary.state == "paused":
        return msgspec.structs.replace(summary, paused_s=summary.paused_s + passed)
    if summary.waiting:
        return msgspec.structs.replace(summary, waited_s=summary.waited_s + passed)
    return msgspec.structs.replace(summary, working_s=summary.working_s + passed)
