"""The head of a run's screen: what run this is, how it stands, what it does now, what was asked of it."""

from collections.abc import Sequence

from agent.record.text import one_line
from agent.record.values import RunSummary, WantedApproval
from mlrb_tui.views import alarms, checklist, pauses, words
from mlrb_tui.views.blocks import Asked
from mlrb_tui.views.control import Steers
from mlrb_tui.views.now import activity, activity_since, ends_in_s
from mlrb_tui.views.questions import answer_keys
from mlrb_tui.views.rows import Row, Span, apart, cells, cut, cut_row, row, width_of

_WEIGHTS = {"kill": 2, "pause": 1}
_NOBODY = Steers()
_GAP, _LEAST_WORDS = 3, 20


def rows(
    summary: RunSummary, now: float, width: int, *, lost: bool, requests: Sequence[Asked], said: str,
    steers: Steers = _NOBODY, past: bool = False,
) -> list[Row]:  # fmt: skip
    """Two rows: who and how it stands; what it does and what waits.

    `said` is the last word to the person. In a moment that is `past` there is nothing to answer or to end by a key.
    """
    doing = _doing(summary, now, width, lost=lost, requests=requests, said=said, past=past)
    return [_identity(summary, width, lost=lost, steers=steers), doing]


def state(summary: RunSummary, *, lost: bool) -> Span:
    """The state in capitals and its tone."""
    if lost:
        return Span("LOST", "state-bad")
    said = words.state(summary).upper()
    if summary.state == "paused":
        return Span(said, "state-pause")
    if summary.state == "ended":
        tones = {"submitted": "state-ok", "limit": "state-warn"}
        return Span(said, tones.get(summary.outcome or "", "state-bad"))
    well = summary.state == "running" and summary.approval is None and not summary.away
    return Span(said, "state-ok" if well else "state-warn")


def _identity(summary: RunSummary, width: int, *, lost: bool, steers: Steers) -> Row:
    """The fullest way to say it that fits; the task outlives the model, the state outlives all."""
    for parts, full in ((4, True), (3, True), (2, True), (2, False), (1, False), (0, False)):
        names = (summary.task, summary.scale, summary.model, summary.sandbox)[:parts]
        about = " · ".join(one_line(name, 40) for name in names if name)
        bare = parts == 4 and summary.sandbox == "local"
        run = Span(one_line(summary.run, 12 if full else 8) or "–", "strong")
        gap = Span("   " if full else "  ")
        standing = (gap, state(summary, lost=lost), gap, *_steps(summary, full=full))
        warning = Span(", isolates nothing" if bare else "", "warn")
        line_left = row(" ", run, Span(f"  {about}" if about else ""), warning, *standing)
        who = steers.full if full else steers.short
        control = [Span(who, "person"), gap] if who else []
        wrong = alarms.badge(alarms.standing(summary), full=full)
        badge = [*wrong, gap] if wrong else []
        line_right = row(*badge, *control, *_helped(summary, full=full), *_spent(summary, full=full), " ")
        if width_of(line_left) + width_of(line_right) + 2 <= width:
            return apart(line_left, line_right, width)
    return cut_row(line_left, width)


def _steps(summary: RunSummary, *, full: bool) -> list[Span]:
    of = " of " if full else "/"
    limit = f"{of}{summary.limits.steps}" if summary.limits.steps is not None else ""
    return [Span("step ", "dim"), Span(str(summary.step), "strong"), Span(limit, "dim")]


def _spent(summary: RunSummary, *, full: bool) -> list[Span]:
    limit = summary.limits.cost_usd
    of = f" of ${limit:g}" if limit is not None and full else ""
    return [Span(words.cost(summary), "strong" if summary.cost_usd else "dim"), Span(of, "dim")]


def _helped(summary: RunSummary, *, full: bool) -> list[Span]:
    count = summary.interventions
    if not count:
        return []
    said = f"◆ helped {'once' if count == 1 else f'{count} times'}" if full else f"◆{count}"
    return [Span(said, "person"), Span("   " if full else "  ")]


