"""What Anthropic streams is read whole, and goes back as the vendor wants it."""

import json
from typing import Any

import msgspec
import pytest

from agent.errors import ModelBusy, ModelUnavailable, ReplyMalformed
from agent.models.anthropic_request import longest_reply_tokens, thinking_of
from agent.models.base import Message, Reply
from agent.record.values import ToolCall, Usage
from tests.unit.models_wire import (
    BASH,
    HELLO,
    Wire,
    anthropic_stream,
    block,
    call_block,
    start,
    stop,
    text_block,
    thinking_block,
)

OK = anthropic_stream(start(input_tokens=1), *text_block(0, "x"), *stop(output_tokens=1))


def as_message(reply: Reply, message_id: str = "2") -> Message:
    return Message(message_id, "assistant", reply.text, reply.reasoning, reply.calls, opaque=reply.opaque)


async def sent(*messages: Message) -> list[dict[str, Any]]:
    """The messages of the request that this conversation makes."""
    wire = Wire(OK)
    await wire.ask(wire.anthropic(), messages, [BASH])
    turns = wire.sent()["messages"]
    assert isinstance(turns, list)
    return turns


async def test_text_calls_and_inclusive_usage() -> None:
    wire = Wire(
        anthropic_stream(
            start(input_tokens=10, cache_read_input_tokens=700, cache_creation_input_tokens=90, output_tokens=1),
            {"type": "ping"},
            *text_block(0, "Let me ", "look."),
            *call_block(1, "toolu_1", "bash", "", '{"comm', 'and": "ls"}'),
            *stop("tool_use", output_tokens=42, output_tokens_details={"thinking_tokens": 7}),
        )
    )
    reply = await wire.ask(wire.anthropic(), tools=[BASH])
    assert reply.text == wire.streamed("text") == "Let me look."
    assert reply.calls == (ToolCall(call_id="toolu_1", tool="bash", arguments={"command": "ls"}),)
    assert reply.stop_reason == "calls"
    assert reply.usage == Usage(
        input_tokens=800, output_tokens=42, cache_read_tokens=700, cache_write_tokens=90, reasoning_tokens=7
    )
    assert wire.streamed("call") == 'bash {"command": "ls"}'


async def test_cumulative_counts_are_not_added_up() -> None:
    wire = Wire(
        anthropic_stream(
            start(input_tokens=10, output_tokens=1),
            *text_block(0, "x"),
            *stop(input_tokens=10, cache_read_input_tokens=5, output_tokens=3),
        )
    )
    usage = (await wire.ask(wire.anthropic())).usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (15, 5, 3)


async def test_signed_thinking_goes_back_verbatim_and_in_its_place() -> None:
    wire = Wire(
        anthropic_stream(
            start(input_tokens=1),
            *thinking_block(0, "First I think.", "sig-1=="),
            *text_block(1, "I will look."),
            *block(2, {"type": "redacted_thinking", "data": "opaque-bytes"}),
            *call_block(3, "toolu_1", "bash", '{"command": "ls"}'),
            *thinking_block(4, "Then again.", "sig-2=="),
            *text_block(5, "And wait."),
            *call_block(6, "toolu_2", "bash", '{"command": "pwd"}'),
            *stop("tool_use", output_tokens=9),
        )
    )
    reply = await wire.ask(wire.anthropic(), tools=[BASH])
    assert reply.reasoning == "First I think.\n\nThen again."
    assert reply.text == "I will look.\n\nAnd wait."
    turns = await sent(
        *HELLO,
        as_message(reply),
        Message("3", "tool", "a.py", call_id="toolu_1"),
        Message("4", "tool", "/w", call_id="toolu_2"),
    )
    assert turns[1]["content"] == [
        {"type": "thinking", "thinking": "First I think.", "signature": "sig-1=="},
        {"type": "text", "text": "I will look."},
        {"type": "redacted_thinking", "data": "opaque-bytes"},
        {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}},
        {"type": "thinking", "thinking": "Then again.", "signature": "sig-2=="},
        {"type": "text", "text": "And wait."},
        {"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {"command": "pwd"}},
    ]


async def test_thinking_is_left_out_where_the_message_was_changed_since() -> None:
    wire = Wire(
        anthropic_stream(start(), *thinking_block(0, "hm", "sig"), *text_block(1, "Hello."), *stop(output_tokens=2))
    )
    reply = await wire.ask(wire.anthropic())
    changed = Message("2", "assistant", "[redacted]", reply.reasoning, opaque=reply.opaque)
    turns = await sent(*HELLO, changed, Message("3", "user", "go on"))
    assert turns[1]["content"] == [{"type": "text", "text": "[redacted]"}]


async def test_thinking_cut_off_before_its_signature_does_not_go_back() -> None:
    wire = Wire(
        anthropic_stream(
            start(),
            *block(0, {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "hm"}),
            *text_block(1, "So."),
            *stop("max_tokens", output_tokens=2),
        )
    )
    reply = await wire.ask(wire.anthropic())
    assert (reply.reasoning, reply.opaque, reply.stop_reason) == ("hm", "", "length")


async def test_opaque_of_another_provider_means_nothing() -> None:
    answer = Message("2", "assistant", "Hi.", opaque='{"reasoning_field": "reasoning"}')
    turns = await sent(*HELLO, answer, Message("3", "user", "go on"))
    assert turns[1]["content"] == [{"type": "text", "text": "Hi."}]


