"""A run of several whose runner is shot again and again: no worker loses anything, and nothing is done twice."""

import random

from agent.record import events as ev
from agent.record.log import EventReader
from agent.runner.conversation import conversations, unanswered
from tests.process.mlrb_scripts import does, line, of_worker, plan, returns, step
from tests.process.runner_runs import Run, Runs, processes_with
from tests.process.test_resume_anywhere import shoot, ticking

SEED = 7
MOST_SHOTS = 14
SCRIPT = [
    plan(step("left"), step("right"), step("join", "left", "right")),
    does(1, ticking("a", 30)), line(1, "scratchpad", note="left is half done"), does(1, ticking("b", 20)), returns(1),
    does(2, ticking("c", 30)), does(2, f"mv ticks.txt right.txt; {ticking('d', 20)}"), returns(2),
    does(3, "cat workers/1-left/ticks.txt workers/2-right/ticks.txt right.txt > all.txt; echo 8 > answer.txt"),
    returns(3),
]  # fmt: skip


def test_workers_whose_runner_is_shot_at_every_turn_are_as_if_nobody_had_shot(runs: Runs) -> None:
    rng = random.Random(SEED)
    run = runs.start(SCRIPT, pace_s=0.1, scaffold="mlrb")
    shots = 0
    while shots < MOST_SHOTS and shoot(run, rng.randint(1, 9), rng.choice((0.0, 0.0, 0.03, 0.1))):
        shots += 1
        run.launch("--resume")
    assert run.ended().outcome == "submitted"
    assert shots >= 8, f"only {shots} shots with seed {SEED}"
    check_whole(run)
    check_done_once(run)
    assert processes_with(str(run.folder.path)) == []


def check_whole(run: Run) -> None:
    """The record has no holes, and every conversation is one that a model could have had."""
    events = run.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    with EventReader(run.folder.events) as reader:
        talks = conversations(reader)
    assert sorted(talks) == [0, 1, 2, 3]
    for worker, messages in talks.items():
        prefix = f"w{worker}m" if worker else "m"
        assert [each.message_id for each in messages] == [f"{prefix}{n}" for n in range(1, len(messages) + 1)]
        assert unanswered(messages) == []
    answered = run.bodies(ev.ModelAnswered)
    assert len(answered) == len(run.bodies(ev.StepStarted)) == run.summary().step
    steps = sorted(event.step for event in events if isinstance(event.body, ev.StepStarted))
    assert steps == list(range(1, len(steps) + 1))
    crew = run.summary().crew
    assert (crew.started, crew.done, crew.plans) == (3, 3, 1)
    assert [body.outcome for body in run.bodies(ev.WorkerEnded)] == ["returned"] * 3


def check_done_once(run: Run) -> None:
    """Every command ran once and to its end, all its output is there once."""
    called, finished = run.bodies(ev.ToolCalled), run.bodies(ev.ToolFinished)
    assert sorted(body.call_id for body in called) == sorted(body.call_id for body in finished)
    commands = [body for body in finished if body.tool == "bash"]
    assert [body.exit_code for body in commands] == [0] * 5
    for worker, names in ((1, "ab"), (2, "cd")):
        told = [run.text(body.text) for body in of_worker(run, worker, ev.ToolOutput)]
        expected = [f"{name}{n}" for name, count in zip(names, (30, 20), strict=True) for n in range(1, count + 1)]
        assert "".join(told).split() == expected
    ticks = [f"{name}{n}" for name, count in (("a", 30), ("b", 20), ("d", 20), ("c", 30)) for n in range(1, count + 1)]
    assert sorted((run.folder.work / "all.txt").read_text().split()) == sorted(ticks)
    assert [run.text(body.text) for body in run.bodies(ev.NoteTaken)].count("left is half done") <= 1
    assert len(run.bodies(ev.RunEnded)) == 1
