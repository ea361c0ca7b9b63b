"""The fleet's columns: what a cell says, in which tone, and which columns a width has room for."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.record.text import one_line
from agent.record.values import RunSummary, Score
from mlrb_tui.views import alarms, rows, words
from mlrb_tui.views.charts import spark
from mlrb_tui.views.fleet import FleetRow, Mood
from mlrb_tui.views.now import activity, activity_since
from mlrb_tui.views.rows import Row

Tone = Literal["plain", "strong", "muted", "good", "warn", "bad", "info", "accent", "track"]
Span = tuple[str, Tone]
Cell = tuple[Span, ...]

BAR_WIDTH = 8
SPARK_WIDTH = 8
_LEAST_BUSY = 2
_LIVE = ("starting", "running", "scoring", "paused")
NOTHING: Cell = ()


@dataclass(frozen=True)
class Glyphs:
    """The signs that a terminal's font has."""

    moods: dict[Mood, str]
    up: str
    down: str
    none: str
    bar: str
    ramp: dict[int, int]
    """What stands for the eighth blocks of a sparkline."""


UNICODE = Glyphs(
    moods={
        "running": "●", "starting": "◌", "scoring": "◐", "waiting": "○", "paused": "‖", "needs you": "◆",
        "alarm": "▲", "done": "✓", "unscored": "–", "failed": "✗", "lost": "?",
    },
    up="▲", down="▼", none="–", bar="━─", ramp={},
)  # fmt: skip
ASCII = Glyphs(
    moods={
        "running": "*", "starting": ".", "scoring": "%", "waiting": "o", "paused": "=", "needs you": "!",
        "alarm": "^", "done": "v", "unscored": "-", "failed": "x", "lost": "?",
    },
    up="+", down="-", none="-", bar="=.", ramp=str.maketrans("▁▂▃▄▅▆▇█", "_.,-=+*#"),
)  # fmt: skip

MOOD_TONES: dict[Mood, Tone] = {
    "running": "good", "starting": "good", "scoring": "accent", "waiting": "plain", "paused": "info",
    "needs you": "warn", "alarm": "bad", "done": "muted", "unscored": "muted", "failed": "bad", "lost": "bad",
}  # fmt: skip


@dataclass(frozen=True)
class Context:
    """What cells need to know besides their run."""

    now: float
    """This moment, in seconds since the epoch."""
    id_width: int
    glyphs: Glyphs = UNICODE
    narrow: bool = False
    """Whether there is so little room that a task goes without its suite."""
    marked: tuple[str, ...] = ()
    """The runs that are marked for a comparison."""


@dataclass(frozen=True)
class Column:
    """One column; the higher its `rank`, the sooner it makes room."""

    name: str
    title: str
    rank: int
    most: int
    """The widest it gets; the column `now` takes what is left over."""
    cell: Callable[[FleetRow, Context], Cell]
    right: bool = False
    least: int = 1
    keeps_end: bool = False
    """Whether the last span stays whole, if it is short, when the cell is cut."""


def _mark(row: FleetRow, context: Context) -> Cell:
    """The sign that the run has in the comparison."""
    run = row.summary.run
    return ((str(context.marked.index(run) + 1), "accent"),) if run in context.marked else NOTHING


def _mood(row: FleetRow, context: Context) -> Cell:
    return ((context.glyphs.moods[row.mood], MOOD_TONES[row.mood]),)


def _run(row: FleetRow, context: Context) -> Cell:
    return ((one_line(row.summary.run[: context.id_width]), _plain(row)),)


def _task(row: FleetRow, context: Context) -> Cell:
    _suite, _, name = row.summary.task.partition("/")
    return ((one_line(name if context.narrow and name else row.summary.task, 60), _plain(row)),)


def _model(row: FleetRow, _: Context) -> Cell:
    kind, _colon, name = row.summary.model.partition(":")
    return ((one_line(name if kind in ("anthropic", "openai") and name else row.summary.model, 60), _plain(row)),)


def _where(row: FleetRow, _: Context) -> Cell:
    return ((one_line(row.summary.sandbox, 40), "plain" if row.summary.state in _LIVE else "muted"),)


