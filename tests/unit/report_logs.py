"""What the tests of reports share: a log as its report, whole."""

from collections.abc import Iterable
from pathlib import Path

from agent.record import events as ev
from agent.record.home import Home
from agent.record.jsonl import read_jsonl
from agent.record.log import write_events
from mlrb_tui.control.reporting import read_report
from mlrb_tui.views.report.plots import Plot
from mlrb_tui.views.report.values import Report

LOGS = Path(__file__).parents[1] / "logs"


def golden(name: str) -> list[ev.Event]:
    """The events of a golden log."""
    return list(read_jsonl(LOGS / f"{name}.jsonl"))


def report_in(folder: Path, events: Iterable[ev.Event]) -> tuple[Report, list[Plot]]:
    """The report of these events and its plots, by way of a log in that folder."""
    folder.mkdir(exist_ok=True)
    log = folder / "events.db"
    write_events(log, events)
    return read_report(Home(folder / "home").ensure(), str(log), with_plots=True)
