"""Whole runs with a real, small model over both protocols: they end by a limit, with their transcript whole."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import Home
from agent.record.log import EventReader
from agent.runner.conversation import conversation
from agent.sandbox.choose import kind_without_wish
from tests.process import smol_server as smol
from tests.process.model_servers import smol_server
from tests.process.runner_runs import TASK, probe_tasks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(smol.missing()), reason=smol.missing() or "all is there"),
]

MLRB = str(Path(sys.executable).with_name("mlrb"))
STEPS = 3


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with smol_server(tmp_path_factory.mktemp("smol"), "--longest-reply-tokens", "16") as address:
        yield address


@pytest.mark.parametrize(
    ("provider", "sandbox", "task", "limit"),
    [
        ("openai", "local", "mlgym/prisoners_dilemma", f"steps={STEPS}"),
        # The Anthropic protocol asks for thousands of tokens, and this model never stops by itself.
        ("anthropic", "local", TASK, "time=20s"),
        pytest.param("openai", "docker", TASK, "steps=2", marks=pytest.mark.docker),
    ],
)
def test_real_models_run_ends_by_a_limit_with_its_transcript_whole(
    provider: str, sandbox: str, task: str, limit: str, server: str, tmp_path: Path
) -> None:
    if sandbox == "docker" and kind_without_wish("")[0] != "docker":
        pytest.skip("no docker daemon with our image")
    home = Home(tmp_path / "home").ensure()
    ran = subprocess.run(
        [
            *(MLRB, "run", task, "--model", f"{provider}:smol", "--base-url", f"{server}/v1"),
            *("--sandbox", sandbox, "--limit", "time=30m", "--limit", limit, "--wait", "--json"),
        ],
        env={**os.environ, "MLRB_HOME": str(home.path), "MLRB_TASKS": str(probe_tasks(tmp_path))},
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert found["outcome"] == "limit", ran.stdout
    with EventReader(home.find("last").events) as reader:
        events = list(reader.all())
        talk = conversation(reader)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    answered = [event.body for event in events if isinstance(event.body, ev.ModelAnswered)]
    assert any(isinstance(event.body, ev.ModelAsked) for event in events)
    assert [message.message_id for message in talk] == [f"m{number}" for number in range(1, len(talk) + 1)]
    assert sum(message.role == "assistant" for message in talk) == len(answered)
    assert all(body.text or body.calls for body in answered)
    assert all(body.usage.output_tokens > 0 for body in answered)
    ended = events[-1].body
    assert isinstance(ended, ev.RunEnded)
    kind, _, most = limit.partition("=")
    assert (ended.outcome, ended.limit) == ("limit", kind), ended.detail
    if kind == "steps":
        assert len(answered) == int(most)
