"""A run that lost its runner, in the run screen: it can be ended from there as anywhere else."""

import os
import signal
from pathlib import Path

from agent.record import events as ev
from tests.process.runner_runs import Runs, processes_with
from tests.process.test_kill_hung import pid_of, reap_child, sleeping
from tests.ui.run_app import app_on_run, screen_text, until


async def test_a_lost_run_is_killed_by_key_and_the_proof_is_shown(tmp_path: Path) -> None:
    runs = Runs.under(tmp_path)
    try:
        run = sleeping(runs, "761.25")
        os.kill(pid_of(run), signal.SIGKILL)
        reap_child(run)
        app = app_on_run(runs.home, run.folder)
        async with app.run_test(size=(160, 40)) as pilot:
            await until(pilot, lambda: "LOST" in screen_text(app))
            await pilot.press("k", "y")
            await until(pilot, lambda: "KILLED" in screen_text(app))
            await until(pilot, lambda: "✔ processes" in screen_text(app) and "✔ log closed" in screen_text(app))
        assert processes_with("761.25") == []
        assert run.bodies(ev.RunEnded)[0].outcome == "killed"
    finally:
        runs.close()
