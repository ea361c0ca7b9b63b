"""Scores as rows: split and scale are always named, and what speaks against one stands first."""

from agent.record.text import one_line
from agent.record.values import Score
from mlrb_tui.views.rows import Row, Span, row


def figure(value: float) -> str:
    """A score's value with four digits that matter."""
    return f"{value:.4g}"


def verdict(score: Score) -> Span:
    """Whether a score counts, in words."""
    if score.untouched:
        return Span("untouched starter", "bad")
    if score.value is None:
        return Span("no score", "bad")
    if not score.valid:
        return Span("invalid", "bad")
    if score.baseline is None:
        return Span("valid", "dim")
    return Span("▲ beats baseline", "ok") if score.beats_baseline else Span("▼ not above baseline", "warn")


def score_spans(score: Score) -> Row:
    """A score on one line."""
    value = Span("–" if score.value is None else figure(score.value), "strong")
    error = f" ±{score.standard_error:.2g}" if score.standard_error is not None else ""
    baseline = f"  baseline {figure(score.baseline)}" if score.baseline is not None else ""
    return row(
        Span(f"{score.scale} {score.split} {one_line(score.metric, 24)} "), value, Span(error + baseline, "dim"), "  ",
        verdict(score),
    )  # fmt: skip
