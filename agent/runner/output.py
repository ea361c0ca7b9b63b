"""A command's output on its way into the record: decoded, settled, batched, capped; and clipped for the model."""

import asyncio
import codecs
from collections.abc import Sequence
from dataclasses import dataclass

from agent.record import events as ev
from agent.record.values import Progress
from agent.runner.clipping import Clipped
from agent.runner.journal import Journal
from agent.runner.limits import paused_s
from agent.runner.settled import SettledOutput, valid
from agent.telemetry.output_lines import MOST_TOLD, TOLD_A_SECOND, Allowance, OutputLines, telling
from agent.telemetry.training import Training

INTERVAL_S = 0.1
REDRAW_INTERVAL_S = 1.0
"""Between pieces that only redraw a line, as progress bars do."""
STORED_CHARACTERS = 20_000_000
"""What is kept of one command's output; what exceeds it is counted and not stored."""
OBSERVED_CHARACTERS = 16_000
"""What the model is shown of it."""
_MOST_PENDING = 1_000_000


@dataclass(frozen=True)
class OutputSoFar:
    """What a runner before us has recorded of a command's output."""

    texts: Sequence[str] = ()
    read_bytes: int = 0
    """How many raw bytes that was; the next one is still to be read."""


class OutputStream:
    """Takes raw bytes as they come and writes at most ten batches a second."""

    def __init__(self, journal: Journal, call_id: str, before: OutputSoFar | None = None) -> None:
        self._journal = journal
        self._call_id = call_id
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._pending: list[str] = []
        self._pending_characters = 0
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0
        self._mid_line = False
        self._stored = 0
        self._dropped_bytes = 0
        self._reading = OutputLines()
        self._told = Allowance(TOLD_A_SECOND, MOST_TOLD)
        self._training = Training()
        self._clipped = Clipped(OBSERVED_CHARACTERS)
        self._settled_bytes = 0
        self.lines = 0
        if before is not None:
            self._take_up(before)

    def _take_up(self, before: OutputSoFar) -> None:
        """Go on behind what a runner before us has recorded."""
        self._settled_bytes = before.read_bytes
        for text in before.texts:
            self._count(text)
            self._stored += len(text)
            self._mid_line = not text.endswith("\n")

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
        self._tell(self._reading.finish())
        if self._dropped_bytes:
            note = f"\n… {self._dropped_bytes:,} bytes more not stored\n"
            self._journal.append(ev.ToolOutput(call_id=self._call_id, text=note, read_bytes=self._settled_bytes))
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
        settled = SettledOutput(text, mid_line=self._mid_line)
        self._mid_line = not text.endswith("\n")
        self._store(settled)
        self._settled_bytes += len(text.encode("utf-8", "surrogateescape"))
        self._tell(self._reading.read(valid(text), self._journal.now()))

    def _store(self, settled: SettledOutput) -> None:
        room = max(0, STORED_CHARACTERS - self._stored)
        for piece, read_bytes in settled.pieces(room):
            self._count(piece)
            self._stored += len(piece)
            body = ev.ToolOutput(call_id=self._call_id, text=piece, read_bytes=self._settled_bytes + read_bytes)
            self._journal.append(body)
        if dropped := valid(settled.text[room:]):
            self._count(dropped)
            self._dropped_bytes += len(dropped.encode())

    def _count(self, settled: str) -> None:
        self.lines += settled.count("\n")
        self._clipped.add(settled)

    def _tell(self, read: list[Progress]) -> None:
        if not read:
            return
        # A command that is frozen makes no progress, and is no slower for it.
        now = self._journal.now()
        unfrozen = now - paused_s(self._journal.summary, now)
        seen = [self._training.see(progress, unfrozen) for progress in read]
        for progress in telling(seen, self._told.some(len(seen), now)):
            self._journal.append(ev.ProgressSeen(call_id=self._call_id, progress=progress))
