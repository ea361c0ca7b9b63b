"""Recorded runs of any size, made for measuring; every figure's log comes from here."""

from collections.abc import Iterator
from pathlib import Path

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.index import reindex
from agent.record.log import write_events
from agent.record.request import RunRequest, write_request
from agent.record.summary import fold
from agent.record.values import Host, Limits, Progress, RunSummary, Score, Usage

HEARTBEAT_EVERY = 500
START = 1_780_000_000.0


def made_events(run: str, count: int, *, ended: bool = True) -> Iterator[ev.Event]:
    """A believable run of exactly `count` events, with the heartbeats that a runner writes."""
    summary = RunSummary()
    bodies = _bodies(run)
    for seq in range(1, count + 1):
        if ended and seq == count:
            body: ev.AnyBody = ev.RunEnded(outcome="submitted")
        elif seq % HEARTBEAT_EVERY == 0:
            body = ev.Heartbeat(summary=summary)
        else:
            body = next(bodies)
        step = summary.step + isinstance(body, ev.StepStarted)
        event = ev.Event(seq=seq, at=START + seq * 0.2, step=step, body=body)
        summary = fold(summary, event)
        yield event


def made_run(home: Home, run: str, count: int, *, ended: bool = True) -> RunFolder:
    """A run folder with such a log in it."""
    folder = RunFolder(home.runs / run)
    folder.path.mkdir(mode=0o700)
    write_request(folder.request, RunRequest(run=run, task="mlgym/battle_of_sexes"))
    write_events(folder.events, made_events(run, count, ended=ended))
    return folder


def made_home(path: Path, runs: int) -> Home:
    """A home with many small ended runs, indexed."""
    home = Home(path).ensure()
    for number in range(runs):
        made_run(home, f"{number:08x}", 30)
    reindex(home)
    return home


def _bodies(run: str) -> Iterator[ev.AnyBody]:
    yield ev.RunCreated(
        run=run,
        task="mlgym/battle_of_sexes",
        scale="smoke",
        scaffold="react",
        model="scripted",
        sandbox="local",
        seed=0,
        limits=Limits(time_s=86_400.0, steps=100_000, cost_usd=40.0),
    )
    yield ev.RunStarted(pid=1, host="bench")
    yield ev.SandboxStarted(sandbox="local", name="bench", isolates=False)
    step = 0
    while True:
        step += 1
        yield from _step(step)


def _step(step: int) -> Iterator[ev.AnyBody]:
    call = f"c{step}"
    yield ev.StepStarted()
    yield ev.ModelAsked(call_id=call, model="scripted")
    for part in range(4):
        yield ev.ModelStreamed(call_id=call, channel="reasoning", text=f"thought {part} of step {step} ")
    yield ev.ModelAnswered(
        call_id=call,
        message_id=f"m{step}",
        reasoning=f"At step {step} the loss has fallen again, so the schedule stays as it is.",
        usage=Usage(input_tokens=1200, output_tokens=80),
        cost_usd=0.001,
    )
    yield ev.ToolCalled(call_id=f"t{step}", tool="bash", summary=f"python train.py --step {step}")
    for line in range(7):
        yield ev.ToolOutput(call_id=f"t{step}", text=f"step {step * 10 + line} loss {3 + 1 / step:.4f} 18.2k tok/s\n")
    yield ev.ProgressSeen(
        call_id=f"t{step}", progress=Progress(values={"loss": 3 + 1 / step}, rate=18_200.0, rate_unit="tok/s")
    )
    yield ev.HostSampled(host=Host(cpu_percent=150.0, memory_used_bytes=2_000_000_000))
    failed = step % 17 == 0
    yield ev.ToolFinished(
        call_id=f"t{step}", message_id=f"o{step}", exit_code=int(failed), failed=failed, duration_s=2.0
    )
    if step % 50 == 0:
        yield ev.Graded(
            grading_id=f"g{step}", purpose="validate", score=Score(metric="score", value=1.2, split="dev", valid=True)
        )
    else:
        yield ev.NoteTaken(text=f"noted at step {step}")
