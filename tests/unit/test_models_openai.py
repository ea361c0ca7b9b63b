"""What OpenAI and the servers that imitate it stream is read whole, whatever they leave out."""

import json

import msgspec
import pytest

from agent.errors import ModelBusy, ReplyMalformed
from agent.models.base import Message
from agent.record.values import ToolCall, Usage
from tests.unit.models_wire import BASH, HELLO, Wire, call_piece, chunk, openai_stream

USAGE = {
    "choices": [],
    "usage": {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "total_tokens": 1050,
        "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 30},
    },
}


async def test_text_comes_in_pieces_and_usage_after_the_last() -> None:
    wire = Wire(
        openai_stream(chunk(role="assistant"), chunk(content="Hel"), chunk(content="lo."), chunk("stop"), USAGE)
    )
    reply = await wire.ask(wire.openai())
    assert reply.text == "Hello."
    assert [delta.text for delta in wire.deltas] == ["Hel", "lo."]
    assert reply.stop_reason == "end"
    assert reply.usage == Usage(
        input_tokens=1000,
        output_tokens=50,
        cache_read_tokens=600,
        cache_write_tokens=100,
        reasoning_tokens=30,
    )


async def test_reasoning_that_only_the_total_counts_is_paid_as_output() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    wire = Wire(openai_stream(chunk("stop", content="x"), {"choices": [], "usage": usage}))
    assert (await wire.ask(wire.openai())).usage.output_tokens == 105


async def test_server_that_counts_nothing_is_estimated() -> None:
    wire = Wire(openai_stream(chunk(content="four" * 10), chunk("stop")))
    usage = (await wire.ask(wire.openai(), [Message("1", "user", "x" * 400)])).usage
    assert usage.input_tokens == 100
    assert usage.output_tokens == 10


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_in_the_field_it_came_in(field: str) -> None:
    wire = Wire(openai_stream(chunk(**{field: "hm "}), chunk(**{field: "yes"}), chunk("stop", content="Done.")))
    reply = await wire.ask(wire.openai())
    assert reply.reasoning == wire.streamed("reasoning") == "hm yes"
    answer = Message("2", "assistant", reply.text, reply.reasoning, opaque=reply.opaque)
    await wire.ask(wire.openai(), [*HELLO, answer, Message("3", "user", "go on")])
    assert wire.sent()["messages"][1][field] == "hm yes"


async def test_reasoning_in_both_fields_is_told_once() -> None:
    wire = Wire(openai_stream(chunk(reasoning_content="hm", reasoning="hm"), chunk("stop")))
    assert (await wire.ask(wire.openai())).reasoning == "hm"


async def test_parallel_calls_do_not_mix() -> None:
    wire = Wire(
        openai_stream(
            call_piece(index=0, id="a", function={"name": "bash", "arguments": ""}),
            call_piece(index=1, id="b", function={"name": "read", "arguments": ""}),
            call_piece(index=0, function={"arguments": '{"command": '}),
            call_piece(index=1, function={"arguments": '{"path": "x"}'}),
            call_piece(index=0, function={"arguments": '"ls"}'}),
            chunk("tool_calls"),
        )
    )
    reply = await wire.ask(wire.openai(), tools=[BASH])
    assert reply.calls == (
        ToolCall(call_id="a", tool="bash", arguments={"command": "ls"}),
        ToolCall(call_id="b", tool="read", arguments={"path": "x"}),
    )
    assert reply.stop_reason == "calls"


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([{"id": "a"}, {"id": "b"}], id="no index"),
        pytest.param([{"index": 0, "id": "a"}, {"index": 0, "id": "b"}], id="one index for all"),
        pytest.param([{"index": 0}, {"index": 1}], id="no ids"),
        pytest.param([{"index": 0, "id": ""}, {"index": 1, "id": ""}], id="empty ids"),
        pytest.param([{}, {}], id="neither"),
        pytest.param([{"index": 0, "id": "a"}, {"index": 1, "id": "a"}], id="one id for both"),
    ],
)
async def test_calls_of_careless_servers_are_told_apart(pieces: list[dict[str, object]]) -> None:
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    wire = Wire(openai_stream(*(call_piece(**piece, function=function) for piece in pieces), chunk("stop")))
    reply = await wire.ask(wire.openai(), tools=[BASH])
    assert [call.arguments for call in reply.calls] == [{"command": "ls"}] * 2
    assert len({call.call_id for call in reply.calls} - {""}) == 2
    assert reply.stop_reason == "calls"


