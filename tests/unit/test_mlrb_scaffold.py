"""The parts of the scaffold `mlrb`: plans, what can be begun, what was done, the fold of plan and workers."""

import pytest

from agent.models.base import Message
from agent.models.scripted import read_script
from agent.record import events as ev
from agent.record.clocks import clock_of
from agent.record.crew import MOST_SHOWN, Crew, PlanStep
from agent.record.summary import fold_all
from agent.record.values import RunSummary, ToolCall
from agent.scaffolds.mlrb.actions import actions, stuck
from agent.scaffolds.mlrb.hand_in import returned
from agent.scaffolds.mlrb.plan import BadPlan, is_apart, read_plan, ready, shown
from agent.scaffolds.mlrb.scaffold import Mlrb
from agent.scaffolds.mlrb.words import turn_prompt
from tasks import catalogue
from tests.unit.runner_parts import created


def test_texts_in_place_of_steps_are_done_one_after_the_other() -> None:
    steps = read_plan(["look", "train"])
    assert [(step.name, step.after) for step in steps] == [("step 1", ()), ("step 2", ("step 1",))]
    assert read_plan('[{"name": "a", "task": "t"}]') == (PlanStep(name="a", task="t"),)
    assert read_plan({"steps": [{"name": "a", "task": "t", "after": None}]}) == (PlanStep(name="a", task="t"),)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "at least one"),
        (None, "must be a list"),
        ([{"name": "a"}], "no `task`"),
        ([{"name": "a", "task": "t"}, {"name": "a", "task": "u"}], "twice"),
        ([{"name": "a", "task": "t", "after": ["b"]}], "does not have"),
        ([{"name": "a", "task": "t", "after": ["b"]}, {"name": "b", "task": "t", "after": "a"}], "before itself"),
        ([{"name": "a", "task": "t", "after": 7}], "must be a list"),
        ([{"name": "a", "task": "t" * 5_000}], "longer"),
        (["t"] * 30, "at most"),
        ([7], "neither"),
        ("{", "no JSON"),
    ],
)
def test_plan_that_cannot_be_carried_out_is_told_why(given: object, said: str) -> None:
    with pytest.raises(BadPlan, match=said):
        read_plan(given)


def test_step_is_apart_only_where_another_may_run_at_its_side() -> None:
    steps = read_plan(
        [
            {"name": "first", "task": "t"},
            {"name": "left", "task": "t", "after": ["first"]},
            {"name": "right", "task": "t", "after": ["first"]},
            {"name": "last", "task": "t", "after": ["left", "right"]},
        ]
    )
    assert [step.name for step in steps if is_apart(step.name, steps)] == ["left", "right"]


def _events(*bodies: tuple[int, ev.Known]) -> list[ev.Event]:
    begin: list[tuple[int, ev.Known]] = [(0, created()), (0, ev.RunStarted(pid=1, host="h")), (0, ev.StepStarted())]
    return [
        ev.Event(seq=seq, at=float(seq), step=seq, worker=worker, body=body)
        for seq, (worker, body) in enumerate([*begin, *bodies], 1)
    ]


def _fold(*bodies: tuple[int, ev.Known]) -> RunSummary:
    return fold_all(_events(*bodies))


_PLAN = ev.PlanMade(steps=(PlanStep(name="a", task="x"), PlanStep(name="b", task="y", after=("a",))))


def test_steps_become_ready_as_those_before_them_are_done_and_failed_ones_hold_them() -> None:
    assert ready(_fold((0, _PLAN)).crew) == ["a"]
    started = ((0, _PLAN), (1, ev.WorkerStarted(step="a")))
    assert ready(_fold(*started).crew) == []
    assert ready(_fold(*started, (1, ev.WorkerEnded(outcome="returned", step="a"))).crew) == ["b"]
    failed = (*started, (1, ev.WorkerEnded(outcome="failed", step="a", why="broke")))
    assert ready(_fold(*failed).crew) == []
    assert ready(_fold(*failed, (0, _PLAN)).crew) == ["a"]


def test_plan_that_changes_keeps_what_is_done_under_its_name() -> None:
    crew = _fold(
        (0, _PLAN), (1, ev.WorkerStarted(step="a")), (1, ev.WorkerEnded(outcome="returned", step="a")),
        (0, ev.PlanMade(steps=(PlanStep(name="a"), PlanStep(name="c", after=("a",))), why="b was too much")),
    ).crew  # fmt: skip
    assert [(step.name, step.state) for step in crew.steps] == [("a", "done"), ("c", "waiting")]
    assert (crew.plans, crew.why, ready(crew)) == (2, "b was too much", ["c"])
    assert "[done by worker 1] a" in shown(crew)


