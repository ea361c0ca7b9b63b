"""Supervisor and workers against a server of each vendor's protocol, and of both at once."""

from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.values import Limits
from tests.process.mlrb_scripts import of_worker
from tests.process.model_servers import Rule, fakellm_server
from tests.process.runner_runs import Runs


def _calls(name: str, **arguments: object) -> dict[str, object]:
    return {"content": f"I call {name}.", "tool_calls": [{"name": name, "arguments": arguments}]}


STEPS = [{"name": "answer", "task": "write the number"}, {"name": "notes", "task": "write what was done"}]
WRITES = {"answer": {"path": "answer.txt", "content": "41"}, "notes": {"path": "notes.txt", "content": "done"}}


def _rule(name: str, respond: dict[str, object], **when: object) -> Rule:
    return {"name": name, "when": when, "respond": respond}


RULES: list[Rule] = [
    _rule("hand in", _calls("submit", summary="41"), tools_include="plan", messages_contain="no worker is at work"),
    _rule("plan", _calls("plan", steps=STEPS), tools_include="plan"),
    *(
        _rule(
            f"return {name}", _calls("return", submission=f"{name} is written"),
            tools_include="return", messages_contain=f"wrote {arguments['path']}",
        )
        for name, arguments in WRITES.items()
    ),
    *(
        _rule(
            f"write {name}", _calls("write", **arguments),
            tools_include="return", messages_contain=f"your step: {name}",
        )
        for name, arguments in WRITES.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lead", "workers"), [("openai:lead", "openai:hand"), ("anthropic:lead", "openai:hand"), ("", "anthropic:both")]
)
def test_crew_of_any_vendors_plans_works_at_once_and_hands_in(
    runs: Runs, tmp_path: Path, lead: str, workers: str
) -> None:
    with fakellm_server(RULES, tmp_path) as address:
        runs.environment |= {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none"}
        own = f"{address}/v1" if workers.startswith("openai:") else address
        run = runs.start(
            [], model=workers, supervisor_model=lead, base_url=own, scaffold="mlrb",
            limits=Limits(time_s=300.0, steps=20),
        )  # fmt: skip
        assert run.ended().outcome == "submitted"
    asked = {event.worker: event.body.model for event in run.events() if isinstance(event.body, ev.ModelAsked)}
    assert asked == {0: lead or workers, 1: workers, 2: workers}
    for worker in (1, 2):
        assert [body.tool for body in of_worker(run, worker, ev.ToolFinished)] == ["write", "return"]
        assert of_worker(run, worker, ev.WorkerEnded)[0].file_count == 1
    assert not any(body.failed for body in run.bodies(ev.ToolFinished))
    assert run.bodies(ev.Graded)[-1].score.value == 41.0
    assert all(worker.tokens for worker in run.summary().crew.workers)
