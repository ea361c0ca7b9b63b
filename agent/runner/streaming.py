"""Batches a reply that is being written to at most ten events a second."""

import asyncio

from agent.models.base import Delta
from agent.record import events as ev
from agent.record.blobs import INLINE_BYTES
from agent.runner.journal import Journal

INTERVAL_S = 0.1


class StreamBatcher:
    """Collects deltas and records them, in order, at most every tenth of a second."""

    def __init__(self, journal: Journal, call_id: str) -> None:
        self._journal = journal
        self._call_id = call_id
        self._pieces: list[tuple[str, list[str]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0

    def add(self, delta: Delta) -> None:
        """Take a delta."""
        if not delta.text:
            return
        if self._pieces and self._pieces[-1][0] == delta.channel:
            self._pieces[-1][1].append(delta.text)
        else:
            self._pieces.append((delta.channel, [delta.text]))
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._flushed_at + INTERVAL_S), self.flush)

    def flush(self) -> None:
        """Record what is there."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed_at = asyncio.get_running_loop().time()
        pieces, self._pieces = self._pieces, []
        for channel, texts in pieces:
            text = "".join(texts)
            for start in range(0, len(text), INLINE_BYTES):
                piece = text[start : start + INLINE_BYTES]
                self._journal.append(ev.ModelStreamed(call_id=self._call_id, channel=channel, text=piece))
