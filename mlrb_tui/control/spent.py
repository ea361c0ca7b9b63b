"""Limits that are spent as soon as they hold: said before they are set, for they end a run or pause it."""

import time
from collections.abc import Sequence

from agent.record import events as ev
from agent.record.clocks import clocks_at
from agent.record.home import RunFolder
from agent.record.index import of_folder, refreshed
from agent.record.log import EventReader
from agent.record.values import Limits, RunSummary
from mlrb_tui.control.amounts import changed_limits
from mlrb_tui.views import words
from tasks.errors import UsageError

FORCE = "--force"


def wanted_limits(folder: RunFolder, typed: Sequence[str]) -> tuple[Limits, list[str]]:
    """The limits as somebody types them (`time=+1h steps=50`), and which of them are exceeded already.

    Raises `UsageError` for one that is exceeded, but where `--force` is typed with it.
    """
    summary = refreshed(folder, of_folder(folder))
    wanted = changed_limits(summary.limits, [word for word in typed if word != FORCE])
    spent = spent_already(folder, summary, wanted)
    if spent and FORCE not in typed:
        raise UsageError("; ".join(spent), hint=f"if that is meant, say it with {FORCE}")
    return wanted, spent


def spent_already(folder: RunFolder, summary: RunSummary, wanted: Limits) -> list[str]:
    """What the run has spent of the limits that were changed, and what follows, a line each."""
    does = "is paused" if _pauses(folder) else "ends"
    worked_s = clocks_at(summary, time.time()).get("working_s", summary.working_s)
    spent: list[tuple[str, float | None, float | None, float, str]] = [
        ("time", summary.limits.time_s, wanted.time_s, worked_s, f"{words.duration(worked_s)} worked"),
        # A step that is under way is still done, so a limit that it fills is a way to say "after this one".
        ("steps", summary.limits.steps, wanted.steps, max(0, summary.step - 1), f"step {summary.step} is under way"),
        ("cost", summary.limits.cost_usd, wanted.cost_usd, summary.cost_usd, f"{words.cost(summary)} spent"),
        ("tokens", summary.limits.tokens, wanted.tokens, summary.usage.total_tokens,
         f"{words.number(summary.usage.total_tokens)} used"),
    ]  # fmt: skip
    return [
        f"the limit on {name} is already exceeded ({said}): the run {does} by it at once"
        for name, before, limit, used, said in spent
        if limit is not None and limit != before and used >= limit
    ]


def _pauses(folder: RunFolder) -> bool:
    """Whether a limit pauses this run."""
    with EventReader(folder.events) as reader:
        created = [event.body for event in reader.of_kinds(("run_created",), limit=1)]
    return any(isinstance(body, ev.RunCreated) and body.on_limit == "pause" for body in created)
