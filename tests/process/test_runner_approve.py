"""Approve mode on real runs: nothing that asks runs without a word, and each word has its effect, after a crash too."""

import os
import signal
import time

from agent.record import events as ev
from agent.record.inbox import Approve, ApproveMode, ChangeLimits, Inject, Interrupt, Kill, Pause, Resume
from agent.record.values import ApproveRules, Limits
from tests.process.runner_runs import Run, Runs, bash, script_line, until


def _asked(run: Run, count: int = 1) -> ev.ApprovalAsked:
    return run.wait_for(ev.ApprovalAsked, count=count)


def _word(run: Run, question: ev.ApprovalAsked, word: str = "accept", text: str = "", who: str = "ann") -> int:
    assert word in ("accept", "edit", "reject", "always")
    return run.post(Approve(approval_id=question.approval_id, word=word, text=text), who=who)  # type: ignore[arg-type]


def _accept(run: Run, count: int) -> None:
    run.answer_to(_word(run, _asked(run, count)))


def test_nothing_runs_before_the_word_and_the_record_says_who_gave_it(runs: Runs) -> None:
    run = runs.start(
        [bash("touch ran.txt"), script_line("read", path="rules.txt"), script_line("submit")], approve=True
    )
    question = _asked(run)
    assert (question.tool, question.summary, question.rule, question.editable) == (
        "bash", "touch ran.txt", "touch *", "command",
    )  # fmt: skip
    # A refused request is answered while it waits: the runner is awake, and still nothing has run.
    assert "no command" in run.refusal_of(run.post(Interrupt())).reason
    assert not (run.folder.work / "ran.txt").exists()
    assert run.bodies(ev.ToolCalled) == []
    wanted = run.summary().approval
    assert wanted is not None
    assert (wanted.summary, run.summary().state) == ("touch ran.txt", "running")
    assert run.answer_to(_word(run, question)).detail == "accepted"
    _accept(run, 2)
    assert run.ended().outcome == "submitted"
    given = run.bodies(ev.ApprovalGiven)[0]
    assert (given.decision, given.by, given.approval_id) == ("accepted", "ann", question.approval_id)
    assert (run.folder.work / "ran.txt").exists()
    # Reading changes nothing and asks nobody.
    assert [body.tool for body in run.bodies(ev.ApprovalAsked)] == ["bash", "submit"]
    assert run.summary().approval is None


def test_a_rejected_call_does_not_run_and_the_agent_gets_the_reason(runs: Runs) -> None:
    run = runs.start([bash("touch ran.txt"), script_line("submit")], approve=True)
    question = _asked(run)
    assert "needs a reason" in run.refusal_of(_word(run, question, "reject", "  ")).reason
    run.answer_to(_word(run, question, "reject", "keep the folder clean [/bold]"))
    finished = run.wait_for(ev.ToolFinished)
    assert (finished.failed, finished.rejected_by) == (True, "ann")
    assert "keep the folder clean [/bold]" in run.text(finished.observation)
    _accept(run, 2)
    assert run.ended().outcome == "submitted"
    assert not (run.folder.work / "ran.txt").exists()
    assert run.summary().errors == 0


def test_an_edited_command_runs_instead_and_the_agent_is_told_how_it_was_changed(runs: Runs) -> None:
    run = runs.start([bash("echo 1 > answer.txt", timeout_s=20), script_line("submit")], approve=True)
    question = _asked(run)
    assert "empty" in run.refusal_of(_word(run, question, "edit", "\n")).reason
    assert run.answer_to(_word(run, question, "edit", "echo 9 > answer.txt")).detail == "edited"
    called = run.wait_for(ev.ToolCalled)
    assert called.arguments == {"command": "echo 9 > answer.txt", "timeout_s": 20}
    told = run.text(run.wait_for(ev.ToolFinished).observation)
    assert told.startswith("[the operator changed this call before it ran: command was")
    assert "echo 1 > answer.txt" in told.splitlines()[0]
    assert "echo 9 > answer.txt" in told.splitlines()[0]
    _accept(run, 2)
    run.ended()
    assert run.bodies(ev.Graded)[-1].score.value == 9.0


