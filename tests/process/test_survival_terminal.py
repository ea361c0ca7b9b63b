"""The terminal goes, in whatever way: the run does not notice, and whoever comes back sees how it went."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.index import of_folder
from agent.record.lock import is_held
from tests.process.pty_terminal import MLRB, PtyTerminal
from tests.process.runner_runs import Run, Runs, bash, script_line, until

COMMAND = Path(sys.executable).with_name("mlrb")


def waiting_run(runs: Runs, tmp_path: Path) -> Run:
    """A run in a command that ends when the file `go` is there."""
    waits = f"echo 6 > answer.txt; until [ -e {tmp_path}/go ]; do sleep 0.05; done; echo over and out"
    run = runs.start([bash(waits), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    return run


def environment(runs: Runs) -> dict[str, str]:
    """What the app needs to find the runs."""
    return {name: runs.environment[name] for name in ("MLRB_HOME", "MLRB_TASKS")}


def goes_on(run: Run, tmp_path: Path) -> None:
    """It was not touched, and ends as it would have."""
    assert run.process is not None
    assert run.process.poll() is None
    assert is_held(run.folder.lock)
    (tmp_path / "go").touch()
    assert run.ended().outcome == "submitted"
    assert len(run.bodies(ev.RunStarted)) == 1
    assert run.summary().interventions == 0


def _hang_up(terminal: PtyTerminal) -> None:
    terminal.hang_up()


def _shoot(terminal: PtyTerminal) -> None:
    terminal.signal(signal.SIGKILL)


@pytest.mark.parametrize("leave", [_hang_up, _shoot], ids=["hung up", "shot"])
def test_run_goes_on_without_its_viewer_and_is_seen_again(
    runs: Runs, tmp_path: Path, leave: Callable[[PtyTerminal], None]
) -> None:
    run = waiting_run(runs, tmp_path)
    watch = (*MLRB, "watch", run.folder.run)
    with PtyTerminal(watch, columns=120, lines=40, environment=environment(runs)) as terminal:
        terminal.wait_for("RUNNING", timeout_s=60)
        leave(terminal)
        terminal.process.wait(timeout=30)
    goes_on(run, tmp_path)
    with PtyTerminal(watch, columns=120, lines=40, environment=environment(runs)) as terminal:
        terminal.wait_for("SUBMITTED", timeout_s=60)
        terminal.wait_for("over and out", timeout_s=60)
        terminal.press("q")


def test_second_app_leaves_what_runs_untouched(runs: Runs, tmp_path: Path) -> None:
    run = waiting_run(runs, tmp_path)
    with PtyTerminal(columns=120, lines=40, environment=environment(runs)) as first:
        first.wait_for("probe/number", timeout_s=60)
        with PtyTerminal(columns=120, lines=40, environment=environment(runs)) as second:
            second.wait_for("probe/number", timeout_s=60)
            second.press("q")
            second.wait_for_end()
    goes_on(run, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_run_that_somebody_waits_for_outlives_the_waiting(runs: Runs, tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "script.jsonl"
    waits = f"echo 6 > answer.txt; until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    script.write_text(bash(waits) + script_line("submit"))
    waiter = subprocess.Popen(
        [str(COMMAND), "run", "probe/number", "--sandbox", "local", "--model", f"scripted:{script}", "--wait"],
        env=runs.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert waiter.stderr is not None
    said = iter(waiter.stderr.readline, "")
    assert any("$ echo 6" in line for line in said)
    # As a terminal does: to all that it has in the foreground.
    os.killpg(waiter.pid, number)
    _, rest = waiter.communicate(timeout=30)
    if number == signal.SIGINT:
        assert waiter.returncode == 130
        assert "goes on without this terminal" in rest
        assert "Traceback" not in rest
    folder = runs.home.find("last")
    assert is_held(folder.lock)
    (tmp_path / "go").touch()
    until(lambda: not is_held(folder.lock), "the run ends")
    assert of_folder(folder).outcome == "submitted"
    assert of_folder(folder).interventions == 0
