"""The Docker daemon goes away while a submission is graded: it is graded all the same, once, and nothing is left."""

import pytest

from agent.record import events as ev
from agent.record.inbox import ScoreNow
from tests.docker.private_daemon import PrivateDaemon
from tests.docker.test_daemon_outage import runs as runs
from tests.process.runner_runs import Run, Runs, bash, script_line, until

# The probe task's grader takes its time over this one, and says how far it is.
LONG = bash("echo slow > answer.txt")


def slow_but_ending(runs: Runs) -> None:
    """A grader that naps for some seconds and then counts `slow` as 4."""
    grader = runs.tasks / "probe" / "number" / "grade.py"
    source = grader.read_text().replace("range(600)", "range(40)")
    grader.write_text(
        source.replace('if text == "break"', 'text = "4" if text == "slow" else text\n    if text == "break"')
    )


def naps(run: Run) -> int:
    """How far the grader says it is."""
    return max((body.done for body in run.bodies(ev.GradingProgressed)), default=0)


@pytest.mark.parametrize("live_restore", [True, False], ids=["lives on", "ends"])
def test_final_grading_outlives_a_restart_of_the_daemon(runs: Runs, daemon: PrivateDaemon, live_restore: bool) -> None:
    if live_restore:
        daemon.let_containers_live()
    slow_but_ending(runs)
    run = runs.start([LONG, script_line("submit")], sandbox="docker")
    until(lambda: naps(run) > 3, "the grader is at work")
    daemon.stop()
    run.wait_for(ev.GradingProgressed, lambda body: "waits for the Docker daemon" in body.what)
    daemon.start()
    assert run.ended().outcome == "submitted"
    [final] = run.bodies(ev.Graded)
    assert (final.purpose, final.score.value, final.score.error) == ("final", 4.0, "")
    done = [body.done for body in run.bodies(ev.GradingProgressed) if body.done]
    assert (done == sorted(done)) is live_restore, "only a grader that was ended begins again"
    assert daemon.states(run.folder.run) == []


def test_score_that_was_asked_for_waits_for_the_daemon(runs: Runs, daemon: PrivateDaemon) -> None:
    daemon.let_containers_live()
    run = runs.start([bash("echo 5 > answer.txt; echo up; sleep 8"), script_line("submit")], sandbox="docker")
    run.wait_for(ev.ToolOutput)
    daemon.stop()
    run.wait_for(ev.SandboxAway)
    score = run.post(ScoreNow())
    run.wait_for(ev.RequestReceived)
    daemon.start()
    assert "number 5" in run.answer_to(score).detail
    assert run.ended().outcome == "submitted"
