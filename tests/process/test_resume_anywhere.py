"""A runner that is shot again and again, wherever it just is: nothing of the run is lost, and nothing is done twice."""

import json
import os
import random
import signal
import time
from itertools import pairwise

from agent.record import events as ev
from agent.record.log import EventReader
from agent.runner.conversation import conversation
from tests.process.runner_runs import DEADLINE_S, Run, Runs, bash, processes_with, script_line

SEED = 20


def ticking(name: str, count: int) -> str:
    """A command that writes one line a tick to a file and to its output."""
    return f"for i in $(seq {count}); do echo {name}$i >> ticks.txt; echo {name}$i; sleep 0.03; done"


PYTHON = """
import time
for i in range(1, 31):
    with open("ticks.txt", "a") as ticks:
        print(f"b{i}", file=ticks)
    print(f"b{i}")
    time.sleep(0.03)
"""
TICKS = [
    f"{name}{number}" for name, count in (("a", 40), ("b", 30), ("c", 20), ("d", 20)) for number in range(1, count + 1)
]
TWO_CALLS = [{"tool": "bash", "arguments": {"command": ticking(name, 20)}} for name in ("c", "d")]
SCRIPT = [
    bash(f"echo 3 > answer.txt; {ticking('a', 40)}"),
    script_line("python", code=PYTHON),
    json.dumps({"thought": "Two at once.", "calls": TWO_CALLS}) + "\n",
    script_line("validate"),
    script_line("submit", summary="three"),
]


QUIET = (ev.Heartbeat, ev.HostSampled, ev.GpuSampled, ev.CheckpointSeen)
"""What comes by the clock, and not by anything that the run does."""
MOST_SHOTS = 14


def shoot(run: Run, events: int, delay_s: float) -> bool:
    """Shoot the runner a moment after so many events of its own; False where it came to its end before."""
    assert run.process is not None
    deadline = time.monotonic() + DEADLINE_S
    seen, left = run.last_seq(), events
    while run.process.poll() is None:
        assert time.monotonic() < deadline, run.said()
        fresh = run.events_after(seen)
        seen = fresh[-1].seq if fresh else seen
        left -= sum(not isinstance(event.body, QUIET) for event in fresh)
        if left <= 0:
            time.sleep(delay_s)
            os.kill(run.process.pid, signal.SIGKILL)
            return run.process.wait() != 0
        time.sleep(0.001)
    return False


def test_run_whose_runner_is_shot_at_every_turn_is_as_if_nobody_had_shot(runs: Runs) -> None:
    rng = random.Random(SEED)
    run = runs.start(SCRIPT, pace_s=0.1)
    shots = 0
    # A runner's first few events say that it is there; what is shot at is spread over all that follow.
    while shots < MOST_SHOTS and shoot(run, rng.randint(1, 7), rng.choice((0.0, 0.0, 0.03, 0.1))):
        shots += 1
        run.launch("--resume")
    assert run.ended().outcome == "submitted"
    assert shots >= 12, f"only {shots} shots with seed {SEED}"
    check_whole(run)
    check_done_once(run)
    assert processes_with(str(run.folder.path)) == []


def check_whole(run: Run) -> None:
    """The record has no holes, and the conversation is one that a model could have had."""
    events = run.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(before.at <= after.at for before, after in pairwise(events))
    with EventReader(run.folder.events) as reader:
        messages = conversation(reader)
    assert [message.message_id for message in messages] == [f"m{number}" for number in range(1, len(messages) + 1)]
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "tool", "assistant", "tool",
        "assistant", "tool",
    ]  # fmt: skip
    asked, answered = run.bodies(ev.ModelAsked), run.bodies(ev.ModelAnswered)
    lost = {body.call_id for body in run.bodies(ev.ModelFailed)}
    assert {body.call_id for body in asked} == {body.call_id for body in answered} | lost
    assert len(answered) == len(run.bodies(ev.StepStarted)) == run.summary().step == len(SCRIPT)


def check_done_once(run: Run) -> None:
    """Every command ran once and to its end, all its output is there once, and there is one score."""
    assert (run.folder.work / "ticks.txt").read_text().split() == TICKS
    called, finished = run.bodies(ev.ToolCalled), run.bodies(ev.ToolFinished)
    assert [body.call_id for body in called] == [body.call_id for body in finished]
    assert [body.exit_code for body in finished] == [0, 0, 0, 0, None, None]
    assert not any(body.failed for body in finished)
    output = "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput))
    assert output.split() == TICKS
    told = "\n".join(run.text(body.observation) for body in finished[:4])
    assert [line for line in told.splitlines() if not line.startswith("[")] == TICKS
    assert [(body.purpose, body.score.value) for body in run.bodies(ev.Graded)] == [("validate", 3.0), ("final", 3.0)]
    assert [body.text for body in run.bodies(ev.NoteTaken)] == ["three"]
    assert len(run.bodies(ev.RunEnded)) == len(run.bodies(ev.SandboxStopped)) == 1