def test_what_one_worker_does_hides_nothing_of_the_others() -> None:
    two = (
        (0, _PLAN), (1, ev.WorkerStarted(step="a")), (2, ev.WorkerStarted(step="b")),
        (1, ev.ToolCalled(call_id="c1", tool="bash", summary="python train.py")),
        (2, ev.ToolCalled(call_id="c2", tool="bash", summary="ls")),
    )  # fmt: skip
    assert _fold(*two).now == "w1 python train.py · w2 ls"
    after = _fold(*two, (2, ev.ToolFinished(call_id="c2", message_id="m")))
    assert after.now == "w1 python train.py"
    assert after.now_since == 7.0


def test_waiting_stops_the_working_clock_only_where_nobody_works() -> None:
    asked = ev.ApprovalAsked(approval_id="q", call_id="c2", tool="bash")
    both = ((0, _PLAN), (1, ev.WorkerStarted(step="a")), (2, ev.WorkerStarted(step="b")))
    busy = (*both, (1, ev.ToolCalled(call_id="c1", tool="bash")), (2, asked))
    assert clock_of(_fold(*busy)) == "working_s"
    idle = _fold(*busy, (1, ev.ToolFinished(call_id="c1", message_id="m")))
    assert clock_of(idle) == "approval_s"
    assert idle.approval is not None
    assert idle.approval.worker == 2
    # Another worker's call does not answer the question.
    assert _fold(*busy, (1, ev.ToolCalled(call_id="c3", tool="bash"))).approval is not None
    failed = ev.ModelFailed(call_id="a", reason="busy", retry_in_s=5.0)
    assert clock_of(_fold(*both, (1, failed), (2, ev.ModelAsked(call_id="b", model="m")))) == "working_s"
    assert clock_of(_fold(*both, (1, failed), (2, failed))) == "waited_s"


def test_summary_stays_small_however_many_workers_there_were() -> None:
    bodies: list[tuple[int, ev.Known]] = [(0, _PLAN)]
    for number in range(1, 60):
        bodies.append((number, ev.WorkerStarted(step="a")))
        if number != 3:
            bodies.append((number, ev.WorkerEnded(outcome="returned", step="a")))
    crew = _fold(*bodies).crew
    assert crew.started == 59
    assert crew.workers[0].worker == 3
    assert len(crew.workers) == MOST_SHOWN + 1


def _turn(number: int, tool: str, failed: bool = False, **arguments: object) -> list[Message]:
    call = ToolCall(call_id=f"c{number}", tool=tool, arguments=arguments)
    return [
        Message(f"a{number}", "assistant", "", calls=(call,)),
        Message(f"t{number}", "tool", f"result {number}", call_id=f"c{number}", failed=failed),
    ]


def test_actions_are_calls_with_what_came_of_them_and_thoughts() -> None:
    talk = [
        *_turn(1, "bash", command="ls"),
        Message("a2", "assistant", "hm"),
        *_turn(3, "write", path="a", content="b"),
    ]
    done = actions(talk)
    assert [(action.tool, action.said, action.result) for action in done] == [
        ("bash", "ls", "result 1"), ("thought", "hm", ""), ("write", "path = a\ncontent = b", "result 3"),
    ]  # fmt: skip


def test_same_call_again_and_again_or_only_failures_is_stuck() -> None:
    same = [message for number in range(3) for message in _turn(number, "bash", command="make")]
    assert "3 times" in stuck(actions(same))
    failing = [message for number in range(6) for message in _turn(number, "bash", True, command=f"make {number}")]
    assert "6 calls in a row failed" in stuck(actions(failing))
    assert not stuck(actions(failing[:-2]))


def test_return_that_was_refused_is_none() -> None:
    assert returned(_turn(1, "return", True, submission="x")) is None
    ended = returned(_turn(1, "return", submission="loss 3.1", model_path="model"))
    assert ended is not None
    assert (ended.outcome, ended.submission, ended.model_path) == ("returned", "loss 3.1", "model")


def test_turn_is_bounded_and_tells_all_that_the_paper_names() -> None:
    huge = [message for number in range(40) for message in _turn(number, "bash", command="x" * 90_000)]
    huge[-1] = Message("t", "tool", "y" * 90_000, call_id="c39", failed=True)
    told = Message("u", "user", "[message from the operator]\nbe quick")
    said = turn_prompt(
        workdir="/w", used_s=90.0, left_s=600.0, status="step 3", plan="1. a", step="a", messages=[told],
        done=actions(huge),
    )  # fmt: skip
    assert len(said) < 40_000
    for part in ("/w", "1.50 minutes", "10.00 minutes", "step 3", "1. a", "be quick", "last 10 actions", "Errors:"):
        assert part in said
    assert said.count("\n(") == 10


def test_crew_is_empty_for_a_single_agent() -> None:
    alone = _fold((0, ev.ToolCalled(call_id="c", tool="bash", summary="ls")))
    assert alone.crew == Crew()
    assert alone.now == "ls"


def test_worker_has_every_tool_that_the_scripts_of_the_tasks_use() -> None:
    offered = {*Mlrb().workers_tools(False), "submit"}
    for task in catalogue.all_tasks():
        used = {call.tool for reply in read_script(task.baseline_script) for call in reply.all_calls}
        assert used <= offered, (task.spec.name, used - offered)
