"""The panels at the right of a run: only those with something to say, in the room that there is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.record.text import one_line
from agent.record.values import Gpu, RunSummary, Score
from mlrb_tui.views import checklist, words
from mlrb_tui.views.charts import bar, curve, spark
from mlrb_tui.views.rows import EMPTY, Row, Span, apart, cells, cut, cut_row, row, width_of
from mlrb_tui.views.scores import figure, verdict
from mlrb_tui.views.series import Readings

_LEAST_PLOT, _MOST_PLOT = 4, 9


@dataclass(frozen=True)
class Panel:
    """A titled box of rows."""

    title: str
    rows: list[Row]


@dataclass(frozen=True)
class Shown:
    """What the panels are drawn from."""

    summary: RunSummary
    """Already brought forward to `now`."""
    readings: Readings
    now: float
    killing: bool = False
    """Somebody asked for the run's end, and it is not there yet."""


Maker = Callable[[Shown, int], Panel | None]


def boxes(shown: Shown, width: int, height: int) -> list[Row]:
    """The panels as rows of exactly `width` columns, at most `height` of them."""
    inner = width - 4
    panels = [panel for make in (_kill, _left, _score, _machine, _rate, _checkpoints) if (panel := make(shown, inner))]
    order = {"kill": -1, "left": 0, "score": 1, "throughput": 3, "checkpoints": 5}
    panels.sort(key=lambda panel: order.get(panel.title, 2))
    used = sum(len(panel.rows) + 2 for panel in panels)
    if (loss := _loss(shown, inner, height - used - 3)) is not None:
        panels.insert(len(panels) - (panels[-1].title == "checkpoints" if panels else 0), loss)
    return _fitted(panels, width, height)


def _fitted(panels: list[Panel], width: int, height: int) -> list[Row]:
    rows: list[Row] = []
    for panel in panels:
        box = _box(panel, width)
        if len(rows) + len(box) > height:
            continue
        rows += box
    return rows


def _box(panel: Panel, width: int) -> list[Row]:
    title = f" {cut(panel.title, width - 6)} "
    top = row(Span("╭─", "frame"), Span(title, "title"), Span("─" * (width - cells(title) - 3) + "╮", "frame"))
    side = Span("│", "frame")
    lines = [(side, Span(" "), *_filled(line, width - 4), Span(" "), side) for line in panel.rows]
    return [top, *lines, row(Span("╰" + "─" * (width - 2) + "╯", "frame"))]


def _filled(line: Row, width: int) -> Row:
    return apart(cut_row(line, width), EMPTY, width)


# ── how it is ended ──────────────────────────────────────────────────────────────────────────────────────


def _kill(shown: Shown, width: int) -> Panel | None:
    if not (shown.killing or shown.summary.proofs):
        return None
    return Panel("kill", [cut_row(line, width) for line in checklist.rows(shown.summary)])


# ── what is left ─────────────────────────────────────────────────────────────────────────────────────────


def _left(shown: Shown, width: int) -> Panel | None:
    rows = [_limit(name, part, said, width) for name, part, said in left(shown.summary)]
    rows += [row(Span(line, "dim")) for line in _lines_of(clocks(shown), width)]
    return Panel("left" if len(rows) > 1 else "used", rows)


def left(summary: RunSummary) -> list[tuple[str, float, str]]:
    """Each limit: its name, the part that is used up, and what is left in words."""
    limits = summary.limits
    used = (
        ("time", summary.working_s, limits.time_s, words.clock),
        ("steps", summary.step, limits.steps, lambda value: f"{value:.0f}"),
        ("cost", summary.cost_usd, limits.cost_usd, lambda value: f"${value:.2f}"),
        ("tokens", summary.usage.total_tokens, limits.tokens, _tokens),
    )
    return [
        (name, spent / limit if limit else 1.0, say(max(0.0, limit - spent)))
        for name, spent, limit, say in used
        if limit is not None
    ]


