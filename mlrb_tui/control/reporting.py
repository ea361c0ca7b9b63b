"""A run's report, read out of its record: what the pure report is made of, and the plots beside it."""

from collections.abc import Iterator

from agent.errors import RecordError
from agent.record import events as ev
from agent.record import queries
from agent.record.home import Home, RunFolder
from agent.record.index import of_folder, refreshed
from agent.record.ledger import in_log
from agent.record.log import EventReader
from mlrb_tui.control.recording import open_recording
from mlrb_tui.views.report.build import KINDS, SUBMIT, report_of
from mlrb_tui.views.report.plots import Plot, read_plots
from mlrb_tui.views.report.values import Report
from tasks.errors import MlrbError
from tasks.spec import TaskSpec


def read_report(home: Home, name: str, *, with_plots: bool) -> tuple[Report, list[Plot]]:
    """The report of a run (or of a log in a file) as its record stands, and its plots where they are wanted."""
    folder = _waiting(home, name)
    if folder is not None:
        summary = refreshed(folder, of_folder(folder))
        return report_of((), summary, task=_task(summary.task)), []
    recording = open_recording(home, name)
    try:
        reader = recording.reader
        upto = reader.last_seq()
        summary = reader.summary(upto)
        if recording.folder is not None:
            summary = refreshed(recording.folder, summary if summary.run else of_folder(recording.folder))
        commands = in_log(reader) if summary.gpu_held_s else []
        report = report_of(_events(reader, upto), summary, commands=commands, task=_task(summary.task))
        return report, read_plots(reader) if with_plots else []
    finally:
        recording.close()


def _waiting(home: Home, name: str) -> RunFolder | None:
    """The run where it has no events yet: it was asked for, and that is all there is to tell."""
    try:
        folder = home.find(name)
    except RecordError:
        return None
    return None if folder.events.exists() else folder


def _events(reader: EventReader, upto: int) -> Iterator[ev.Event]:
    """The events that a report is made of, long texts put back in their place."""
    found = reader.of_kinds(KINDS, upto=upto)
    for kind in ("tool_called", "tool_finished"):
        found += queries.mentioning(reader, kind, f'"tool":"{SUBMIT}"', first=1, last=upto)
    for event in sorted(found, key=lambda event: event.seq):
        yield reader.whole(event)


def _task(name: str) -> TaskSpec | None:
    """What the task says now; None where it is not, or no longer, in the catalogue."""
    from tasks.catalogue import load

    try:
        return load(name).spec
    except MlrbError:
        return None
