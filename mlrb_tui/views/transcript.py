"""The transcript as a fold: events in, blocks out."""

import bisect
import dataclasses
from collections.abc import Iterable

import msgspec

from agent.record import events as ev
from agent.record.summary import preview
from agent.record.text import one_line, settle_carriage_returns
from agent.record.values import Blob, Text
from mlrb_tui.views import notices
from mlrb_tui.views.blocks import AnyBlock, Asked, Called, Message, Question, Reply, Scored, place_of

TAIL_CHARACTERS = 6_000
STREAM_CHARACTERS = 4_000


class Transcript:
    """A window of a run's blocks, in order; grows at its end with each event."""

    def __init__(self) -> None:
        self.blocks: list[AnyBlock] = []
        self.changes = 0
        """Goes up whenever a block changed."""
        self._calls: dict[str, int] = {}
        self._streams: dict[str, int] = {}
        self._requests: dict[int, int] = {}
        self._questions: dict[str, int] = {}

    def apply(self, events: Iterable[ev.Event]) -> None:
        """Take in events that follow the ones before."""
        for event in _joined(events):
            self._take(event)

    def index_of(self, seq: int) -> int:
        """Where the block of that event stands, or the last one before it; -1 in front of all."""
        return bisect.bisect_right(self.blocks, seq, key=lambda block: block.seq) - 1

    def prepend(self, older: "Transcript") -> None:
        """Put an older window in front of this one."""
        self.blocks[:0] = older.blocks
        self.changes += 1

    def drop_oldest(self, count: int) -> None:
        """Forget the first `count` blocks; they can be read again."""
        del self.blocks[:count]
        self.changes += 1

    @property
    def open_requests(self) -> list[Asked]:
        """What people asked for that has no answer yet, oldest first."""
        found = (self._find(seq) for seq in self._requests.values())
        return [block for block in found if isinstance(block, Asked) and block.open]

    def request(self, request_id: int) -> Asked | None:
        """What a person asked for by that number, once the runner has read it."""
        block = self._find(self._requests.get(request_id, -1))
        return block if isinstance(block, Asked) else None

    def _take(self, event: ev.Event) -> None:
        body = event.body
        match body:
            case ev.ModelStreamed():
                self._stream(event, body)
            case ev.ModelAnswered():
                self._answer(event, body)
            case ev.ModelFailed(call_id=call_id):
                self._end_stream(call_id)
                self._add(notices.of(event))
            case ev.MessageAdded():
                self._say(event, body)
            case ev.ToolCalled():
                self._call(event, body)
            case ev.ToolOutput(call_id=call_id, text=text):
                self._output(call_id, text)
            case ev.ProgressSeen(call_id=call_id, progress=progress):
                self._change_call(call_id, progress=progress)
            case ev.ToolFinished():
                self._finish(body)
            case ev.RequestReceived():
                self._ask(event, body)
            case ev.RequestDelivered(request_id=request_id):
                self._receipt(request_id, delivered=True)
            case ev.RequestAnswered(request_id=request_id, detail=detail):
                self._receipt(request_id, answered=True, detail=one_line(detail))
            case ev.RequestRefused(request_id=request_id, reason=reason):
                self._receipt(request_id, refused=True, detail=one_line(reason))
            case ev.RequestEdited(request_id=request_id, text=text):
                self._receipt(request_id, text=text)
            case ev.RequestWithdrawn(request_id=request_id, by=by):
                self._receipt(request_id, withdrawn_by=by)
            case ev.ApprovalAsked():
                self._question(event, body)
            case ev.ApprovalGiven():
                self._decide(body)
            case ev.Graded():
                self._graded(event, body)
            case _:
                self._add(notices.of(event))

    # ── the model ────────────────────────────────────────────────────────────────────────────────────────

    def _stream(self, event: ev.Event, body: ev.ModelStreamed) -> None:
        if body.channel not in ("reasoning", "text"):
            return
        if body.call_id not in self._streams:
            self._add(Reply(place=place_of(event), call_id=body.call_id, streaming=True))
            self._streams[body.call_id] = event.seq
        block = self._find(self._streams[body.call_id])
        if isinstance(block, Reply):
            said = (block.reasoning if body.channel == "reasoning" else block.text) + body.text
            cut = block.cut or len(said) > STREAM_CHARACTERS
            said = said[-STREAM_CHARACTERS:]
            if body.channel == "reasoning":
                self._put(dataclasses.replace(block, reasoning=said, cut=cut))
            else:
                self._put(dataclasses.replace(block, text=said, cut=cut))

    def _end_stream(self, call_id: str) -> None:
        seq = self._streams.pop(call_id, None)
        if seq is not None and isinstance(self._find(seq), Reply):
            del self.blocks[self.index_of(seq)]
            self.changes += 1

    def _answer(self, event: ev.Event, body: ev.ModelAnswered) -> None:
        self._end_stream(body.call_id)
        text, reasoning = preview(body.text).strip(), preview(body.reasoning).strip()
        if text or reasoning:
            cut = isinstance(body.text, Blob) or isinstance(body.reasoning, Blob)
            self._add(
                Reply(place=place_of(event), call_id=body.call_id, reasoning=reasoning, text=text,
                      acting=bool(body.calls), cut=cut)
            )  # fmt: skip

    def _say(self, event: ev.Event, body: ev.MessageAdded) -> None:
        # An injected message is there already, as what a person asked for.
        if body.request_id is None or body.request_id not in self._requests:
            self._add(
                Message(place=place_of(event), origin=body.origin, role=body.role, text=preview(body.text).strip(),
                        cut=isinstance(body.text, Blob))
            )  # fmt: skip

    # ── tools ────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, event: ev.Event, body: ev.ToolCalled) -> None:
        title = preview(body.summary).strip() or body.tool
        self._add(
            Called(place=place_of(event), call_id=body.call_id, tool=body.tool, title=title, arguments=body.arguments)
        )
        self._calls[body.call_id] = event.seq

    def _output(self, call_id: str, text: Text) -> None:
        block = self._called(call_id)
        if block is not None:
            piece = preview(text)
            tail = settle_carriage_returns(block.tail + piece)[-TAIL_CHARACTERS:]
            self._put(dataclasses.replace(block, tail=tail, seen_lines=block.seen_lines + piece.count("\n")))

    def _change_call(self, call_id: str, **changes: object) -> None:
        block = self._called(call_id)
        if block is not None:
            self._put(dataclasses.replace(block, **changes))  # type: ignore[arg-type]

    def _finish(self, body: ev.ToolFinished) -> None:
        self._change_call(
            body.call_id, finished=True, failed=body.failed, exit_code=body.exit_code, duration_s=body.duration_s,
            timed_out=body.timed_out, interrupted_by=body.interrupted_by, rejected_by=body.rejected_by,
            output_lines=body.output_lines,
            observation=preview(body.observation)[:TAIL_CHARACTERS], progress=None,
        )  # fmt: skip
        self._calls.pop(body.call_id, None)

    def _graded(self, event: ev.Event, body: ev.Graded) -> None:
        if body.purpose == "validate":
            for seq in reversed(self._calls.values()):
                block = self._find(seq)
                if isinstance(block, Called) and block.tool == "validate" and block.score is None:
                    self._put(dataclasses.replace(block, score=body.score))
                    return
        self._add(Scored(place=place_of(event), purpose=body.purpose, score=body.score, by=body.by))

    # ── people ───────────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, event: ev.Event, body: ev.RequestReceived) -> None:
        self._add(
            Asked(place=place_of(event), request_id=body.request_id, verb=body.verb, text=body.text, who=body.who,
                  origin=body.origin)
        )  # fmt: skip
        self._requests[body.request_id] = event.seq

    def _receipt(self, request_id: int, **changes: object) -> None:
        block = self._find(self._requests.get(request_id, -1))
        if isinstance(block, Asked):
            self._put(dataclasses.replace(block, **changes))  # type: ignore[arg-type]

    def _question(self, event: ev.Event, body: ev.ApprovalAsked) -> None:
        # A runner that takes the run up asks the same question again: it stands where it stood.
        if self._find(self._questions.get(body.approval_id, -1)) is None:
            self._add(
                Question(place=place_of(event), approval_id=body.approval_id, tool=body.tool,
                         title=preview(body.summary).strip() or body.tool, arguments=_arguments(body.arguments),
                         rule=body.rule)
            )  # fmt: skip
            self._questions[body.approval_id] = event.seq

    def _decide(self, body: ev.ApprovalGiven) -> None:
        block = self._find(self._questions.get(body.approval_id, -1))
        if isinstance(block, Question):
            self._put(
                dataclasses.replace(block, decision=body.decision, by=body.by, reason=one_line(body.reason, 300),
                                    let_through=body.rule)
            )  # fmt: skip

    # ── the list ─────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, block: AnyBlock | None) -> None:
        if block is not None:
            self.blocks.append(block)
            self.changes += 1

    def _find(self, seq: int) -> AnyBlock | None:
        index = self.index_of(seq)
        return self.blocks[index] if index >= 0 and self.blocks[index].seq == seq else None

    def _called(self, call_id: str) -> Called | None:
        block = self._find(self._calls.get(call_id, -1))
        return block if isinstance(block, Called) else None

    def _put(self, block: AnyBlock) -> None:
        self.blocks[self.index_of(block.seq)] = block
        self.changes += 1


def _arguments(text: Text) -> dict[str, object]:
    """A question's arguments; of long ones, as much as the event itself holds."""
    if isinstance(text, Blob):
        return {"arguments": text.preview + " …"}
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except msgspec.MsgspecError:
        return {"arguments": text}


def _joined(events: Iterable[ev.Event]) -> Iterable[ev.Event]:
    """The events with pieces of output that follow each other made one: a chatty command costs one change a batch."""
    held: list[ev.Event] = []
    for event in events:
        if isinstance(event.body, ev.ToolOutput):
            if held and _call_of(held[0]) != event.body.call_id:
                yield _one_of(held)
                held = []
            held.append(event)
            continue
        if held:
            yield _one_of(held)
            held = []
        yield event
    if held:
        yield _one_of(held)


def _call_of(event: ev.Event) -> str:
    return event.body.call_id if isinstance(event.body, ev.ToolOutput) else ""


def _one_of(events: list[ev.Event]) -> ev.Event:
    if len(events) == 1:
        return events[0]
    text = "".join(preview(event.body.text) for event in events if isinstance(event.body, ev.ToolOutput))
    return msgspec.structs.replace(events[-1], body=ev.ToolOutput(call_id=_call_of(events[0]), text=text))
