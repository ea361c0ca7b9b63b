"""A run's life in a real process: it always ends with a word, keeps what it had, and is scored with what is there."""

import os
import shutil
import signal
from pathlib import Path

from agent.record import events as ev
from agent.record import index
from agent.record.values import Limits
from agent.scaffolds.react import MOST_NUDGES
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until


def test_scripted_run_ends_submitted_with_the_score_of_what_was_submitted(runs: Runs) -> None:
    run = runs.start([bash("cat input.txt; echo 41 > answer.txt"), script_line("validate"), script_line("submit")])
    assert run.ended().outcome == "submitted"
    validated, final = run.bodies(ev.Graded)
    assert (validated.purpose, validated.score.split, validated.score.value) == ("validate", "dev", 41.0)
    assert (final.purpose, final.score.split, final.score.value, final.score.valid) == ("final", "test", 41.0, True)
    assert run.summary().final_score == final.score
    kinds = [ev.kind_of(event.body) for event in run.events()]
    assert kinds[0] == "run_created"
    assert kinds[-1] == "run_ended"
    shown = run.bodies(ev.ToolFinished)[1]
    assert "number 41" in run.text(shown.observation)
    assert "baseline 1" in run.text(shown.observation)


def test_index_shows_the_end_and_sequence_is_gapless(runs: Runs) -> None:
    run = runs.start([bash("echo 7 > answer.txt"), script_line("submit")])
    run.ended()
    assert [event.seq for event in run.events()] == list(range(1, len(run.events()) + 1))
    (row,) = index.summaries(runs.home)
    assert (row.state, row.outcome, row.final_score and row.final_score.value) == ("ended", "submitted", 7.0)


def test_runner_stays_small(runs: Runs) -> None:
    run = runs.start([bash("seq 1 50000"), script_line("validate"), script_line("submit")], pace_s=0.2)
    run.wait_for(ev.GradingStarted, lambda body: body.purpose == "final")
    assert run.process is not None
    status = Path(f"/proc/{run.process.pid}/status").read_text()
    peak_kb = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
    assert peak_kb < 60 * 1024


def test_untouched_starter_earns_nothing(runs: Runs) -> None:
    run = runs.start([script_line("submit")])
    assert run.ended().outcome == "submitted"
    (graded,) = run.bodies(ev.Graded)
    assert graded.score.untouched
    assert not graded.score.valid


def test_time_limit_ends_the_running_command_and_scores_what_is_there(runs: Runs) -> None:
    run = runs.start([bash("echo 3 > answer.txt; sleep 987.125")], limits=Limits(time_s=2.0))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "time")
    assert processes_with("987.125") == []
    assert run.bodies(ev.Graded)[-1].score.value == 3.0
    (finished,) = run.bodies(ev.ToolFinished)
    assert finished.failed


def test_step_limit_allows_exactly_that_many_steps(runs: Runs) -> None:
    run = runs.start([bash(f"echo {number} > answer.txt") for number in range(1, 6)], limits=Limits(steps=3))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "steps")
    assert len(run.bodies(ev.ModelAsked)) == len(run.bodies(ev.StepStarted)) == 3
    assert run.bodies(ev.Graded)[-1].score.value == 3.0


def test_token_limit_is_checked_before_the_next_model_call(runs: Runs) -> None:
    run = runs.start([bash("echo 2 > answer.txt"), bash("echo 9 > answer.txt")], limits=Limits(tokens=10))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "tokens")
    assert len(run.bodies(ev.ModelAsked)) == 1
    assert run.bodies(ev.Graded)[-1].score.value == 2.0


def test_grader_that_trips_is_told_as_such_and_the_run_ends_submitted(runs: Runs) -> None:
    run = runs.start([bash("echo break > answer.txt"), script_line("submit")])
    assert run.ended().outcome == "submitted"
    score = run.bodies(ev.Graded)[-1].score
    assert score.value is None
    assert not score.valid
    assert "grader" in score.error


def test_submission_that_cannot_be_scored_says_why(runs: Runs) -> None:
    run = runs.start([bash("echo nonsense > answer.txt"), script_line("validate"), script_line("submit")])
    assert run.ended().outcome == "submitted"
    assert "holds no number" in run.bodies(ev.Graded)[0].score.error
    assert "holds no number" in run.text(run.bodies(ev.ToolFinished)[1].observation)


def test_missing_script_fails_with_a_reason_and_a_next_step(runs: Runs) -> None:
    run = runs.start([], model="scripted:/nowhere/script.jsonl")
    ended = run.ended()
    assert ended.outcome == "failed"
    assert "script" in ended.detail
    assert [ev.kind_of(event.body) for event in run.events()] == ["run_created", "run_started", "run_ended"]


def test_calls_that_cannot_be_run_are_answered_in_words_and_bounded(runs: Runs) -> None:
    run = runs.start([script_line("teleport", where="home")] * 9)
    ended = run.ended()
    assert ended.outcome == "failed"
    assert "in a row" in ended.detail
    finished = run.bodies(ev.ToolFinished)
    assert len(finished) == 5
    assert "there is no tool 'teleport'" in run.text(finished[0].observation)


def test_agent_that_uses_no_tool_is_nudged_and_given_up_on(runs: Runs) -> None:
    run = runs.start(['{"text": "I have nothing to do."}\n'] * (MOST_NUDGES + 5))
    ended = run.ended()
    assert ended.outcome == "failed"
    assert "gave up" in ended.detail
    assert len(run.bodies(ev.ModelAsked)) == MOST_NUDGES + 1
    assert run.bodies(ev.Graded)[-1].purpose == "final"