def _step(row: FleetRow, context: Context) -> Cell:
    return ((str(row.summary.step) if row.summary.step else context.glyphs.none, _plain(row)),)


def _now(row: FleetRow, context: Context) -> Cell:
    return (*_wrong(row, context), *_doing(row, context))


def _wrong(row: FleetRow, context: Context) -> Cell:
    """The alarms that stand: of a run with nothing more urgent in words, else how many."""
    found = alarms.standing(row.summary)
    if not found:
        return NOTHING
    tone: Tone = "bad" if alarms.tone(found) == "bad" else "warn"
    if row.mood != "alarm":
        return ((f"{context.glyphs.moods['alarm']}{len(found)} ", tone),)
    many = f"{len(found)} alarms: " if len(found) > 1 else ""
    return ((many + one_line(found[0].message, 60) + "  ", tone),)


def _doing(row: FleetRow, context: Context) -> Cell:
    summary = row.summary
    match summary.state:
        case "ended":
            return _ended(row)
        case "queued":
            return ((activity(summary, context.now), "muted"),)
        case "paused" if summary.pause_limit is not None:
            return ((f"limit {summary.pause_limit} reached", "warn"), *_since(summary.paused_at, context))
        case "paused":
            said = "frozen" if summary.pause == "now" else "paused"
            by = f" by {one_line(summary.pause_by, 16)}" if summary.pause_by else ""
            return ((said + by, "info"), *_since(summary.paused_at, context))
        case _ if summary.approval is not None:
            shown = one_line(summary.approval.summary, 80) or summary.approval.tool
            return (("wants approval  ", "warn"), (shown, "plain"), *_since(summary.approval.asked_at, context))
        case _:
            said = one_line(activity(summary, context.now), 80) or summary.state
            tone: Tone = "warn" if summary.waiting else "accent" if said == "thinking" else "plain"
            if row.mood == "alarm":
                return ((said, "muted"),)
            return ((said, tone), *_since(activity_since(summary), context))


def _ended(row: FleetRow) -> Cell:
    summary = row.summary
    at = time.strftime("%H:%M", time.localtime(summary.ended_at)) if summary.ended_at else ""
    detail = one_line(summary.outcome_detail, 60) if row.mood in ("failed", "lost") else ""
    rest = "  ".join(part for part in (detail, at) if part)
    if row.mood == "needs you":
        return (("left over: " + one_line("; ".join(summary.leftovers), 60), "warn"),)
    return ((words.state(summary), "bad" if row.mood in ("failed", "lost") else "muted"), (f"  {rest}", "muted"))


def _since(at: float | None, context: Context) -> Cell:
    return () if at is None else ((f"  {brief(context.now - at)}", "muted"),)


def _left(row: FleetRow, context: Context) -> Cell:
    tightest = _tightest(row.summary, context.now)
    return NOTHING if tightest is None else ((tightest[1], "warn" if tightest[0] >= 0.9 else "plain"),)


def _bar(row: FleetRow, context: Context) -> Cell:
    tightest = _tightest(row.summary, context.now)
    if tightest is None:
        return NOTHING
    used = min(BAR_WIDTH, math.ceil(tightest[0] * BAR_WIDTH)) if tightest[0] > 0 else 0
    full, empty = context.glyphs.bar[0], context.glyphs.bar[1]
    return (
        (full * used, "warn" if tightest[0] >= 0.9 else "info"),
        (empty * (BAR_WIDTH - used), "track"),
    )


def _tightest(summary: RunSummary, now: float) -> tuple[float, str] | None:
    """The limit that will end the run first, as the share that is used and what is left of it."""
    if summary.state == "ended":
        return None
    limits, found = summary.limits, []
    left_s = words.time_left_s(summary, now)
    if limits.time_s and left_s is not None:
        found.append((1 - left_s / limits.time_s, brief(left_s)))
    if limits.steps:
        found.append((summary.step / limits.steps, f"{max(0, limits.steps - summary.step)} st"))
    if limits.cost_usd:
        found.append((summary.cost_usd / limits.cost_usd, f"${max(0.0, limits.cost_usd - summary.cost_usd):.2f}"))
    if limits.tokens:
        used = summary.usage.total_tokens
        found.append((used / limits.tokens, f"{words.number(max(0, limits.tokens - used))} tk"))
    return max(found, key=lambda pair: pair[0]) if found else None


