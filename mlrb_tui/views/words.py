"""Values in words: states, durations, sizes, scores, as every screen and command says them."""

import time

from agent.record.clocks import clocks_at, moment_by_wall
from agent.record.gpu_time import GpuHours, of_run
from agent.record.text import one_line
from agent.record.values import Crew, Limits, RunSummary, Score

_BYTES = ("B", "kB", "MB", "GB", "TB")


NOT_FINITE = "nan/inf"
"""A value that was printed and is no number."""


def duration(seconds: float) -> str:
    """`42 s`, `3 m 20 s`, `2 h 05 m`, `3 d 4 h`."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days:
        return f"{days} d {hours_left} h"
    if hours:
        return f"{hours} h {minutes_left:02} m"
    return f"{minutes} m {rest:02} s" if minutes else f"{whole} s"


def verb(name: str) -> str:
    """A request's verb as a person says it: `approve mode`, `edit message`."""
    return one_line(name.replace("_", " "), 20)


def count(number: float, one: str, many: str = "") -> str:
    """`1 core`, `1.5 cores`, `2 processes`."""
    return f"{number:g} {one if number == 1 else many or one + 's'}"


def clock(seconds: float) -> str:
    """`2:11:08` or `4:07`."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def size(size_bytes: float) -> str:
    """`66.4 MB`; powers of 1,000."""
    value = float(size_bytes)
    for unit in _BYTES:
        if value < 1000 or unit == _BYTES[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable: the last unit takes all")


def number(value: float) -> str:
    """A figure with four digits that matter, and thousands as k or M."""
    if abs(value) >= 1_000_000:
        return f"{value / 1_000_000:.1f} M"
    if abs(value) >= 10_000:
        return f"{value / 1_000:.1f} k"
    return f"{value:,.0f}" if value == int(value) and abs(value) >= 100 else f"{value:.4g}"


def state(summary: RunSummary) -> str:
    """The state in a word or two; an ended run's outcome."""
    if summary.state == "ended":
        limit = f" {summary.outcome_limit}" if summary.outcome_limit else ""
        return f"{summary.outcome or 'ended'}{limit}"
    if summary.state == "paused":
        return "frozen" if summary.pause == "now" else "paused"
    if summary.away:
        return "daemon lost"
    if summary.approval is not None:
        return "wants approval"
    return summary.state


def score(found: Score | None) -> str:
    """A score with what qualifies it; never a bare number where it is not a valid final one."""
    if found is None:
        return ""
    if found.untouched:
        return "untouched starter"
    if found.value is None:
        return "no score"
    said = f"{found.value:.4g}"
    if not found.valid:
        return f"{said} invalid"
    return said if found.split == "test" else f"{said} dev"


def cost(summary: RunSummary) -> str:
    """Dollars; with `≥` where a call's price is not known."""
    return f"{'' if summary.cost_known else '≥'}${summary.cost_usd:.2f}"


def time_left_s(summary: RunSummary, now: float | None = None) -> float | None:
    """Seconds of working time left; None without a limit. `now` defaults to this moment for a run that works."""
    if summary.limits.time_s is None:
        return None
    moment = moment_by_wall(summary.at, time.time() if now is None else now)
    used_s = clocks_at(summary, moment).get("working_s", summary.working_s)
    return max(0.0, summary.limits.time_s - used_s)


def left(summary: RunSummary) -> str:
    """The time left, or nothing where the run has ended."""
    seconds = time_left_s(summary)
    return "" if seconds is None or summary.state == "ended" else clock(seconds)


def limits(found: Limits) -> str:
    """The limits as one would type them."""
    parts = {
        "time": None if found.time_s is None else duration(found.time_s),
        "steps": found.steps,
        "cost": None if found.cost_usd is None else f"${found.cost_usd:g}",
        "tokens": None if found.tokens is None else number(found.tokens),
    }
    return " · ".join(f"{name} {value}" for name, value in parts.items() if value is not None) or "none"


def used(summary: RunSummary) -> dict[str, float | int]:
    """What is used of each limit, under the limits' own names."""
    return {
        "time_s": round(summary.working_s, 3),
        "steps": summary.step,
        "cost_usd": round(summary.cost_usd, 6),
        "tokens": summary.usage.total_tokens,
    }


