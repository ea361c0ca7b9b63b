"""A tool call that a runner had begun and not brought to an end when it was lost, read from the record."""

from dataclasses import dataclass
from typing import Literal

from agent.record import events as ev
from agent.record.log import EventReader
from agent.record.values import RunSummary
from agent.runner.approvals import Word
from agent.runner.output import OutputSoFar
from agent.sandbox.base import LastCommand, StartedSandbox

Standing = Literal["known", "never began", "unknown"]
"""What the sandbox says of the call's command: it runs or has run there, it never came there, or cannot be told."""

CUT_OFF = "the runner was restarted while this was done; how far it came is not known"


@dataclass(frozen=True)
class CutCall:
    """Where the call stood."""

    called: ev.ToolCalled
    guest: str
    """Which guest it was begun in."""
    output: OutputSoFar
    noted: bool
    """Whether it put a note into the record."""
    word: Word | None
    """What a person had said to it."""
    seen_s: float
    """How long the record's clocks say that it worked under a runner."""

    def standing(self, started: StartedSandbox) -> Standing:
        """What became of its command."""
        if self._there(started) is not None:
            return "known"
        # A guest tells the last command that it was given; only another guest cannot know of this one.
        return "never began" if started.guest and started.guest == self.guest else "unknown"

    def worked_alone_s(self, started: StartedSandbox) -> float:
        """How long its command worked without a runner."""
        command = self._there(started)
        return max(0.0, command.lasted_s - self.seen_s) if command is not None else 0.0

    def _there(self, started: StartedSandbox) -> LastCommand | None:
        """Its command, where the sandbox knows it."""
        own = self.called.command_id
        return next((each for each in started.commands if each.command == own), None) if own else None


def read_cut_calls(reader: EventReader) -> dict[int, CutCall]:
    """The calls that were cut off, by worker; whoever had brought the last one to its end is not among them."""
    begun: dict[int, ev.Event] = {}
    for event in reader.of_kinds(("tool_called", "tool_finished")):
        if isinstance(event.body, ev.ToolCalled):
            begun[event.worker] = event
        else:
            begun.pop(event.worker, None)
    return {
        worker: _read(reader, event, event.body)
        for worker, event in begun.items()
        if isinstance(event.body, ev.ToolCalled)
    }


def _read(reader: EventReader, event: ev.Event, called: ev.ToolCalled) -> CutCall:
    outputs = [one.body for one in reader.of_kinds(("tool_output",), after=event.seq)]
    told = [body for body in outputs if isinstance(body, ev.ToolOutput) and body.call_id == called.call_id]
    sandboxes = [one.body for one in reader.of_kinds(("sandbox_started",), upto=event.seq, limit=1, newest=True)]
    return CutCall(
        called=called,
        guest="".join(body.guest for body in sandboxes if isinstance(body, ev.SandboxStarted)),
        output=OutputSoFar(
            texts=[reader.text(body.text) for body in told], read_bytes=told[-1].read_bytes if told else 0
        ),
        noted=any(one.worker == event.worker for one in reader.of_kinds(("note_taken",), after=event.seq)),
        word=_word(reader, event.seq, called.call_id),
        seen_s=_clocks_s(reader.summary()) - _clocks_s(reader.summary(event.seq)),
    )


def _clocks_s(summary: RunSummary) -> float:
    # While what it runs on is out of reach, a call is booked as waiting.
    return summary.working_s + summary.waited_s


def _word(reader: EventReader, upto: int, call_id: str) -> Word | None:
    """What a person had said to the call, as far as it was asked for."""
    asked = ""
    word: Word | None = None
    for event in reader.of_kinds(("approval_asked", "approval_given"), upto=upto):
        match event.body:
            case ev.ApprovalAsked(call_id=of, approval_id=approval_id) if of == call_id:
                asked = approval_id
            case ev.ApprovalGiven() as given if asked and given.approval_id == asked:
                word = Word(given.decision, by=given.by, reason=given.reason, edited=reader.text(given.edited))
            case _:
                pass
    return word