async def test_answers_and_injected_text_become_one_turn_with_answers_first() -> None:
    calls = (ToolCall(call_id="a", tool="bash"), ToolCall(call_id="b", tool="bash"))
    turns = await sent(
        *HELLO,
        Message("2", "assistant", "", calls=calls),
        Message("3", "tool", "one", call_id="a"),
        Message("4", "user", "try a cosine schedule"),
        Message("5", "tool", "", call_id="b", failed=True),
    )
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    first, second, text = turns[2]["content"]
    assert (first["type"], first["tool_use_id"], first["content"]) == ("tool_result", "a", "one")
    assert (second["tool_use_id"], second["is_error"]) == ("b", True)
    assert text["text"] == "try a cosine schedule"


async def test_system_text_and_the_last_two_user_turns_are_marked_for_the_cache() -> None:
    wire = Wire(OK)
    conversation = [
        Message("1", "system", "You are an agent."),
        Message("2", "user", "one"),
        Message("3", "assistant", "ok"),
        Message("4", "user", "two"),
        Message("5", "assistant", "ok"),
        Message("6", "user", "three"),
    ]
    await wire.ask(wire.anthropic(), conversation, [BASH])
    body = wire.sent()
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    marked = [turn["content"][-1]["text"] for turn in body["messages"] if "cache_control" in turn["content"][-1]]
    assert marked == ["two", "three"]


async def test_malformed_arguments_come_back_and_go_out_as_an_object() -> None:
    wire = Wire(anthropic_stream(start(), *call_block(0, "a", "bash", '{"command": "ls'), *stop("max_tokens")))
    reply = await wire.ask(wire.anthropic(), tools=[BASH])
    assert reply.calls[0].malformed == '{"command": "ls'
    turns = await sent(*HELLO, as_message(reply), Message("3", "tool", "not JSON", call_id="a", failed=True))
    assert turns[1]["content"][0]["input"] == {}


async def test_arguments_that_come_at_once_are_taken() -> None:
    content = {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "ls"}}
    wire = Wire(anthropic_stream(start(), *block(0, content), *stop("tool_use")))
    assert (await wire.ask(wire.anthropic(), tools=[BASH])).calls[0].arguments == {"command": "ls"}


async def test_lone_surrogates_never_reach_the_record() -> None:
    wire = Wire(
        anthropic_stream(
            start(),
            *text_block(0, "a\ud83d", "\ude00b\udc00"),
            *thinking_block(1, "\ud800", "sig"),
            *call_block(2, "\ud800", "b\udc00", json.dumps({"x": "\udfff"})),
            *stop(),
        )
    )
    reply = await wire.ask(wire.anthropic(), tools=[BASH])
    assert reply.text == "a😀b�"
    assert msgspec.json.encode([reply.reasoning, reply.opaque, reply.calls])
    assert "".join(delta.text for delta in wire.deltas).encode()


async def test_kinds_that_nobody_knows_yet_are_passed_over() -> None:
    wire = Wire(
        anthropic_stream(
            start(),
            {"type": "weather_report", "delta": {"type": "rain"}},
            *block(0, {"type": "hologram"}, {"type": "input_json_delta", "partial_json": "{}"}),
            *text_block(1, "Hello."),
            *stop(output_tokens=1),
        )
    )
    reply = await wire.ask(wire.anthropic())
    assert reply.text == wire.streamed("text") == "Hello."


@pytest.mark.parametrize("garbage", [{"type": 7}, {"type": "content_block_delta", "delta": "hello"}])
async def test_event_of_another_shape_is_no_reply(garbage: dict[str, object]) -> None:
    wire = Wire(anthropic_stream(start(), garbage, *stop()))
    with pytest.raises(ReplyMalformed, match="cannot be read"):
        await wire.ask(wire.anthropic())


async def test_stream_without_its_end_is_no_reply() -> None:
    wire = Wire(anthropic_stream(start(), *text_block(0, "and then I")))
    with pytest.raises(ReplyMalformed, match="before it was complete"):
        await wire.ask(wire.anthropic())


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", ModelBusy),
        ("rate_limit_error", ModelBusy),
        ("api_error", ModelBusy),
        ("authentication_error", ModelUnavailable),
        ("unheard_of", ModelBusy),
    ],
)
async def test_error_inside_a_stream_is_told_by_its_kind(kind: str, error: type[Exception]) -> None:
    failing = {"type": "error", "error": {"type": kind, "message": "no more"}}
    wire = Wire(anthropic_stream(start(), *text_block(0, "x"), failing))
    with pytest.raises(error, match="no more"):
        await wire.ask(wire.anthropic())


@pytest.mark.parametrize(
    ("model", "thinking", "longest"),
    [
        ("claude-3-opus-20240229", None, 4_096),
        ("claude-3-5-sonnet-latest", None, 8_192),
        ("claude-3-7-sonnet-20250219", "enabled", 32_000),
        ("claude-opus-4-20250514", "enabled", 32_000),
        ("claude-sonnet-4-5-20250929", "enabled", 32_000),
        ("claude-haiku-4-5", "enabled", 32_000),
        ("claude-opus-4-6", "adaptive", 32_000),
        ("claude-sonnet-5", "adaptive", 32_000),
        ("claude-opus-5-5", "adaptive", 32_000),
        ("smol", None, 4_096),
        ("anthropic/claude-opus-4-5", None, 4_096),
    ],
)
def test_thinking_is_asked_for_as_the_model_takes_it(model: str, thinking: str | None, longest: int) -> None:
    asked = thinking_of(model)
    assert (asked["type"] if asked else None) == thinking
    assert longest_reply_tokens(model) == longest


async def test_address_with_the_version_is_the_same_server() -> None:
    wire = Wire(OK)
    await wire.ask(wire.anthropic("smol", "http://127.0.0.1:9/v1"))
    assert str(wire.requests[0].url) == "http://127.0.0.1:9/v1/messages"