def test_always_lets_its_class_through_and_nothing_else(runs: Runs) -> None:
    script = [bash("echo 1"), bash("echo 2"), bash("echo 3; touch ran.txt"), script_line("submit")]
    run = runs.start(script, approve=True)
    question = _asked(run)
    assert question.rule == "echo *"
    # What was shown is what is confirmed: another rule is refused.
    assert "'echo *'" in run.refusal_of(_word(run, question, "always", "*")).reason
    run.answer_to(_word(run, question, "always", "echo *"))
    third = _asked(run, 2)
    assert third.summary == "echo 3; touch ran.txt"
    assert third.rule == ""
    assert "no class" in run.refusal_of(_word(run, third, "always", "")).reason
    run.answer_to(_word(run, third, "reject", "no"))
    _accept(run, 3)
    run.ended()
    assert len(run.bodies(ev.ToolCalled)) == 4
    assert not (run.folder.work / "ran.txt").exists()


def test_rules_of_the_settings_hold_and_what_always_asks_wins(runs: Runs) -> None:
    rules = ApproveRules(let_through=("echo *", "touch *", "submit:"), always_ask=("touch *",))
    run = runs.start([bash("echo 1"), bash("touch x"), script_line("submit")], approve=True, rules=rules)
    question = _asked(run)
    assert (question.summary, question.rule) == ("touch x", "")
    run.answer_to(_word(run, question))
    assert run.ended().outcome == "submitted"
    assert len(run.bodies(ev.ApprovalAsked)) == 1


def test_the_mode_is_turned_on_and_off_in_a_live_run(runs: Runs) -> None:
    run = runs.start([bash("until [ -e go.txt ]; do sleep 0.02; done"), bash("echo 1"), bash("echo 2"),
                      script_line("submit")])  # fmt: skip
    run.wait_for(ev.ToolCalled)
    assert "off already" in run.refusal_of(run.post(ApproveMode(on=False))).reason
    run.answer_to(run.post(ApproveMode(on=True), who="ann"))
    (run.folder.work / "go.txt").write_text("")
    assert _asked(run).summary == "echo 1"
    assert run.summary().approve
    run.answer_to(run.post(ApproveMode(on=False), who="bob"))
    assert run.ended().outcome == "submitted"
    (given,) = run.bodies(ev.ApprovalGiven)
    assert (given.decision, given.by, given.reason) == ("accepted", "bob", "approve mode was turned off")


def test_time_that_a_person_takes_is_nobodys_work_and_ends_no_limit(runs: Runs) -> None:
    run = runs.start([bash("echo 1", timeout_s=1), script_line("submit")], approve=True, limits=Limits(time_s=1.5))
    question = _asked(run)
    began = time.monotonic()
    until(lambda: time.monotonic() - began > 2.5, "time passes")
    run.answer_to(_word(run, question))
    assert not run.wait_for(ev.ToolFinished).timed_out
    _accept(run, 2)
    assert run.ended().outcome == "submitted"
    summary = run.summary()
    assert summary.approval_s >= 2.5
    assert summary.working_s < 1.5


def test_pause_inject_limits_and_kill_work_while_a_question_waits(runs: Runs) -> None:
    run = runs.start([bash("touch ran.txt"), bash("echo 2")], approve=True)
    question = _asked(run)
    message = run.post(Inject(text="think again"))
    assert run.answer_to(run.post(Pause(strength="now"))).detail == "frozen"
    word = _word(run, question)
    run.wait_for(ev.RequestReceived, lambda body: body.request_id == word)
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=500.0, steps=9))))
    assert run.bodies(ev.ApprovalGiven) == []
    run.answer_to(run.post(Resume()))
    run.answer_to(word)
    assert run.wait_for(ev.RequestDelivered).request_id == message
    second = _asked(run, 2)
    assert run.answer_to(run.post(Pause(strength="command"))).detail == "paused after the command"
    run.answer_to(run.post(Resume()))
    run.post(Kill())
    assert run.ended().outcome == "killed"
    lapsed = run.bodies(ev.ApprovalGiven)[-1]
    assert (lapsed.approval_id, lapsed.decision) == (second.approval_id, "lapsed")
    assert run.summary().approval is None


