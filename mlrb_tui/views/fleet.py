"""All runs as a list to look through: what each is in, which ones a filter lets by, and in what order."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from itertools import pairwise
from re import IGNORECASE, compile
from typing import Literal

from agent.record.gpu_time import GpuHours, is_busy, total
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.views import alarms, words
from mlrb_tui.views.rows import Row, Span

Mood = Literal[
    "running", "starting", "scoring", "waiting", "paused", "needs you", "alarm", "done", "unscored", "failed", "lost"
]  # fmt: skip
"""What a run's first glyph says."""


@dataclass(frozen=True)
class FleetRow:
    """One run, with what filtering and sorting need worked out once."""

    summary: RunSummary

    @cached_property
    def mood(self) -> Mood:
        """The run's state as a person would see it."""
        return mood(self.summary)

    @cached_property
    def text(self) -> str:
        """What a free word is looked for in."""
        summary = self.summary
        return " ".join(
            (
                summary.run, summary.task, summary.scale, summary.scaffold, summary.model, summary.sandbox,
                summary.who, words.state(summary), self.mood, summary.now, summary.outcome_detail,
                summary.last_alert,
            )
        ).casefold()  # fmt: skip


def mood(summary: RunSummary) -> Mood:
    """The run's state, with what asks for a person put first."""
    match summary.state:
        case "ended":
            if summary.leftovers:
                return "needs you"
            if summary.outcome == "lost":
                return "lost"
            return _mood_at_the_end(summary)
        case "paused":
            return "paused" if summary.pause_by else "needs you"
        case "queued":
            return "waiting"
        case "starting" | "running" | "scoring":
            if summary.approval is not None:
                return "needs you"
            return "alarm" if summary.last_alert or summary.away else summary.state


def _mood_at_the_end(summary: RunSummary) -> Mood:
    """`done` is a run that came to its end and earned a score."""
    if summary.outcome not in ("submitted", "limit"):
        return "failed"
    score = summary.final_score
    earned = score is not None and score.value is not None and score.valid and not score.untouched
    return "done" if earned else "unscored"


def build_rows(summaries: Iterable[RunSummary], before: dict[str, FleetRow]) -> list[FleetRow]:
    """A row a run; rows of runs that have not changed are kept, with all that was worked out."""
    rows = []
    for summary in summaries:
        known = before.get(summary.run)
        unchanged = known is not None and (known.summary is summary or known.summary == summary)
        rows.append(known if known is not None and unchanged else FleetRow(summary))
    return rows


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class FleetCounts:
    """The header's figures."""

    moods: dict[Mood, int] = field(default_factory=dict)
    ended_today: int = 0
    total: int = 0
    live: int = 0
    spent_usd: float = 0.0
    spent_known: bool = True
    gpus: int = 0
    """Those that live runs hold."""
    gpus_busy: int = 0
    gpu_hours: GpuHours = field(default_factory=GpuHours)


def midnight_before(now: float) -> float:
    """When today began, where this terminal is."""
    return time.mktime((*time.localtime(now)[:3], 0, 0, 0, 0, 0, -1))


def count(rows: Sequence[FleetRow], midnight: float) -> FleetCounts:
    """The figures over these rows; `midnight` is when today began."""
    held = [gpu for row in rows if row.summary.state != "ended" for gpu in row.summary.gpus]
    moods: dict[Mood, int] = {}
    for row in rows:
        moods[row.mood] = moods.get(row.mood, 0) + 1
    return FleetCounts(
        moods=moods,
        ended_today=sum((row.summary.ended_at or 0.0) >= midnight for row in rows),
        total=len(rows),
        live=sum(row.summary.state != "ended" for row in rows),
        spent_usd=sum(row.summary.cost_usd for row in rows),
        spent_known=all(row.summary.cost_known for row in rows),
        gpus=len(held),
        gpus_busy=sum(map(is_busy, held)),
        gpu_hours=total(row.summary for row in rows if row.summary.gpu_held_s),
    )


# ── filter ───────────────────────────────────────────────────────────────────────────────────────────────

FIELDS: dict[str, Callable[[FleetRow], str]] = {
    "state": lambda row: f"{row.summary.state} {row.mood} {words.state(row.summary)}",
    "task": lambda row: row.summary.task,
    "model": lambda row: row.summary.model,
    "run": lambda row: row.summary.run,
    "scale": lambda row: row.summary.scale,
    "where": lambda row: row.summary.sandbox,
    "who": lambda row: row.summary.who,
    "scaffold": lambda row: row.summary.scaffold,
}
"""What can stand before a colon."""


def filtered(rows: Iterable[FleetRow], query: str) -> list[FleetRow]:
    """The rows that every word of the query lets by.

    A word is `field:pattern` (`task:mlrb/*`, `state:paused`) or free text; `-` before it turns it round.
    """
    tests = [_test(word) for word in query.casefold().split()]
    return [row for row in rows if all(test(row) for test in tests)]


def _test(word: str) -> Callable[[FleetRow], bool]:
    wanted = not word.startswith("-") or word == "-"
    bare = word if wanted else word[1:]
    name, colon, pattern = bare.partition(":")
    if not colon or name not in FIELDS:
        return lambda row: (bare in row.text) == wanted
    read = FIELDS[name]
    if not any(sign in pattern for sign in "*?["):
        return lambda row: (pattern in read(row).casefold()) == wanted
    matches = compile(translate(pattern), IGNORECASE).match
    return lambda row: (matches(read(row)) is not None) == wanted


# ── order ────────────────────────────────────────────────────────────────────────────────────────────────

