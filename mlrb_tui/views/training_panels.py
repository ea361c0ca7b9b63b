"""The panels of a training: how fast it goes, its loss, the checkpoints that it wrote."""

from agent.record.text import one_line
from mlrb_tui.views import words
from mlrb_tui.views.charts import spark
from mlrb_tui.views.loss_plot import is_wide, plot
from mlrb_tui.views.panel import Panel, Shown, sparkline
from mlrb_tui.views.rows import Span, apart, cut_row, row, width_of
from mlrb_tui.views.series import Readings

LEAST_PLOT, MOST_PLOT = 4, 12
_CHECKPOINTS = 3


def rate(shown: Shown, width: int) -> list[Panel]:
    """Throughput, the smallest way to draw it first; nothing where none is known."""
    found = shown.readings.rate
    if found.last is None:
        return []
    value = cut_row(row(Span(words.number(found.last), "strong"), f" {one_line(shown.readings.rate_unit, 16)}"), width)
    small = Panel("throughput", [value])
    past = sparkline(found.values, width)
    return [small, Panel("throughput", [value, *past])] if past else [small]


def loss(shown: Shown, width: int, height: int) -> Panel | None:
    """The loss, and of the evaluation what was measured last; a curve where `height` rows will do for one."""
    found = shown.readings.loss
    diverged = "loss" in shown.readings.diverged
    if (found.last is None or found.low is None) and not diverged:
        return None
    evals = [(name, value) for name, value in shown.readings.values.items() if name.startswith("eval_")]
    evals.sort(key=lambda pair: pair[0] != "eval_loss")
    said = [last_loss(shown.readings)]
    if found.low is not None:
        said.append(Span(f"   best {'~' if found.thinned else ''}{found.low:.4g}", "dim"))
    more = [Span(f"   {one_line(name, 16).replace('_', ' ')} {value:.4g}", "eval") for name, value in evals[:1]]
    said += more if width_of((*said, *more)) <= width else []
    rows = [cut_row(row(*said), width)]
    room = min(MOST_PLOT, height - 3)
    if len(found.values) >= 3 and room >= LEAST_PLOT:
        return Panel(_title(shown.readings), rows + plot(found, shown.readings.evals, width, room))
    rows += [row(Span(spark(found.values, width), "spark"))] if len(found.values) > 1 else []
    return Panel("loss", rows)


def _title(readings: Readings) -> str:
    return "loss, log scale" if is_wide(readings.loss, readings.evals) else "loss"


def last_loss(readings: Readings) -> Span:
    """The loss as it was printed last; red where that was no number."""
    if "loss" in readings.diverged:
        return Span(words.NOT_FINITE, "bad")
    return Span(f"{readings.loss.last:.4g}", "strong")


def checkpoints(shown: Shown, width: int) -> list[Panel]:
    """The newest ones; the smallest way to draw it first."""
    found = shown.readings.checkpoints[-_CHECKPOINTS:][::-1]
    rows = []
    for path, size, at in found:
        about = Span(f"{words.size(size)} {words.duration(shown.now - at) + ' ago':>13}", "dim")
        rows.append(apart(row(_checkpoint_name(path)), row(about), width))
    return [Panel("checkpoints", rows[:count]) for count in dict.fromkeys((1, len(rows)))] if rows else []


def _checkpoint_name(path: str) -> str:
    """The folder, where the file in it has the name that every checkpoint's has."""
    folder, _, name = one_line(path, 200).rpartition("/")
    return (
        folder
        if folder and name.startswith(("model.", "pytorch_model", "adapter_model"))
        else f"{folder}/{name}".lstrip("/")
    )