def _memory(row: FleetRow, _: Context) -> Cell:
    summary = row.summary
    if summary.state not in _LIVE:
        return NOTHING
    if summary.gpus:
        used, total = summary.gpus[0].memory_used_bytes, summary.gpus[0].memory_total_bytes
    elif summary.host is not None:
        used, total = summary.host.memory_used_bytes, summary.host.memory_limit_bytes
    else:
        return NOTHING
    if used is None:
        return (("n/a", "muted"),)
    full = total is not None and used > 0.95 * total
    return ((_gigabytes(used) + (f"/{_gigabytes(total)}" if total else "") + "G", "warn" if full else "plain"),)


def _busy(row: FleetRow, _: Context) -> Cell:
    summary = row.summary
    if summary.state not in _LIVE:
        return NOTHING
    if summary.gpus:
        percent, name = summary.gpus[0].utilization_percent, "gpu"
        more = f"×{len(summary.gpus)}" if len(summary.gpus) > 1 else ""
        name += more
    elif summary.host is not None:
        host, name = summary.host, "cpu"
        percent = None if host.cpu_percent is None else host.cpu_percent / (host.cpu_cores or 1.0)
    else:
        return NOTHING
    return ((f"{name} ", "muted"), ("n/a", "muted") if percent is None else (f"{percent:3.0f}%", "plain"))


def _speed(row: FleetRow, _: Context) -> Cell:
    progress = row.summary.progress
    if progress is None or progress.rate is None or row.summary.state not in _LIVE:
        return NOTHING
    unit = one_line(progress.rate_unit, 12)
    return ((f"{words.number(progress.rate)} {unit}".strip(), "bad" if progress.rate == 0 else "plain"),)


def _loss(row: FleetRow, _: Context) -> Cell:
    if "loss" in row.summary.diverged:
        return ((words.NOT_FINITE, "bad"),)
    tail = row.summary.loss_tail
    return ((f"{tail[-1]:.4g}", "plain"),) if tail else NOTHING


def _spark(row: FleetRow, context: Context) -> Cell:
    """The course of the newest training's loss."""
    line = spark(row.summary.loss_tail, SPARK_WIDTH).translate(context.glyphs.ramp)
    return ((line, "accent" if row.summary.state in _LIVE else "muted"),) if line else NOTHING


def _busy_spark(row: FleetRow, context: Context) -> Cell:
    """How busy the GPUs were in the last minutes, or the cores of a run without a GPU."""
    if row.summary.state not in _LIVE or len(row.summary.busy_tail) < _LEAST_BUSY:
        return NOTHING
    return ((spark(row.summary.busy_tail, SPARK_WIDTH, low=0.0, high=100.0).translate(context.glyphs.ramp), "info"),)


def _score(row: FleetRow, context: Context) -> Cell:
    score = row.summary.final_score or row.summary.last_score
    ended = row.summary.state == "ended"
    if score is None:
        return (("none", "muted"),) if ended else NOTHING
    if score.untouched:
        return (("untouched", "warn"),)
    if score.value is None:
        return (("no score", "bad"),)
    value = f"{score.value:.4g}"
    if not score.valid:
        return ((value, "muted"), (" invalid", "bad"))
    dev: Cell = ((" dev", "muted"),) if score.split == "dev" else ()
    return ((value, "strong"), *_against_baseline(score, context), *dev)


def _against_baseline(score: Score, context: Context) -> Cell:
    if score.baseline is None or score.value is None:
        return ()
    gap = abs(score.value - score.baseline)
    sign = context.glyphs.up if score.value >= score.baseline else context.glyphs.down
    tone: Tone = "good" if score.beats_baseline else "muted" if gap == 0 else "bad"
    return ((f" {sign}{gap:.3g}", tone),)


def _scale(row: FleetRow, _: Context) -> Cell:
    return ((row.summary.scale, "muted" if row.summary.scale == "smoke" else _plain(row)),)


def _cost(row: FleetRow, _: Context) -> Cell:
    return ((words.cost(row.summary), _plain(row)),)


