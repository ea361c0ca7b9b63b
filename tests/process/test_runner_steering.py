"""A person steers a real run: every request has a receipt and an answer, and has the effect it promises."""

import time
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.inbox import ChangeLimits, Inject, Interrupt, Kill, Pause, Resume, ScoreNow
from agent.record.log import EventReader
from agent.record.values import Limits
from agent.runner.conversation import conversation
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

COUNT = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo $i > count.txt; sleep 0.02; done"

SUBMIT = [script_line("submit")]


def _counted(run: Run) -> int:
    try:
        return int((run.folder.work / "count.txt").read_text() or 0)
    except (FileNotFoundError, ValueError):
        return 0


def _sleepers(seconds: str) -> int:
    return sum(Path(f"/proc/{pid}/comm").read_text() == "sleep\n" for pid in processes_with(seconds))


def _received_after_s(run: Run, request_id: int, asked_at: float) -> float:
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == request_id)
    received = next(
        event.at
        for event in run.events()
        if isinstance(event.body, ev.RequestReceived) and event.body.request_id == request_id
    )
    return received - asked_at


def test_frozen_command_does_nothing_and_goes_on_where_it_was(runs: Runs) -> None:
    run = runs.start([bash(COUNT)], limits=Limits(time_s=600.0))
    until(lambda: _counted(run) > 5, "the command counts")
    pause = run.post(Pause(strength="now", why="lunch"), who="ann")
    assert run.answer_to(pause).detail == "frozen"
    paused = run.wait_for(ev.RunPaused)
    assert (paused.strength, paused.by, paused.why) == ("now", "ann", "lunch")
    before = _counted(run)
    # A score asked for while frozen is refused: the answer shows that the runner is well awake meanwhile.
    assert "frozen" in run.refusal_of(run.post(ScoreNow())).reason
    assert _counted(run) == before
    assert run.summary().state == "paused"
    run.answer_to(run.post(Resume(), who="bob"))
    until(lambda: _counted(run) > before + 5, "the command goes on")
    assert run.bodies(ev.RunResumed)[0].by == "bob"
    assert run.bodies(ev.ToolFinished) == []


