"""Which requests make sense for a run as it stands: the keys that a screen offers."""

from agent.record.values import RunSummary

ALL = ("pause", "freeze", "resume", "inject", "interrupt", "score", "limits", "kill")
"""Every request, by the last part of its binding's id."""
_LOST = ("resume", "kill")


def applicable(summary: RunSummary, *, lost: bool = False, pausing: bool = False) -> frozenset[str]:
    """The requests that a runner would not refuse; `pausing` where a pause was asked for and waits."""
    if lost:
        return frozenset(_LOST)
    match summary.state:
        case "ended":
            return frozenset()
        case "queued" | "scoring":
            return frozenset(("kill",))
        case "paused":
            also_frozen = summary.pause == "now"
            return frozenset(ALL) - {"pause", "interrupt"} - ({"freeze"} if also_frozen else set())
        case "starting" | "running":
            left_out = set() if pausing else {"resume"}
            return frozenset(ALL) - left_out - (set() if _commands(summary) else {"interrupt"})


def _commands(summary: RunSummary) -> bool:
    """Whether a command runs, as far as a summary tells."""
    return bool(summary.now) and summary.now not in ("thinking", "starting") and not summary.waiting