def _doing(
    summary: RunSummary, now: float, width: int, *, lost: bool, requests: Sequence[Asked], said: str, past: bool
) -> Row:
    waiting = waiting_for(summary, requests, now)
    right = row(Span(waiting, "person"), " ") if waiting else row(Span(said, "warn"), " ") if said else ()
    if width_of(right) > width * 2 // 3:
        right = cut_row(right, width * 2 // 3)
    left = row(" ", *_now(summary, now, width - width_of(right) - 2, lost=lost, past=past))
    if not right:
        right = _worst(summary, width - width_of(left) - _GAP)
    return cut_row(apart(left, right, width), width)


def _worst(summary: RunSummary, room: int) -> Row:
    """The worst alarm in words, where what the run does leaves room for them."""
    found = alarms.standing(summary)
    if not found or room < _LEAST_WORDS:
        return ()
    return row(Span(cut(f"▲ {one_line(found[0].message)}", room - 1), alarms.tone(found[:1])), " ")


def _now(summary: RunSummary, now: float, width: int, *, lost: bool, past: bool) -> list[Span]:
    if lost:
        why = summary.outcome_detail or "the runner is gone without a word"
        return [Span(f"{one_line(why, 120)}; "), Span("r", "strong"), Span(" takes it up again")]
    if summary.state == "ended":
        after = f" after {words.duration(summary.working_s)} of work" if summary.working_s else ""
        detail = one_line(summary.outcome_detail, 120)
        return [Span(f"ended{after}", "dim"), Span(f": {detail}" if detail else "")]
    if summary.state == "paused" and summary.pause_limit is not None and past:
        return [Span(f"paused: the limit on {summary.pause_limit} was reached", "dim")]
    if summary.state == "paused" and summary.pause_limit is not None:
        return [Span(f"the limit on {summary.pause_limit} is reached; raise it by "), Span("l", "strong"),
                Span(", then "), Span("r", "strong"), Span(" goes on")]  # fmt: skip
    if summary.state == "paused":
        return pauses.holding(summary, now, past=past)
    if summary.away:
        since = f" for {words.duration(now - summary.away_since)}" if summary.away_since is not None else ""
        return [Span(f"out of reach{since}", "warn"), Span(f": {summary.away}; the run waits, no clock runs", "dim")]
    if summary.approval is not None:
        return question(summary.approval, now, past=past)
    what = activity(summary, now) or summary.state
    began_at = activity_since(summary)
    since = f" {words.duration(now - began_at)}" if began_at is not None else ""
    times = [Span(since, "strong"), *_ending(summary, now)]
    return [Span(cut(what, max(8, width - width_of(tuple(times))))), *times]


def question(wanted: WantedApproval, now: float, *, past: bool = False) -> list[Span]:
    """That a call waits for a person, for how long, and the keys that answer."""
    if past:
        return [Span(f"waiting for a person {words.duration(now - wanted.asked_at)}", "dim")]
    return [Span(f"waits for you {words.duration(now - wanted.asked_at)}   ", "warn"), *answer_keys(wanted.rule)]


def _ending(summary: RunSummary, now: float) -> list[Span]:
    """When the command is done by its own account, and whether the run's time will do for that."""
    needs_s, limit_s = ends_in_s(summary, now), summary.limits.time_s
    if needs_s is None:
        return []
    left_s = None if limit_s is None else max(0.0, limit_s - summary.working_s)
    if left_s is None or needs_s <= left_s:
        return [Span(", ends in ", "dim"), Span(words.duration(needs_s), "strong")]
    return [Span(f", ends in {words.duration(needs_s)}: the limit leaves {words.duration(left_s)}", "warn")]


def waiting_for(summary: RunSummary, requests: Sequence[Asked], now: float) -> str:
    """What people asked for that has not happened yet, and why."""
    if not requests:
        return ""
    # What holds the run up is told before what goes on beside it.
    last = max(requests, key=lambda asked: (_WEIGHTS.get(asked.verb, 0), asked.request_id))
    others = f" (+{len(requests) - 1} more)" if len(requests) > 1 else ""
    return _why(last, summary, now) + others


def _why(asked: Asked, summary: RunSummary, now: float) -> str:
    match asked.verb:
        case "pause":
            return pauses.coming(asked, summary, now)
        case "inject":
            after = "the first request after the pause" if summary.state == "paused" else "the next request"
            return "message delivered, no answer yet" if asked.delivered else f"message queued: goes with {after}"
        case "kill":
            return checklist.in_one_line(summary)
        case "approve":
            return "answered: the runner has read it"
        case "score":
            return "scoring a snapshot of the submission"
        case _:
            return f"{words.verb(asked.verb)}: received"


def keys(pairs: Sequence[tuple[str, str]], width: int) -> Row:
    """Keys and what they do on one line, as many as fit."""
    spans: list[Span] = [Span(" ")]
    used = 1
    for key, what in pairs:
        wide = cells(key) + cells(what) + 4
        if used + wide > width:
            break
        spans += [Span(key, "key"), Span(f" {what}   ", "dim")]
        used += wide
    return tuple(spans)