def test_pause_at_the_next_step_lets_the_command_end_and_asks_the_model_no_more(runs: Runs) -> None:
    run = runs.start([bash("until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    pause = run.post(Pause(strength="step"))
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == pause)
    assert run.bodies(ev.RunPaused) == []
    (run.folder.work / "go.txt").write_text("")
    run.answer_to(pause)
    assert len(run.bodies(ev.ModelAsked)) == 1
    assert len(run.bodies(ev.ToolFinished)) == 1
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"


def test_pause_after_the_command_stops_before_the_next_tool_of_the_same_reply(runs: Runs) -> None:
    two = (
        '{"calls": [{"tool": "bash", "arguments": {"command": "until [ -e go.txt ]; do sleep 0.02; done"}},'
        ' {"tool": "bash", "arguments": {"command": "echo second"}}]}\n'
    )
    run = runs.start([two, script_line("submit")])
    run.wait_for(ev.ToolCalled)
    pause = run.post(Pause(strength="command"))
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == pause)
    (run.folder.work / "go.txt").write_text("")
    run.answer_to(pause)
    assert len(run.bodies(ev.ToolCalled)) == 1
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"


def test_paused_time_is_not_working_time(runs: Runs) -> None:
    run = runs.start(
        [bash("until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")], limits=Limits(time_s=20)
    )
    run.wait_for(ev.ToolCalled)
    run.answer_to(run.post(Pause(strength="now")))
    began = time.monotonic()
    until(lambda: time.monotonic() - began > 1.5, "time passes")
    run.answer_to(run.post(Resume()))
    (run.folder.work / "go.txt").write_text("")
    assert run.ended().outcome == "submitted"
    assert 1.5 <= run.summary().paused_s < 30


def test_twenty_pauses_and_resumes_are_all_answered_and_none_is_an_error(runs: Runs) -> None:
    run = runs.start([bash("until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    for _ in range(20):
        run.answer_to(run.post(Pause(strength="now")))
        run.answer_to(run.post(Resume()))
    (run.folder.work / "go.txt").write_text("")
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.RequestRefused) == []
    assert len(run.bodies(ev.RunPaused)) == len(run.bodies(ev.RunResumed)) == 20


def test_what_cannot_be_is_refused_with_the_reason(runs: Runs) -> None:
    run = runs.start(
        [bash("until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")], limits=Limits(time_s=600)
    )
    run.wait_for(ev.ToolCalled)
    assert "not paused" in run.refusal_of(run.post(Resume())).reason
    assert "empty" in run.refusal_of(run.post(Inject(text="  \n"))).reason
    assert "zero or more" in run.refusal_of(run.post(ChangeLimits(limits=Limits(time_s=-1)))).reason
    run.answer_to(run.post(Pause(strength="now")))
    assert "paused already" in run.refusal_of(run.post(Pause(strength="now"))).reason
    assert "frozen" in run.refusal_of(run.post(Interrupt())).reason
    run.answer_to(run.post(Kill()))
    assert run.ended().outcome == "killed"
    # A pause and a kill; what was refused helped nobody.
    assert run.summary().interventions == 2


def test_messages_injected_during_a_command_all_go_out_with_the_very_next_request_in_order(runs: Runs) -> None:
    run = runs.start([bash("until [ -e go.txt ]; do sleep 0.02; done"), bash("true"), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    texts = ["try a cosine schedule", "[/bold] and \x1b[31mwarm up", "é" * 9000, "fourth"]
    ids = [run.post(Inject(text=text), who="ann") for text in texts]
    run.wait_for(ev.RequestReceived, count=4)
    assert run.bodies(ev.RequestDelivered) == []
    (run.folder.work / "go.txt").write_text("")
    assert run.ended().outcome == "submitted"
    asked = run.bodies(ev.ModelAsked)
    delivered = run.bodies(ev.RequestDelivered)
    assert [body.request_id for body in delivered] == ids
    assert {body.call_id for body in delivered} == {asked[1].call_id}
    with EventReader(run.folder.events) as reader:
        told = [
            message.text for message in conversation(reader) if message.text.startswith("[message from the operator]")
        ]
    assert told == [f"[message from the operator]\n{text}" for text in texts]
    assert [body.request_id for body in run.bodies(ev.RequestAnswered)] == ids


def test_pause_takes_effect_with_messages_queued_and_they_go_out_with_the_first_request_after_it(runs: Runs) -> None:
    run = runs.start([bash("until [ -e go.txt ]; do sleep 0.02; done"), script_line("submit")])
    run.wait_for(ev.ToolCalled)
    ids = [run.post(Inject(text=text)) for text in ("one", "two")]
    pause = run.post(Pause(strength="step"))
    run.wait_for(ev.RequestReceived, count=3)
    (run.folder.work / "go.txt").write_text("")
    run.answer_to(pause)
    assert run.bodies(ev.RequestDelivered) == []
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"
    assert [(body.request_id, body.call_id) for body in run.bodies(ev.RequestDelivered)] == [
        (each, run.bodies(ev.ModelAsked)[1].call_id) for each in ids
    ]


def test_agent_that_goes_round_in_a_loop_raises_an_alarm_and_hears_a_message(runs: Runs) -> None:
    run = runs.start([bash("cat input.txt")] * 5 + [bash("until [ -e go.txt ]; do sleep 0.02; done")] + SUBMIT)
    alarm = run.wait_for(ev.AlertRaised)
    assert (alarm.alert, alarm.message) == ("loop", "the same bash call 5 times in a row")
    assert "inject" in alarm.hint
    assert run.summary().last_alert == alarm.message
    message = run.post(Inject(text="look at the data instead"))
    run.wait_for(ev.RequestReceived)
    (run.folder.work / "go.txt").write_text("")
    assert run.answer_to(message).detail == "the agent has read it"
    assert run.ended().outcome == "submitted"


def test_message_that_no_request_takes_along_is_refused_and_not_forgotten(runs: Runs) -> None:
    run = runs.start([bash("sleep 55.5")])
    run.wait_for(ev.ToolCalled)
    message = run.post(Inject(text="too late"))
    run.wait_for(ev.RequestReceived)
    run.post(Kill())
    assert "ended first" in run.refusal_of(message).reason


def test_interrupted_command_is_gone_and_the_agent_is_told_who_did_it(runs: Runs) -> None:
    forked_twice = "(setsid sh -c 'sleep 765.5 & sleep 765.5 &' &)"
    run = runs.start([bash(f"sleep 765.5 & setsid sleep 765.5 & {forked_twice}; sleep 765.5"), script_line("submit")])
    until(lambda: _sleepers("765.5") >= 5, "five sleepers run")
    run.answer_to(run.post(Interrupt(), who="ann"))
    finished = run.wait_for(ev.ToolFinished)
    assert finished.interrupted_by == "ann"
    assert "interrupted by the operator" in run.text(finished.observation)
    assert run.ended().outcome == "submitted"
    assert processes_with("765.5") == []


def test_interrupt_cuts_a_grading_short_too(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("validate"), bash("echo 4 > answer.txt")])
    run.wait_for(ev.GradingProgressed)
    run.answer_to(run.post(Interrupt(), who="ann"))
    finished = run.wait_for(ev.ToolFinished, lambda body: body.tool == "validate")
    assert finished.interrupted_by == "ann"
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value == 4.0


def test_raised_limit_lets_it_go_on_and_a_lowered_one_ends_it(runs: Runs) -> None:
    run = runs.start([bash("sleep 654.5")], limits=Limits(time_s=300.0, steps=50))
    run.wait_for(ev.ToolCalled)
    answer = run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=900.0, steps=60), why="it learns"), who="ann"))
    assert answer.detail == "time 15:00, steps 60"
    changed = run.bodies(ev.LimitsChanged)[0]
    assert (changed.by, changed.why, changed.limits.steps) == ("ann", "it learns", 60)
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=0.5))))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "time")
    assert processes_with("654.5") == []