async def test_call_id_of_an_earlier_reply_is_not_used_again() -> None:
    wire = Wire(
        openai_stream(call_piece(index=0, id="call_0", function={"name": "bash", "arguments": "{}"}), chunk("stop"))
    )
    earlier = ToolCall(call_id="call_0", tool="bash")
    conversation = [*HELLO, Message("2", "assistant", "", calls=(earlier,)), Message("3", "tool", "", call_id="call_0")]
    reply = await wire.ask(wire.openai(), conversation, [BASH])
    assert reply.calls[0].call_id != "call_0"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param('{"command": "ls', id="cut off"),
        pytest.param("[1, 2]", id="not an object"),
        pytest.param("ls -la", id="not JSON"),
        pytest.param('{"a":' + "[" * 200_000, id="a tower of brackets"),
        pytest.param('{"a":' + "[" * 100 + "]" * 100 + "}", id="deeper than any tool asks"),
        pytest.param('{"a": ' + "9" * 10_000 + "}", id="a number without end"),
    ],
)
async def test_malformed_arguments_come_back_as_they_were_written(raw: str) -> None:
    wire = Wire(
        openai_stream(call_piece(index=0, id="a", function={"name": "bash", "arguments": raw}), chunk("tool_calls"))
    )
    (call,) = (await wire.ask(wire.openai(), tools=[BASH])).calls
    assert call.malformed == raw
    assert call.arguments == {}


async def test_arguments_that_are_no_string_are_taken() -> None:
    function = {"name": "bash", "arguments": {"command": "ls"}}
    wire = Wire(openai_stream(call_piece(index=0, id="a", function=function), chunk("tool_calls")))
    (call,) = (await wire.ask(wire.openai(), tools=[BASH])).calls
    assert call.arguments == {"command": "ls"}


async def test_halves_of_a_character_in_two_pieces_become_one() -> None:
    wire = Wire(openai_stream(chunk(content="a\ud83d"), chunk(content="\ude00b"), chunk("stop")))
    reply = await wire.ask(wire.openai())
    assert reply.text == wire.streamed("text") == "a😀b"


async def test_lone_surrogates_never_reach_the_record() -> None:
    arguments = json.dumps({"command\udfff": ["echo \ud800", {"x": "\udc00"}]})
    wire = Wire(
        openai_stream(
            chunk(content="a\udc00b\ud83d"),
            chunk(reasoning_content="\ud800"),
            call_piece(index=0, id="\ud800", function={"name": "b\udc00", "arguments": arguments}),
            chunk("stop"),
        )
    )
    reply = await wire.ask(wire.openai())
    assert (reply.text, reply.reasoning) == ("a�b�", "�")
    assert "".join(delta.text for delta in wire.deltas).encode()
    (call,) = reply.calls
    assert msgspec.json.encode(call)
    assert call.arguments == {"command�": ["echo �", {"x": "�"}]}


async def test_lone_surrogates_in_a_conversation_can_be_sent() -> None:
    wire = Wire(openai_stream(chunk("stop", content="x")))
    await wire.ask(wire.openai(), [Message("1", "user", "a\udc00")])
    assert wire.sent()["messages"][0]["content"] == "a�"


async def test_one_huge_piece_is_taken_whole() -> None:
    wire = Wire(openai_stream(chunk(content="z" * 5_000_000), chunk("stop")))
    assert len((await wire.ask(wire.openai())).text) == 5_000_000


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", "length"), ("content_filter", "refusal"), ("stop", "end"), ("eos", "end")]
)
async def test_stop_reasons(finish: str, reason: str) -> None:
    wire = Wire(openai_stream(chunk(content="x"), chunk(finish)))
    assert (await wire.ask(wire.openai())).stop_reason == reason


async def test_refusal_is_text_and_said_to_be_one() -> None:
    wire = Wire(openai_stream(chunk(refusal="I will not."), chunk("stop")))
    reply = await wire.ask(wire.openai())
    assert (reply.text, reply.stop_reason) == ("I will not.", "refusal")


@pytest.mark.parametrize("done", [True, False])
async def test_stream_without_its_end_is_no_reply(done: bool) -> None:
    wire = Wire(openai_stream(chunk(content="and then I"), done=done))
    with pytest.raises(ReplyMalformed, match="before it was complete"):
        await wire.ask(wire.openai())


@pytest.mark.parametrize("garbage", [7, "text", [1], {"choices": "hi"}, {"choices": [{"delta": {"content": 7}}]}])
async def test_chunk_of_another_shape_is_no_reply(garbage: object) -> None:
    wire = Wire(openai_stream(garbage, chunk("stop")))
    with pytest.raises(ReplyMalformed, match="cannot be read"):
        await wire.ask(wire.openai())


async def test_error_inside_a_stream_is_an_error() -> None:
    wire = Wire(openai_stream(chunk(content="x"), {"error": {"message": "slot gone", "code": 503}}))
    with pytest.raises(ModelBusy, match="slot gone"):
        await wire.ask(wire.openai())


async def test_request_has_tools_streams_and_asks_for_usage() -> None:
    wire = Wire(openai_stream(chunk("stop", content="x")))
    await wire.ask(wire.openai("gpt-5"), tools=[BASH])
    body = wire.sent()
    assert body["model"] == "gpt-5"
    assert body["stream_options"] == {"include_usage": True}
    assert body["tools"][0]["function"]["name"] == "bash"
    assert wire.requests[0].headers["authorization"] == "Bearer sk-test"
    assert str(wire.requests[0].url) == "https://api.openai.com/v1/chat/completions"
