"""Writes a run's events by hand: a clock that is moved, numbers without gaps, heartbeats as a runner writes them."""

from agent.record import events as ev
from agent.record.clock import FakeClock
from agent.record.summary import fold
from agent.record.values import RunSummary, ToolCall, Usage

_BEAT_EVERY = 400


class Story:
    """A run as it is told; `events` is its log so far."""

    def __init__(self, start: float = 1_764_408_000.0) -> None:
        self.clock = FakeClock(start)
        self.events: list[ev.Event] = []
        self.step = 0
        self.worker = 0
        self.summary = RunSummary()
        self._calls = 0

    def add(self, body: ev.AnyBody, after: float = 0.0) -> ev.Event:
        """One more event, some seconds after the last."""
        self.clock.advance(after)
        event = ev.Event(
            seq=len(self.events) + 1, at=round(self.clock.now(), 3), step=self.step, worker=self.worker, body=body
        )
        self.events.append(event)
        self.summary = fold(self.summary, event)
        if len(self.events) % _BEAT_EVERY == 0:
            self.add(ev.Heartbeat(summary=self.summary))
        return event

    def begin_step(self) -> None:
        """The next step."""
        self.step += 1
        self.add(ev.StepStarted(), 0.2)

    def think(
        self,
        text: str = "",
        *,
        reasoning: str = "",
        calls: tuple[ToolCall, ...] = (),
        takes: float = 9.0,
        usage: Usage | None = None,
        cost_usd: float | None = 0.11,
        pieces: int = 3,
    ) -> str:
        """A model call with its reply, streamed in some pieces; returns its id."""
        self._calls += 1
        call_id = f"m{self._calls}"
        self.add(ev.ModelAsked(call_id=call_id, model=self.summary.model, message_ids=("msg-1",)), 0.1)
        for channel, whole in (("reasoning", reasoning), ("text", text)):
            size = max(1, -(-len(whole) // max(1, pieces)))
            for at in range(0, len(whole), size):
                piece = whole[at : at + size]
                self.add(ev.ModelStreamed(call_id=call_id, channel=channel, text=piece), takes / pieces / 2)
        calls = calls or (ToolCall(call_id=f"c{self._calls + 1}", tool="bash"),)
        used = usage or Usage(input_tokens=14_200, output_tokens=640, cache_read_tokens=11_800, reasoning_tokens=320)
        self.add(
            ev.ModelAnswered(
                call_id=call_id,
                message_id=f"reply-{self._calls}",
                text=text,
                reasoning=reasoning,
                calls=calls,
                usage=used,
                cost_usd=cost_usd,
                stop_reason="tool_use",
                duration_s=takes,
            ),
            0.3,
        )
        return call_id

    def call(self, tool: str, summary: str, /, **arguments: object) -> str:
        """A tool call begins; returns its id."""
        self._calls += 1
        call_id = f"c{self._calls}"
        shown = arguments or {"command": summary}
        self.add(ev.ToolCalled(call_id=call_id, tool=tool, arguments=shown, summary=summary), 0.2)
        return call_id

    def output(self, call_id: str, text: str, after: float = 0.5) -> None:
        """A piece of output."""
        self.add(ev.ToolOutput(call_id=call_id, text=text), after)

    def finish(
        self,
        call_id: str,
        tool: str = "bash",
        *,
        exit_code: int | None = 0,
        after: float = 0.3,
        observation: str = "",
        lines: int = 0,
        interrupted_by: str = "",
    ) -> None:
        """A tool call ends."""
        began = next(event.at for event in reversed(self.events) if _begins(event, call_id))
        self.clock.advance(after)
        self.add(
            ev.ToolFinished(
                call_id=call_id,
                message_id=f"tool-{call_id}",
                tool=tool,
                exit_code=exit_code,
                failed=exit_code not in (None, 0) or bool(interrupted_by),
                duration_s=round(self.clock.now() - began, 2),
                observation=observation,
                output_lines=lines,
                interrupted_by=interrupted_by,
            )
        )

    def command(self, command: str, *outputs: str, exit_code: int = 0, after: float = 0.5, lines: int = 0) -> None:
        """A whole command with its output."""
        call_id = self.call("bash", command)
        for output in outputs:
            self.output(call_id, output, after)
        self.finish(
            call_id,
            exit_code=exit_code,
            lines=lines or sum(text.count("\n") for text in outputs),
            observation="".join(outputs),
        )


def _begins(event: ev.Event, call_id: str) -> bool:
    return isinstance(event.body, ev.ToolCalled) and event.body.call_id == call_id
