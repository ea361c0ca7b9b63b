"""The disk of the record is full: an alarm, a visible pause, nothing lost, and on it goes with room again."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.home import Home
from agent.record.inbox import Resume
from agent.record.values import RunSummary
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

DISK_BYTES = 2 * 1024**2
MLRB = Path(sys.executable).with_name("mlrb")
SMALL = {"PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def runs(tmp_path: Path, disk: Path) -> Iterator[Runs]:
    """Runs of the probe task whose home is the small disk."""
    made = Runs.under(tmp_path)
    made.home = Home(disk / "home").ensure()
    made.environment |= {"MLRB_HOME": str(made.home.path), **SMALL}
    index.create(made.home.index)
    yield made
    (disk / "filler").unlink(missing_ok=True)
    made.close()


def fill(disk: Path) -> None:
    """Leave not a byte free."""
    with (disk / "filler").open("ab", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            return


def make_room(disk: Path) -> None:
    """Take away what fills it."""
    (disk / "filler").unlink()


def mlrb(runs: Runs, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(MLRB), *arguments], env=runs.environment, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def whole(run: Run, ticks: int) -> None:
    """The run has ended with all that its command wrote, without a gap, and can be exported."""
    assert run.ended().outcome == "submitted", run.said()
    written = "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput))
    assert written == "".join(f"tick {number}\n" for number in range(1, ticks + 1))
    seqs = [event.seq for event in run.events()]
    assert seqs == list(range(1, len(seqs) + 1))
    ran = mlrb(run.runs, "events", run.folder.run)
    assert [json.loads(line)["seq"] for line in ran.stdout.splitlines()] == seqs, ran.stderr
    assert not run.folder.ballast.exists()


def test_full_disk_pauses_the_run_where_all_can_see_it_and_loses_nothing(runs: Runs, disk: Path) -> None:
    ticks = 60
    run = runs.start(
        [bash(f"for i in $(seq {ticks}); do echo tick $i; sleep 0.05; done"), bash("sleep 0.1"), script_line("submit")]
    )
    run.wait_for(ev.ToolOutput)
    fill(disk)
    paused = run.wait_for(ev.RunPaused)
    assert (paused.strength, paused.by, paused.why) == ("now", "", "the disk is full")
    assert [body.alert for body in run.bodies(ev.AlertRaised)] == ["disk_full"]
    until(lambda: seen(runs).state == "paused", "the list of runs shows it")
    assert seen(runs).pause_why == "the disk is full"
    before = len(run.bodies(ev.ToolOutput))
    make_room(disk)
    resumed = run.wait_for(ev.RunResumed)
    assert resumed.by == "the runner"
    whole(run, ticks)
    assert len(run.bodies(ev.ToolOutput)) > before
    assert (len(run.bodies(ev.RunPaused)), len(run.bodies(ev.RunResumed))) == (1, 1)
    assert run.summary().paused_s > 0


def seen(runs: Runs) -> RunSummary:
    """The run as a list of all runs shows it."""
    [summary] = index.summaries(runs.home)
    return summary


def test_what_runs_stands_still_until_there_is_room(runs: Runs, disk: Path) -> None:
    witness = runs.tasks / "witness"
    loop = f"for i in $(seq 40); do echo tick $i; echo x >> {witness}; sleep 0.05; done"
    run = runs.start([bash(loop), script_line("submit")])
    run.wait_for(ev.ToolOutput)
    fill(disk)
    run.wait_for(ev.RunPaused)
    [guest] = [pid for pid in processes_with(str(run.folder.path)) if "guest.main" in cmdline(pid)]
    assert stat_of(guest) == "T"
    stood_at = len(witness.read_text())
    refusal = run.refusal_of(ask_with_what_is_left(run, disk))
    assert "the disk is full" in refusal.reason
    assert len(witness.read_text()) == stood_at
    make_room(disk)
    whole(run, 40)
    assert len(witness.read_text().split()) == 40


def ask_with_what_is_left(run: Run, disk: Path) -> int:
    """A person frees a little, enough for a request and too little for the run."""
    with (disk / "filler").open("r+b") as filler:
        filler.truncate(filler.seek(0, 2) - 128 * 1024)
    return run.post(Resume())


def test_record_of_a_runner_that_was_shot_on_a_full_disk_opens_and_is_taken_up(runs: Runs, disk: Path) -> None:
    run = runs.start([bash("for i in $(seq 200); do echo tick $i; sleep 0.05; done"), script_line("submit")])
    run.wait_for(ev.ToolOutput)
    fill(disk)
    run.wait_for(ev.RunPaused)
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    fill(disk)
    ran = mlrb(runs, "events", run.folder.run)
    kinds = [json.loads(line)["body"]["kind"] for line in ran.stdout.splitlines()]
    assert "run_paused" in kinds, ran.stderr
    assert seen(runs).outcome == "lost"
    make_room(disk)
    run.launch("--resume")
    run.wait_for(ev.RunStarted, lambda body: body.resumed)
    run.process.terminate()
    assert run.ended().outcome == "killed"


def test_launch_on_a_full_disk_is_refused_and_leaves_nothing(runs: Runs, disk: Path) -> None:
    fill(disk)
    ran = mlrb(runs, "run", "probe/number", "--sandbox", "local", "--model", "scripted")
    assert (ran.returncode, ran.stdout) == (5, ""), ran.stderr
    assert "no room for a run" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert list(runs.home.runs.iterdir()) == []
    make_room(disk)
    assert mlrb(runs, "run", "probe/number", "--sandbox", "local", "--model", "scripted", "--wait").returncode == 0


def cmdline(pid: int) -> str:
    """Its command line."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def stat_of(pid: int) -> str:
    """The kernel's letter for how it is."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
