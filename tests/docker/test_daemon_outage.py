"""The Docker daemon goes away in the middle of a run and comes back: the run waits, goes on, and nothing runs twice."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.inbox import Inject, Interrupt, Kill, Pause, Resume
from tests.docker.private_daemon import PrivateDaemon
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.test_kill_hung import MLRB

IMPATIENT = Path(__file__).with_name("impatient.py")
TICKS = 40
# A line per tick goes to a file and to the output: what ran twice, or not to its end, is seen in both.
COUNT = f"for i in $(seq {TICKS}); do echo tick $i | tee -a ticks.txt; sleep 0.1; done; echo 6 > answer.txt"
WHOLE = "".join(f"tick {number}\n" for number in range(1, TICKS + 1))


@pytest.fixture
def runs(tmp_path: Path, daemon: PrivateDaemon) -> Iterator[Runs]:
    """A home with the probe task, whose runs use the tests' own daemon."""
    made = Runs.under(tmp_path)
    made.environment["DOCKER_HOST"] = daemon.address
    yield made
    daemon.let_go()
    if not daemon.is_up:
        daemon.start()
    made.close()


def start(runs: Runs, *script: str) -> Run:
    """A run in docker."""
    return runs.start([*script, script_line("submit")], sandbox="docker")


def output(run: Run, call: int = 0) -> str:
    """All that a tool call wrote, as the record has it."""
    called = run.bodies(ev.ToolCalled)[call]
    return "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput) if body.call_id == called.call_id)


def in_command(run: Run, said: str = "tick 3\n") -> None:
    """Wait until the first command has written that."""
    run.wait_for(ev.ToolCalled)
    until(lambda: said in output(run), "the command runs")


def seqs_are_gapless(run: Run) -> bool:
    """Whether no event is missing."""
    return [event.seq for event in run.events()] == list(range(1, len(run.events()) + 1))


def finished(run: Run) -> list[ev.ToolFinished]:
    """How each call ended, once the run has ended and each has done so exactly once."""
    assert run.ended().outcome == "submitted", run.said()
    calls = [body.call_id for body in run.bodies(ev.ToolCalled)]
    ends = run.bodies(ev.ToolFinished)
    assert [body.call_id for body in ends] == calls
    assert len(run.bodies(ev.SandboxStarted)) == 1
    assert seqs_are_gapless(run)
    return ends


@pytest.mark.parametrize("clean", [True, False], ids=["stopped", "shot"])
def test_command_goes_on_while_the_daemon_is_away_and_its_output_is_whole(
    runs: Runs, daemon: PrivateDaemon, clean: bool
) -> None:
    daemon.let_containers_live()
    run = start(runs, bash(COUNT), bash("cat ticks.txt"))
    in_command(run)
    daemon.stop() if clean else daemon.shoot()
    away = run.wait_for(ev.SandboxAway)
    assert "Docker daemon" in away.reason
    assert run.summary().away
    daemon.start()
    back = run.wait_for(ev.SandboxBack)
    first, second, _ = finished(run)
    assert not back.restarted
    assert first.exit_code == 0
    assert output(run) == WHOLE
    assert run.text(second.observation).startswith(WHOLE)
    assert run.bodies(ev.Graded)[-1].score.value == 6.0
    assert (len(run.bodies(ev.SandboxAway)), len(run.bodies(ev.SandboxBack))) == (1, 1)
    assert daemon.states(run.folder.run) == []