def _tokens(count: float) -> str:
    return f"{count / 1_000_000:.1f} M" if count >= 1_000_000 else words.number(count)


def _limit(name: str, part: float, said: str, width: int) -> Row:
    tone = "bar" if part < 0.8 else "warn" if part < 0.95 else "bad"
    room = max(4, width - 8 - 10)
    return row(f"{name:<7} ", *bar(part, room, tone), Span(f"{said:>10}", "strong"))


def clocks(shown: Shown) -> list[str]:
    """The three clocks, and what was spent where no limit tells."""
    summary = shown.summary
    parts = [f"worked {words.clock(summary.working_s)}"]
    if summary.paused_s >= 1:
        parts.append(f"paused {words.clock(summary.paused_s)}")
    if summary.approval_s >= 1:
        parts.append(f"asked {words.clock(summary.approval_s)}")
    if summary.waited_s >= 1:
        parts.append(f"waited {words.clock(summary.waited_s)}")
    if summary.gpus and summary.started_at is not None:
        until = summary.ended_at if summary.ended_at is not None else shown.now
        parts.append(f"gpu held {words.clock(until - summary.started_at)}")
    elif summary.limits.cost_usd is None and summary.cost_usd:
        parts.append(f"cost {words.cost(summary)}")
    return parts


def _lines_of(parts: Sequence[str], width: int) -> list[str]:
    """The parts on as few lines as they fit on."""
    lines: list[str] = []
    for part in parts:
        if lines and cells(lines[-1]) + 2 + cells(part) <= width:
            lines[-1] += f"  {part}"
        else:
            lines.append(part)
    return lines


# ── machine ──────────────────────────────────────────────────────────────────────────────────────────────


def _machine(shown: Shown, width: int) -> Panel | None:
    return _gpu(shown, width) if shown.summary.gpus else _host(shown, width)


def _gpu(shown: Shown, width: int) -> Panel | None:
    gpu, *others = shown.summary.gpus
    memory = shown.readings.gpu_memory.get(gpu.index)
    busy = shown.readings.gpu_busy.get(gpu.index)
    total = gpu.memory_total_bytes
    used = "n/a" if gpu.memory_used_bytes is None else words.size(gpu.memory_used_bytes)
    of = f" of {words.size(total)}" if total else ""
    peak = f"peak {words.size(max(memory.values))}" if memory and memory.values else ""
    rows = [apart(row("memory ", Span(used, "strong"), Span(of, "dim")), row(Span(peak, "dim")), width)]
    rows += _sparkline(memory.values if memory else [], width, high=total)
    busy_now = Span(_percent(gpu.utilization_percent), "strong")
    rows.append(cut_row(row("busy   ", busy_now, Span(_heat(gpu), "dim")), width))
    rows += _sparkline(busy.values if busy else [], width, high=100.0)
    rows += [cut_row(row(Span(f"gpu {other.index}  ", "dim"), Span(_one_gpu(other))), width) for other in others[:7]]
    name = one_line(gpu.name, 24)
    return Panel(f"gpu {gpu.index}" + (f" · {name}" if name else ""), rows)


def _one_gpu(gpu: Gpu) -> str:
    used = "n/a" if gpu.memory_used_bytes is None else words.size(gpu.memory_used_bytes)
    return f"{used}  {_percent(gpu.utilization_percent)}{_heat(gpu)}"


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.0f} %"


def _heat(gpu: Gpu) -> str:
    power = f"   {gpu.power_w:.0f} W" if gpu.power_w is not None else ""
    return power + (f"   {gpu.temperature_c:.0f} °C" if gpu.temperature_c is not None else "")


