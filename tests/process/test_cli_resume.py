"""`mlrb resume` gives a lost run one new runner, and says what is still to be done."""

import json
import subprocess
import sys
from pathlib import Path

from agent.record import events as ev
from agent.record.inbox import Pause
from agent.record.lease_watch import standing_of
from tests.process.runner_runs import Runs, bash, script_line
from tests.process.test_kill_hung import mlrb
from tests.process.test_resume_stages import kill

WAITS = [bash("until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")]
MLRB = Path(sys.executable).with_name("mlrb")


def test_run_that_two_people_take_up_at_once_has_one_runner_and_the_other_is_told(runs: Runs) -> None:
    run = runs.start(WAITS)
    run.wait_for(ev.ToolCalled)
    kill(run)
    command = [str(MLRB), "resume", run.folder.run]
    both = [
        subprocess.Popen(command, env=runs.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60) for process in both]
    # Who comes while the other does it hears that the other steers, who comes just after that it is done.
    assert sorted(process.returncode for process in both) in ([0, 5], [0, 6]), said
    assert "".join(out for out, _ in said).count("taken up by a new runner") == 1
    complaint = "".join(err for _, err in said)
    assert "has steered this run since" in complaint or "has a runner already" in complaint or "not paused" in complaint
    assert standing_of(run.folder.inbox).lease is None
    (run.folder.work / "go.txt").touch()
    run.process = None
    run.wait_for(ev.RunEnded)
    assert [body.resumed for body in run.bodies(ev.RunStarted)] == [False, True]


def test_person_who_takes_up_a_paused_run_is_told_that_it_is_paused_still(runs: Runs) -> None:
    run = runs.start(WAITS)
    run.wait_for(ev.ToolCalled)
    run.answer_to(run.post(Pause(strength="now")))
    kill(run)
    run.process = None
    first = mlrb(runs, "resume", run.folder.run, "--json")
    assert json.loads(first.stdout) == {"run": run.folder.run, "taken_up": True, "paused": True}
    run.wait_for(ev.RunPaused, count=2)
    (run.folder.work / "go.txt").touch()
    second = mlrb(runs, "resume", run.folder.run)
    assert "resume: resumed" in second.stdout, second.stderr
    assert run.wait_for(ev.RunEnded).outcome == "submitted"
