"""A kill ends a run whatever its runner does: stopped, deaf, shot, or never there; the record has the proof."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.inbox import Inject, Kill
from agent.record.lock import is_held
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

MLRB = str(Path(sys.executable).with_name("mlrb"))


def mlrb(runs: Runs, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command, on that home."""
    return subprocess.run(
        [MLRB, *arguments], env=runs.environment, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def sleeping(runs: Runs, seconds: str) -> Run:
    """A run in the middle of a command."""
    run = runs.start([bash(f"setsid sleep {seconds} & sleep {seconds}"), script_line("submit")])
    until(lambda: len(processes_with(seconds)) >= 2, "the command runs")
    return run


def pid_of(run: Run) -> int:
    """Its runner's."""
    assert run.process is not None
    return run.process.pid


def reap_child(run: Run) -> None:
    """Take in the runner's end: it is this test's child, and its parent alone may do that."""
    assert run.process is not None
    run.process.wait(60)


def checklist(run: Run) -> dict[str, bool]:
    """What was looked at, and whether it was proven gone."""
    return {body.what: body.proven for body in run.bodies(ev.ProofFound)}


def assert_gapless_and_over(run: Run) -> None:
    """The record is whole, and its last word is the end."""
    events = run.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1].body, ev.RunEnded)
    assert not is_held(run.folder.lock)


@contextlib.contextmanager
def kept_stopped(pid: int) -> Iterator[None]:
    """Whoever lets the process go on, it stands again at once: as deaf as one that waits for a dead disk."""
    over = threading.Event()

    def stop() -> None:
        while not over.wait(0.001):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_stopped_runner_is_woken_and_ends_its_run_with_proof(runs: Runs) -> None:
    run = sleeping(runs, "711.25")
    os.kill(pid_of(run), signal.SIGSTOP)
    ran = mlrb(runs, "kill", run.folder.run, "--why", "it hangs")
    assert ran.returncode == 0, ran.stderr
    assert "nothing is left over" in ran.stdout
    reap_child(run)
    assert processes_with("711.25") == []
    ended = run.bodies(ev.RunEnded)[0]
    assert ended.outcome == "killed"
    assert "it hangs" in ended.detail or "SIGTERM" in ended.detail
    assert checklist(run) == {"model calls": True, "processes": True}
    assert_gapless_and_over(run)


def test_runner_that_never_answers_is_ended_by_force_and_its_run_from_outside(runs: Runs) -> None:
    run = sleeping(runs, "712.25")
    queued = run.post(Inject(text="hello"))
    run.wait_for(ev.RequestReceived)
    with kept_stopped(pid_of(run)):
        ran = mlrb(runs, "kill", run.folder.run, "--why", "deaf")
        assert ran.returncode == 0, ran.stderr
    reap_child(run)
    assert processes_with("712.25") == []
    assert "processes" in ran.stderr
    assert run.bodies(ev.RunEnded)[0].detail.endswith(": deaf")
    assert run.refusal_of(queued).reason == "the run ended first"
    assert all(proof.proven for proof in run.bodies(ev.SandboxStopped)[0].proofs)
    assert checklist(run) == {"model calls": True, "processes": True}
    (row,) = index.summaries(runs.home)
    assert (row.outcome, row.leftovers) == ("killed", ())
    assert_gapless_and_over(run)


