"""A report as one HTML file: no script, nothing fetched, dark or light as the reader's system is."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from mlrb_tui.views.report.parts import Fact, Section, Table
from mlrb_tui.views.report.plots import Plot
from mlrb_tui.views.report.sections import heading, note, scale, sections
from mlrb_tui.views.report.svg import last_hour, svg_of
from mlrb_tui.views.report.values import Report

_MOST_ROWS = 500
_PLOTS_AFTER = 2
"""They stand behind the third section: what became of the run, and its score, come first."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Even a browser that were tricked by what stands in a report would fetch and run nothing."""


def as_html(report: Report, plots: Sequence[Plot] = ()) -> str:
    """The report as a page of its own; every text in it is escaped here, and only here."""
    style = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f"<title>{escape(heading(report))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n",
        *_head(report),
    ]
    for index, section in enumerate(sections(report)):
        parts += _section(section)
        if index == _PLOTS_AFTER:
            parts += _plots(plots)
    return "".join([*parts, "</main>\n</body>\n</html>\n"])


def _head(report: Report) -> Iterator[str]:
    state = report.outcome or report.state
    yield f"<header><h1>{escape(report.task)}</h1><p>"
    yield f'<span class="badge {report.scale}">{escape(scale(report))}</span>'
    yield f'<span class="badge">{escape(f"{state}, so far" if report.so_far else state)}</span>'
    yield f"<code>{escape(report.run)}</code></p>"
    if note(report):
        yield f'<p class="note">{escape(note(report))}</p>'
    yield "</header>\n"


def _section(section: Section) -> Iterator[str]:
    yield f"<section><h2>{escape(section.title)}</h2>\n"
    facts = [fact for fact in section.facts if fact.value]
    if facts:
        yield "<dl>\n"
        yield from map(_fact, facts)
        yield "</dl>\n"
    for table in section.tables:
        yield from _table(table)
    yield "</section>\n"


def _fact(fact: Fact) -> str:
    tone = f' class="{fact.tone}"' if fact.tone else ""
    return f"<dt>{escape(fact.name)}</dt><dd{tone}>{escape(fact.value)}</dd>\n"


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    yield '<div class="scroll"><table><thead><tr>'
    yield from (f"<th>{escape(column)}</th>" for column in table.columns)
    yield "</tr></thead><tbody>\n"
    for row in table.rows[:_MOST_ROWS]:
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
    yield "</tbody></table></div>\n"
    if len(table.rows) > _MOST_ROWS:
        yield f'<p class="note">… {len(table.rows) - _MOST_ROWS:,} more; the JSON report has them all</p>\n'


def _plots(plots: Sequence[Plot]) -> Iterator[str]:
    if not plots:
        return
    # All have one axis of time, so that what happened at one moment stands below each other.
    end = max(map(last_hour, plots))
    yield '<section><h2>Curves</h2>\n<div class="plots">\n'
    for plot in plots:
        yield f"<figure><figcaption><b>{escape(plot.title)}</b>"
        for index, line in enumerate(plot.lines):
            last = plot.metric.said(line.values[-1]) if line.values else ""
            yield f'<span class="key c{index}">{escape(line.label)} <i>{escape(last)}</i></span>'
        yield f"</figcaption>{svg_of(plot, end)}</figure>\n"
    yield "</div></section>\n"
