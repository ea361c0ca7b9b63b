"""`mlrb report`: what became of a run, for people, pages and scripts."""

import argparse
import sys
from pathlib import Path

import msgspec

from agent.errors import RecordError
from agent.record.home import Home
from mlrb_tui.commands.output import say, whole
from mlrb_tui.control.reporting import read_report
from mlrb_tui.views.report.plots import Plot
from mlrb_tui.views.report.values import Report
from tasks.errors import UsageError

_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


def report(options: argparse.Namespace) -> int:
    """`mlrb report RUN`: of a run that goes on, how it stands so far."""
    form = _format(options)
    found, plots = read_report(Home.of_user(), options.run, with_plots=form in ("text", "html"))
    printed = _printed(found, plots, form)
    if not options.out:
        # A terminal that knows no UTF-8 gets question marks, not a traceback.
        sys.stdout.buffer.write(printed.encode(sys.stdout.encoding or "utf-8", "replace"))
        return 0
    try:
        Path(options.out).write_text(printed, encoding="utf-8")
    except OSError as error:
        hint = "--out names a file in a folder that is there, on a disk with room"
        raise RecordError(f"cannot write {options.out}: {error.strerror}", hint=hint) from error
    say(f"written: {options.out}")
    return 0


def _format(options: argparse.Namespace) -> str:
    if options.json:
        if options.format not in (None, "json"):
            raise UsageError(f"--json and --format {options.format} exclude each other", hint="give one of them")
        return "json"
    return options.format or _BY_SUFFIX.get(Path(options.out).suffix.lower(), "text")


def _printed(found: Report, plots: list[Plot], form: str) -> str:
    if form == "json":
        return msgspec.json.encode(whole(found)).decode() + "\n"
    if form == "html":
        from mlrb_tui.views.report.html import as_html

        return as_html(found, plots)
    from mlrb_tui.views.report.text import as_markdown, as_text

    return as_markdown(found) if form == "markdown" else as_text(found, plots)
