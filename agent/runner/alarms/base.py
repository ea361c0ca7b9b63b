"""What a rule is: it hears events, and says at any moment whether something is wrong, why, and what to do."""

from dataclasses import dataclass, field
from typing import Protocol

from agent.record import events as ev
from agent.record.alarm_settings import Alarm, AlarmSettings
from agent.record.values import RunSummary


@dataclass(frozen=True)
class FilesTouched:
    """Files that are not the agent's to change and are not as they were."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class DataFound:
    """How many tokens of text the work folder held before the agent began, by its size."""

    tokens: float


Heard = ev.Known | FilesTouched | DataFound


@dataclass(frozen=True)
class Moment:
    """When a rule is asked, and how the run stands then."""

    now: float
    summary: RunSummary
    time_left_s: float | None = None
    """Of the run's limit on time; None without one."""


@dataclass(frozen=True)
class Trouble:
    """What is wrong."""

    why: str
    hint: str


class Rule(Protocol):
    """One alarm."""

    @property
    def alarm(self) -> Alarm:
        """Its name."""
        ...

    def hear(self, heard: Heard, at: float) -> None:
        """Something happened."""
        ...

    def trouble(self, moment: Moment) -> Trouble | None:
        """What is wrong now; None where nothing is, or nothing any more."""
        ...


@dataclass
class _Call:
    """A tool call that runs."""

    since: float
    timeout_s: float | None
    output_at: float
    """When it printed something last."""


@dataclass
class RunningCommand:
    """The tool call that runs, as rules need it; of several workers', the one that began first."""

    _open: dict[str, _Call] = field(default_factory=dict)

    def hear(self, heard: Heard, at: float) -> None:
        """Follow it."""
        match heard:
            case ev.ToolCalled(call_id=call_id, arguments=arguments):
                asked = arguments.get("timeout_s")
                timeout_s = float(asked) if isinstance(asked, int | float) and asked > 0 else None
                self._open[call_id] = _Call(at, timeout_s, at)
            case ev.ToolOutput(call_id=call_id) if call_id in self._open:
                self._open[call_id].output_at = at
            case ev.ToolFinished(call_id=call_id):
                self._open.pop(call_id, None)
            case ev.RunResumed():
                # What stood still while it was paused was not idle.
                for call in self._open.values():
                    call.since = call.output_at = at

    @property
    def running(self) -> bool:
        """Whether one runs."""
        return bool(self._open)

    @property
    def call_id(self) -> str:
        """Which; empty where none runs."""
        return next(iter(self._open), "")

    @property
    def since(self) -> float:
        """When it began."""
        return next((call.since for call in self._open.values()), 0.0)

    @property
    def timeout_s(self) -> float | None:
        """The time-out that it asked for."""
        return next((call.timeout_s for call in self._open.values()), None)

    @property
    def output_at(self) -> float:
        """When any of them printed something last."""
        return max((call.output_at for call in self._open.values()), default=0.0)


@dataclass(frozen=True)
class Conditions:
    """What all rules are made with."""

    settings: AlarmSettings
    command_timeout_s: float
    """Of a command that asks for none."""


def said_s(seconds: float) -> str:
    """A duration in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def said_bytes(size: float) -> str:
    """A size in words."""
    return f"{size / 1024**3:.1f} GB" if size >= 1024**3 else f"{size / 1024**2:.0f} MB"
