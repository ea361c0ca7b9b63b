"""What is wrong with one run's record: events lost or doubled, requests nobody answered, an end that never came."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Inbox, Inject
from agent.record.log import EventReader
from tests.soak.follower import fingerprint
from tests.soak.material import WITNESS

Kind = Literal["event", "leftover", "request"]
"""What was lost or doubled; what is left over; what nobody answered, a run's end among it."""
_NO_DAEMON = "no Docker daemon answers"
_TICK = re.compile(r"^tick (\d+) (\d+)$", re.MULTILINE)
_TRACEBACK = re.compile(r"^(Traceback \(most recent|Exception ignored|Task exception was never)", re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    kind: Kind
    run: str
    what: str


def judge_record(folder: RunFolder, noted: Mapping[int, str], *, may_fail: bool = False) -> Iterator[Finding]:
    """All that is wrong with the record; `noted` is what a follower was shown, by number."""
    try:
        with EventReader(folder.events) as reader:
            events = list(reader.all())
            shown = {event.seq: fingerprint(event) for event in events}
            bodies = [reader.whole(event).body for event in events]
    except RecordError as error:
        yield Finding("event", folder.run, error.message)
        return
    for said in (*_gaps(events), *_missing(shown, noted), *_doubled(bodies), *_uncounted(folder, bodies)):
        yield Finding("event", folder.run, said)
    for said in (*_unanswered(folder, bodies), *_unended(bodies, may_fail=may_fail)):
        yield Finding("request", folder.run, said)
    for said in complaints(folder.runner_out):
        yield Finding("leftover", folder.run, said)


def complaints(path: Path) -> Iterator[str]:
    """Tracebacks in what a process printed."""
    said = path.read_text(errors="replace") if path.exists() else ""
    for found in _TRACEBACK.finditer(said):
        yield f"a traceback in {path.name}: {said[found.start() :][:3000]}"


def _gaps(events: list[ev.Event]) -> Iterator[str]:
    """Numbers follow each other from 1, and time never runs back."""
    for expected, event in enumerate(events, 1):
        if event.seq != expected:
            yield f"event {expected} is missing: the next one is {event.seq}"
            return
    for before, after in pairwise(events):
        if after.at < before.at:
            yield f"event {after.seq} is earlier than the one before it"


def _missing(shown: Mapping[int, str], noted: Mapping[int, str]) -> Iterator[str]:
    for seq, fingerprinted in noted.items():
        if shown.get(seq) != fingerprinted:
            yield f"event {seq} was shown to a follower and is {'another one' if seq in shown else 'gone'}"


def _doubled(bodies: list[ev.AnyBody]) -> Iterator[str]:
    """What must have happened once: a call's start and end, the final score, the run's end."""
    finished = Counter(body.call_id for body in bodies if isinstance(body, ev.ToolFinished))
    called = Counter(body.call_id for body in bodies if isinstance(body, ev.ToolCalled))
    scored = sum(isinstance(body, ev.Graded) and body.purpose == "final" for body in bodies)
    ends = [body for body in bodies if isinstance(body, ev.RunEnded)]
    yield from (f"call {call} began {count} times" for call, count in called.items() if count > 1)
    yield from (f"call {call} ended {count} times" for call, count in finished.items() if count > 1)
    if scored > 1:
        yield f"the final score was given {scored} times"
    if len(ends) > 1:
        yield f"the run ended {len(ends)} times"
    if ends and ends[0].outcome in ("submitted", "limit"):
        yield from (f"call {call} has no end" for call in called if call not in finished)
        if not scored:
            yield "the run was not scored"


def _uncounted(folder: RunFolder, bodies: list[ev.AnyBody]) -> Iterator[str]:
    """Commands count aloud and into the witness: every count happened once, in order, and is in the record."""
    outputs: dict[str, str] = {}
    for body in bodies:
        if isinstance(body, ev.ToolOutput) and isinstance(body.text, str):
            outputs[body.call_id] = outputs.get(body.call_id, "") + body.text
    for call, said in outputs.items():
        counts = [int(count) for _, count in _TICK.findall(said)]
        if counts != list(range(1, len(counts) + 1)):
            yield f"the output of call {call} counts {counts}"
    well = {body.call_id for body in bodies if isinstance(body, ev.ToolFinished) and body.exit_code == 0}
    ended_well = {line for call in well for line, _ in _TICK.findall(outputs.get(call, ""))}
    recorded = {tick for said in outputs.values() for tick in _TICK.findall(said)}
    for tick, times in Counter(_TICK.findall(_witness(folder))).items():
        if times > 1:
            yield f"tick {' '.join(tick)} was done {times} times"
        if tick[0] in ended_well and tick not in recorded:
            yield f"tick {' '.join(tick)} was done and is not in the record"


def _witness(folder: RunFolder) -> str:
    """What the commands wrote down: as it lies in a local work folder, else in the newest snapshot."""
    snapshots = sorted(folder.submission.glob("[0-9]*"), key=lambda path: int(path.name), reverse=True)
    for path in (folder.work, *snapshots):
        if (path / WITNESS).is_file():
            return (path / WITNESS).read_text(errors="replace")
    return ""


def _unanswered(folder: RunFolder, bodies: list[ev.AnyBody]) -> Iterator[str]:
    """Each request has a receipt and one answer; a message was delivered before it was answered."""
    received = {body.request_id for body in bodies if isinstance(body, ev.RequestReceived)}
    delivered = {body.request_id for body in bodies if isinstance(body, ev.RequestDelivered)}
    answered = Counter(body.request_id for body in bodies if isinstance(body, ev.RequestAnswered))
    refused = Counter(body.request_id for body in bodies if isinstance(body, ev.RequestRefused) and body.reason)
    withdrawn = Counter(body.request_id for body in bodies if isinstance(body, ev.RequestWithdrawn))
    answers = answered + refused + withdrawn
    with closing(Inbox(folder.inbox)) as inbox:
        posted = inbox.after(0)
    for one in posted:
        if one.request_id not in received:
            yield f"request {one.request_id} was never received: {one.raw}"
        if answers[one.request_id] != 1:
            yield f"request {one.request_id} was answered {answers[one.request_id]} times: {one.raw}"
        if isinstance(one.request, Inject) and answered[one.request_id] and one.request_id not in delivered:
            yield f"message {one.request_id} was answered and never delivered"


def _unended(bodies: list[ev.AnyBody], *, may_fail: bool) -> Iterator[str]:
    """A run ends, and fails only where its container was killed or it never found a daemon to begin with."""
    ends = [body for body in bodies if isinstance(body, ev.RunEnded)]
    began = any(isinstance(body, ev.SandboxStarted) for body in bodies)
    if not ends:
        yield "the run has no end"
    elif ends[0].outcome == "failed" and not began and ends[0].detail.startswith(_NO_DAEMON):
        return
    elif ends[0].outcome in ("failed", "lost") and not may_fail:
        yield f"the run {ends[0].outcome}: {ends[0].detail}"
