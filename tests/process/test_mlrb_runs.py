"""The scaffold `mlrb` as whole runs: plan, workers side by side, their folders, re-planning, the end."""

import json
from pathlib import Path

from agent.record import events as ev
from agent.record.values import Limits
from tests.process.mlrb_scripts import commands_of, does, line, of_worker, plan, returns, step, wait_of, waits_for
from tests.process.runner_runs import Runs, bash, script_line


def test_script_for_one_agent_is_played_by_one_worker_in_the_work_folder(runs: Runs) -> None:
    script = [bash("echo 5 > answer.txt; pwd"), script_line("validate"), script_line("submit", summary="it is five")]
    run = runs.start(script, scaffold="mlrb")
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value == 5.0
    assert [body.tool for body in of_worker(run, 1, ev.ToolFinished)] == ["bash", "validate", "return"]
    assert not any(body.failed for body in run.bodies(ev.ToolFinished))
    assert [body.tool for body in of_worker(run, 0, ev.ToolFinished)] == ["plan", "submit"]
    ended = of_worker(run, 1, ev.WorkerEnded)
    assert [(body.outcome, body.submission) for body in ended] == [("returned", "it is five")]
    crew = run.summary().crew
    assert (crew.done, crew.started, len(crew.at_work)) == (1, 1, 0)
    assert run.summary().step == len(run.bodies(ev.StepStarted)) == 5


def test_steps_that_need_not_wait_really_run_at_once_and_their_files_join(runs: Runs, tmp_path: Path) -> None:
    left, right = tmp_path / "left", tmp_path / "right"
    script = [
        plan(step("left"), step("right"), step("join", "left", "right")),
        # Each ends only when the other has begun: neither could if they took turns.
        does(1, f"touch {left}; {waits_for(right)}; echo 30 > left.txt; pwd"),
        returns(1),
        does(2, f"touch {right}; {waits_for(left)}; echo 12 > right.txt; pwd"),
        returns(2),
        does(3, "echo $(( $(cat left.txt) + $(cat right.txt) )) > answer.txt; pwd"),
        returns(3),
    ]
    run = runs.start(script, scaffold="mlrb")
    assert run.ended().outcome == "submitted"
    assert run.bodies(ev.Graded)[-1].score.value == 42.0
    work = str(run.folder.work)
    folders = [run.text(of_worker(run, worker, ev.ToolOutput)[0].text).strip() for worker in (1, 2, 3)]
    assert folders == [f"{work}/workers/1-left", f"{work}/workers/2-right", work]
    joined = [of_worker(run, worker, ev.WorkerEnded)[0].files for worker in (1, 2, 3)]
    assert joined == [("left.txt",), ("right.txt",), ()]
    calls = [body.call_id for body in run.bodies(ev.ToolCalled)]
    assert len(calls) == len(set(calls))


