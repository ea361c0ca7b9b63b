"""A run at this moment: events come in steps; clocks, and what is said of a run, do not."""

import msgspec

from agent.record.clocks import clocks_at
from agent.record.gpu_time import gpu_time_at
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.views import words


def at_moment(summary: RunSummary, now: float) -> RunSummary:
    """The summary with the time since its last event booked on the clock that runs."""
    return msgspec.structs.replace(summary, **clocks_at(summary, now), **gpu_time_at(summary, now))


def ends_in_s(summary: RunSummary, now: float) -> float | None:
    """Seconds until the running command is done, by its own account; None where it gives none."""
    progress = summary.progress
    if progress is None:
        return None
    told_s = progress.eta_s if progress.command_eta_s is None else progress.command_eta_s
    if told_s is None:
        return None
    return max(0.0, told_s - (now - summary.progress_at if summary.progress_at is not None else 0.0))


def activity(summary: RunSummary, now: float) -> str:
    """What a run does, in a few words; empty where it does nothing or has not said."""
    match summary.state:
        case "ended":
            return ""
        case "queued":
            # It says of itself what it waits for once it has a runner.
            return one_line(summary.now, 120) or "waits to be taken up"
        case "paused" if summary.pause_limit is not None:
            return f"the limit on {summary.pause_limit} is reached"
        case "paused":
            by = f", by {one_line(summary.pause_by, 16)}" if summary.pause_by else ""
            return f"nothing runs{by}" if summary.pause == "now" else f"no model call{by}"
    if summary.away:
        return f"sandbox out of reach: {summary.away}"
    if summary.approval is not None:
        return f"asks: {one_line(summary.approval.summary, 80) or summary.approval.tool}"
    if summary.waiting and summary.retry_at is not None:
        return retrying(summary.retry_at - now)
    return one_line(summary.now, 120)


def activity_since(summary: RunSummary) -> float | None:
    """When it began to do that; None where that is not known, or counts down instead."""
    if summary.state in ("ended", "queued"):
        return None
    if summary.state == "paused":
        return summary.paused_at
    if summary.away:
        return summary.away_since
    if summary.approval is not None:
        return summary.approval.asked_at
    return None if summary.waiting and summary.retry_at is not None else summary.now_since


def retrying(wait_s: float) -> str:
    """That the model is asked again, and when."""
    return f"retrying in {words.duration(wait_s)}" if wait_s >= 1 else "retrying now"


def with_duration(summary: RunSummary, now: float) -> str:
    """What a run does, and for how long."""
    said, since = activity(summary, now), activity_since(summary)
    return f"{said}, for {words.duration(now - since)}" if said and since is not None else said


def what_it_waits_for(summary: RunSummary, now: float) -> str:
    """What has to end before the agent comes to its next step, as a clause."""
    since = activity_since(summary)
    after = f" ({words.duration(now - since)} so far)" if since is not None and now - since >= 1 else ""
    if summary.state in ("queued", "starting"):
        return "the run is starting"
    if summary.state == "scoring":
        return "the submission is being scored"
    if summary.state == "paused":
        return "the run is paused"
    if summary.away:
        return "the sandbox is out of reach"
    if summary.approval is not None:
        return f"a {summary.approval.tool} call waits for a person's word{after}"
    if summary.waiting and summary.retry_at is not None:
        return f"the model is asked again in {words.duration(summary.retry_at - now)}"
    if summary.now == "thinking":
        return f"the model is being asked{after}"
    return f"`{one_line(summary.now, 60)}` runs{after}" if summary.now else "the step is under way"