_MOOD_ORDER: dict[Mood, int] = {
    "needs you": 0, "alarm": 0, "paused": 2, "running": 1, "scoring": 1, "starting": 1, "waiting": 3, "lost": 4,
    "failed": 4, "done": 4, "unscored": 4,
}  # fmt: skip


def _by_need(row: FleetRow) -> tuple[object, ...]:
    """What asks for a person first, then what runs, then the youngest of what has ended."""
    summary = row.summary
    return _MOOD_ORDER[row.mood], -(summary.ended_at or summary.created_at)


def _by_score(row: FleetRow) -> tuple[object, ...]:
    """Within a task and scale (scores of others can't be compared), the best valid one first."""
    score = row.summary.final_score or row.summary.last_score
    if score is None or score.value is None or not score.valid:
        return row.summary.task, row.summary.scale, 1, 0.0
    return row.summary.task, row.summary.scale, 0, -score.value if score.direction == "maximize" else score.value


def _by_time_left(row: FleetRow) -> tuple[object, ...]:
    left = words.time_left_s(row.summary, row.summary.at) if row.summary.state != "ended" else None
    return (1, 0.0) if left is None else (0, left)


ORDERS: dict[str, Callable[[FleetRow], tuple[object, ...]]] = {
    "need": _by_need,
    "newest": lambda row: (-row.summary.created_at,),
    "task": lambda row: (row.summary.task, -row.summary.created_at),
    "model": lambda row: (row.summary.model, -row.summary.created_at),
    "score": _by_score,
    "time left": _by_time_left,
    "step": lambda row: (-row.summary.step,),
    "cost": lambda row: (-row.summary.cost_usd,),
}
"""The orders there are, in the sequence that the key goes through them."""


def ordered(rows: Iterable[FleetRow], order: str, *, reverse: bool = False) -> list[FleetRow]:
    """The rows in that order."""
    key = ORDERS[order]
    return sorted(rows, key=lambda row: (key(row), row.summary.run), reverse=reverse)


def id_width(rows: Sequence[FleetRow]) -> int:
    """How many characters tell every run from every other; at least four."""
    ids = sorted(row.summary.run for row in rows)
    width = 4
    for one, other in pairwise(ids):
        while width < len(other) and one[:width] == other[:width]:
            width += 1
    return min(width, 8)


# ── what asks for a look ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Notice:
    """One line of the list beside the preview."""

    mood: Mood
    run: str
    text: str
    tone: str = "muted"
    hint: bool = False
    """What one could do about the line above."""


def notices(rows: Iterable[FleetRow], limit: int) -> list[Notice]:
    """What a person should look at, then what has ended lately."""
    wanted = [row for row in rows if _asks_for_a_look(row) or row.summary.state == "ended"]
    wanted.sort(key=lambda row: (not _asks_for_a_look(row), -(row.summary.ended_at or row.summary.at)))
    found = [notice for row in wanted[:limit] for notice in _notices_of(row)]
    if len(found) > limit:
        found = [notice for notice in found if not notice.hint]
    return found[:limit]


def _asks_for_a_look(row: FleetRow) -> bool:
    return row.mood in ("alarm", "needs you") or bool(alarms.standing(row.summary))


def _notices_of(row: FleetRow) -> Iterable[Notice]:
    """What there is to say of a run, and its alarms, each with what one could do about it."""
    found = alarms.standing(row.summary)
    if not found or row.mood == "needs you":
        tone = {"needs you": "warn", "lost": "bad", "failed": "bad", "alarm": "bad"}.get(row.mood, "muted")
        yield Notice(row.mood, row.summary.run, _noticed(row), tone)
    for alarm in found:
        yield Notice("alarm", row.summary.run, one_line(alarm.message or alarm.alert), alarms.tone((alarm,)))
        if alarm.hint:
            yield Notice("alarm", row.summary.run, one_line(alarm.hint), hint=True)


def _noticed(row: FleetRow) -> str:
    summary = row.summary
    if row.mood == "alarm":
        return f"out of reach: {one_line(summary.away)}"
    if summary.state != "ended" and row.mood == "needs you":
        return wanted(summary)
    if summary.leftovers:
        return "left over: " + one_line("; ".join(summary.leftovers))
    score = summary.final_score or summary.last_score
    said = f", score {words.score(score)} {score.scale}" if score and score.value is not None else ", nothing to score"
    said = ", untouched starter" if score and score.untouched else said
    detail = (
        f": {one_line(summary.outcome_detail)}"
        if summary.outcome_detail and row.mood not in ("done", "unscored")
        else said
    )
    return words.state(summary) + detail


def wanted(summary: RunSummary) -> str:
    """What a live run needs a person for."""
    if summary.approval is not None:
        return f"wants approval: {one_line(summary.approval.summary) or summary.approval.tool}"
    return f"paused: the limit on {summary.pause_limit} is reached"


def waiting(rows: Iterable[FleetRow]) -> list[FleetRow]:
    """The runs whose tool calls wait for a person's word, the one that waits longest first."""
    found = [row for row in rows if row.mood == "needs you" and row.summary.approval is not None]
    return sorted(found, key=lambda row: row.summary.approval.asked_at if row.summary.approval else 0.0)


def notice_line(notice: Notice, signs: dict[Mood, str], id_width: int) -> Row:
    """The notice as a row."""
    if notice.hint:
        return Span(" " * (4 + min(id_width, len(notice.run)))), Span(notice.text, "muted")
    said = "muted" if notice.tone == "muted" else "plain"
    return (
        Span(f"{signs[notice.mood]} ", notice.tone),
        Span(f"{one_line(notice.run[:id_width])}  ", "muted"),
        Span(notice.text, said),
    )
