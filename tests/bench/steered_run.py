"""A run that is steered while it is timed: post a request, and see when its effect reaches a reader and the machine."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.record import events as ev
from agent.record.inbox import Request
from agent.record.log import EventReader
from agent.record.values import Limits
from tests.process.runner_runs import Run, Runs, bash

_POLL_S = 0.001
_PATIENCE_S = 60.0
_STILL_S = 0.15
"""A process that has used no time for so long stands still."""
_LIMITS = Limits(time_s=3600.0, steps=1000)


@dataclass
class Times:
    """How long requests of one kind took, in ms: to the event, and to the machine where that was looked at."""

    event: list[float] = field(default_factory=list)
    machine: list[float] = field(default_factory=list)


class SteeredRun:
    """A run whose agent keeps a processor busy, and a reader that misses nothing."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._reader: EventReader | None = None
        self._seq = 0

    def ask(self, request: Request, effect: type[ev.Body], times: Times) -> int:
        """Post it, and time when its effect was there to read; returns its id."""
        start = time.perf_counter()
        request_id = self.run.post(request)
        self.wait_for(effect, request_id)
        times.event.append(_ms_since(start))
        return request_id

    def ask_machine(self, request: Request, effect: type[ev.Body], busy: int, times: Times) -> ev.Event:
        """The same, and time when that process came to stand still, or went."""
        start = time.perf_counter()
        request_id = self.run.post(request)
        seen: ev.Event | None = None
        used, moved_at = _time_used(busy), time.perf_counter()
        while seen is None or (used is not None and time.perf_counter() - moved_at < _STILL_S):
            if (now := _time_used(busy)) != used:
                used, moved_at = now, time.perf_counter()
            if seen is None and (seen := self._next(effect, request_id)) is not None:
                times.event.append(_ms_since(start))
            _be_patient(start, effect.__name__)
            time.sleep(_POLL_S)
        times.machine.append((moved_at - start) * 1000)
        return seen

    def wait_for(self, effect: type[ev.Body], request_id: int | None = None) -> ev.Event:
        """The next event of that kind: of that request, where it names one."""
        start = time.perf_counter()
        while (event := self._next(effect, request_id)) is None:
            _be_patient(start, effect.__name__)
            time.sleep(_POLL_S)
        return event

    def busy(self, mark: str) -> int:
        """The process that keeps a processor busy for the command of that mark."""
        start = time.perf_counter()
        while True:
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit() and _is_busy(entry, mark):
                    return int(entry.name)
            _be_patient(start, "the command")
            time.sleep(_POLL_S)

    def _next(self, effect: type[ev.Body], request_id: int | None) -> ev.Event | None:
        if self._reader is None:
            if not self.run.events():
                return None
            self._reader = EventReader(self.run.folder.events)
        for event in self._reader.since(self._seq):
            self._seq = event.seq
            if isinstance(event.body, ev.RequestRefused) and event.body.request_id == request_id:
                raise RuntimeError(f"refused: {event.body.reason}")
            if isinstance(event.body, effect) and getattr(event.body, "request_id", request_id) == request_id:
                return event
        return None


@contextmanager
def steered(root: Path, place: str, script: Sequence[str], *, approve: bool = False) -> Iterator[SteeredRun]:
    """A run of that script, which is gone afterwards."""
    runs = Runs.under(root)
    try:
        yield SteeredRun(runs.start(script, sandbox=place, limits=_LIMITS, approve=approve))
    finally:
        runs.close()


def busy_command(mark: str) -> str:
    """A line of a script that keeps a processor busy until somebody ends it, or two minutes have passed."""
    return bash(f"exec python3 -c 'while True: pass' {mark}", timeout_s=120)


def _is_busy(entry: Path, mark: str) -> bool:
    try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[:2] == [b"python3", b"-c"] and mark.encode() in words


def _time_used(pid: int) -> int | None:
    """Nanoseconds on a processor; None where the process is gone."""
    try:
        if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
            return None
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    except OSError:
        return None


def _ms_since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def _be_patient(start: float, wanted: str) -> None:
    if time.perf_counter() - start > _PATIENCE_S:
        raise RuntimeError(f"{wanted} does not come")
