"""A runner in docker that is shot: the next one finds its container by its name, and all in it as it went on."""

import os
import signal
import subprocess

from agent.record import events as ev
from agent.record.inbox import Pause, Resume
from agent.sandbox.containers import labelled
from tests.process.runner_runs import Run, Runs, bash, script_line, until

TICKS = """until [ -e go.txt ]; do echo tick >> ticks.txt; echo tick; sleep 0.02; done
echo 6 > answer.txt
wc -l < ticks.txt"""


def kill(run: Run) -> None:
    """Shoot its runner."""
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()


def inside(run: Run, command: str) -> str:
    """What a command says in the run's container, past the guest."""
    ran = subprocess.run(
        ["docker", "exec", f"mlrb-{run.folder.run}", "bash", "-c", command], capture_output=True, text=True, check=False
    )
    return ran.stdout.strip()


def ticks(run: Run) -> int:
    """How often the command has ticked."""
    return int(inside(run, "wc -l < ticks.txt") or 0)


def test_command_goes_on_in_the_same_container_and_is_followed_to_its_end(runs: Runs) -> None:
    run = runs.start([bash(TICKS), script_line("submit")], sandbox="docker")
    run.wait_for(ev.ToolOutput)
    [before] = labelled(run.folder.run)
    kill(run)
    told = sum(run.text(body.text).count("tick") for body in run.bodies(ev.ToolOutput))
    until(lambda: ticks(run) > told + 5, "the command goes on")
    run.launch("--resume")
    run.wait_for(ev.ToolTakenUp)
    [after] = labelled(run.folder.run)
    assert after.container_id == before.container_id
    inside(run, "touch go.txt")
    assert run.ended().outcome == "submitted"
    output = "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput)).split()
    assert output == ["tick"] * (len(output) - 1) + [str(len(output) - 1)]
    assert [body.exit_code for body in run.bodies(ev.ToolFinished)] == [0, None]
    assert run.bodies(ev.Graded)[-1].score.value == 6.0
    assert labelled(run.folder.run) == []


def test_frozen_container_stays_frozen_until_a_person_lets_it_go_on(runs: Runs) -> None:
    run = runs.start([bash(TICKS), script_line("submit")], sandbox="docker")
    run.wait_for(ev.ToolOutput)
    run.answer_to(run.post(Pause(strength="now")))
    kill(run)
    run.launch("--resume")
    run.wait_for(ev.RunPaused, count=2)
    assert [one.state for one in labelled(run.folder.run)] == ["paused"]
    assert run.bodies(ev.ToolTakenUp) == []
    run.answer_to(run.post(Resume()))
    run.wait_for(ev.ToolTakenUp)
    inside(run, "touch go.txt")
    assert run.ended().outcome == "submitted"
    assert [body.exit_code for body in run.bodies(ev.ToolFinished)] == [0, None]


def test_container_that_was_restarted_meanwhile_does_not_run_its_command_again(runs: Runs) -> None:
    run = runs.start(
        [bash(f"echo ran >> ran.txt; {TICKS}"), bash("cat ran.txt"), script_line("submit")], sandbox="docker"
    )
    run.wait_for(ev.ToolOutput)
    kill(run)
    subprocess.run(["docker", "restart", "--time", "0", f"mlrb-{run.folder.run}"], check=True, capture_output=True)
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    cut_off, looked, _ = run.bodies(ev.ToolFinished)
    assert cut_off.failed
    assert "cut off: the sandbox was restarted under it" in run.text(cut_off.observation)
    assert run.text(looked.observation).splitlines()[0] == "ran"


def test_grader_of_a_shot_runner_is_gone_and_the_run_is_scored_once(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")], sandbox="docker")
    run.wait_for(ev.GradingProgressed)
    [grader] = [one for one in labelled(run.folder.run) if one.role == "grader"]
    kill(run)
    (run.folder.submission / "1" / "answer.txt").write_text("7\n")
    run.launch("--resume")
    run.wait_for(ev.GradingStarted, count=2)
    assert grader.container_id not in [one.container_id for one in labelled(run.folder.run)]
    assert run.ended().outcome == "submitted"
    assert [(body.purpose, body.score.value) for body in run.bodies(ev.Graded)] == [("final", 7.0)]
    assert labelled(run.folder.run) == []


def test_runner_that_is_shot_while_it_starts_leaves_room_for_one_container(runs: Runs) -> None:
    run = runs.start([bash("echo 6 > answer.txt"), script_line("submit")], sandbox="docker")
    until(lambda: bool(labelled(run.folder.run)), "a container is there")
    kill(run)
    run.launch("--resume")
    run.wait_for(ev.SandboxStarted)
    run.wait_for(ev.ToolCalled)
    assert len([one for one in labelled(run.folder.run) if one.role == "sandbox"]) == 1
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value == 6.0