def limits_and_use(summary: RunSummary) -> dict[str, str]:
    """Each limit by its name on the command line, and how much of it is used."""
    limits = summary.limits
    return {
        "time": _of(duration(summary.working_s), None if limits.time_s is None else duration(limits.time_s)),
        "steps": _of(str(summary.step), None if limits.steps is None else str(limits.steps)),
        "cost": _of(cost(summary), None if limits.cost_usd is None else f"${limits.cost_usd:g}"),
        "tokens": _of(number(summary.usage.total_tokens), None if limits.tokens is None else number(limits.tokens)),
    }


def _of(used_so_far: str, limit: str | None) -> str:
    return f"{used_so_far}, no limit" if limit is None else f"{used_so_far} of {limit}"


def described(summary: RunSummary, doing: str) -> dict[str, str]:
    """A run as names and values, for a person; `doing` is what it does now."""
    final = summary.final_score or summary.last_score
    return {
        "run": summary.run,
        "task": f"{summary.task} · {summary.scale}",
        "agent": f"{summary.scaffold} · {summary.model} · {summary.sandbox}",
        "state": state(summary) + (f": {one_line(summary.outcome_detail)}" if summary.outcome_detail else ""),
        "now": doing,
        **crew(summary.crew),
        "steps": str(summary.step),
        "limits": limits(summary.limits),
        "worked": duration(summary.working_s),
        "paused": duration(summary.paused_s) if summary.paused_s else "",
        "approve": approving(summary),
        "asked": duration(summary.approval_s) if summary.approval_s >= 1 else "",
        "waited": duration(summary.waited_s) if summary.waited_s else "",
        "tokens": number(summary.usage.total_tokens),
        "cost": cost(summary),
        "gpu": gpu_hours(of_run(summary)),
        "score": score_in_full(final),
        "people": count(summary.interventions, "intervention") if summary.interventions else "",
        "errors": str(summary.errors) if summary.errors else "",
        "leftovers": "; ".join(summary.leftovers),
    } | _alarms(summary)


def _alarms(summary: RunSummary) -> dict[str, str]:
    """What stands, each with what one could do about it, the newest first."""
    said = [" · ".join(part for part in (each.message, each.hint) if part) for each in summary.standing[::-1]]
    return {f"alarm {number}" if len(said) > 1 else "alarm": one for number, one in enumerate(said, 1)}


def crew(found: Crew) -> dict[str, str]:
    """The plan and its workers, where there are any."""
    if not found.plans:
        return {}
    steps = "; ".join(f"{one_line(step.name, 40)} {step.state}" for step in found.steps)
    workers = [f"{len(found.at_work)} at work", f"{found.started} started"]
    changed = f", changed {count(found.plans - 1, 'time')}" if found.plans > 1 else ""
    return {
        "plan": f"{found.done} of {count(len(found.steps), 'step')} done{changed}: {steps}",
        "workers": ", ".join(workers),
    }


def gpu_hours(found: GpuHours) -> str:
    """What was reserved, used and left idle; empty where no GPU was held."""
    if not found.reserved:
        return ""
    said = f"{found.reserved:.3g} GPU-h reserved, {found.busy:.3g} busy, {found.idle:.3g} idle"
    return said if found.cost_usd is None else f"{said}, ${found.cost_usd:.2f}"


def gpu_time(found: GpuHours) -> str:
    """As `gpu_hours`, for what takes less than hours."""
    if not found.reserved:
        return ""
    parts = (("reserved", found.reserved), ("busy", found.busy), ("idle", found.idle))
    said = "GPU time " + ", ".join(f"{name} {duration(round(hours * 3600))}" for name, hours in parts)
    return said if found.cost_usd is None else f"{said}, ${found.cost_usd:.2f}"


def approving(summary: RunSummary) -> str:
    """Whether calls wait for a person, and which one does now."""
    if summary.approval is None:
        return "on" if summary.approve and summary.state != "ended" else ""
    return f"{summary.approval.tool} {one_line(summary.approval.summary, 100)} waits: mlrb approve {summary.run[:4]}"


def score_in_full(found: Score | None) -> str:
    """A score with its metric, split, scale, baseline and what speaks against it."""
    if found is None:
        return ""
    parts = [f"{one_line(found.metric, 40)} {score(found)}", f"{found.split} · {found.scale}"]
    if found.baseline is not None:
        parts.append(f"baseline {found.baseline:.4g}")
    parts += [f"{violation.rule}: {one_line(violation.evidence, 80)}" for violation in found.violations]
    parts += [one_line(found.error)] if found.error else []
    return " · ".join(parts)
