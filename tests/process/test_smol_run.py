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

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(smol.missing()), reason=smol.missing() or "all is there"),
]

MLRB = str(Path(sys.executable).with_name("mlrb"))
STEPS = 6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with smol_server(tmp_path_factory.mktemp("smol"), "--longest-reply-tokens", "16") as address:
        yield address


@pytest.mark.parametrize(
    ("provider", "sandbox"),
    [("openai", "local"), ("anthropic", "local"), pytest.param("openai", "docker", marks=pytest.mark.docker)],
)
def test_real_models_run_ends_by_a_limit_with_its_transcript_whole(
    provider: str, sandbox: str, server: str, tmp_path: Path
) -> None:
    if sandbox == "docker" and kind_without_wish("")[0] != "docker":
        pytest.skip("no docker daemon with our image")
    home = Home(tmp_path / "home").ensure()
    ran = subprocess.run(
        [
            *(MLRB, "run", "mlgym/prisoners_dilemma", "--model", f"{provider}:smol", "--base-url", f"{server}/v1"),
            *("--sandbox", sandbox, "--limit", f"steps={STEPS}", "--wait", "--json"),
        ],
        env={**os.environ, "MLRB_HOME": str(home.path)}, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert found["outcome"] == "limit", ran.stdout
    with EventReader(home.find("last").events) as reader:
        events = list(reader.all())
        talk = conversation(reader)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    answered = [event.body for event in events if isinstance(event.body, ev.ModelAnswered)]
    assert [message.message_id for message in talk] == [f"m{number}" for number in range(1, len(talk) + 1)]
    assert sum(message.role == "assistant" for message in talk) == len(answered) > 0
    assert all(body.text or body.calls for body in answered)
    assert sum(body.usage.output_tokens for body in answered) > 0
    ended = events[-1].body
    assert isinstance(ended, ev.RunEnded)
    assert (ended.outcome, ended.limit) == ("limit", "steps"), ended.detail
    assert len(answered) == STEPS
