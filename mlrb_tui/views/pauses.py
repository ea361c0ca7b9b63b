"""A pause in words: which one, what it waits for and for how long; and once it holds, since when and by whom."""

from agent.record.text import one_line
from agent.record.values import PauseStrength, RunSummary
from mlrb_tui.views import words
from mlrb_tui.views.blocks import Asked
from mlrb_tui.views.rows import Span

_COMING: dict[str, str] = {
    "step": "pausing before the next model call",
    "command": "pausing after this command",
    "now": "freezing",
}
_HOLDING: dict[PauseStrength, tuple[str, str]] = {
    "step": ("paused before the next model call", "no clock"),
    "command": ("paused after the command", "no clock"),
    "now": ("frozen", "nothing runs, no clock"),
}


def coming(asked: Asked, summary: RunSummary, now: float) -> str:
    """Of a pause that was asked for and does not hold yet."""
    which = _COMING.get(asked.text.partition(":")[0], "pausing")
    return f"{which} · waiting {words.clock(now - asked.place.at)}{_what_for(summary)}"


def holding(summary: RunSummary, now: float, *, past: bool = False) -> list[Span]:
    """Of a pause that holds; no key ends one that is `past`."""
    since = f" {words.clock(now - summary.paused_at)}" if summary.paused_at is not None else ""
    if not summary.pause_by and summary.pause_why:
        return [Span(f"{one_line(summary.pause_why, 60)}{since}", "warn"), Span(": nothing runs, no clock", "dim")]
    which, what = _HOLDING[summary.pause or "step"]
    by = f" by {one_line(summary.pause_by, 24)}" if summary.pause_by else ""
    key = [] if past else [Span("; "), Span("r", "strong"), Span(" goes on", "dim")]
    return [Span(f"{which}{since}{by}: {what}", "dim"), *key]


def _what_for(summary: RunSummary) -> str:
    if summary.approval is not None:
        return f" for a word on `{one_line(summary.approval.summary, 40)}`"
    if summary.now == "thinking" or summary.waiting:
        return " for the model's answer"
    if summary.state in ("queued", "starting"):
        return " for the run to start"
    return f" for `{one_line(summary.now, 40)}`" if summary.now else ""