def test_repeated_action_raises_an_alert_once(runs: Runs) -> None:
    run = runs.start([bash("true")] * 7 + [script_line("submit")])
    run.ended()
    (alert,) = run.bodies(ev.AlertRaised)
    assert alert.alert == "loop"


def test_lost_sandbox_fails_the_run_and_keeps_and_scores_what_there_was(runs: Runs) -> None:
    run = runs.start([bash("echo 6 > answer.txt"), script_line("validate"), bash("sleep 876.5"), script_line("submit")])
    started = run.wait_for(ev.SandboxStarted)
    run.wait_for(ev.ToolCalled, lambda body: body.summary == "sleep 876.5")
    until(lambda: bool(processes_with("876.5")), "the command runs")
    os.kill(int(started.name.split()[-1]), signal.SIGKILL)
    ended = run.ended()
    assert ended.outcome == "failed"
    assert run.bodies(ev.SandboxLost)
    assert run.bodies(ev.ToolFinished)[0].exit_code == 0
    final = run.bodies(ev.Graded)[-1]
    assert (final.purpose, final.score.value) == ("final", 6.0)
    assert [alert.alert for alert in run.bodies(ev.AlertRaised)] == ["old_snapshot"]
    for left in processes_with("876.5"):
        os.kill(left, signal.SIGKILL)


def test_exception_in_the_tenth_step_loses_none_of_the_ten(runs: Runs) -> None:
    run = runs.start([*(bash(f"echo step {number}") for number in range(1, 10)), bash("sleep 876.75")])
    started = run.wait_for(ev.SandboxStarted)
    run.wait_for(ev.ToolCalled, lambda body: body.summary == "sleep 876.75")
    os.kill(int(started.name.split()[-1]), signal.SIGKILL)
    assert run.ended().outcome == "failed"
    assert len(run.bodies(ev.StepStarted)) == len(run.bodies(ev.ModelAnswered)) == 10
    finished = run.bodies(ev.ToolFinished)
    assert [f"step {number}" in str(finished[number - 1].observation) for number in range(1, 10)] == [True] * 9
    assert [call.call_id for call in run.bodies(ev.ToolCalled)] == [call.call_id for call in finished]
    for left in processes_with("876.75"):
        os.kill(left, signal.SIGKILL)


def test_terminated_runner_takes_its_sandbox_down_and_says_so(runs: Runs) -> None:
    run = runs.start([bash("sleep 876.25")])
    run.wait_for(ev.ToolCalled)
    until(lambda: bool(processes_with("876.25")), "the command runs")
    assert run.process is not None
    run.process.send_signal(signal.SIGTERM)
    ended = run.ended()
    assert (ended.outcome, ended.detail) == ("killed", "terminated by SIGTERM")
    assert processes_with("876.25") == []
    assert run.bodies(ev.SandboxStopped)


def test_run_whose_folder_is_removed_leaves_nothing_running(runs: Runs) -> None:
    run = runs.start([bash("sleep 987.25")])
    run.wait_for(ev.ToolCalled)
    until(lambda: bool(processes_with("987.25")), "the command")
    shutil.rmtree(run.folder.path)
    assert run.process is not None
    run.process.wait(timeout=60)
    assert processes_with("987.25") == []


def test_second_runner_is_turned_away(runs: Runs) -> None:
    run = runs.start([bash("sleep 30")])
    run.wait_for(ev.ToolCalled)
    second = Run(runs, run.folder)
    second.launch()
    assert second.process is not None
    assert second.process.wait(20) == 5
    assert "holds" in run.folder.runner_out.read_text()


def test_ended_run_is_not_started_again(runs: Runs) -> None:
    run = runs.start([script_line("submit")])
    run.ended()
    before = len(run.events())
    run.launch("--resume")
    assert run.process is not None
    assert run.process.wait(20) == 6
    assert len(run.events()) == before


def test_secret_of_the_runners_environment_never_reaches_the_record(runs: Runs) -> None:
    runs.environment["ANTHROPIC_API_KEY"] = "sk-very-secret-0123456789"
    run = runs.start([bash("echo sk-very-secret-0123456789; env | grep -c ANTHROPIC_API_KEY"), script_line("submit")])
    run.ended()
    whole = run.folder.events.read_bytes()
    wal = run.folder.events.with_name("events.db-wal")
    assert b"sk-very-secret" not in whole + (wal.read_bytes() if wal.exists() else b"")
    observation = run.text(run.bodies(ev.ToolFinished)[0].observation)
    assert observation.splitlines()[:2] == ["[redacted]", "0"]


def test_submission_that_is_too_large_is_not_copied_and_the_agent_is_told(runs: Runs) -> None:
    run = runs.start([bash("truncate -s 3G answer.txt"), script_line("validate"), script_line("submit")])
    assert run.ended().outcome == "submitted"
    told = run.text(run.bodies(ev.ToolFinished)[1].observation)
    assert "3,221,225,4" in told
    assert "are allowed" in told
    score = run.bodies(ev.Graded)[-1].score
    assert (score.value, score.valid) == (None, False)
    assert "are allowed" in score.error
    assert list(run.folder.submission.iterdir()) == []


def test_folder_in_the_place_of_a_file_is_the_submissions_fault_and_not_the_graders(runs: Runs) -> None:
    run = runs.start([bash("rm answer.txt; mkdir answer.txt; touch answer.txt/x"), script_line("submit")])
    run.ended()
    assert "Is a directory: answer.txt" in run.bodies(ev.Graded)[-1].score.error