def _host(shown: Shown, width: int) -> Panel | None:
    host = shown.summary.host
    if host is None:
        return None
    cores = f" of {words.count(host.cpu_cores, 'core')}" if host.cpu_cores else ""
    processes = words.count(host.processes, "process", "processes") if host.processes is not None else ""
    busy = row("cpu    ", Span(_percent(host.cpu_percent), "strong"), Span(cores, "dim"))
    rows = [apart(busy, row(Span(processes, "dim")), width)]
    rows += _sparkline(shown.readings.cpu.values, width, high=(host.cpu_cores or 1) * 100)
    used = "n/a" if host.memory_used_bytes is None else words.size(host.memory_used_bytes)
    of = f" of {words.size(host.memory_limit_bytes)}" if host.memory_limit_bytes else ""
    rows.append(cut_row(row("memory ", Span(used, "strong"), Span(of, "dim")), width))
    rows += _sparkline(shown.readings.memory.values, width, high=host.memory_limit_bytes)
    return Panel("host", rows)


def _sparkline(values: Sequence[float], width: int, *, high: float | None = None) -> list[Row]:
    if len(values) < 2:
        return []
    return [row(Span(spark(values, width, low=0.0, high=high), "spark"))]


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────


def _rate(shown: Shown, width: int) -> Panel | None:
    rate = shown.readings.rate
    if rate.last is None:
        return None
    value = row(Span(words.number(rate.last), "strong"), f" {one_line(shown.readings.rate_unit, 16)}")
    return Panel("throughput", [cut_row(value, width), *_sparkline(rate.values, width)])


def _loss(shown: Shown, width: int, room: int) -> Panel | None:
    loss = shown.readings.loss
    diverged = "loss" in shown.readings.diverged
    if (loss.last is None or loss.low is None) and not diverged:
        return None
    evals = [(name, value) for name, value in shown.readings.values.items() if name.startswith("eval_")]
    said = [_last_loss(shown.readings)]
    if loss.low is not None:
        said.append(Span(f"   best {'~' if loss.thinned else ''}{loss.low:.4g}", "dim"))
    more = [Span(f"   {one_line(name, 16).replace('_', ' ')} {value:.4g}", "dim") for name, value in evals[:1]]
    said += more if width_of((*said, *more)) <= width else []
    rows = [cut_row(row(*said), width)]
    height = min(_MOST_PLOT, room)
    if len(loss.values) >= 3 and height >= _LEAST_PLOT:
        rows += _plot(loss.values, width, height)
    else:
        rows += [row(Span(spark(loss.values, width), "spark"))] if len(loss.values) > 1 else []
    return Panel("loss", rows)


def _last_loss(readings: Readings) -> Span:
    """The loss as it was printed last; red where that was no number."""
    if "loss" in readings.diverged:
        return Span(words.NOT_FINITE, "bad")
    return Span(f"{readings.loss.last:.4g}", "strong")


def _plot(values: Sequence[float], width: int, height: int) -> list[Row]:
    low, high = min(values), max(values)
    names = [figure(high)] + [""] * (height - 2) + [figure(low)]
    wide = max(cells(name) for name in names) + 1
    lines = curve(values, width - wide - 1, height, low=low, high=high)
    return [
        row(Span(f"{name:>{wide - 1}} ", "dim"), Span("┤" if name else "│", "faint"), Span(line, "spark"))
        for name, line in zip(names, lines, strict=True)
    ]


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────


def _score(shown: Shown, width: int) -> Panel | None:
    score = shown.summary.final_score or shown.summary.last_score
    return None if score is None else Panel("score", score_rows(score, shown.summary, width))


