"""Request to effect for each verb, while a command keeps a processor busy: in docker and local."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.record import events as ev
from agent.record.home import Home
from agent.record.inbox import Approve, ChangeLimits, Inbox, Inject, Interrupt, Kill, Pause, Resume, ScoreNow
from agent.record.log import EventLog, EventReader
from agent.record.values import Limits
from agent.sandbox.choose import docker_answers
from tests.bench.figures import Bar, Figure, figure, percentile
from tests.bench.steered_run import Times, busy_command, steered
from tests.process.runner_runs import bash

MANY, SOME, FEW = 40, 20, 10
NOW_MS, OTHERS_MS, PROOF_MS = 1000.0, 300.0, 5000.0
_BARE = 200


@dataclass(frozen=True)
class Row:
    """One verb of the table."""

    verb: str
    times_ms: list[float]
    effect: str
    bar_ms: float = OTHERS_MS


def latency() -> Iterator[Figure]:
    """p50 and p95 of each verb, in ms; the reference is the way to a process that answers and does nothing else."""
    bare = _bare_ms()
    places = ["local", *(["docker"] if docker_answers() else [])]
    if "docker" not in places:
        print("latency: no docker daemon answers; not measured there")
    for place in places:
        for measure in (_while_busy, _interrupted, _approved, _killed):
            for row in measure(place):
                yield from _figures(place, row, bare)


def _figures(place: str, row: Row, bare: list[float]) -> Iterator[Figure]:
    for percent in (50, 95):
        value, reference = percentile(row.times_ms, percent), percentile(bare, percent)
        name, note = f"{place}_{row.verb}_p{percent}", f"to {row.effect}; n={len(row.times_ms)}"
        yield figure(name, value, "ms", reference, Bar(row.bar_ms), note)


def _while_busy(place: str) -> list[Row]:
    """Verbs that leave the command alone, or go on with it."""
    step, command, frozen, thawed, limits, score = (Times() for _ in range(6))
    mark = "latency-kept-busy"
    with _folder() as root, steered(root, place, [busy_command(mark)]) as run:
        busy = run.busy(mark)
        for _ in range(SOME):
            run.ask(Pause(strength="step"), ev.RequestReceived, step)
            run.ask(Pause(strength="command"), ev.RequestReceived, command)
            run.ask(Resume(), ev.RequestAnswered, Times())
        for number in range(MANY):
            run.ask_machine(Pause(strength="now"), ev.RunPaused, busy, frozen)
            run.ask(Resume(), ev.RunResumed, thawed)
            run.ask(ChangeLimits(limits=Limits(time_s=3600.0, steps=1000 + number)), ev.LimitsChanged, limits)
        for _ in range(FEW):
            run.ask(ScoreNow(), ev.GradingStarted, score)
            run.wait_for(ev.Graded)
    receipt = "its receipt; it takes effect when the step ends"
    return [
        Row("pause_step", step.event, receipt),
        Row("pause_command", command.event, receipt),
        Row("pause_now", frozen.event, "RunPaused", NOW_MS),
        Row("pause_now_cpu", frozen.machine, "the last CPU time of a busy loop", NOW_MS),
        Row("resume", thawed.event, "RunResumed"),
        Row("limits", limits.event, "LimitsChanged"),
        Row("score", score.event, "a snapshot on its way to the grader"),
    ]


def _interrupted(place: str) -> list[Row]:
    """Messages during a command, and the command's end."""
    inject, interrupt, delivered = Times(), Times(), Times()
    marks = [f"latency-interrupted-{number}" for number in range(SOME)]
    with _folder() as root, steered(root, place, [busy_command(mark) for mark in marks]) as run:
        for mark in marks:
            busy = run.busy(mark)
            injected = run.ask(Inject(text="a word"), ev.RequestReceived, inject)
            finished = run.ask_machine(Interrupt(), ev.ToolFinished, busy, interrupt)
            delivered.event.append((run.wait_for(ev.RequestDelivered, injected).at - finished.at) * 1000)
    return [
        Row("inject", inject.event, "its receipt: it is queued"),
        Row("inject_delivered", delivered.event, "the model request that carries it, from the command's end"),
        Row("interrupt", interrupt.event, "ToolFinished"),
        Row("interrupt_gone", interrupt.machine, "the end of the busy process"),
    ]


def _approved(place: str) -> list[Row]:
    """A person's word on one call after the other."""
    times = Times()
    with _folder() as root, steered(root, place, [bash("true")] * SOME, approve=True) as run:
        for _ in range(SOME):
            asked = run.wait_for(ev.ApprovalAsked).body
            assert isinstance(asked, ev.ApprovalAsked)
            run.ask(Approve(approval_id=asked.approval_id), ev.ToolCalled, times)
    return [Row("approve", times.event, "the start of the call")]


def _killed(place: str) -> list[Row]:
    """Runs killed in the middle of a command."""
    times, ended = Times(), Times()
    for number in range(FEW):
        mark = f"latency-killed-{number}"
        with _folder() as root, steered(root, place, [busy_command(mark)]) as run:
            busy = run.busy(mark)
            start = time.perf_counter()
            run.ask_machine(Kill(), ev.RequestReceived, busy, times)
            run.wait_for(ev.RunEnded)
            ended.event.append((time.perf_counter() - start) * 1000)
    return [
        Row("kill", times.event, "its receipt"),
        Row("kill_gone", times.machine, "the end of the busy process"),
        Row("kill_proven", ended.event, "RunEnded, with its proof", PROOF_MS),
    ]


def _bare_ms() -> list[float]:
    """Post to poll, over the same two files, with nothing in between."""
    with _folder() as root:
        folder = Home(root).ensure().new_run()
        EventLog(folder.events).close()
        inbox = Inbox(folder.inbox)
        command = [sys.executable, "-m", "tests.bench.echo", str(folder.path)]
        with subprocess.Popen(command) as echo, EventReader(folder.events) as reader:
            try:
                times = [_trip_ms(inbox, reader) for _ in range(_BARE)]
            finally:
                echo.kill()
                inbox.close()
        # The first waits for the process to come up.
        return times[1:]


def _trip_ms(inbox: Inbox, reader: EventReader) -> float:
    start = time.perf_counter()
    request_id = inbox.post(Interrupt())
    while reader.last_seq() < request_id:
        time.sleep(0.001)
    return (time.perf_counter() - start) * 1000


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        yield Path(path)
