"""Both protocols against a real model: SmolLM2, served by llama.cpp."""

from collections.abc import Iterator

import pytest

from agent.errors import ContextOverflow
from agent.models.base import Delta, Message, ToolSpec
from agent.models.choose import open_model
from tests.process import smol_server as smol
from tests.process.model_servers import smol_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(smol.missing()), reason=smol.missing() or "all is there"),
]

QUESTION = [
    Message("1", "system", "Answer in one short sentence."),
    Message("2", "user", "What is the capital of France?"),
]
BASH = ToolSpec(
    "bash",
    "Run a command.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with smol_server(tmp_path_factory.mktemp("smol"), "--longest-reply-tokens", "24") as address:
        yield address


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_real_model_streams_its_answer_with_usage(provider: str, server: str) -> None:
    deltas: list[Delta] = []
    model = open_model(f"{provider}:smol", base_url=f"{server}/v1", environment={})
    try:
        reply = await model.ask(QUESTION, [], deltas.append)
    finally:
        await model.close()
    assert "Paris" in reply.text
    assert "".join(delta.text for delta in deltas if delta.channel == "text") == reply.text
    assert len(deltas) > 2
    assert reply.usage.input_tokens > 10
    assert 2 < reply.usage.output_tokens < 100
    assert model.cost_usd(reply.usage) is None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_real_model_takes_tools_and_a_conversation_that_used_them(provider: str, server: str) -> None:
    deltas: list[Delta] = []
    model = open_model(f"{provider}:smol", base_url=f"{server}/v1", environment={})
    try:
        first = await model.ask(QUESTION, [BASH], deltas.append)
        conversation = [*QUESTION, Message("3", "assistant", first.text, first.reasoning, first.calls)]
        conversation += [Message("4", "tool", "Paris", call_id=call.call_id) for call in first.calls]
        conversation += [Message("5", "user", "And of Italy?")]
        second = await model.ask(conversation, [BASH], deltas.append)
    finally:
        await model.close()
    # So small a model may talk or call; either way it is a whole reply, read as the protocol says.
    for reply in (first, second):
        assert reply.text or reply.calls
        assert reply.usage.output_tokens > 0


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_conversation_longer_than_the_context_overflows(provider: str, server: str) -> None:
    model = open_model(f"{provider}:smol", base_url=f"{server}/v1", environment={})
    try:
        with pytest.raises(ContextOverflow):
            await model.ask([Message("1", "user", "word " * 30_000)], [], lambda delta: None)
    finally:
        await model.close()
