"""The soak's judge finds each fault that is planted in an otherwise clean record, or on the machine."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Inject, Interrupt
from agent.record.lock import hold
from agent.record.log import EventLog, EventReader, write_events
from agent.record.values import Score
from tests.process.runner_runs import until
from tests.soak.follower import fingerprint
from tests.soak.judge import judge
from tests.soak.material import WITNESS, tick

CALL = "c1"
COUNTS = "".join(f"{tick(0, count)}\n" for count in range(1, 6))
OUTPUT = ev.ToolOutput(call_id=CALL, text=COUNTS)
HOLED = ev.ToolOutput(call_id=CALL, text=f"{tick(0, 1)}\n{tick(0, 3)}\n")
FINISHED = ev.ToolFinished(call_id=CALL, message_id="m2", tool="bash", exit_code=0)
DELIVERED = ev.RequestDelivered(request_id=1, call_id="k2")
ANSWERED = ev.RequestAnswered(request_id=1)
RECEIVED = ev.RequestReceived(request_id=2, verb="interrupt")
REFUSED = ev.RequestRefused(request_id=2, reason="no command is running")
GRADED = ev.Graded(grading_id="g1", purpose="final", score=Score(metric="number", value=5.0))
ENDED = ev.RunEnded(outcome="submitted")
NO_DAEMON = ev.RunEnded(outcome="failed", detail="no Docker daemon answers at /x")
CLEAN: Sequence[ev.AnyBody] = (
    ev.StepStarted(),
    ev.RequestReceived(request_id=1, verb="inject", text="try"),
    ev.ToolCalled(call_id=CALL, tool="bash"),
    OUTPUT,
    FINISHED,
    DELIVERED,
    ANSWERED,
    RECEIVED,
    REFUSED,
    GRADED,
    ENDED,
)


def made(root: Path, bodies: Sequence[ev.AnyBody], witness: str = COUNTS) -> RunFolder:
    """A home with one run that says this."""
    folder = Home(root / "home").ensure().new_run()
    with EventLog(folder.events) as log:
        for body in bodies:
            log.append(body)
    with closing(Inbox(folder.inbox)) as inbox:
        inbox.post(Inject(text="try"))
        inbox.post(Interrupt())
    folder.work.mkdir()
    (folder.work / WITNESS).write_text(witness)
    return folder


def verdict(folder: RunFolder, seen: Path | None = None, daemons: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What the judge says, without the run's name."""
    found = judge(Home(folder.path.parent.parent), seen=seen, daemons=daemons)
    assert all(one.run == folder.run for one in found)
    return [(one.kind, one.what) for one in found]


def without(*left_out: ev.AnyBody) -> list[ev.AnyBody]:
    """The clean record, but for these."""
    return [body for body in CLEAN if body not in left_out]


def test_clean_record_is_clean(tmp_path: Path) -> None:
    assert verdict(made(tmp_path, CLEAN)) == []


def test_run_that_found_no_daemon_to_begin_with_may_fail(tmp_path: Path) -> None:
    assert verdict(made(tmp_path, [*without(ENDED), NO_DAEMON])) == []


@pytest.mark.parametrize(
    ("bodies", "kind", "said"),
    [
        ([*CLEAN, FINISHED], "event", "call c1 ended 2 times"),
        (without(FINISHED), "event", "call c1 has no end"),
        ([ev.ToolCalled(call_id=CALL, tool="bash"), *CLEAN], "event", "call c1 began 2 times"),
        ([*CLEAN, GRADED], "event", "the final score was given 2 times"),
        (without(GRADED), "event", "the run was not scored"),
        ([*CLEAN, ENDED], "event", "the run ended 2 times"),
        ([*CLEAN, OUTPUT], "event", f"the output of call c1 counts {[*range(1, 6), *range(1, 6)]}"),
        ([*without(OUTPUT), HOLED], "event", "the output of call c1 counts [1, 3]"),
        (without(ENDED), "request", "the run has no end"),
        ([*without(ENDED), ev.RunEnded(outcome="failed", detail="it broke")], "request", "the run failed: it broke"),
        ([ev.SandboxStarted(sandbox="docker", name="x"), *without(ENDED), NO_DAEMON], "request", "the run failed: no"),
        (without(DELIVERED, ANSWERED), "request", "request 1 was answered 0 times"),
        (without(DELIVERED), "request", "message 1 was answered and never delivered"),
        (without(REFUSED), "request", "request 2 was answered 0 times"),
        ([*CLEAN, REFUSED], "request", "request 2 was answered 2 times"),
        (without(RECEIVED), "request", "request 2 was never received"),
    ],
)
def test_planted_fault_in_a_record_is_found(tmp_path: Path, bodies: list[ev.AnyBody], kind: str, said: str) -> None:
    assert any(found[0] == kind and said in found[1] for found in verdict(made(tmp_path, bodies)))


@pytest.mark.parametrize(
    ("witness", "said"),
    [(COUNTS + COUNTS, "tick 0 1 was done 2 times"), (f"{COUNTS}{tick(0, 6)}\n", "tick 0 6 was done and is not in")],
)
def test_command_that_ran_twice_or_whose_output_was_lost_is_found(tmp_path: Path, witness: str, said: str) -> None:
    assert any(said in found for _, found in verdict(made(tmp_path, CLEAN, witness)))


def test_gap_and_lost_event_are_found(tmp_path: Path) -> None:
    folder = made(tmp_path, CLEAN)
    with EventReader(folder.events) as reader:
        events = list(reader.all())
    seen = tmp_path / "seen.txt"
    seen.write_text("".join(f"{folder.run} {event.seq} {fingerprint(event)}\n" for event in events))
    assert verdict(folder, seen) == []
    folder.events.unlink()
    write_events(folder.events, [event for event in events if event.seq != 2])
    said = [found for _, found in verdict(folder, seen)]
    assert "event 2 is missing: the next one is 3" in said
    assert "event 2 was shown to a follower and is gone" in said


def test_held_lock_socket_and_traceback_are_found(tmp_path: Path) -> None:
    folder = made(tmp_path, CLEAN)
    folder.guest_socket.touch()
    folder.runner_out.write_text("all is well\nTraceback (most recent call last):\n  …\n")
    with hold(folder.lock):
        found = verdict(folder)
    assert {kind for kind, _ in found} == {"leftover"}
    assert [said.partition(":")[0] for _, said in found] == [
        "its lock is held",
        "guest.sock",
        "a traceback in runner.out",
    ]


@pytest.mark.parametrize("how", ["argument", "environment", "folder"])
def test_process_that_is_left_is_found(tmp_path: Path, how: str) -> None:
    folder = made(tmp_path, CLEAN)
    command = [sys.executable, "-c", "import time; time.sleep(300)", *([str(folder.path)] if how == "argument" else [])]
    environment = {"HOME": str(folder.work)} if how == "environment" else {}
    with subprocess.Popen(command, env=environment, cwd=folder.work if how == "folder" else "/") as process:
        try:
            until(lambda: bool(Path(f"/proc/{process.pid}/cmdline").read_bytes()), "it runs")
            assert any(said.startswith(f"process {process.pid}: ") for _, said in verdict(folder))
        finally:
            process.kill()
    assert verdict(folder) == []