def test_file_that_two_workers_changed_stays_with_the_second_and_the_supervisor_is_asked(
    runs: Runs, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    script = [
        plan(step("one"), step("two")),
        does(1, "echo 1 > answer.txt"),
        returns(1),
        does(2, f"echo 2 > answer.txt; {waits_for(done)}"),
        returns(2),
        plan(step("one"), step("two"), step("choose", "one", "two"), why="both changed it"),
        does(3, "cp workers/2-two/answer.txt answer.txt"),
        returns(3),
    ]
    run = runs.start(script, scaffold="mlrb")
    wait_of(run, 1, ev.WorkerEnded)
    done.touch()
    assert run.ended().outcome == "submitted"
    (second,) = of_worker(run, 2, ev.WorkerEnded)
    assert (second.conflicts, second.file_count) == (("answer.txt",), 0)
    said = [run.text(body.text) for body in of_worker(run, 0, ev.MessageAdded)]
    assert any("Not joined" in text and "answer.txt" in text for text in said)
    assert run.bodies(ev.Graded)[-1].score.value == 2.0
    assert run.summary().crew.plans == 2


def test_worker_that_leads_nowhere_fails_and_the_supervisor_plans_anew(runs: Runs) -> None:
    idle = [json.dumps({"worker": 1, "text": f"I wonder about {count}."}) + "\n" for count in range(7)]
    script = [
        plan(step("first")), *idle,
        plan(step("second"), why="the first one only thought"),
        does(2, "echo 9 > answer.txt"), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    assert run.ended().outcome == "submitted"
    assert of_worker(run, 1, ev.WorkerEnded)[0].outcome == "failed"
    assert run.bodies(ev.Graded)[-1].score.value == 9.0
    # A thought is answered by the request to use a tool, and no reply is asked for twice.
    prompts = [run.text(body.text) for body in of_worker(run, 1, ev.MessageAdded) if body.origin == "turn"]
    assert len(prompts) == 7
    assert all("Use a tool now" in prompt for prompt in prompts[1:])


def test_supervisor_that_plans_nothing_gives_up_after_some_turns(runs: Runs) -> None:
    run = runs.start([line(0) for _ in range(20)], scaffold="mlrb")
    ended = run.ended()
    assert (ended.outcome, "gave up" in ended.detail) == ("failed", True)
    assert len(run.bodies(ev.ModelAnswered)) == 6


def test_plan_that_cannot_be_is_refused_in_words(runs: Runs) -> None:
    script = [
        plan(step("a", "b"), step("b", "a")),
        line(0, "plan", steps="[nonsense"),
        line(0, "plan", steps=["echo, as a text"]),
        does(1, "echo 4 > answer.txt"), returns(1),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    assert run.ended().outcome == "submitted"
    refused, broken, taken, _ = of_worker(run, 0, ev.ToolFinished)
    assert "before itself" in run.text(refused.observation)
    assert "no JSON list" in run.text(broken.observation)
    assert not taken.failed


def test_step_that_is_dropped_from_the_plan_ends_its_worker_and_its_command(runs: Runs, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    script = [
        plan(step("endless"), step("quick")),
        does(1, f"touch {begun}; sleep 600"),
        *[does(2, f"{waits_for(begun)}; exit 3") for _ in range(3)],
        does(2, "sleep 600"),
        plan(step("other"), why="the endless one leads nowhere"),
        does(3, "echo 6 > answer.txt"), returns(3),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    assert run.ended().outcome == "submitted"
    assert {worker: of_worker(run, worker, ev.WorkerEnded)[0].outcome for worker in (1, 2)} == {
        1: "stopped", 2: "stopped",
    }  # fmt: skip
    (cut,) = of_worker(run, 1, ev.ToolFinished)
    assert "this worker was stopped" in run.text(cut.observation)
    # The same failing call three times in a row had the supervisor asked before any review was due.
    said = [run.text(body.text) for body in of_worker(run, 2, ev.WorkerReported)]
    assert any("3 times in a row" in text for text in said)
    assert run.bodies(ev.Graded)[-1].score.value == 6.0


def test_supervisor_tells_a_worker_and_finds_what_was_done(runs: Runs, tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = [
        plan(step("train"), step("wait")),
        does(1, "exit 7"), does(1, "exit 7"), does(1, "exit 7"),
        line(0, "tell_worker", worker=1, text="try the cosine schedule"),
        *[does(1, waits_for(told)) for _ in range(2)],
        line(1, "memory", query="cosine schedule"),
        returns(1),
        does(2, waits_for(told)), returns(2),
    ]  # fmt: skip
    run = runs.start(script, scaffold="mlrb")
    wait_of(run, 0, ev.ToolFinished, lambda body: body.tool == "tell_worker")
    told.touch()
    assert run.ended().outcome == "submitted"
    prompts = [run.text(body.text) for body in of_worker(run, 1, ev.MessageAdded) if body.origin == "turn"]
    assert "try the cosine schedule" in prompts[-1]
    (memory,) = [body for body in of_worker(run, 1, ev.ToolFinished) if body.tool == "memory"]
    assert "tell_worker" in run.text(memory.observation)


def test_limit_on_steps_counts_all_workers(runs: Runs) -> None:
    endless = [does(worker, f"echo {worker}-{count}") for count in range(30) for worker in (1, 2)]
    run = runs.start([plan(step("a"), step("b")), *endless], scaffold="mlrb", limits=Limits(time_s=60.0, steps=9))
    ended = run.ended()
    assert (ended.outcome, ended.limit) == ("limit", "steps")
    assert len(run.bodies(ev.StepStarted)) == run.summary().step == 9
    assert commands_of(run, 1)
    assert commands_of(run, 2)


def test_supervisor_has_a_model_of_its_own(runs: Runs, tmp_path: Path) -> None:
    other = tmp_path / "lead.jsonl"
    other.write_text(json.dumps({"worker": 0, "tool": "plan", "arguments": {"steps": ["all of it"]}}) + "\n")
    run = runs.start(
        [does(1, "echo 3 > answer.txt"), returns(1)], scaffold="mlrb", supervisor_model=f"scripted:{other}"
    )
    assert run.ended().outcome == "submitted"
    models = {event.worker: event.body.model for event in run.events() if isinstance(event.body, ev.ModelAsked)}
    assert models == {0: "scripted:lead.jsonl", 1: "scripted:script.jsonl"}
