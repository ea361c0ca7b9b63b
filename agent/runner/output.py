"""A command's output on its way into the record: decoded, settled, batched, capped; and clipped for the model."""

import asyncio
import codecs
import re
from collections.abc import Iterator

from agent.record import events as ev
from agent.record.text import settle_carriage_returns
from agent.record.values import Progress
from agent.runner.clipping import Clipped
from agent.runner.journal import Journal
from agent.telemetry.progress import carried, read_lines

INTERVAL_S = 0.1
REDRAW_INTERVAL_S = 1.0
"""Between pieces that only redraw a line, as progress bars do."""
STORED_CHARACTERS = 20_000_000
"""What is kept of one command's output; what exceeds it is counted and not stored."""
OBSERVED_CHARACTERS = 16_000
"""What the model is shown of it."""
PROGRESS_PER_PIECE = 5
_LINES_LOOKED_AT = 60
_PIECE_CHARACTERS = 8_000
_MOST_PENDING = 1_000_000
_LINE_END = re.compile(r"[\r\n]+")


class OutputStream:
    """Takes raw bytes as they come and writes at most ten batches a second."""

    def __init__(self, journal: Journal, call_id: str) -> None:
        self._journal = journal
        self._call_id = call_id
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending: list[str] = []
        self._pending_characters = 0
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0
        self._mid_line = False
        self._stored = 0
        self._dropped_bytes = 0
        self._progress: Progress | None = None
        self._clipped = Clipped(OBSERVED_CHARACTERS)
        self.lines = 0

    def feed(self, raw: bytes) -> None:
        """Take a piece, wherever it was cut."""
        text = self._decoder.decode(raw)
        if not text:
            return
        self._pending.append(text)
        self._pending_characters += len(text)
        if self._pending_characters > _MOST_PENDING:
            self.flush()
        else:
            self._plan_flush(text)

    def finish(self) -> str:
        """Write what is left; returns the output as the model is shown it."""
        rest = self._decoder.decode(b"", final=True)
        if rest:
            self._pending.append(rest)
        self.flush()
        if self._dropped_bytes:
            note = f"\n… {self._dropped_bytes:,} bytes more not stored\n"
            self._journal.append(ev.ToolOutput(call_id=self._call_id, text=note))
        return self._clipped.text()

    def _plan_flush(self, text: str) -> None:
        loop = asyncio.get_running_loop()
        only_redraws = "\r" in text and "\n" not in text
        due = self._flushed_at + (REDRAW_INTERVAL_S if only_redraws else INTERVAL_S)
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(max(loop.time(), due), self.flush)

    def flush(self) -> None:
        """Write what is there, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed_at = asyncio.get_running_loop().time()
        text = "".join(self._pending)
        self._pending.clear()
        self._pending_characters = 0
        if not text:
            return
        self._see_progress(text)
        settled = self._settled(text)
        self.lines += settled.count("\n")
        self._clipped.add(settled)
        self._store(settled)

    def _settled(self, text: str) -> str:
        """The batch with carriage returns settled; one that goes back over a line begun earlier stays at the front."""
        first, _, _ = text.partition("\n")
        redraws = self._mid_line and "\r" in first.removesuffix("\r")
        settled = settle_carriage_returns(text)
        self._mid_line = not text.endswith("\n")
        return f"\r{settled}" if redraws and not settled.startswith("\r") else settled

    def _store(self, settled: str) -> None:
        room = STORED_CHARACTERS - self._stored
        kept = settled[:room]
        self._dropped_bytes += len(settled[room:].encode("utf-8", "replace"))
        self._stored += len(kept)
        for piece in pieces(kept):
            self._journal.append(ev.ToolOutput(call_id=self._call_id, text=piece))

    def _see_progress(self, text: str) -> None:
        lines = _LINE_END.split(text[-_LINES_LOOKED_AT * 200 :])[-_LINES_LOOKED_AT:]
        for progress in read_lines(lines)[-PROGRESS_PER_PIECE:]:
            self._progress = carried(self._progress, progress)
            self._journal.append(ev.ProgressSeen(call_id=self._call_id, progress=self._progress))


def pieces(text: str) -> Iterator[str]:
    """`text` in pieces that lie in an event itself, cut behind a line where one ends."""
    size = _PIECE_CHARACTERS if text.isascii() else _PIECE_CHARACTERS // 4
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text) and (line_end := text.rfind("\n", start, end)) > start:
            end = line_end + 1
        yield text[start:end]
        start = end