def score_rows(score: Score, summary: RunSummary, width: int) -> list[Row]:
    """The score with all that qualifies it: split, scale, baseline, whether it is the final one."""
    value = "–" if score.value is None else figure(score.value)
    error = f" ±{score.standard_error:.2g}" if score.standard_error is not None else ""
    named = row(Span(value, "strong"), Span(error, "dim"), f" {one_line(score.metric, 22)}")
    first = apart(named, (verdict(score),), width)
    final = "final · " if score == summary.final_score else ""
    baseline = f"baseline {figure(score.baseline)}" if score.baseline is not None else ""
    better = "lower is better" if score.direction == "minimize" else ""
    # The scale first: what is cut for want of room must never be that.
    where = f"{score.scale} · {final}{'held-out' if score.split == 'test' else 'dev split'}"
    rows = [first, apart(row(Span(where, "dim")), row(Span(baseline, "dim")), width)]
    faults = [f"{violation.rule}: {violation.evidence}" for violation in score.violations]
    faults += [score.error] if score.error else []
    rows += [cut_row(row(Span(f"× {one_line(fault)}", "bad")), width) for fault in faults[:3]]
    caveats = [better, "paper's protocol" if score.protocol == "paper" else ""]
    caveats.append("graded without isolation" if score.isolation == "local" else "")
    said = " · ".join(caveat for caveat in caveats if caveat)
    return rows + ([cut_row(row(Span(said, "dim")), width)] if said else [])


def _checkpoints(shown: Shown, width: int) -> Panel | None:
    found = shown.readings.checkpoints[-3:][::-1]
    if not found:
        return None
    rows = []
    for path, size, at in found:
        about = Span(f"{words.size(size)} {words.duration(shown.now - at) + ' ago':>13}", "dim")
        rows.append(apart(row(_checkpoint_name(path)), row(about), width))
    return Panel("checkpoints", rows)


def _checkpoint_name(path: str) -> str:
    """The folder, where the file in it has the name that every checkpoint's has."""
    folder, _, name = one_line(path, 200).rpartition("/")
    return (
        folder
        if folder and name.startswith(("model.", "pytorch_model", "adapter_model"))
        else f"{folder}/{name}".lstrip("/")
    )


# ── where there is no room for panels ────────────────────────────────────────────────────────────────────


def strip(shown: Shown, width: int) -> Row:
    """The panels in one line: as many as fit whole, the weightiest first."""
    line: list[Span] = []
    for part in _strip_parts(shown):
        gap = [Span("  ·  ", "faint")] if line else []
        if width_of((*line, *gap, *part)) <= width:
            line += [*gap, *part]
    return tuple(line)


def _strip_parts(shown: Shown) -> list[Row]:
    summary, readings = shown.summary, shown.readings
    parts: list[Row] = []
    if (
        time_left := next((said for name, _, said in left(summary) if name == "time"), "")
    ) and summary.state != "ended":
        parts.append(row(Span(time_left, "strong"), Span(" left", "dim")))
    if (score := summary.final_score or summary.last_score) is not None:
        parts.append(row(Span(f"{score.scale} {score.split} ", "dim"), *_score_in_short(score)))
    if readings.loss.last is not None or "loss" in readings.diverged:
        picture = Span(spark(readings.loss.values, 10), "spark")
        parts.append(row(Span("loss ", "dim"), _last_loss(readings), " ", picture))
    if summary.state != "ended":
        parts += _machine_in_short(summary)
    if readings.rate.last is not None:
        parts.append(row(f"{words.number(readings.rate.last)} {one_line(readings.rate_unit, 12)}"))
    return parts


def _score_in_short(score: Score) -> Row:
    """The value where it counts; else what it is instead."""
    if score.value is None or score.untouched:
        return (verdict(score),)
    return row(Span(figure(score.value), "strong"), Span("" if score.valid else " invalid", "bad"))


def _machine_in_short(summary: RunSummary) -> list[Row]:
    if summary.gpus:
        gpu = summary.gpus[0]
        used = "n/a" if gpu.memory_used_bytes is None else words.size(gpu.memory_used_bytes)
        return [row(Span("gpu ", "dim"), f"{used} {_percent(gpu.utilization_percent)}")]
    if summary.host is None:
        return []
    memory = summary.host.memory_used_bytes
    used = "" if memory is None else f" {words.size(memory)}"
    return [row(Span("cpu ", "dim"), _percent(summary.host.cpu_percent) + used)]
