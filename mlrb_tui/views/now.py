"""A summary brought forward to this moment: events come in steps, clocks do not."""

import msgspec

from agent.record.clocks import clocks_at
from agent.record.values import RunSummary


def at_moment(summary: RunSummary, now: float) -> RunSummary:
    """The summary with the time since its last event booked on the clock that runs."""
    return msgspec.structs.replace(summary, **clocks_at(summary, now))
