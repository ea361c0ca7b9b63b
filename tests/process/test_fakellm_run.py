"""Whole runs against a server of each protocol: refused once, then tool calls, to a valid score."""

import json
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.values import Limits
from tests.process.model_servers import BUSY_ONCE, RETRY_AFTER_S, Rule, fakellm_server
from tests.process.runner_runs import Runs

RULES: list[Rule] = [
    {
        "name": "hand in",
        "when": {"tool_result_contains": "number 41"},
        "respond": {"tool_calls": [{"name": "submit", "arguments": {"summary": "41"}}]},
    },
    {
        "name": "write and validate",
        "when": {"tools_include": "write"},
        "respond": {
            "content": "Two calls in one reply.",
            "tool_calls": [
                {"name": "write", "arguments": {"path": "answer.txt", "content": "41"}},
                {"name": "validate", "arguments": {}},
            ],
        },
    },
]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_run_that_is_refused_once_comes_to_a_valid_score(runs: Runs, tmp_path: Path, provider: str) -> None:
    with fakellm_server(RULES, tmp_path) as address:
        run = runs.start(
            [],
            model=f"{provider}:{BUSY_ONCE}{provider}",
            base_url=f"{address}/v1",
            limits=Limits(time_s=300.0, steps=10),
        )
        assert run.ended().outcome == "submitted"
    (failed,) = run.bodies(ev.ModelFailed)
    assert failed.retry_in_s is not None
    assert failed.retry_in_s >= RETRY_AFTER_S
    summary = run.summary()
    assert summary.waited_s >= RETRY_AFTER_S * 0.9
    assert [body.tool for body in run.bodies(ev.ToolFinished)] == ["write", "validate", "submit"]
    assert not any(body.failed for body in run.bodies(ev.ToolFinished))
    final = run.bodies(ev.Graded)[-1]
    assert (final.purpose, final.score.valid, final.score.split) == ("final", True, "test")
    assert final.score.value == 41.0
    assert summary.usage.output_tokens > 0
    assert json.dumps(address) not in run.folder.runner_out.read_text()
