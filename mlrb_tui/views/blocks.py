"""What a transcript is made of: one frozen block for each thing that was said or done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agent.record import events as ev
from agent.record.values import Decision, Progress, Score


class Place(NamedTuple):
    """Where in a run an event stands."""

    seq: int
    at: float
    step: int
    worker: int


def place_of(event: ev.Event) -> Place:
    """Where that event stands."""
    return Place(event.seq, event.at, event.step, event.worker)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A thing said or done, placed at the event that began it."""

    place: Place

    @property
    def seq(self) -> int:
        """The number of the event that began it."""
        return self.place.seq


@dataclass(frozen=True, kw_only=True)
class Reply(Block):
    """What the model wrote: its reasoning and its text; `acting` where tool calls came with it."""

    call_id: str
    reasoning: str = ""
    text: str = ""
    acting: bool = False
    streaming: bool = False
    cut: bool = False
    """There is more than this preview holds."""


@dataclass(frozen=True, kw_only=True)
class Message(Block):
    """What was said to the model: the task, the harness's words."""

    origin: str
    role: str
    text: str
    cut: bool = False


@dataclass(frozen=True, kw_only=True)
class Called(Block):
    """A tool call: a command with the end of its output, an edit with its lines, another tool with its answer."""

    call_id: str
    tool: str
    title: str
    arguments: Mapping[str, object]
    tail: str = ""
    """The last few thousand characters of output."""
    seen_lines: int = 0
    """Line ends in the output that was read so far."""
    finished: bool = False
    failed: bool = False
    exit_code: int | None = None
    duration_s: float = 0.0
    timed_out: bool = False
    interrupted_by: str = ""
    rejected_by: str = ""
    output_lines: int = 0
    observation: str = ""
    progress: Progress | None = None
    score: Score | None = None


@dataclass(frozen=True, kw_only=True)
class Asked(Block):
    """What a person asked for, and how far it got."""

    request_id: int
    verb: str
    text: str
    who: str
    origin: str = ""
    delivered: bool = False
    withdrawn_by: str | None = None
    answered: bool = False
    refused: bool = False
    detail: str = ""

    @property
    def open(self) -> bool:
        """Whether the answer is still to come."""
        return not (self.answered or self.refused or self.withdrawn_by is not None)


@dataclass(frozen=True, kw_only=True)
class Question(Block):
    """A tool call that waits, or waited, for a person's word."""

    approval_id: str
    tool: str
    title: str
    arguments: Mapping[str, object]
    rule: str = ""
    decision: Decision | None = None
    """None as long as it waits."""
    by: str = ""
    reason: str = ""
    let_through: str = ""
    """The class that was let through with it."""


@dataclass(frozen=True, kw_only=True)
class Scored(Block):
    """The grader's answer where no tool of the agent's asked for it."""

    purpose: str
    score: Score
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Notice(Block):
    """One line about the run itself."""

    glyph: str
    text: str
    tone: str = "dim"
    label: str = ""


AnyBlock = Reply | Message | Called | Asked | Question | Scored | Notice
