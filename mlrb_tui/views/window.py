"""Reads a window of a transcript out of a log: only the events that its blocks need, however long the log is."""

import msgspec

from agent.errors import RecordError
from agent.record import events as ev
from agent.record import queries
from agent.record.log import EventReader
from agent.record.values import Blob
from mlrb_tui.views.notices import HEADS, QUIET
from mlrb_tui.views.transcript import TAIL_CHARACTERS, Transcript

PAGE = 60
_TAIL_PIECES = 16
_RECEIPTS = ("request_delivered", "request_answered", "request_refused", "request_edited", "request_withdrawn")
_LATE = 400
_MOST_AT_ONCE = 8


class Window:
    """Pages through the blocks of a log, or of one worker's part of it."""

    def __init__(self, reader: EventReader, worker: int | None = None) -> None:
        self._reader = reader
        self._worker = worker
        known = {*HEADS, *QUIET}
        self._heads = (*HEADS, *(kind for kind in queries.kinds_present(reader) if kind not in known))

    def upto(self, seq: int, count: int = PAGE) -> tuple[Transcript, int]:
        """The last blocks as of event `seq`, and the number of the first event that they begin with."""
        return self._page(seq, seq, count)

    def before(self, first: int, seq: int, count: int = PAGE) -> tuple[Transcript, int]:
        """The blocks in front of event `first`, as they stand at event `seq`."""
        return self._page(first - 1, seq, count)

    def resolved(self, event: ev.Event) -> ev.Event:
        """The event with a long piece of output replaced by its end, which is what a transcript shows."""
        body = event.body
        if isinstance(body, ev.ToolOutput) and isinstance(body.text, Blob):
            try:
                text = self._reader.text(body.text)[-TAIL_CHARACTERS:]
            except RecordError:
                # A damaged log still shows what it holds: here, the preview.
                return event
            return msgspec.structs.replace(event, body=msgspec.structs.replace(body, text=text))
        return event

    def _page(self, last: int, seq: int, count: int) -> tuple[Transcript, int]:
        heads = queries.newest_seqs(self._reader, self._heads, upto=last, count=count, worker=self._worker)
        first = heads[0] if len(heads) >= count else 1
        events = queries.between(self._reader, self._heads, first=first, last=last, worker=self._worker)
        events += self._endings(events, first, seq)
        events += self._tails(events, seq)
        events += self._running(last, seq)
        transcript = Transcript()
        unique = {event.seq: event for event in events}
        transcript.apply(self.resolved(unique[number]) for number in sorted(unique))
        return transcript, first

    def _endings(self, events: list[ev.Event], first: int, seq: int) -> list[ev.Event]:
        """What ends the calls and answers the requests among these events."""
        calls = {event.body.call_id for event in events if isinstance(event.body, ev.ToolCalled)}
        requests = {event.body.request_id for event in events if isinstance(event.body, ev.RequestReceived)}
        asked = {event.body.approval_id for event in events if isinstance(event.body, ev.ApprovalAsked)}
        found: list[ev.Event] = []
        if asked:
            words = queries.between(self._reader, ("approval_given",), first=first, last=seq, limit=len(asked) + _LATE)
            found += [event for event in words if getattr(event.body, "approval_id", None) in asked]
        if calls:
            ends = queries.between(self._reader, ("tool_finished",), first=first, last=seq, limit=len(calls) + _LATE)
            found += [event for event in ends if _call_id(event) in calls]
        if requests:
            receipts = queries.between(self._reader, _RECEIPTS, first=first, last=seq, limit=len(requests) + _LATE)
            found += [event for event in receipts if getattr(event.body, "request_id", None) in requests]
        return found

    def _tails(self, events: list[ev.Event], seq: int) -> list[ev.Event]:
        """The last pieces of output of each call."""
        ends = {_call_id(event): event.seq for event in events if isinstance(event.body, ev.ToolFinished)}
        found: list[ev.Event] = []
        for event in events:
            if not isinstance(event.body, ev.ToolCalled):
                continue
            pieces = queries.newest(
                self._reader, "tool_output", after=event.seq, upto=ends.get(event.body.call_id, seq),
                count=_TAIL_PIECES, worker=event.worker,
            )  # fmt: skip
            found += [piece for piece in pieces if _call_id(piece) == event.body.call_id]
        return found

    def _running(self, last: int, seq: int) -> list[ev.Event]:
        """What is being written or computed at this moment: pieces of a reply, a command's progress."""
        if last != seq:
            return []
        found = queries.newest(self._reader, "progress_seen", upto=seq, count=_MOST_AT_ONCE, worker=self._worker)
        # Of several workers, each may be in the middle of a reply.
        asked = queries.newest(self._reader, "model_asked", upto=seq, count=_MOST_AT_ONCE, worker=self._worker)
        for worker, last in {event.worker: event.seq for event in asked}.items():
            if not any(
                queries.newest(self._reader, kind, after=last, upto=seq, worker=worker)
                for kind in ("model_answered", "model_failed")
            ):
                found += queries.newest(
                    self._reader, "model_streamed", after=last, upto=seq, count=300, worker=worker
                )  # fmt: skip
        return found


def _call_id(event: ev.Event) -> str:
    body = event.body
    return body.call_id if isinstance(body, ev.ToolFinished | ev.ToolOutput | ev.ModelStreamed) else ""
