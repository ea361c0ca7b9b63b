"""Messages that are still queued can be changed and taken back, and no crash sends them twice or loses them."""

import os
import signal

from agent.record import events as ev
from agent.record.inbox import EditInjection, Inject, Kill, WithdrawInjection
from agent.record.log import EventReader
from agent.runner.conversation import conversation
from tests.process.runner_runs import Run, Runs, bash, script_line

WAITS = bash("until [ -e go.txt ]; do sleep 0.02; done")


def _told(run: Run) -> list[str]:
    with EventReader(run.folder.events) as reader:
        said = [message.text for message in conversation(reader)]
    start = "[message from the operator]\n"
    return [text.removeprefix(start) for text in said if text.startswith(start)]


def _queued(run: Run, *texts: str) -> list[int]:
    ids = [run.post(Inject(text=text)) for text in texts]
    run.wait_for(ev.RequestReceived, count=len(ids))
    return ids


def test_queued_messages_are_changed_and_withdrawn_before_they_reach_the_agent(runs: Runs) -> None:
    run = runs.start([WAITS, script_line("submit")])
    run.wait_for(ev.ToolCalled)
    first, second, third = _queued(run, "one", "two", "three")
    assert (
        run.answer_to(run.post(WithdrawInjection(request_id=first), who="bob")).detail
        == f"message {first} was withdrawn"
    )
    run.answer_to(run.post(EditInjection(request_id=third, text="four"), who="bob"))
    assert "empty" in run.refusal_of(run.post(EditInjection(request_id=second, text=" "))).reason
    assert "no message" in run.refusal_of(run.post(WithdrawInjection(request_id=first))).reason
    assert "no message" in run.refusal_of(run.post(WithdrawInjection(request_id=999))).reason
    (withdrawn,), (edited,) = run.bodies(ev.RequestWithdrawn), run.bodies(ev.RequestEdited)
    assert (withdrawn.request_id, withdrawn.by) == (first, "bob")
    assert (edited.request_id, edited.text, edited.by) == (third, "four", "bob")
    (run.folder.work / "go.txt").write_text("")
    assert run.ended().outcome == "submitted"
    assert _told(run) == ["two", "four"]
    assert [body.request_id for body in run.bodies(ev.RequestDelivered)] == [second, third]
    assert not [body for body in run.bodies(ev.RequestAnswered) if body.request_id == first]
    # Two messages reached the agent; what was done to them while they were queued is no help of its own.
    assert run.summary().interventions == 2


def test_a_delivered_message_can_be_neither_changed_nor_withdrawn(runs: Runs) -> None:
    run = runs.start([WAITS, bash("sleep 300")])
    run.wait_for(ev.ToolCalled)
    (message,) = _queued(run, "one")
    (run.folder.work / "go.txt").write_text("")
    run.wait_for(ev.RequestDelivered)
    assert "delivered" in run.refusal_of(run.post(WithdrawInjection(request_id=message))).reason
    assert "delivered" in run.refusal_of(run.post(EditInjection(request_id=message, text="x"))).reason
    assert _told(run) == ["one"]


def test_after_a_crash_queued_messages_go_out_once_as_they_were_left(runs: Runs) -> None:
    run = runs.start([WAITS, script_line("submit")])
    run.wait_for(ev.ToolCalled)
    first, second, third = _queued(run, "one", "two", "three")
    run.answer_to(run.post(WithdrawInjection(request_id=second)))
    run.answer_to(run.post(EditInjection(request_id=third, text="é" * 9000)))
    assert run.process is not None
    # What the dead runner had not read is heard by the next one, in its place.
    os.kill(run.process.pid, signal.SIGSTOP)
    late = run.post(WithdrawInjection(request_id=first))
    after = run.post(Inject(text="five"))
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    run.launch("--resume")
    assert "withdrawn" in run.answer_to(late).detail
    (run.folder.work / "go.txt").touch()
    assert run.ended().outcome == "submitted"
    assert _told(run) == ["é" * 9000, "five"]
    assert [body.request_id for body in run.bodies(ev.RequestDelivered)] == [third, after]


def test_a_withdrawn_message_is_not_refused_a_second_time_when_the_run_ends(runs: Runs) -> None:
    run = runs.start([bash("sleep 300")])
    run.wait_for(ev.ToolCalled)
    (message,) = _queued(run, "one")
    run.answer_to(run.post(WithdrawInjection(request_id=message)))
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert run.bodies(ev.RequestRefused) == []