def _plain(row: FleetRow) -> Tone:
    return "muted" if row.summary.state == "ended" else "plain"


COLUMNS = (
    Column("mark", "", 0, 1, _mark),
    Column("mood", "", 0, 1, _mood),
    Column("run", "run", 1, 8, _run),
    Column("task", "task", 2, 28, _task, least=12),
    Column("model", "model", 10, 18, _model, least=8),
    Column("where", "where", 16, 14, _where),
    Column("step", "step", 6, 6, _step, right=True),
    Column("now", "now", 3, 200, _now, keeps_end=True),
    Column("left", "left", 7, 8, _left, right=True),
    Column("bar", "", 12, BAR_WIDTH, _bar),
    Column("memory", "mem", 14, 11, _memory, right=True),
    Column("busy_spark", "", 17, SPARK_WIDTH, _busy_spark),
    Column("busy", "busy", 11, 10, _busy, right=True),
    Column("speed", "speed", 13, 16, _speed, right=True),
    Column("loss", "loss", 9, 7, _loss, right=True),
    Column("spark", "", 15, SPARK_WIDTH, _spark),
    Column("score", "score", 5, 18, _score, right=True),
    Column("scale", "scale", 4, 5, _scale),
    Column("cost", "cost", 8, 9, _cost, right=True),
)
NARROW = 100
_NOW_WHERE_WIDE, _NOW_WHERE_NARROW = 20, 14
_ALWAYS = ("mood", "run", "task", "now", "step", "left", "score", "scale", "cost", "model")


@dataclass(frozen=True)
class Placed:
    """A column at its place."""

    column: Column
    x: int
    width: int


def natural_widths(runs: Sequence[FleetRow], context: Context) -> dict[str, int]:
    """How wide each column is for these rows; 0 where no row says anything in it."""
    widths = {}
    for column in COLUMNS:
        lengths = (sum(rows.cells(text) for text, _ in column.cell(row, context)) for row in runs)
        widest = max(lengths, default=0)
        # A mark may be on a run that is out of sight, and so not among these.
        shown = widest or column.name in _ALWAYS or (column.name == "mark" and context.marked)
        widths[column.name] = min(column.most, max(widest, len(column.title), column.least)) if shown else 0
    return widths


def place(widths: dict[str, int], total: int) -> list[Placed]:
    """The columns that fit, left to right; `now` gives way first, then whole columns go, by their rank."""
    need = dict(widths)
    need["now"] = min(widths["now"], _NOW_WHERE_WIDE if total >= NARROW else _NOW_WHERE_NARROW)
    kept = [column for column in COLUMNS if widths[column.name]]
    while len(kept) > 1 and _taken(kept, need, 1) > total:
        kept.remove(max(kept, key=lambda column: column.rank))
    gap = 2 if _taken(kept, need, 2) <= total else 1
    spare = max(0, total - _taken(kept, need, gap))
    placed, x = [], 0
    for column in kept:
        width = need[column.name] + (spare if column.name == "now" else 0)
        placed.append(Placed(column, x, min(width, max(1, total - x))))
        x += width + gap
    return placed


def _taken(columns: Sequence[Column], need: dict[str, int], gap: int) -> int:
    return sum(need[column.name] + gap for column in columns) - gap


def fitted(cell: Cell, placed: Placed) -> Row:
    """The cell as a row no wider than its column."""
    row = tuple(rows.Span(text, tone) for text, tone in cell)
    end = rows.cells(row[-1].text) if row else 0
    if placed.column.keeps_end and len(row) > 1 and end <= 9 and rows.width_of(row) > placed.width > 2 * end:
        return (*rows.cut_row(row[:-1], placed.width - end), row[-1])
    return rows.cut_row(row, placed.width)


def brief(seconds: float) -> str:
    """A duration in at most six characters: `42 s`, `13 m`, `2h05m`, `3d04h`."""
    whole = max(0, int(seconds))
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if days:
        return f"{days}d{hours % 24:02}h"
    if hours:
        return f"{hours}h{minutes % 60:02}m"
    return f"{minutes} m" if minutes else f"{whole} s"


def _gigabytes(size_bytes: float) -> str:
    value = size_bytes / 1e9
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
