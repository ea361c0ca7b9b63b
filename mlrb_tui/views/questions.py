"""A tool call that waits for a person's word: what it would do, and the keys that answer."""

from collections.abc import Sequence

from agent.record.text import one_line, printable
from mlrb_tui.views import words
from mlrb_tui.views.blocks import Question
from mlrb_tui.views.edits import changed_lines
from mlrb_tui.views.rows import Row, Span, apart, cells, cut_row, row, width_of, wrapped

_MOST_LINES = 14
_ALWAYS_SPANS = 2
_PLAIN_TONE = {"accepted": "dim", "edited": "person", "rejected": "warn", "lapsed": "dim"}


def answer_keys(rule: str) -> list[Span]:
    """The keys that answer a question."""
    keys = [Span("a", "key"), Span(" accept   ", "dim"), Span("e", "key"), Span(" edit   ", "dim"),
            Span("d", "key"), Span(" reject with a reason", "dim")]  # fmt: skip
    if rule:
        keys += [Span("   "), Span("A", "key"), Span(f" always let `{one_line(rule, 60)}` through", "dim")]
    return keys


def question_rows(block: Question, width: int, now: float) -> list[Row]:
    """The question as rows: whole as long as it waits, one line once it is answered."""
    step = Span(f"{block.place.step:>3} " if block.place.step else "    ", "dim")
    tone = "warn" if block.decision is None else "dim"
    if block.decision is not None:
        return [cut_row(row(step, Span("◆ ", tone), Span(_title(block), "dim"), Span("  "), *_answered(block)), width)]
    since = Span(f"waits {words.duration(now - block.place.at)}", "warn")
    head = apart(row(step, Span("◆ ", tone), Span(f"may this run?  {block.tool}", "warn")), (since,), width)
    lines = [cut_row(row("      ", *spans), width) for spans in _shown(block, width - 6)]
    keys = row("      ", *answer_keys(block.rule))
    if width_of(keys) <= width or not block.rule:
        return [head, *lines, cut_row(keys, width)]
    # What would be let through is never cut off for want of room.
    always = answer_keys(block.rule)[-_ALWAYS_SPANS:]
    return [head, *lines, row("      ", *answer_keys("")), cut_row(row("      ", *always), width)]


def queue_row(number: int, run: str, said: str, since_s: float, width: int) -> Row:
    """One of several questions of other runs."""
    end = Span(f"  {words.duration(since_s)}", "dim")
    left = row(Span(f"{number} ", "dim"), Span(f"{one_line(run)}  ", "dim"), Span(one_line(said, 200)))
    return row(*cut_row(left, max(8, width - cells(end.text))), end)


def _title(block: Question) -> str:
    first, *rest = printable(block.title, lines=True).split("\n")
    return f"{block.tool} {first}{' …' if rest else ''}"[:200]


def _answered(block: Question) -> Sequence[Span]:
    assert block.decision is not None
    by = f" by {one_line(block.by, 20)}" if block.by else ""
    reason = f": {block.reason}" if block.reason else ""
    rule = f"; `{one_line(block.let_through, 60)}` goes through from now on" if block.let_through else ""
    return (Span(f"{block.decision}{by}{reason}{rule}", _PLAIN_TONE[block.decision]),)


def _shown(block: Question, width: int) -> list[list[Span]]:
    """What would run or change, as far as there is room."""
    changed = changed_lines(block.tool, block.arguments)
    kept = block.arguments.get("arguments")
    if changed is None and len(block.arguments) == 1 and isinstance(kept, str) and block.tool in ("write", "edit"):
        changed = [(" ", printable(line)) for line in kept.split("\n")]
    title = [[Span(line)] for line in wrapped(printable(block.title, lines=True), width)]
    lines = title
    if changed is not None:
        lines = title + [[Span(f"{sign} {text}", "added" if sign == "+" else "removed")] for sign, text in changed]
    if len(lines) > _MOST_LINES:
        left_out = len(lines) - _MOST_LINES + 1
        lines = [*lines[: _MOST_LINES - 1], [Span(f"… {left_out} more lines, enter to open", "dim")]]
    return lines