def test_a_word_that_comes_while_frozen_is_refused_where_the_run_is_killed_first(runs: Runs) -> None:
    run = runs.start([bash("touch ran.txt")], approve=True)
    question = _asked(run)
    run.answer_to(run.post(Pause(strength="now")))
    word = _word(run, question)
    assert "answered already, by ann" in run.refusal_of(_word(run, question, who="bob")).reason
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert "ended first" in run.refusal_of(word).reason
    assert not [body for body in run.bodies(ev.RequestAnswered) if body.request_id == word]
    assert not (run.folder.work / "ran.txt").exists()


def test_a_word_to_another_question_is_refused(runs: Runs) -> None:
    run = runs.start([bash("echo 1")], approve=True)
    _asked(run)
    assert "no question" in run.refusal_of(run.post(Approve(approval_id="q999999"))).reason
    assert run.bodies(ev.ApprovalGiven) == []


def test_call_that_cannot_run_is_answered_without_asking_a_person(runs: Runs) -> None:
    run = runs.start([script_line("bash", comand="ls"), script_line("submit")], approve=True)
    assert _asked(run).tool == "submit"
    assert "missing argument" in run.text(run.bodies(ev.ToolFinished)[0].observation)


def _kill_runner(run: Run) -> None:
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()


def test_after_a_crash_the_same_question_stands_again_and_nothing_runs_twice(runs: Runs) -> None:
    two = (
        '{"calls": [{"tool": "bash", "arguments": {"command": "echo a >> log.txt"}},'
        ' {"tool": "bash", "arguments": {"command": "echo b >> log.txt"}}]}\n'
    )
    run = runs.start([bash("echo 0 >> log.txt"), two, script_line("submit")], approve=True)
    _accept(run, 1)
    question = _asked(run, 2)
    _kill_runner(run)
    run.launch("--resume")
    again = _asked(run, 3)
    assert again == question
    assert run.summary().state == "running"
    run.answer_to(_word(run, again))
    _accept(run, 4)
    _accept(run, 5)
    assert run.ended().outcome == "submitted"
    assert (run.folder.work / "log.txt").read_text() == "0\na\nb\n"
    assert not [body for body in run.bodies(ev.ToolFinished) if "restarted" in run.text(body.observation)]


def test_a_word_that_a_dead_runner_had_not_read_is_heard_by_the_next(runs: Runs) -> None:
    run = runs.start([bash("echo 6 > answer.txt"), bash("echo x"), script_line("submit")], approve=True)
    question = _asked(run)
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGSTOP)
    word = _word(run, question)
    _kill_runner(run)
    run.launch("--resume")
    assert run.answer_to(word).detail == "accepted"
    run.answer_to(_word(run, run.wait_for(ev.ApprovalAsked, lambda body: body.summary == "echo x"), "always", "echo *"))
    _word(run, run.wait_for(ev.ApprovalAsked, lambda body: body.tool == "submit"))
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value == 6.0


def test_what_was_let_through_for_good_is_so_after_a_crash_too(runs: Runs) -> None:
    run = runs.start([bash("echo 1"), script_line("write", path="a.txt", content="x"), bash("echo 2"),
                      script_line("submit")], approve=True)  # fmt: skip
    run.answer_to(_word(run, _asked(run), "always", "echo *"))
    question = _asked(run, 2)
    assert (question.tool, question.rule, question.editable) == ("write", "write:a.txt", "content")
    _kill_runner(run)
    run.launch("--resume")
    run.answer_to(_word(run, _asked(run, 3)))
    assert _asked(run, 4).tool == "submit"
