"""What steering promises where several work at once: pauses, messages, interrupts, approval, limits, lost runners."""

import os
import signal
from pathlib import Path

from agent.record import events as ev
from agent.record.inbox import Approve, ChangeLimits, Inject, Interrupt, Kill, Pause, Resume
from agent.record.values import Limits
from tests.process.mlrb_scripts import commands_of, does, of_worker, plan, returns, step, wait_of, waits_for
from tests.process.runner_runs import Run, Runs, until

BEAT = "while [ ! -e {stop} ]; do date +%s%N >> {file}; sleep 0.02; done"


def _beats(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


def _both_run(run: Run) -> None:
    for worker in (1, 2):
        wait_of(run, worker, ev.ToolCalled)


def test_pause_now_freezes_both_commands_and_resume_lets_both_go_on(runs: Runs, tmp_path: Path) -> None:
    files, stop = [tmp_path / "one", tmp_path / "two"], tmp_path / "stop"
    script = [
        plan(step("a"), step("b")),
        does(1, BEAT.format(stop=stop, file=files[0])), returns(1),
        does(2, BEAT.format(stop=stop, file=files[1])), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    until(lambda: all(_beats(file) > 3 for file in files), "both beat")
    run.answer_to(run.post(Pause(strength="now")))
    frozen = [_beats(file) for file in files]
    assert run.summary().state == "paused"
    before = run.summary().working_s
    assert [_beats(file) for file in files] == frozen
    assert run.summary().working_s == before
    run.answer_to(run.post(Resume()))
    until(lambda: all(_beats(file) > count for file, count in zip(files, frozen, strict=True)), "both beat again")
    stop.touch()
    assert run.ended().outcome == "submitted"


def test_pause_after_the_command_takes_effect_once_all_of_them_have_ended(runs: Runs, tmp_path: Path) -> None:
    go = [tmp_path / "one", tmp_path / "two"]
    script = [
        plan(step("a"), step("b")),
        does(1, waits_for(go[0])), does(1, "echo late 1"), returns(1),
        does(2, waits_for(go[1])), does(2, "echo late 2"), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    _both_run(run)
    request = run.post(Pause(strength="command"))
    run.wait_for(ev.RequestReceived)
    go[0].touch()
    wait_of(run, 1, ev.ToolFinished)
    # One still works: what it does is no pause yet, and its time counts.
    assert run.summary().state == "running"
    assert not run.bodies(ev.RunPaused)
    go[1].touch()
    run.answer_to(request)
    assert run.summary().state == "paused"
    assert [commands_of(run, worker) for worker in (1, 2)] == [[waits_for(file)] for file in go]
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"


def test_message_goes_to_the_worker_it_is_for_and_to_the_supervisor_at_once(runs: Runs, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = [
        plan(step("a"), step("b")),
        does(1, waits_for(go)), returns(1), does(2, waits_for(go)), does(2, "echo more"), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    _both_run(run)
    absent = run.refusal_of(run.post(Inject(text="who?", worker=9)))
    assert "no worker 9" in absent.reason
    to_worker = run.post(Inject(text="use fewer layers", worker=2))
    to_lead = run.post(Inject(text="finish within the hour"))
    # The supervisor is asked for it, and need not wait until a worker comes to an end.
    run.answer_to(to_lead)
    assert not of_worker(run, 1, ev.ToolFinished)
    go.touch()
    run.answer_to(to_worker)
    assert run.ended().outcome == "submitted"
    joined = {event.body.request_id: event.worker for event in run.events() if isinstance(event.body, ev.MessageAdded)}
    assert (joined[to_worker], joined[to_lead]) == (2, 0)
    # A worker is told anew with each turn, so that it still knows.
    prompts = [run.text(body.text) for body in of_worker(run, 2, ev.MessageAdded) if body.origin == "turn"]
    assert "use fewer layers" in prompts[-1]


def test_message_to_a_worker_that_has_ended_is_refused(runs: Runs, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = [plan(step("a"), step("b")), returns(1), does(2, waits_for(go)), returns(2)]
    run = runs.start(script, scaffold="mlrb")
    wait_of(run, 1, ev.WorkerEnded)
    refused = run.refusal_of(run.post(Inject(text="too late", worker=1)))
    assert "no worker 1 at work" in refused.reason
    go.touch()
    assert run.ended().outcome == "submitted"


def test_interrupt_names_its_worker_and_leaves_the_other_alone(runs: Runs, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = [plan(step("a"), step("b")), does(1, "sleep 25"), returns(1), does(2, waits_for(go)), returns(2)]
    run = runs.start(script, scaffold="mlrb")
    _both_run(run)
    assert "name a worker, 1 or 2" in run.refusal_of(run.post(Interrupt())).reason
    run.answer_to(run.post(Interrupt(worker=1)))
    cut = wait_of(run, 1, ev.ToolFinished)
    assert cut.interrupted_by == "ann"
    assert not of_worker(run, 2, ev.ToolFinished)
    wait_of(run, 1, ev.WorkerEnded)
    go.touch()
    assert run.ended().outcome == "submitted"
    assert of_worker(run, 2, ev.ToolFinished)[0].exit_code == 0


def test_two_calls_that_need_a_word_are_asked_one_after_the_other(runs: Runs) -> None:
    script = [
        plan(step("a"), step("b")),
        does(1, "echo 1 > one.txt"), returns(1), does(2, "echo 2 > two.txt"), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb", approve=True)
    asked = []
    for count in (1, 2):
        question = run.wait_for(ev.ApprovalAsked, count=count)
        wanted = run.summary().approval
        assert wanted is not None
        assert wanted.approval_id == question.approval_id
        asked.append(wanted.worker)
        run.answer_to(run.post(Approve(approval_id=question.approval_id)))
    assert sorted(asked) == [1, 2]
    last = run.wait_for(ev.ApprovalAsked, count=3)
    assert last.tool == "submit"
    run.post(Approve(approval_id=last.approval_id))
    assert run.ended().outcome == "submitted"


def test_limit_that_is_lowered_freezes_all_and_goes_on_when_raised(runs: Runs, tmp_path: Path) -> None:
    files, stop = [tmp_path / "one", tmp_path / "two"], tmp_path / "stop"
    script = [
        plan(step("a"), step("b")),
        does(1, BEAT.format(stop=stop, file=files[0])), returns(1),
        does(2, BEAT.format(stop=stop, file=files[1])), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb", on_limit="pause")
    until(lambda: all(_beats(file) > 3 for file in files), "both beat")
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=0.1))))
    run.wait_for(ev.RunPaused)
    assert len(run.bodies(ev.RunPaused)) == 1
    frozen = [_beats(file) for file in files]
    run.answer_to(run.post(ChangeLimits(limits=Limits(time_s=90.0))))
    assert [_beats(file) for file in files] == frozen
    stop.touch()
    run.answer_to(run.post(Resume()))
    assert run.ended().outcome == "submitted"


def test_kill_ends_all_of_them_with_proof(runs: Runs, tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    beats = [does(worker, BEAT.format(stop="/none", file=files[worker - 1])) for worker in (1, 2)]
    run = runs.start([plan(step("a"), step("b")), *beats], scaffold="mlrb")
    until(lambda: all(_beats(file) > 3 for file in files), "both beat")
    answer = run.answer_to(run.post(Kill()))
    assert answer.detail == "nothing is left over"
    assert run.ended().outcome == "killed"
    still = [_beats(file) for file in files]
    assert [_beats(file) for file in files] == still
    assert all(proof.proven for body in run.bodies(ev.SandboxStopped) for proof in body.proofs)


def test_killed_runner_loses_nothing_of_two_commands_and_does_nothing_twice(runs: Runs, tmp_path: Path) -> None:
    go, marks = tmp_path / "go", [tmp_path / "one", tmp_path / "two"]
    commands = [f"echo x >> {mark}; echo begun; {waits_for(go)}; echo 2{index}" for index, mark in enumerate(marks)]
    script = [
        plan(step("a"), step("b"), step("c", "a", "b")),
        does(1, commands[0]), does(1, "echo kept 1 > one.txt"), returns(1),
        does(2, commands[1]), does(2, "echo kept 2 > two.txt"), returns(2),
        does(3, "cat one.txt two.txt; echo 11 > answer.txt"), returns(3),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    for worker in (1, 2):
        wait_of(run, worker, ev.ToolOutput)
    message = run.post(Inject(text="keep going", worker=2))
    run.wait_for(ev.RequestReceived)
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    before = run.events()

    run.launch("--resume")
    for worker in (1, 2):
        wait_of(run, worker, ev.ToolTakenUp)
    assert [worker.worker for worker in run.summary().crew.at_work] == [1, 2]
    go.touch()
    assert run.ended().outcome == "submitted"
    events = run.events()
    assert events[: len(before)] == before
    assert [mark.read_text() for mark in marks] == ["x\n", "x\n"]
    for index, worker in enumerate((1, 2)):
        followed = of_worker(run, worker, ev.ToolFinished)[0]
        assert run.text(followed.observation).startswith(f"begun\n2{index}\n[exit code 0")
    run.answer_to(message)
    joined = [event.worker for event in events if isinstance(event.body, ev.MessageAdded) and event.body.request_id]
    assert joined == [2]
    assert len(run.bodies(ev.PlanMade)) == 1
    assert len(run.bodies(ev.WorkerStarted)) == 3
    assert "kept 1\nkept 2" in run.text(of_worker(run, 3, ev.ToolFinished)[0].observation)
    assert run.bodies(ev.Graded)[-1].score.value == 11.0
    steps = [event.step for event in events if isinstance(event.body, ev.StepStarted)]
    assert sorted(steps) == list(range(1, len(steps) + 1))
