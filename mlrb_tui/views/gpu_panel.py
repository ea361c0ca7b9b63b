"""The GPU panel: one GPU with its past, several in a line each; what is not told is n/a."""

from collections.abc import Sequence

from agent.record.gpu_time import is_busy
from agent.record.text import one_line
from agent.record.values import Gpu
from mlrb_tui.views import words
from mlrb_tui.views.charts import spark
from mlrb_tui.views.panel import Panel, Shown, percent, sparkline
from mlrb_tui.views.rows import Row, Span, apart, cells, cut_row, row

_MOST_GPUS = 8
_SPARK = 8


def panels(shown: Shown, width: int) -> list[Panel]:
    """The panel, the smallest way to draw it first; nothing where there is no GPU."""
    gpus = shown.summary.gpus
    if not gpus:
        return []
    if len(gpus) > 1:
        return [Panel(_title(gpus), _many(shown, gpus, width))]
    small = Panel(_title(gpus), _one(shown, gpus[0], width, past=False))
    return [small, Panel(small.title, _one(shown, gpus[0], width, past=True))]


def in_short(gpus: Sequence[Gpu]) -> Row:
    """All of them in a few words."""
    first = gpus[0]
    used = "n/a" if first.memory_used_bytes is None else words.size(first.memory_used_bytes)
    wrong = next((said for gpu in gpus for said, tone in notes(gpu) if tone == "bad"), "")
    about = f"{used} {percent(first.utilization_percent)}"
    if len(gpus) > 1:
        about = f"{sum(map(is_busy, gpus))}/{len(gpus)} busy"
    return row(Span("gpu ", "dim"), about, Span(f" {wrong}" if wrong else "", "bad"))


def notes(gpu: Gpu) -> list[tuple[str, str]]:
    """What is out of the ordinary, with its tone."""
    found = []
    if gpu.lost:
        found.append(("lost: it answers no more", "bad"))
    if gpu.xid is not None:
        found.append((f"Xid {gpu.xid}", "bad"))
    if gpu.ecc_errors:
        found.append((words.count(gpu.ecc_errors, "uncorrected memory error"), "warn"))
    if gpu.own_processes == 0 and gpu.processes:
        others = words.count(gpu.processes, "process", "processes")
        found.append((f"in use by {others} of others alone", "dim"))
    return found


def _title(gpus: Sequence[Gpu]) -> str:
    names = dict.fromkeys(one_line(gpu.name, 24) for gpu in gpus)
    known = [name for name in names if name]
    which = f"gpu {_label(gpus[0])}" if len(gpus) == 1 else f"{len(gpus)} gpus"
    return " · ".join([which, *known[:1]]) + (" …" if len(known) > 1 else "")


def _label(gpu: Gpu) -> str:
    """Its number; a slice's behind that of its GPU."""
    return str(gpu.index) if gpu.mig is None else f"{gpu.index}.{gpu.mig}"


def _one(shown: Shown, gpu: Gpu, width: int, *, past: bool) -> list[Row]:
    memory = shown.readings.gpu_memory.get(gpu.slot)
    busy = shown.readings.gpu_busy.get(gpu.slot)
    total = gpu.memory_total_bytes
    used = "n/a" if gpu.memory_used_bytes is None else words.size(gpu.memory_used_bytes)
    of = f" of {words.size(total)}" if total else ""
    peak = f"peak {words.size(max(memory.values))}" if memory and memory.values else ""
    rows = [apart(row("memory ", Span(used, "strong"), Span(of, "dim")), row(Span(peak, "dim")), width)]
    rows += sparkline(memory.values if memory and past else [], width, high=total)
    mine = row(Span(_mine(gpu), "dim"))
    rows.append(apart(row("busy   ", Span(percent(gpu.utilization_percent), "strong"), *_heat(gpu)), mine, width))
    rows += sparkline(busy.values if busy and past else [], width, high=100.0)
    return rows + _note_rows(gpu, "", width)


def _mine(gpu: Gpu) -> str:
    """How much of it is this run's, where others use it too."""
    if not gpu.own_processes or gpu.processes is None or gpu.processes <= gpu.own_processes:
        return ""
    held = f", {words.size(gpu.own_memory_bytes)}" if gpu.own_memory_bytes is not None else ""
    return f"{gpu.own_processes} of {gpu.processes} ours{held}"


def _heat(gpu: Gpu) -> list[Span]:
    power = f"   {gpu.power_w:.0f} W" if gpu.power_w is not None else ""
    hot = f"   {gpu.temperature_c:.0f} °C" if gpu.temperature_c is not None else ""
    return [Span(power, "dim"), Span(hot, "dim")]


def _note_rows(gpu: Gpu, indent: str, width: int) -> list[Row]:
    return [
        cut_row(row(indent, Span(f"× {said}" if tone == "bad" else said, tone)), width) for said, tone in notes(gpu)
    ]


# ── several ──────────────────────────────────────────────────────────────────────────────────────────────


def _many(shown: Shown, gpus: Sequence[Gpu], width: int) -> list[Row]:
    label = max(cells(_label(gpu)) for gpu in gpus) + 1
    widths = [max(cells(_figures(gpu)[column][0]) for gpu in gpus) for column in range(len(_figures(gpus[0])))]
    named = gpus if len(gpus) <= _MOST_GPUS else gpus[: _MOST_GPUS - 1]
    rows = []
    for gpu in named:
        rows.append(_in_a_line(shown, gpu, label, widths, width))
        rows += _note_rows(gpu, " " * label, width)
    if len(named) < len(gpus):
        rows.append(cut_row(row(Span(_rest(gpus[len(named) :]), "dim")), width))
    return rows


def _figures(gpu: Gpu) -> tuple[tuple[str, str], ...]:
    """Memory, use, power and heat, with their tones."""
    total = gpu.memory_total_bytes
    memory = "n/a" if gpu.memory_used_bytes is None else f"{gpu.memory_used_bytes / 1e9:.1f}"
    memory += f"/{total / 1e9:.0f} GB" if total and gpu.memory_used_bytes is not None else ""
    return (
        (memory, ""),
        (percent(gpu.utilization_percent), "strong"),
        (f"{gpu.power_w:.0f} W" if gpu.power_w is not None else "", "dim"),
        (f"{gpu.temperature_c:.0f} °C" if gpu.temperature_c is not None else "", "dim"),
    )


def _in_a_line(shown: Shown, gpu: Gpu, label: int, widths: Sequence[int], width: int) -> Row:
    """Its number, what it did, and its figures, as many as there is room for."""
    room = width - label - _SPARK
    spans = [Span(f"{_label(gpu):<{label}}", "dim")]
    busy = shown.readings.gpu_busy.get(gpu.slot)
    spans.append(Span(f"{spark(busy.values, _SPARK, low=0.0, high=100.0) if busy else '':<{_SPARK}}", "spark"))
    for (said, tone), wide in zip(_figures(gpu), widths, strict=True):
        if wide and room >= wide + 2:
            spans.append(Span(f"  {said:>{wide}}", tone))
            room -= wide + 2
    return cut_row(tuple(spans), width)


def _rest(gpus: Sequence[Gpu]) -> str:
    """Those that there is no room for, together."""
    used = sum(gpu.memory_used_bytes or 0 for gpu in gpus)
    wrong = sum(any(tone == "bad" for _, tone in notes(gpu)) for gpu in gpus)
    said = f"… {len(gpus)} more: {sum(map(is_busy, gpus))} busy, {words.size(used)}"
    return said + (f", {wrong} faulty" if wrong else "")
