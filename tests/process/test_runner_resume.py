"""A run whose runner was killed is taken up by another one, from its record and its living sandbox."""

import json
import os
import signal
import time

from agent.record import events as ev
from agent.record import index
from agent.record.inbox import Inject
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until


def _output(run: Run, call_id: str) -> str:
    """All output of a call, as the record has it."""
    return "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput) if body.call_id == call_id)


def _kill(run: Run) -> None:
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()


def test_killed_runner_leaves_a_lost_run_that_another_takes_up(runs: Runs) -> None:
    run = runs.start(
        [
            bash("echo 8 > answer.txt; export KEPT=yes"),
            bash("echo one; touch here.txt; until [ -e go.txt ]; do sleep 0.02; done; echo two"),
            bash("echo kept: $KEPT"),
            script_line("submit"),
        ]
    )
    run.wait_for(ev.ToolOutput, lambda body: "one" in run.text(body.text))
    message = run.post(Inject(text="hello"))
    run.wait_for(ev.RequestReceived)
    _kill(run)
    (row,) = index.summaries(runs.home)
    assert row.outcome == "lost"
    before = run.events()

    run.launch("--resume")
    taken_up = run.wait_for(ev.ToolTakenUp)
    assert run.summary().state == "running"
    (run.folder.work / "go.txt").touch()
    assert run.ended().outcome == "submitted"
    events = run.events()
    assert events[: len(before)] == before
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [body.resumed for body in run.bodies(ev.RunStarted)] == [False, True]
    delivered = run.bodies(ev.RequestDelivered)
    assert [body.request_id for body in delivered] == [message]
    assert run.bodies(ev.Graded)[-1].score.value == 8.0
    _, followed, last, _ = run.bodies(ev.ToolFinished)
    assert (followed.call_id, followed.exit_code, followed.output_lines) == (taken_up.call_id, 0, 2)
    assert run.text(followed.observation).startswith("one\ntwo\n[exit code 0, ")
    assert _output(run, followed.call_id) == "one\ntwo\n"
    assert run.text(last.observation).startswith("kept: yes")
    assert len(run.bodies(ev.StepStarted)) == len(run.bodies(ev.ToolCalled)) == 4


def test_command_that_ended_while_no_runner_lived_is_told_with_its_result(runs: Runs) -> None:
    noisy = "echo first; touch here.txt; until [ -e go.txt ]; do sleep 0.02; done; seq 5000; touch done.txt; exit 7"
    run = runs.start([bash(noisy), script_line("submit")])
    run.wait_for(ev.ToolOutput)
    _kill(run)
    (run.folder.work / "go.txt").touch()
    until(lambda: (run.folder.work / "done.txt").exists(), "the command comes to its end")
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    finished = run.bodies(ev.ToolFinished)[0]
    assert (finished.exit_code, finished.failed, finished.output_lines) == (7, True, 5001)
    assert _output(run, finished.call_id) == "first\n" + "".join(f"{n}\n" for n in range(1, 5001))
    assert finished.output_bytes == len(_output(run, finished.call_id))


def test_time_that_a_command_worked_without_a_runner_is_told_and_uses_up_no_limit(runs: Runs) -> None:
    run = runs.start([bash("echo on; until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")])
    run.wait_for(ev.ToolOutput)
    _kill(run)
    booked_s, killed_at = run.summary().working_s, time.monotonic()
    until(lambda: time.monotonic() - killed_at > 2.0, "time passes")
    run.launch("--resume")
    taken_up = run.wait_for(ev.ToolTakenUp)
    assert 2.0 <= taken_up.worked_s <= time.monotonic() - killed_at + 1.0
    (run.folder.work / "go.txt").touch()
    run.ended()
    finished = run.bodies(ev.ToolFinished)[0]
    assert finished.duration_s > taken_up.worked_s
    resumed_at = next(event.at for event in run.events() if isinstance(event.body, ev.ToolTakenUp))
    under_a_runner_s = booked_s + run.events()[-1].at - resumed_at
    assert run.summary().working_s <= under_a_runner_s + 0.1


def test_command_whose_sandbox_was_restarted_is_told_as_cut_off_and_not_run_again(runs: Runs) -> None:
    run = runs.start([bash("echo ran >> ran.txt; echo said; sleep 322.5"), script_line("submit")])
    run.wait_for(ev.ToolOutput)
    _kill(run)
    for pid in processes_with(f"--workdir\0{run.folder.work}"):
        os.kill(pid, signal.SIGKILL)
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    finished = run.bodies(ev.ToolFinished)[0]
    assert finished.failed
    assert run.text(finished.observation).startswith("said\n[cut off: the sandbox was restarted under it")
    assert (run.folder.work / "ran.txt").read_text() == "ran\n"
    assert processes_with("322.5") == []


def test_calls_of_the_same_reply_that_had_not_begun_are_run_and_not_called_cut_off(runs: Runs) -> None:
    commands = ["until [ -e go.txt ]; do sleep 0.02; done", "echo second >> ran.txt", "echo third >> ran.txt"]
    calls = [{"tool": "bash", "arguments": {"command": command}} for command in commands]
    run = runs.start([json.dumps({"calls": calls}) + "\n", script_line("submit")])
    run.wait_for(ev.ToolCalled)
    _kill(run)
    (run.folder.work / "go.txt").touch()
    run.launch("--resume")
    assert run.ended().outcome == "submitted"
    assert (run.folder.work / "ran.txt").read_text() == "second\nthird\n"
    assert [body.exit_code for body in run.bodies(ev.ToolFinished)] == [0, 0, 0, None]


def test_started_run_is_not_started_over_without_asking_for_it(runs: Runs) -> None:
    run = runs.start([bash("touch here.txt; until [ -e go.txt ]; do sleep 0.02; done")])
    until(lambda: (run.folder.work / "here.txt").exists(), "the command runs")
    _kill(run)
    before = len(run.events())
    run.launch()
    assert run.process is not None
    assert run.process.wait(30) == 6
    assert len(run.events()) == before
    (run.folder.work / "go.txt").touch()
    run.launch("--resume")
    assert run.ended().outcome == "submitted"


def test_grader_of_a_killed_runner_does_not_go_on_without_it(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")])
    run.wait_for(ev.GradingProgressed)
    assert processes_with(f"{run.folder.path}/submission")
    _kill(run)
    until(lambda: not processes_with(f"{run.folder.path}/submission"), "the grader is gone")


def test_snapshot_that_was_cut_off_is_never_graded(runs: Runs) -> None:
    run = runs.start(
        [bash("echo 4 > answer.txt"), script_line("validate"), bash("until [ -e go.txt ]; do sleep 0.02; done")]
    )
    run.wait_for(ev.ToolCalled, count=3)
    _kill(run)
    (run.folder.submission / ".2").mkdir()
    (run.folder.work / "go.txt").touch()
    run.launch("--resume")
    run.wait_for(ev.StepStarted, count=4)
    assert run.ended().outcome == "submitted"
    assert sorted(entry.name for entry in run.folder.submission.iterdir()) == [".2", "1", "3"]
    assert run.bodies(ev.Graded)[-1].score.value == 4.0
