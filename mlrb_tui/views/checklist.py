"""A kill's checklist: what is proven gone, what is still waited for, what is left over."""

from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.views.rows import Row, Span, row

_LOG = "log closed"


def wanted(summary: RunSummary) -> tuple[str, ...]:
    """What a kill of that run looks at, in its order."""
    where = ("container", "processes") if summary.sandbox.startswith("docker") else ("processes",)
    return ("model calls", *where, *(("gpu memory",) if summary.gpus else ()))


def rows(summary: RunSummary) -> list[Row]:
    """A line a thing."""
    found = {proof.what: proof for proof in summary.proofs}
    names = dict.fromkeys((*wanted(summary), *found))
    over = summary.state == "ended"
    lines = []
    for name in names:
        proof = found.get(name)
        shown, detail = one_line(name, 16), one_line(proof.detail, 120) if proof is not None else ""
        if proof is not None and proof.proven:
            lines.append(row(Span("✔ ", "ok"), f"{shown:<12} ", Span(detail, "dim")))
        elif over:
            lines.append(row(Span("▲ ", "bad"), f"{shown:<12} ", Span(detail or "nobody looked", "bad")))
        else:
            lines.append(row(Span("· ", "dim"), f"{shown:<12} ", Span(detail or "waits for proof", "dim")))
    sign = Span("✔ ", "ok") if over else Span("· ", "dim")
    return [*lines, row(sign, f"{_LOG:<12}" if over else Span(_LOG, "dim"))]


def in_one_line(summary: RunSummary) -> str:
    """The same in few words: what is gone, and what is waited for."""
    proven = [proof.what for proof in summary.proofs if proof.proven]
    missing = [name for name in wanted(summary) if name not in proven]
    gone = f"{one_line(', '.join(proven), 60)} gone; " if proven else ""
    return f"killing: {gone}waits for {one_line(', '.join([*missing, 'log']), 60)}"
