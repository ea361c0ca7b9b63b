"""How each block of a transcript reads as rows."""

from dataclasses import dataclass, replace
from typing import assert_never

from agent.record.text import one_line, printable
from agent.record.values import Score
from mlrb_tui.views import words
from mlrb_tui.views.blocks import AnyBlock, Asked, Called, Message, Notice, Question, Reply, Scored
from mlrb_tui.views.charts import bar
from mlrb_tui.views.edits import changed_lines
from mlrb_tui.views.questions import question_rows
from mlrb_tui.views.rows import Row, Span, apart, cells, cut, cut_row, head, padded, row, width_of, wrapped
from mlrb_tui.views.scores import score_spans

LIVE_LINES = 10
ENDED_LINES = 5
_SHORT = 3
"""A message of so few lines stands whole."""
SAID_LINES = 14
_COMMANDS = ("bash", "python", "shell", "run")
_GLYPHS = {
    "bash": "$", "python": "›", "edit": "✎", "write": "✎", "read": "▤", "scratchpad": "✎", "validate": "✔",
    "submit": "■", "return": "■", "plan": "≡", "thought": "·", "insert": "✎", "replace": "✎", "delete": "✎",
    "run_file": "$", "memory": "▤",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """How a person wants to read."""

    width: int = 80
    wrap: bool = False
    thoughts: bool = True
    workers: bool = False
    """Whether rows say whose they are: several work in the run."""


def rows_of(block: AnyBlock, options: Options, now: float) -> list[Row]:
    """The block's rows, none wider than asked; `now` is for what still runs."""
    if not options.workers:
        return [cut_row(line, options.width) for line in _rows_of(block, options, now)]
    begin, gap = _worker_mark(block.place.worker)
    inner = replace(options, width=options.width - cells(gap.text))
    lines = [cut_row(line, inner.width) for line in _rows_of(block, inner, now)]
    return [row(gap if index else begin, *line) for index, line in enumerate(lines)]


def _worker_mark(worker: int) -> tuple[Span, Span]:
    """What stands before a worker's first row and before its others; nothing is the supervisor's."""
    name = f"w{worker} " if worker else "   "
    return Span(name, "thought" if worker else ""), Span(" " * len(name))


def _rows_of(block: AnyBlock, options: Options, now: float) -> list[Row]:
    match block:
        case Reply():
            return _reply(block, options)
        case Message():
            return _message(block, options)
        case Called():
            return _called(block, options, now)
        case Asked():
            return _asked(block, options)
        case Question():
            return question_rows(block, options.width, now)
        case Scored():
            return _scored(block, options)
        case Notice():
            return _notice(block, options)
        case _:
            assert_never(block)


def _step(step: int) -> Span:
    return Span(f"{step:>3} " if step else "    ", "dim")


def _label_width(options: Options) -> int:
    return 10 if options.width >= 48 else 3


def _labelled(step: int, label: str, tone: str, lines: list[str], options: Options, said: str = "") -> list[Row]:
    """Lines that stand beside a label; where there is little room the label is its first letters."""
    width = _label_width(options)
    gap = " " * (4 + width)
    first, *rest = lines or [""]
    # Cut, without a sign of it: of two columns, an ellipsis would leave one letter.
    begin = row(_step(step), Span(padded(head(label, width - 1), width), tone), Span(first, said))
    return [begin, *(row(gap, Span(line, said)) for line in rest)]


def _said_lines(text: str, options: Options, most: int = SAID_LINES) -> list[str]:
    lines = wrapped(printable(text, lines=True).strip("\n"), options.width - 4 - _label_width(options))
    return lines[:most]


def _reply(block: Reply, options: Options) -> list[Row]:
    rows: list[Row] = []
    step = block.place.step
    if block.reasoning and options.thoughts:
        rows += _spoken(step, "reasons", "faint-label", block.reasoning, block, options, "dim")
    if block.text and (options.thoughts or not block.acting):
        label = "thought" if block.acting or block.streaming else "says"
        rows += _spoken(step, label, "thought", block.text, block, options, "")
    if not rows and block.streaming:
        rows = _labelled(step, "thought", "thought", ["…"], options)
    return rows


def _spoken(step: int, label: str, tone: str, text: str, block: Reply, options: Options, said: str) -> list[Row]:
    lines = wrapped(printable(text, lines=True).strip("\n"), options.width - 4 - _label_width(options))
    left_out = len(lines) - SAID_LINES
    if left_out > 1 or (block.cut and not block.streaming):
        if block.streaming:
            lines = ["…", *lines[-SAID_LINES + 1 :]]
        else:
            lines = [*lines[: SAID_LINES - 1], f"… {max(left_out + 1, 1)} more lines, enter to open"]
    return _labelled(step, label, tone, lines, options, said)


def _message(block: Message, options: Options) -> list[Row]:
    if block.origin == "turn":
        # Made anew for each turn out of what stands in the transcript anyway.
        return _labelled(block.place.step, "prompt", "faint-label", ["enter to open"], options, "dim")
    label = block.origin if block.origin in ("task", "operator") else "harness"
    label = "system" if block.role == "system" else label
    lines = _said_lines(block.text, options, 60)
    shown = [line for line in lines if line.strip()] or [""]
    shown = shown if len(shown) <= _SHORT and not block.cut else shown[:2]
    if len(lines) > len(shown) or block.cut:
        shown[-1] = cut(shown[-1], options.width - 40) + "  … enter to open"
    return _labelled(block.place.step, label, "faint-label", shown, options, "dim")


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────


def _called(block: Called, options: Options, now: float) -> list[Row]:
    if block.tool == "validate" and block.score is not None:
        return _validated(block, options)
    glyph = _GLYPHS.get(block.tool, "⚙" if block.tool not in _COMMANDS else "$")
    changed = changed_lines(block.tool, block.arguments)
    tone = "command" if changed is None else "edit"
    rows = _title(block, glyph, tone, _status(block, now, changed), options)
    if changed is not None:
        rows += [_indented(Span(f"{sign} {text}", "added" if sign == "+" else "removed"), options)
                 for sign, text in changed[:4]]  # fmt: skip
    return rows + _output(block, options) + _progress(block, options)


def _title(block: Called, glyph: str, tone: str, status: Row, options: Options) -> list[Row]:
    """The call as one would type it, with how it stands at the right."""
    said = printable(block.title, lines=True).strip("\n")
    name = "" if block.tool in _COMMANDS or said.startswith(block.tool) else f"{one_line(block.tool, 30)} "
    first, *rest = said.split("\n")
    if len(rest) > 3:
        first, rest = f"{first} … {len(rest)} more lines", []
    if options.wrap:
        first, *rest = [piece for line in (first, *rest) for piece in wrapped(line, options.width - 30)][:12]
    begin = row(_step(block.place.step), Span(f"{glyph} ", tone), Span(name), Span(first))
    return [apart(begin, status, options.width), *(cut_row(row("      ", line), options.width) for line in rest)]


def _status(block: Called, now: float, changed: list[tuple[str, str]] | None) -> Row:
    """What stands at the right of a call: how long, how it ended."""
    if not block.finished:
        return row(Span(words.duration(now - block.place.at), "strong"), Span(" running", "running"))
    lines = f"{block.output_lines:,} lines  " if block.output_lines > ENDED_LINES else ""
    took = f"{words.duration(block.duration_s)}  " if block.duration_s >= 1 else ""
    if changed is not None and not block.failed:
        plus = sum(sign == "+" for sign, _ in changed)
        return row(Span(f"+{plus} -{len(changed) - plus}", "dim"))
    return row(Span(lines + took, "dim"), _ending(block))


def _ending(block: Called) -> Span:
    if block.rejected_by:
        return Span(f"rejected by {one_line(block.rejected_by, 20)}", "warn")
    if block.interrupted_by:
        return Span(f"interrupted by {one_line(block.interrupted_by, 20)}", "warn")
    if block.timed_out:
        return Span("timed out", "bad")
    if block.exit_code not in (None, 0):
        return Span(f"exit {block.exit_code}", "bad")
    return Span("failed", "bad") if block.failed else Span("ok", "dim")


def _output(block: Called, options: Options) -> list[Row]:
    text = block.tail
    if not text and block.finished and (block.failed or block.tool not in (*_COMMANDS, "edit", "write", "submit")):
        text = block.observation[:400] if block.tool != "read" or block.failed else ""
    lines = [line for line in printable(text, lines=True).replace("␍", "\n").split("\n") if line.strip()]
    lines = lines[-(ENDED_LINES if block.finished else LIVE_LINES) :]
    bad = len(lines) - 1 if block.finished and block.failed else -1
    rows: list[Row] = []
    for index, line in enumerate(lines):
        tone = "bad" if index == bad else "output"
        pieces = wrapped(line, options.width - 6)[:20] if options.wrap else [line]
        rows += [_indented(Span(piece, tone), options) for piece in pieces]
    return rows


def _progress(block: Called, options: Options) -> list[Row]:
    progress = block.progress
    if block.finished or progress is None or progress.step is None or not progress.total:
        return []
    part = progress.step / progress.total
    eta = f"   {words.duration(progress.eta_s)} left" if progress.eta_s is not None else ""
    said = f" {min(100, int(part * 100)):>3} %{eta}"
    return [row("      ", *bar(part, min(60, options.width - 8 - cells(said))), Span(said, "dim"))]


def _indented(span: Span, options: Options) -> Row:
    return cut_row(row("      ", span), options.width)


def _validated(block: Called, options: Options) -> list[Row]:
    assert block.score is not None
    left = row(_step(block.place.step), Span("✔ ", "score"), Span("validate"))
    return [*_with_score(left, block.score, options), *_faults(block.score.error, options)]


# ── people, scores, notices ──────────────────────────────────────────────────────────────────────────────


def _asked(block: Asked, options: Options) -> list[Row]:
    if block.verb == "approve" and block.answered:
        # The question itself says what the word was, and whose.
        return []
    said = block.text if block.verb == "inject" else f"{words.verb(block.verb)} {block.text}".strip()
    receipt = _receipt(block)
    lines = wrapped(printable(said, lines=True), options.width - 4 - _label_width(options))[:8]
    short = cells(lines[0]) + cells(receipt.text) + 6 + _label_width(options) < options.width
    who = one_line(block.who, 9) or "operator"
    rows = _labelled(block.place.step, who, "person", lines, options)
    if len(lines) == 1 and short:
        return [apart(rows[0], (receipt,), options.width)]
    return [*rows, cut_row(row(" " * (4 + _label_width(options)), receipt), options.width)]


def _receipt(block: Asked) -> Span:
    if block.refused:
        return Span(f"refused: {printable(block.detail)}", "bad")
    if block.withdrawn_by is not None:
        return Span(f"withdrawn by {one_line(block.withdrawn_by, 20) or 'someone'}", "warn")
    stages = ["received"]
    if block.delivered:
        stages = ["delivered"]
    if block.answered:
        stages = [*(["delivered"] if block.delivered else []), "answered" if block.verb == "inject" else "done"]
    return Span(", ".join(stages), "dim")


def _scored(block: Scored, options: Options) -> list[Row]:
    name = {"final": "final score", "score_now": "score", "validate": "validation", "regrade": "graded again"}
    left = row(_step(block.place.step), Span("✔ ", "score"), Span(name.get(block.purpose, block.purpose)))
    violations = [f"{violation.rule}: {violation.evidence}" for violation in block.score.violations[:3]]
    said = "; ".join([*violations, *([block.score.error] if block.score.error else [])])
    return [*_with_score(left, block.score, options), *_faults(said, options)]


def _with_score(left: Row, score: Score, options: Options) -> list[Row]:
    """A score at the right, or below where there is no room beside."""
    right = score_spans(score)
    if width_of(left) + width_of(right) < options.width:
        return [apart(left, right, options.width)]
    return [left, row("      ", *right)]


def _faults(said: str, options: Options) -> list[Row]:
    lines = wrapped(one_line(said, 400), options.width - 6)[:3] if said else []
    return [row("      ", Span(line, "bad")) for line in lines]


def _notice(block: Notice, options: Options) -> list[Row]:
    glyph = Span(f"{block.glyph} ", block.tone)
    label = Span(f"{block.label} " if block.label else "", block.tone)
    indent = 6 + cells(label.text)
    first, *rest = wrapped(block.text, max(12, options.width - indent))[:3]
    tone = block.tone if block.tone in ("bad", "warn") else "dim"
    rows = [row(_step(block.place.step), glyph, label, Span(first, tone))]
    return rows + [row(" " * indent, Span(line, tone)) for line in rest]
