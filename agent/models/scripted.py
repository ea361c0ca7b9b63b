"""A model that speaks a script: a task can be run, watched and tested with no key.

A script is a file of JSON lines, one reply a line:

    {"thought": "Look around first.", "tool": "bash", "arguments": {"command": "ls"}}
    {"thought": "Two at once.", "calls": [{"tool": "read", "arguments": {"path": "a.py"}}, …]}
    {"thought": "Done.", "text": "The model is trained.", "tool": "submit", "arguments": {"summary": "…"}}

`thought` is the reasoning, `text` what is said aloud; either `tool` with `arguments`, or `calls`. All are
optional, but a line must hold something. An unknown key is an error. Which line comes next follows from the number of
replies in the conversation, so a run that is taken up again goes on where it was.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from agent.errors import ModelUnavailable
from agent.models.base import (
    DEEPEST_ARGUMENTS,
    Delta,
    Message,
    OnDelta,
    Reply,
    ToolSpec,
    deeper_than,
    read_arguments,
)
from agent.models.estimate import estimated_usage
from agent.record.text import storable
from agent.record.values import Usage

SUBMIT = "submit"
MOST_PIECES = 60

_PIECE = re.compile(r"\s*\S+\s*")


class ScriptedCall(Struct, frozen=True, forbid_unknown_fields=True):
    """One tool call of a script's line."""

    tool: str
    arguments: dict[str, object] = msgspec.field(default_factory=dict)


class ScriptedReply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a script."""

    thought: str = ""
    text: str = ""
    tool: str = ""
    arguments: dict[str, object] = msgspec.field(default_factory=dict)
    calls: tuple[ScriptedCall, ...] = ()

    def __post_init__(self) -> None:
        if self.tool and self.calls:
            raise ValueError("`tool` and `calls` exclude each other")
        if self.arguments and not self.tool:
            raise ValueError("`arguments` without a `tool`")
        if any(deeper_than(call.arguments, DEEPEST_ARGUMENTS) for call in self.all_calls):
            raise ValueError("the arguments are nested too deep")
        if not (self.thought or self.text or self.tool or self.calls):
            raise ValueError("the line says nothing")

    @property
    def all_calls(self) -> tuple[ScriptedCall, ...]:
        """The calls, in either way of writing them."""
        return (ScriptedCall(self.tool, self.arguments),) if self.tool else self.calls


class ScriptedModel:
    """Speaks the lines of a script, one a turn, then submits, then ends."""

    def __init__(self, path: Path, pace_s: float = 0.0, *, name: str = "scripted") -> None:
        self._replies = read_script(path)
        self._pace_s = pace_s
        self._name = name

    @property
    def name(self) -> str:
        """`scripted`, or as it was asked for."""
        return self._name

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_delta: OnDelta) -> Reply:
        """The next line of the script, in small pieces that take `pace_s` seconds together."""
        turn = sum(message.role == "assistant" for message in messages)
        reply = self._reply(turn, can_submit=any(tool.name == SUBMIT for tool in tools))
        deltas = _deltas(reply)
        for delta in deltas:
            await asyncio.sleep(self._pace_s / len(deltas))
            on_delta(delta)
        return replace(reply, usage=estimated_usage(messages, tools, reply))

    def _reply(self, turn: int, *, can_submit: bool) -> Reply:
        if turn < len(self._replies):
            line = self._replies[turn]
        elif turn == len(self._replies) and can_submit and not self._submits:
            line = ScriptedReply(tool=SUBMIT, arguments={"summary": "The script has come to its end."})
        else:
            return Reply(text="The script has come to its end.")
        calls = tuple(
            read_arguments(f"call_{turn + 1}_{number}", call.tool, msgspec.json.encode(call.arguments).decode())
            for number, call in enumerate(line.all_calls, 1)
        )
        return Reply(
            text=storable(line.text),
            reasoning=storable(line.thought),
            calls=calls,
            stop_reason="calls" if calls else "end",
        )

    @property
    def _submits(self) -> bool:
        return any(call.tool == SUBMIT for reply in self._replies for call in reply.all_calls)

    def cost_usd(self, usage: Usage) -> float | None:
        """Nothing."""
        return 0.0

    async def close(self) -> None:
        """Nothing is held."""


def read_script(path: Path) -> tuple[ScriptedReply, ...]:
    """The replies of a script; a bad line raises `ModelUnavailable` that names file and line."""
    where = f"{path.parent.name}/{path.name}"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ModelUnavailable(
            f"cannot read the script {where}: {reason}", hint="--model scripted:FILE names another script"
        ) from error
    replies = tuple(_read_line(line, f"{where}, line {n}") for n, line in enumerate(lines, 1) if line.strip())
    if not replies:
        raise ModelUnavailable(f"the script {where} is empty", hint="one JSON object a line")
    return replies


def _read_line(line: str, where: str) -> ScriptedReply:
    try:
        return msgspec.json.decode(line, type=ScriptedReply)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelUnavailable(
            f"{where}: {error}",
            hint='a line is {"thought": …, "tool": …, "arguments": {…}}',
        ) from error


def _deltas(reply: Reply) -> list[Delta]:
    deltas = [Delta("reasoning", piece) for piece in _pieces(reply.reasoning)]
    deltas += [Delta("text", piece) for piece in _pieces(reply.text)]
    deltas += [Delta("call", f"{call.tool} {json.dumps(call.arguments)}") for call in reply.calls]
    return deltas


def _pieces(text: str) -> list[str]:
    words = _PIECE.findall(text) or ([text] if text else [])
    together = -(-len(words) // MOST_PIECES) or 1
    return ["".join(words[start : start + together]) for start in range(0, len(words), together)]