@pytest.mark.parametrize("clean", [True, False], ids=["stopped", "shot"])
def test_container_that_its_daemon_ended_is_started_again_and_the_agent_is_told(
    runs: Runs, daemon: PrivateDaemon, clean: bool
) -> None:
    run = start(
        runs,
        bash("export KEPT=no; cd /tmp"),
        bash(f"cd ~/workspace; {COUNT}"),
        bash("echo $KEPT; cat ticks.txt; echo 7 > answer.txt; echo tock"),
    )
    run.wait_for(ev.ToolCalled, count=2)
    until(lambda: "tick 3\n" in output(run, 1), "the command runs")
    daemon.stop() if clean else daemon.shoot()
    daemon.start()
    back = run.wait_for(ev.SandboxBack)
    _, cut_off, third, _ = finished(run)
    assert back.restarted
    assert (cut_off.exit_code, cut_off.failed) == (None, True)
    assert "cut off: the sandbox was restarted under it" in run.text(cut_off.observation)
    ticked = output(run, 2).splitlines()
    # Nothing was run twice: the file has the ticks of one command, as far as it came.
    assert ticked[0] == ""
    assert ticked[1:-1] == WHOLE.splitlines()[: len(ticked) - 2]
    assert 3 <= len(ticked) - 2 < TICKS
    assert third.exit_code == 0
    assert run.bodies(ev.Graded)[-1].score.value == 7.0
    assert daemon.states(run.folder.run) == []


def test_container_that_ended_with_its_daemon_between_two_commands_is_told_of_with_the_next(
    runs: Runs, daemon: PrivateDaemon
) -> None:
    run = runs.start(
        [bash("export KEPT=yes; echo 3 > answer.txt"), bash("echo kept: $KEPT"), script_line("submit")],
        sandbox="docker", pace_s=1.5,
    )  # fmt: skip
    run.wait_for(ev.ToolFinished)
    daemon.stop()
    daemon.start()
    _, second, _ = finished(run)
    assert run.text(second.observation).startswith("kept:\n")
    assert "the sandbox was restarted before it ran" in run.text(second.observation)
    assert [body.restarted for body in run.bodies(ev.SandboxBack)] == [True]


def test_requests_are_answered_while_the_daemon_is_away_and_no_clock_runs(runs: Runs, daemon: PrivateDaemon) -> None:
    daemon.let_containers_live()
    run = start(runs, bash(COUNT), bash("echo done"))
    in_command(run)
    daemon.stop()
    run.wait_for(ev.SandboxAway)
    before = run.summary()
    assert "does not answer" in run.refusal_of(run.post(Interrupt())).reason
    run.refusal_of(run.post(Pause(strength="now")))
    message = run.post(Inject(text="look here"))
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == message)
    pause = run.post(Pause(strength="step"))
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == pause)
    until(lambda: run.summary().waited_s > before.waited_s, "time passes, and it is a wait")
    assert run.summary().working_s == pytest.approx(before.working_s, abs=0.01)
    daemon.start()
    run.answer_to(pause)
    run.answer_to(run.post(Resume()))
    run.answer_to(message)
    finished(run)
    assert output(run) == WHOLE


def test_kill_while_the_daemon_is_away_ends_the_run_and_takes_the_container_when_it_is_back(
    runs: Runs, daemon: PrivateDaemon
) -> None:
    daemon.let_containers_live()
    run = start(runs, bash("echo tick 3; sleep 500"))
    in_command(run)
    daemon.stop()
    run.wait_for(ev.SandboxAway)
    kill = run.post(Kill())
    run.wait_for(ev.ProofFound)
    daemon.start()
    assert run.ended().outcome == "killed"
    run.answer_to(kill)
    assert {proof.what: proof.proven for proof in run.summary().proofs}["container"]
    assert daemon.states(run.folder.run) == []


def test_frozen_run_stays_paused_over_a_restart_of_the_daemon(runs: Runs, daemon: PrivateDaemon) -> None:
    run = start(runs, bash(COUNT), bash("echo after"))
    in_command(run)
    run.answer_to(run.post(Pause(strength="now")))
    daemon.shoot()
    daemon.start()
    run.wait_for(ev.SandboxBack)
    first = run.wait_for(ev.ToolFinished)
    assert "restarted" in run.text(first.observation)
    assert run.summary().state == "paused"
    assert len(run.bodies(ev.ModelAsked)) == 1
    run.answer_to(run.post(Resume()))
    finished(run)
    assert run.bodies(ev.RunResumed)[0].by == "ann"


