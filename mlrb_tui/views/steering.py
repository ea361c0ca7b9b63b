"""Which requests make sense for a run as it stands: the keys that a screen offers."""

from agent.record.values import PauseStrength, RunSummary

ANSWERS = ("accept", "edit", "reject", "always")
"""A person's words to a tool call that waits for one."""
PAUSE_WORDS: dict[PauseStrength, str] = {"step": "pause", "command": "hold", "now": "freeze"}
"""The three strengths of a pause, as their keys are called."""
_ASKED_ANY_TIME = ("pause", "hold", "freeze", "resume", "inject", "interrupt", "score", "limits", "kill")
ALL = (*_ASKED_ANY_TIME, *ANSWERS)
"""Every request, by the last part of its binding's id."""
ALARMS = "alarms"
"""The key that shows the alarms that stand."""
ONLY_WHERE_OFFERED = frozenset((*ALL, ALARMS))
"""The keys that are shown only where they make sense, by the last part of their bindings' ids."""
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
            return (
                frozenset(_ASKED_ANY_TIME)
                - {"pause", "hold", "interrupt"}
                - ({"freeze", "score"} if also_frozen else set())
            )
        case "starting" | "running":
            left_out = set() if pausing else {"resume"}
            asked = frozenset(_ASKED_ANY_TIME) - left_out - (set() if _commands(summary) else {"interrupt"})
            return asked | _answers(summary)


def _answers(summary: RunSummary) -> frozenset[str]:
    if summary.approval is None:
        return frozenset()
    return frozenset(ANSWERS) - (set() if summary.approval.rule else {"always"})


def _commands(summary: RunSummary) -> bool:
    """Whether a command runs, as far as a summary tells."""
    if summary.crew.at_work:
        return any(worker.doing == "tool" for worker in summary.crew.everyone)
    if summary.approval is not None:
        return False
    return bool(summary.now) and summary.now not in ("thinking", "starting") and not summary.waiting
