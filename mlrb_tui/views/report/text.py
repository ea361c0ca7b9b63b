"""A report as text for a terminal, and as Markdown."""

import re
from collections.abc import Iterator, Sequence

from agent.record.text import one_line
from mlrb_tui.views import words
from mlrb_tui.views.charts import spark
from mlrb_tui.views.report.parts import Section, Table
from mlrb_tui.views.report.plots import Plot
from mlrb_tui.views.report.sections import heading, note, sections
from mlrb_tui.views.report.values import Report

_MOST_ROWS, _MOST_MARKDOWN_ROWS = 30, 200
_CELL, _VALUE = 60, 1_000
_SPARK = 40
_OBEYED = re.compile(r"([\\`*_{}\[\]<>#|~!&$@^])|(?<=\w)(:)(?=//)|(?<=www)(\.)", re.IGNORECASE)
"""What Markdown would obey or make a link of, anywhere in a line."""


def as_text(report: Report, plots: Sequence[Plot] = ()) -> str:
    """The report for a terminal, with a sparkline for each curve; ends with a line end."""
    lines = [one_line(heading(report), _VALUE), *([note(report)] if note(report) else [])]
    for section in sections(report):
        lines += ["", section.title.upper(), *_facts(section)]
        for table in section.tables:
            lines += _table(table)
    if plots:
        lines += ["", "CURVES", *_curves(plots)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def as_markdown(report: Report) -> str:
    """The report as Markdown, with nothing in it that was not meant as such; ends with a line end."""
    lines = [f"# {_plain(one_line(heading(report), _VALUE))}", ""]
    if note(report):
        lines += [f"> {_plain(note(report))}", ""]
    for section in sections(report):
        lines += [f"## {_plain(section.title)}", ""]
        facts = tuple((fact.name, fact.value) for fact in section.facts if fact.value)
        tables = (Table(("Metric", "Value"), facts), *section.tables)
        for table in tables:
            lines += _markdown_table(table)
    return "\n".join(lines).rstrip("\n") + "\n"


def _facts(section: Section) -> Iterator[str]:
    facts = [fact for fact in section.facts if fact.value]
    width = max((len(fact.name) for fact in facts), default=0)
    for fact in facts:
        first, *rest = [one_line(line, _VALUE) for line in fact.value.split("\n")] if fact.lines else [
            one_line(fact.value, _VALUE)
        ]  # fmt: skip
        yield f"  {fact.name:<{width}}  {first}"
        yield from (f"  {'':<{width}}  {line}" for line in rest)


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    rows = [tuple(one_line(cell, _CELL) for cell in row) for row in table.rows[:_MOST_ROWS]]
    widths = [max(len(row[index]) for row in (table.columns, *rows)) for index in range(len(table.columns))]
    yield ""
    for row in (table.columns, *rows):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    yield from _more(table)


def _more(table: Table) -> Iterator[str]:
    if len(table.rows) > _MOST_ROWS:
        yield f"  … {len(table.rows) - _MOST_ROWS:,} more: mlrb report RUN --format json has them all"


def _curves(plots: Sequence[Plot]) -> Iterator[str]:
    rows = [
        (one_line(line.label, _CELL), f"{plot.metric.said(line.values[0])} → {plot.metric.said(line.values[-1])}",
         spark(line.values, _SPARK))
        for plot in plots
        for line in plot.lines
        if line.values
    ]  # fmt: skip
    widths = [max((len(row[index]) for row in rows), default=0) for index in (0, 1)]
    for label, said, drawn in rows:
        yield f"  {label:<{widths[0]}}  {said:<{widths[1]}}  {drawn}"


def _markdown_table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    yield "| " + " | ".join(table.columns) + " |"
    yield "|" + " --- |" * len(table.columns)
    for row in table.rows[:_MOST_MARKDOWN_ROWS]:
        yield "| " + " | ".join(_plain(one_line(cell, _VALUE)) or " " for cell in row) + " |"
    yield ""
    if len(table.rows) > _MOST_MARKDOWN_ROWS:
        left_out = words.count(len(table.rows) - _MOST_MARKDOWN_ROWS, "more row")
        yield f"{left_out}: `mlrb report RUN --format json` has them all."
        yield ""


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _OBEYED.sub(lambda found: f"\\{found.group()}", text)