def test_daemon_that_stays_away_leaves_a_run_that_can_be_taken_up_with_all_its_work(
    runs: Runs, daemon: PrivateDaemon
) -> None:
    runs.through = (sys.executable, str(IMPATIENT))
    run = start(runs, bash("echo tick 3; echo 8 > answer.txt; sleep 6"), bash("cat answer.txt"))
    in_command(run)
    daemon.stop()
    left = run.wait_for(ev.RunLeft)
    assert run.process is not None
    run.process.wait(30)
    assert "no Docker daemon answers" in left.reason
    (row,) = index.summaries(runs.home)
    assert (row.outcome, row.outcome_detail) == ("lost", left.reason)
    assert run.bodies(ev.RunEnded) == []
    daemon.start()
    runs.through = ()
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value == 8.0
    assert seqs_are_gapless(run)
    assert daemon.states(run.folder.run) == []


@pytest.mark.slow
def test_half_a_minute_without_a_daemon_costs_half_a_minute_and_raises_one_alert(
    runs: Runs, daemon: PrivateDaemon
) -> None:
    run = start(runs, bash(COUNT), bash("echo 9 > answer.txt"))
    in_command(run)
    daemon.stop()
    began = time.monotonic()
    alert = run.wait_for(ev.AlertRaised)
    assert alert.alert == "sandbox_away"
    until(lambda: time.monotonic() - began > 30, "half a minute is over")
    daemon.start()
    back = run.wait_for(ev.SandboxBack)
    assert back.away_s > 25
    finished(run)
    assert run.bodies(ev.Graded)[-1].score.value == 9.0
    assert [body.alert for body in run.bodies(ev.AlertRaised)] == ["sandbox_away"]


@pytest.mark.parametrize("live", [True, False], ids=["live", "restarted"])
def test_start_that_the_daemon_cut_off_is_made_anew(runs: Runs, daemon: PrivateDaemon, live: bool) -> None:
    if live:
        daemon.let_containers_live()
    run = start(runs, bash("echo 4 > answer.txt"))
    until(lambda: bool(daemon.docker("ps", "--all", "--quiet")), "the container is being made")
    daemon.shoot()
    daemon.start()
    finished(run)
    assert daemon.docker("ps", "--all", "--quiet") == ""


def test_run_that_finds_no_daemon_says_so_at_once(runs: Runs, daemon: PrivateDaemon) -> None:
    daemon.stop()
    run = start(runs, bash("true"))
    ended = run.ended()
    assert (ended.outcome, ended.detail.partition(" at ")[0]) == ("failed", "no Docker daemon answers")


@pytest.mark.parametrize("frozen", [False, True], ids=["running", "frozen"])
def test_run_that_is_taken_up_while_the_daemon_is_away_waits_for_it(
    runs: Runs, daemon: PrivateDaemon, frozen: bool
) -> None:
    daemon.let_containers_live()
    run = start(runs, bash(COUNT))
    in_command(run)
    if frozen:
        run.answer_to(run.post(Pause(strength="now")))
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    daemon.stop()
    run.launch("--resume")
    run.wait_for(ev.SandboxAway)
    daemon.start()
    run.wait_for(ev.SandboxBack)
    if frozen:
        run.wait_for(ev.RunPaused, count=2)
        run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted", run.said()
    assert output(run) == WHOLE
    assert seqs_are_gapless(run)


def test_kill_of_a_lost_run_waits_for_its_daemon_and_leaves_nothing(runs: Runs, daemon: PrivateDaemon) -> None:
    daemon.let_containers_live()
    run = start(runs, bash(COUNT))
    in_command(run)
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    daemon.stop()
    kill = subprocess.Popen([MLRB, "kill", run.folder.run], env=runs.environment)
    until(lambda: any("waited for" in body.detail for body in run.bodies(ev.ProofFound)), "it is said")
    daemon.start()
    assert kill.wait(60) == 0
    assert daemon.states(run.folder.run) == []
    assert run.bodies(ev.ProofFound)[-1].proven
    assert run.summary().leftovers == ()
