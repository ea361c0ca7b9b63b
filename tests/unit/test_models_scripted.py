"""A script is spoken line by line, and a bad one is refused by name."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.errors import ModelUnavailable
from agent.models.base import LONGEST_ARGUMENTS, LONGEST_NAME, Delta, Message, Reply, ToolSpec, read_arguments
from agent.models.scripted import ScriptedModel, read_script
from agent.record.values import Usage

BASH = ToolSpec("bash", "Run a command.", {"type": "object"})
SUBMIT = ToolSpec("submit", "End the run.", {"type": "object"})
LOOK = {"thought": "Look around first, then think again.", "tool": "bash", "arguments": {"command": "ls"}}


def script(folder: Path, *lines: object) -> Path:
    path = folder / "baseline.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def after(turns: int) -> list[Message]:
    """A conversation with that many replies."""
    conversation = [Message("s", "system", "Be an agent."), Message("u", "user", "go")]
    for turn in range(turns):
        conversation += [Message(f"a{turn}", "assistant", ""), Message(f"t{turn}", "tool", "ok", call_id="c")]
    return conversation


async def speak(path: Path, turns: int = 0, tools: Sequence[ToolSpec] = (BASH, SUBMIT)) -> tuple[Reply, list[Delta]]:
    deltas: list[Delta] = []
    return await ScriptedModel(path).ask(after(turns), tools, deltas.append), deltas


async def test_thought_comes_in_pieces_then_the_call(tmp_path: Path) -> None:
    reply, deltas = await speak(script(tmp_path, LOOK))
    thought = [delta.text for delta in deltas if delta.channel == "reasoning"]
    assert "".join(thought) == reply.reasoning == LOOK["thought"]
    assert len(thought) > 3
    assert deltas[-1] == Delta("call", 'bash {"command": "ls"}')
    assert [(call.tool, call.arguments) for call in reply.calls] == [("bash", {"command": "ls"})]
    assert reply.stop_reason == "calls"


async def test_resumed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path = script(tmp_path, LOOK, {"text": "second"}, {"text": "third"})
    assert (await speak(path, turns=2))[0].text == "third"


async def test_call_ids_of_a_run_are_all_different(tmp_path: Path) -> None:
    path = script(tmp_path, LOOK, {"calls": [{"tool": "bash"}, {"tool": "bash"}]})
    ids = [call.call_id for turn in range(3) for call in (await speak(path, turn))[0].calls]
    assert len(set(ids)) == len(ids) == 4


async def test_script_that_forgot_to_submit_submits_once_then_ends(tmp_path: Path) -> None:
    path = script(tmp_path, LOOK)
    submitted, _ = await speak(path, turns=1)
    assert [call.tool for call in submitted.calls] == ["submit"]
    ended, _ = await speak(path, turns=2)
    assert (ended.calls, ended.stop_reason) == ((), "end")
    assert ended.text


async def test_script_that_submits_is_not_submitted_again(tmp_path: Path) -> None:
    reply, _ = await speak(script(tmp_path, {"tool": "submit", "arguments": {"summary": "done"}}), turns=1)
    assert (reply.calls, reply.stop_reason) == ((), "end")


async def test_submit_is_not_called_where_there_is_no_such_tool(tmp_path: Path) -> None:
    assert (await speak(script(tmp_path, LOOK), turns=1, tools=[BASH]))[0].calls == ()


async def test_pace_is_kept_over_the_whole_reply(tmp_path: Path) -> None:
    model = ScriptedModel(script(tmp_path, LOOK), pace_s=0.3)
    began = time.monotonic()
    await model.ask(after(0), [BASH], lambda delta: None)
    assert time.monotonic() - began >= 0.3


async def test_long_thought_does_not_make_a_thousand_pieces(tmp_path: Path) -> None:
    thought = "word " * 10_000
    reply, deltas = await speak(script(tmp_path, {"thought": thought}))
    assert reply.reasoning == thought
    assert len(deltas) <= 60


async def test_usage_is_counted_and_costs_nothing(tmp_path: Path) -> None:
    path = script(tmp_path, LOOK)
    reply, _ = await speak(path)
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > reply.usage.reasoning_tokens > 0
    assert ScriptedModel(path).cost_usd(Usage(input_tokens=10**9)) == 0.0


@pytest.mark.parametrize(
    "line",
    [
        '{"thought": "x", "too": "bash"}',
        '{"thought": "x", "tool": "bash", "arguments": "ls"}',
        '{"tool": "bash", "calls": [{"tool": "read"}]}',
        '{"thought": "x", "arguments": {"command": "ls"}}',
        '{"calls": [{"tool": "read", "args": {}}]}',
        "{}",
        "[]",
        "not json",
        '{"thought": "\\ud800"}',
    ],
)
def test_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "baseline.jsonl"
    path.write_text(f'{{"thought": "fine"}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=r"baseline\.jsonl, line 3"):
        ScriptedModel(path)


@pytest.mark.parametrize("content", [None, b"", b"\n\n", b"\xff\xfe"])
def test_script_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "baseline.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"baseline\.jsonl") as caught:
        ScriptedModel(path)
    assert str(tmp_path.parent) not in caught.value.message


@pytest.mark.parametrize("depth", [70, 900, 5_000])
def test_arguments_too_deep_to_be_stored_are_a_bad_line_and_no_crash(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text('{"tool": "bash", "arguments": ' + '{"a": ' * depth + "1" + "}" * depth + "}\n")
    with pytest.raises(ModelUnavailable, match="line 1"):
        read_script(path)


def test_arguments_longer_than_any_model_means_are_not_stored_whole() -> None:
    call = read_arguments("c1", "x" * 5_000, json.dumps({"command": "y" * LONGEST_ARGUMENTS}))
    assert (call.arguments, len(call.tool)) == ({}, LONGEST_NAME)
    assert len(call.malformed) < 17_000
    assert "left out" in call.malformed