@pytest.mark.parametrize(("lowered", "limit"), [(Limits(tokens=0), "tokens"), (Limits(steps=1), "steps")])
def test_limit_lowered_below_what_is_used_holds_at_once_in_the_middle_of_a_command(
    runs: Runs, lowered: Limits, limit: str
) -> None:
    run = runs.start([bash("true"), bash("sleep 655.5")])
    until(lambda: _sleepers("655.5") == 1, "the second step's command runs")
    run.answer_to(run.post(ChangeLimits(limits=lowered, why="enough"), who="ann"))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", limit)
    assert processes_with("655.5") == []


def test_limit_lowered_below_what_is_used_freezes_where_limits_pause_and_a_raise_lets_the_same_command_end(
    runs: Runs,
) -> None:
    waits = bash("until [ -e go.txt ]; do sleep 0.02; done")
    run = runs.start([bash("true"), waits, script_line("submit")], on_limit="pause")
    run.wait_for(ev.ToolCalled, count=2)
    run.answer_to(run.post(ChangeLimits(limits=Limits(steps=1))))
    assert run.wait_for(ev.RunPaused).strength == "now"
    assert "still reached" in run.refusal_of(run.post(Resume())).reason
    run.answer_to(run.post(ChangeLimits(limits=Limits(steps=3))))
    run.answer_to(run.post(Resume()))
    (run.folder.work / "go.txt").write_text("")
    assert run.ended().outcome == "submitted"
    assert [body.exit_code for body in run.bodies(ev.ToolFinished)][:2] == [0, 0]


def test_limit_that_ends_a_frozen_run_still_has_it_scored(runs: Runs) -> None:
    run = runs.start([bash("echo 7 > answer.txt; sleep 300")], limits=Limits(time_s=600.0))
    answer = run.folder.work / "answer.txt"
    until(lambda: answer.exists() and answer.read_text() == "7\n", "the answer is there")
    run.answer_to(run.post(Pause(strength="now")))
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=0.01))))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "time")
    assert run.bodies(ev.Graded)[-1].score.value == 7.0
    assert run.bodies(ev.RunResumed)[0].by == "the runner"


def test_score_now_grades_a_snapshot_while_the_command_goes_on(runs: Runs) -> None:
    run = runs.start([bash(f"echo 12 > answer.txt; {COUNT}")])
    until(lambda: _counted(run) > 2, "the command counts")
    answer = run.answer_to(run.post(ScoreNow(), who="ann"))
    assert answer.detail == "number 12"
    (graded,) = run.bodies(ev.Graded)
    assert (graded.purpose, graded.by, graded.score.split) == ("score_now", "ann", "dev")
    assert run.bodies(ev.ToolFinished) == []


def test_kill_leaves_no_process_and_answers_with_proof(runs: Runs) -> None:
    run = runs.start([bash("echo 3 > answer.txt; sleep 543.5 & setsid sleep 543.5 & sleep 543.5")])
    until(lambda: len(processes_with("543.5")) >= 3, "three sleepers run")
    kill = run.post(Kill(why="wrong task"), who="ann")
    ended = run.ended()
    assert (ended.outcome, ended.detail) == ("killed", "by ann: wrong task")
    assert processes_with("543.5") == []
    assert run.answer_to(kill).detail == "nothing is left over"
    (stopped,) = run.bodies(ev.SandboxStopped)
    assert stopped.proofs
    assert all(proof.proven for proof in stopped.proofs)
    assert run.bodies(ev.GradingStarted) == []


def test_kill_during_the_start_leaves_nothing_behind(runs: Runs) -> None:
    run = runs.start([bash("true")] * 30, pace_s=0.5)
    run.wait_for(ev.RunStarted)
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert processes_with(str(run.folder.work)) == []
    assert "Traceback" not in run.folder.runner_out.read_text()


def test_kill_while_the_submission_is_scored_ends_the_grader(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt"), script_line("submit")])
    run.wait_for(ev.GradingProgressed)
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert run.bodies(ev.Graded) == []


def test_kill_of_a_frozen_run_works(runs: Runs) -> None:
    run = runs.start([bash("sleep 432.5")])
    until(lambda: bool(processes_with("432.5")), "the command runs")
    run.answer_to(run.post(Pause(strength="now")))
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert processes_with("432.5") == []


def test_requests_to_a_busy_run_are_heard_at_once(runs: Runs) -> None:
    run = runs.start([bash("yes | head -c 30000000"), bash(COUNT)])
    run.wait_for(ev.ToolOutput)
    asked_at = time.time()
    assert _received_after_s(run, run.post(Pause(strength="step")), asked_at) < 5.0
