"""A look at the selected run: the last lines of its transcript, read when the cursor rests on it."""

import asyncio
import time
from collections.abc import Callable, Sequence

from textual import work
from textual.content import Content

from agent.record.home import Home, RunFolder
from agent.record.text import one_line
from mlrb_tui.views import fleet, words
from mlrb_tui.views.fleet import FleetRow
from mlrb_tui.views.rows import Row, Span
from mlrb_tui.widgets.row_lines import RowLines

_REST_S = 0.06
_BLOCKS = 8
_QUEUED = 3


class Look(RowLines):
    """The end of one run's transcript."""

    def __init__(self, home: Home, clock: Callable[[], float] = time.time, id: str | None = None) -> None:
        super().__init__(id=id)
        self._home = home
        self._clock = clock
        self._wanted: tuple[object, ...] | None = None
        self._titled = ""

    def look_at(self, row: FleetRow | None, waiting: Sequence[FleetRow] = ()) -> None:
        """Show that run, and below it whose calls wait for a word; nothing is read again while all stays as it is."""
        width, height = self.size
        if row is None or not height:
            self._wanted = None
            return
        others = [each for each in waiting if each.summary.run != row.summary.run]
        wanted = (row.summary.run, row.summary.seq, width, *(each.summary.approval for each in others))
        if wanted != self._wanted:
            self._wanted = wanted
            if self._titled != (title := _title(row)):
                self._titled = title
                self.border_title = Content(title)
            self._read(row.summary.run, width, height, others)

    @work(exclusive=True, group="look")
    async def _read(self, run: str, width: int, height: int, others: Sequence[FleetRow]) -> None:
        # The cursor may only be passing by.
        await asyncio.sleep(_REST_S)
        folder = RunFolder(self._home.runs / run)
        queue = queue_rows(others, width, self._clock())
        found = await asyncio.to_thread(last_rows, folder, width, height - len(queue), self._clock())
        self.show([*found, *[()] * (height - len(queue) - len(found)), *queue])


def queue_rows(others: Sequence[FleetRow], width: int, now: float) -> list[Row]:
    """The questions of other runs, the one that waits longest first."""
    if not others:
        return []
    from mlrb_tui.views.questions import queue_row

    shown = [
        queue_row(number, row.summary.run, fleet.wanted(row.summary), now - row.summary.approval.asked_at, width)
        for number, row in enumerate(others[:_QUEUED], 1)
        if row.summary.approval is not None
    ]
    more = f", {len(others) - _QUEUED} more are not shown" if len(others) > _QUEUED else ""
    heading = (Span("◆ ", "warn"), Span(f"waiting in other runs: {len(others)}{more}", "warn"))
    return [heading, *shown]


def last_rows(folder: RunFolder, width: int, height: int, now: float) -> Sequence[Row]:
    """The last rows of a run's transcript that fit."""
    # Imported when the first look is taken: what the app's first paint does not need waits.
    from agent.errors import RecordError
    from agent.record.log import EventReader
    from mlrb_tui.views.block_rows import Options, rows_of
    from mlrb_tui.views.window import Window

    try:
        with EventReader(folder.events) as reader:
            transcript, _ = Window(reader).upto(reader.last_seq(), _BLOCKS)
    except RecordError as error:
        return [(Span(one_line(error.message), "muted"),)]
    options = Options(width=width)
    rows = [row for block in transcript.blocks for row in rows_of(block, options, now)]
    return rows[-height:] if height > 0 else []


def _title(row: FleetRow) -> str:
    summary = row.summary
    parts = (summary.run, summary.task, summary.scale, summary.model, words.state(summary))
    return one_line(" · ".join(part for part in parts if part), 100)