def test_run_that_is_deaf_while_it_is_scored_leaves_no_grader(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")])
    run.wait_for(ev.GradingProgressed)
    with kept_stopped(pid_of(run)):
        assert mlrb(runs, "kill", run.folder.run).returncode == 0
    reap_child(run)
    until(lambda: not processes_with(f"{run.folder.path}/submission"), "the grader is gone")
    assert run.bodies(ev.RunEnded)[0].outcome == "killed"


def test_kill_of_a_lost_run_needs_no_new_runner_and_counts_no_time_without_one(runs: Runs) -> None:
    run = sleeping(runs, "713.25")
    os.kill(pid_of(run), signal.SIGKILL)
    reap_child(run)
    worked_s = run.summary().working_s
    ran = mlrb(runs, "kill", run.folder.run)
    assert (ran.returncode, ran.stdout) == (0, f"{run.folder.run}  kill: nothing is left over\n"), ran.stderr
    assert processes_with("713.25") == []
    assert run.summary().working_s == pytest.approx(worked_s, abs=1e-6)
    assert run.bodies(ev.ModelAsked)[1:] == []
    assert_gapless_and_over(run)


def test_second_kill_is_harmless_whenever_it_comes(runs: Runs) -> None:
    run = sleeping(runs, "714.25")
    kills = [run.post(Kill(why="first")), run.post(Kill(why="second"))]
    assert run.ended().detail == "by ann: first"
    assert [run.answer_to(kill).detail for kill in kills] == ["nothing is left over"] * 2
    before = len(run.events())
    ran = mlrb(runs, "kill", run.folder.run)
    assert (ran.returncode, ran.stdout) == (
        0,
        f"{run.folder.run}  kill: it was killed before; nothing is left over\n",
    ), ran.stderr
    assert len(run.events()) == before


def test_kill_of_a_run_that_never_had_a_runner_ends_it(runs: Runs) -> None:
    run = runs.start([script_line("submit")])
    run.ended()
    for name in ("events.db", "events.db-wal", "events.db-shm"):
        (run.folder.path / name).unlink(missing_ok=True)
    ran = mlrb(runs, "kill", run.folder.run)
    assert ran.returncode == 0, ran.stderr
    assert isinstance(run.events()[0].body, ev.RunCreated)
    assert run.bodies(ev.RunEnded)[0].outcome == "killed"
    assert_gapless_and_over(run)


def test_run_killed_before_its_runner_has_read_anything_is_killed_without_a_traceback(runs: Runs) -> None:
    for _ in range(2):
        runs.start([bash("sleep 717.25")])
    third = runs.start([bash("true")])
    ran = mlrb(runs, "kill", third.folder.run)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr + third.folder.runner_out.read_text()
    reap_child(third)
    assert third.bodies(ev.RunEnded)[0].outcome == "killed"
    assert_gapless_and_over(third)


def test_kill_while_data_is_made_leaves_nothing_and_says_what_it_looked_at(runs: Runs) -> None:
    data = runs.tasks / "probe" / "number" / "data.py"
    data.write_text(data.read_text().replace("def generate(", "import time\n\ntime.sleep(715.25)\n\n\ndef generate("))
    run = runs.start([script_line("submit")])
    run.wait_for(ev.RunStarted)
    until(lambda: bool(_preparing(runs)), "the data is being made")
    ran = mlrb(runs, "kill", run.folder.run)
    assert ran.returncode == 0, ran.stderr
    assert run.ended().outcome == "killed"
    assert not _preparing(runs)
    assert checklist(run) == {"model calls": True, "processes": True}


def _preparing(runs: Runs) -> list[int]:
    """The processes that make data for this home, and not for another test's."""
    return [pid for pid in processes_with("tasks.prepare") if str(runs.home.data) in _command(pid)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_process_that_holds_the_lock_without_being_the_runner_is_not_ended(runs: Runs, tmp_path: Path) -> None:
    run = runs.start([script_line("submit")])
    run.ended()
    holder = subprocess.Popen(
        [sys.executable, "-c", "import fcntl,sys,time; f=open(sys.argv[1],'r+'); fcntl.flock(f,fcntl.LOCK_EX);"
         "f.write(f'{__import__(\"os\").getpid()}\\n'); f.flush(); print(flush=True); time.sleep(716.25)",
         str(run.folder.lock)], stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        ran = mlrb(runs, "kill", run.folder.run)
        assert ran.returncode != 0
        assert "not its runner" in ran.stderr
        assert holder.poll() is None
    finally:
        holder.kill()
        holder.wait()
