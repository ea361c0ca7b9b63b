"""What a run may use, and how much of it is left: pure functions over its summary."""

from agent.record.clocks import clocks_at
from agent.record.values import LimitKind, Limits, RunSummary


def working_s(summary: RunSummary, now: float) -> float:
    """The working clock at `now`: what the summary has booked, and what has passed since its last event."""
    return clocks_at(summary, now).get("working_s", summary.working_s)


def paused_s(summary: RunSummary, now: float) -> float:
    """How long the run has been paused, at `now`."""
    return clocks_at(summary, now).get("paused_s", summary.paused_s)


def exceeded(summary: RunSummary, now: float) -> LimitKind | None:
    """The first limit that is used up, other than steps, which are counted where they begin."""
    limits = summary.limits
    if limits.time_s is not None and working_s(summary, now) >= limits.time_s:
        return "time"
    if limits.cost_usd is not None and summary.cost_usd >= limits.cost_usd:
        return "cost"
    if limits.tokens is not None and summary.usage.total_tokens >= limits.tokens:
        return "tokens"
    return None


def problem(limits: Limits) -> str:
    """Why limits make no sense; empty where they do."""
    given = {
        "time": limits.time_s,
        "steps": limits.steps,
        "cost": limits.cost_usd,
        "tokens": limits.tokens,
    }
    for name, value in given.items():
        # A NaN compares false with everything, so the sound case is the one that is asked for.
        if value is not None and not value >= 0:
            return f"the limit on {name} must be zero or more"
    return ""


def status(summary: RunSummary, now: float) -> str:
    """What is used of each limit, as one line for a prompt."""
    limits = summary.limits
    parts = [_of(f"step {summary.step}", limits.steps, str(limits.steps))]
    used_s = working_s(summary, now)
    if limits.time_s is None:
        parts.append(f"{_minutes(used_s)} used")
    else:
        parts.append(f"{_minutes(max(0.0, limits.time_s - used_s))} of {_minutes(limits.time_s)} left")
    if limits.cost_usd is not None:
        parts.append(f"${summary.cost_usd:.2f} of ${limits.cost_usd:.2f} spent")
    if limits.tokens is not None:
        parts.append(f"{summary.usage.total_tokens:,} of {limits.tokens:,} tokens used")
    return ", ".join(parts)


def shown(limits: Limits) -> str:
    """The limits as one line."""
    parts = []
    if limits.time_s is not None:
        parts.append(f"time {_minutes(limits.time_s)}")
    if limits.steps is not None:
        parts.append(f"steps {limits.steps}")
    if limits.cost_usd is not None:
        parts.append(f"cost ${limits.cost_usd:g}")
    if limits.tokens is not None:
        parts.append(f"tokens {limits.tokens:,}")
    return ", ".join(parts) or "no limits"


def _of(said: str, limit: object | None, limit_said: str) -> str:
    return said if limit is None else f"{said} of {limit_said}"


def _minutes(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
