"""A whole run on a machine reached by SSH, in spite of a tunnel, a keeper and a network that go away in it."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.inbox import Kill, Pause, Resume
from agent.record.lock import is_held
from agent.sandbox.containers import labelled
from tests.docker.loopback import NAME, Loopback, keeper_pid, loopback
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.test_kill_hung import mlrb

WHERE = f"docker@{NAME}"
LINES = 400
WRITES = bash(
    f"for i in $(seq {LINES}); do echo line $i of some output that is long enough to be seen; sleep 0.015; done;"
    " python3 -c 'print(*range(20000))'; echo 5 > answer.txt"
)
WRITTEN = (
    "".join(f"line {number} of some output that is long enough to be seen\n" for number in range(1, LINES + 1))
    + " ".join(map(str, range(20_000)))
    + "\n"
)
COUNTS = bash("echo once >> count.txt; cat count.txt; until [ -e go.txt ]; do sleep 0.05; done; echo 7 > answer.txt")


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Loopback]:
    with loopback(tmp_path / "box") as machine:
        yield machine


@pytest.fixture
def runs(tmp_path: Path, there: Loopback) -> Iterator[Runs]:
    made = Runs.under(tmp_path)
    there.enter_in(made.home)
    yield made
    made.close()
    for run in made.home.run_ids():
        assert labelled(run) == []


def output_of(run: Run) -> str:
    """All that its commands wrote, piece by piece as it was recorded."""
    return "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput))


def cut_and_wait(there: Loopback) -> None:
    """The tunnel drops, and is up again."""
    ups = there.word().ups
    there.cut()
    until(lambda: there.word().ups > ups and there.word().state == "up", "the tunnel is up again")


def test_run_with_three_cut_tunnels_is_byte_for_byte_the_run_without(runs: Runs, there: Loopback) -> None:
    script = [WRITES, script_line("submit")]
    uncut = runs.start(script, sandbox="docker")
    assert uncut.ended().outcome == "submitted"
    run = runs.start(script, sandbox=WHERE)
    for part in (1, 2, 3):
        until(lambda part=part: len(output_of(run)) > part * 5000, "it writes")  # type: ignore[misc]
        cut_and_wait(there)
        # All three fall into the output of the one command.
        assert not [body for body in run.bodies(ev.ToolFinished) if body.tool == "bash"]
    assert run.ended().outcome == "submitted"
    assert output_of(run) == output_of(uncut) == WRITTEN
    assert len(re.findall(r"^line \d", output_of(run), re.MULTILINE)) == LINES
    assert len(run.bodies(ev.ToolCalled)) == len(uncut.bodies(ev.ToolCalled)) == 2
    [started] = run.bodies(ev.SandboxStarted)
    assert started.sandbox == WHERE
    score = run.bodies(ev.Graded)[-1].score
    assert (score.value, score.valid, score.isolation) == (5.0, True, "docker")
    assert all(proof.proven for proof in run.bodies(ev.SandboxStopped)[-1].proofs)


def test_runner_killed_while_its_tunnel_is_down_and_revived_when_it_is_back_loses_no_byte(
    runs: Runs, there: Loopback
) -> None:
    run = runs.start([WRITES, script_line("submit")], sandbox=WHERE)
    until(lambda: len(output_of(run)) > 5000, "it writes")
    there.stop()
    there.cut()
    until(lambda: there.word().state == "failed", "the tunnel is down")
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    kept = len(output_of(run))
    there.start()
    run.launch("--resume")
    # Cut once more while what was missed is made up for.
    until(lambda: len(output_of(run)) > kept, "it goes on")
    cut_and_wait(there)
    assert run.ended().outcome == "submitted"
    assert output_of(run) == WRITTEN
    assert len([body for body in run.bodies(ev.ToolCalled) if body.tool == "bash"]) == 1


def test_keeper_killed_with_its_tunnel_is_replaced_by_whoever_needs_it(runs: Runs, there: Loopback) -> None:
    run = runs.start([WRITES, script_line("submit")], sandbox=WHERE)
    until(lambda: len(output_of(run)) > 3000, "it writes")
    first = keeper_pid(there.places)
    os.kill(first, signal.SIGKILL)
    assert run.ended().outcome == "submitted"
    assert keeper_pid(there.places) != first
    assert len(re.findall(r"^line \d", output_of(run), re.MULTILINE)) == LINES


def test_machine_out_of_reach_loses_no_command_and_says_why_it_does_not_pause(runs: Runs, there: Loopback) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    there.stop()
    there.cut()
    until(lambda: there.word().state == "failed", "it is not reached any more")
    assert "out of reach" in run.refusal_of(run.post(Pause(strength="now"))).reason
    there.start()
    until(lambda: there.word().state == "up", "it is reached again")
    run.answer_to(run.post(Pause(strength="now")))
    [container] = labelled(run.folder.run)
    assert container.state == "paused"
    run.answer_to(run.post(Resume()))
    _go(run)
    assert run.ended().outcome == "submitted"
    assert output_of(run) == "once\n"


def test_killed_runner_is_taken_up_over_there(runs: Runs, there: Loopback) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    _go(run)
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value is not None


def test_run_taken_up_while_its_machine_is_out_of_reach_waits_for_it(runs: Runs, there: Loopback) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    _go(run)
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    there.stop()
    there.cut()
    (runs.home.path / "hosts.toml").write_text("[box]\nmax_run = 1\n")
    refused = mlrb(runs, "resume", run.folder.run)
    assert (refused.returncode, "max_run" in refused.stderr) == (2, True)
    there.enter_in(runs.home)
    run.launch("--resume")
    assert NAME in run.wait_for(ev.SandboxAway).reason
    until(lambda: there.word().state == "failed", "its keeper tries")
    there.start()
    assert run.ended().outcome == "submitted"
    assert len(run.bodies(ev.SandboxBack)) == len(run.bodies(ev.SandboxAway)) == 1


def test_kill_from_outside_clears_the_machine_over_there(runs: Runs, there: Loopback) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    listed = mlrb(runs, "reap", "--json")
    assert f'"run":"{run.folder.run}"' in listed.stdout
    assert f'"host":"{NAME}"' in listed.stdout
    ran = mlrb(runs, "kill", run.folder.run)
    assert ran.returncode == 0, ran.stderr
    assert run.bodies(ev.RunEnded)[0].outcome == "killed"
    assert {proof.what: proof.proven for proof in run.bodies(ev.SandboxStopped)[-1].proofs}["container"]


def test_killed_run_on_a_machine_out_of_reach_says_what_is_left_and_reap_removes_it(
    runs: Runs, there: Loopback
) -> None:
    run = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    until(lambda: "once" in output_of(run), "the command runs")
    there.stop()
    there.cut()
    run.answer_to(run.post(Kill()))
    assert run.ended().outcome == "killed"
    [left] = run.summary().leftovers
    assert NAME in left
    there.start()
    ran = mlrb(runs, "reap", "--remove", "--yes")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert labelled(run.folder.run) == []


def test_where_no_docker_is_here_the_grader_runs_over_there(runs: Runs, there: Loopback) -> None:
    runs.environment["DOCKER_HOST"] = f"unix://{there.root}/nothing.sock"
    run = runs.start([bash("echo 5 > answer.txt"), script_line("validate"), script_line("submit")], sandbox=WHERE)
    assert run.ended().outcome == "submitted"
    scores = [body.score for body in run.bodies(ev.Graded)]
    assert [score.error for score in scores] == ["", ""]
    assert [(score.value, score.valid, score.split) for score in scores] == [(5.0, True, "dev"), (5.0, True, "test")]
    assert {score.isolation for score in scores} == {WHERE}
    # The grader is shown one split, and the held-out one only at the end.
    assert all(score.details == {"bonus_files": 1.0} for score in scores)


def test_grading_over_there_goes_on_while_the_tunnel_is_down(runs: Runs, there: Loopback) -> None:
    runs.environment["DOCKER_HOST"] = f"unix://{there.root}/nothing.sock"
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")], sandbox=WHERE)
    run.wait_for(ev.GradingProgressed)
    cut_and_wait(there)
    assert run.ended().outcome == "submitted"
    [score] = [body.score for body in run.bodies(ev.Graded)]
    # It was waited for to its end: the grader has its say on what is no number, or runs into its own time limit.
    assert "holds no number" in score.error or "not done in time" in score.error


def test_tunnel_ends_with_its_last_user(runs: Runs, there: Loopback) -> None:
    run = runs.start([bash("true"), script_line("submit")], sandbox=WHERE)
    other = runs.start([COUNTS, script_line("submit")], sandbox=WHERE)
    run.ended()
    until(lambda: "once" in output_of(other), "the other one works")
    assert there.word().ups == 1
    _go(other)
    other.ended()
    until(lambda: not is_held(there.places.keeper), "nobody keeps a tunnel for nobody")
    assert not there.places.socket.exists()


def _go(run: Run) -> None:
    [container] = labelled(run.folder.run)
    command = ["docker", "exec", container.container_id, "touch", "/home/agent/workspace/go.txt"]
    subprocess.run(command, check=True)
