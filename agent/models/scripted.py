"""A model that speaks a script: a task can be run, watched and tested with no key.

A script is a file of JSON lines, one reply a line:

    {"thought": "Look around first.", "tool": "bash", "arguments": {"command": "ls"}}
    {"thought": "Two at once.", "calls": [{"tool": "read", "arguments": {"path": "a.py"}}, …]}
    {"thought": "Done.", "text": "The model is trained.", "tool": "submit", "arguments": {"summary": "…"}}

`thought` is the reasoning, `text` what is said aloud; either `tool` with `arguments`, or `calls`. All are
optional, but a line must hold something. An unknown key is an error. Which line comes next follows from the number of
replies in the conversation, so a run that is taken up again goes on where it was.

Where a supervisor leads workers, `"worker": 2` says whose line it is, and 0 is the supervisor's; a line without it is
the first worker's. A supervisor without lines has one worker play the script, then submits.
"""

import asyncio
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

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

SUBMIT, RETURN = "submit", "return"
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
    worker: Annotated[int, Meta(ge=0)] = 1

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


@dataclass
class Part:
    """Whose lines of a script are spoken, and how many were before."""

    worker: int
    spoken: int = 0


class ScriptedModel:
    """Speaks the lines of a script, or of one part of it, one a turn, then hands in, then ends."""

    def __init__(self, path: Path, pace_s: float = 0.0, *, name: str = "scripted", part: Part | None = None) -> None:
        replies = read_script(path)
        self._part = part
        self._replies = replies if part is None else tuple(line for line in replies if line.worker == part.worker)
        self._pace_s = pace_s
        self._name = name

    @property
    def name(self) -> str:
        """`scripted`, or as it was asked for."""
        return self._name

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_delta: OnDelta) -> Reply:
        """The next line of the script, in small pieces that take `pace_s` seconds together."""
        turn = self._part.spoken if self._part else sum(message.role == "assistant" for message in messages)
        reply = self._reply(turn, {tool.name for tool in tools})
        deltas = _deltas(reply)
        for delta in deltas:
            await asyncio.sleep(self._pace_s / len(deltas))
            on_delta(delta)
        if self._part:
            self._part.spoken += 1
        return replace(reply, usage=estimated_usage(messages, tools, reply))

    def _reply(self, turn: int, offered: Collection[str]) -> Reply:
        line = self._line(turn, offered)
        calls = tuple(
            read_arguments(f"call_{turn + 1}_{number}", call.tool, msgspec.json.encode(call.arguments).decode())
            for number, call in enumerate((_as_offered(call, offered) for call in line.all_calls), 1)
        )
        return Reply(
            text=storable(line.text),
            reasoning=storable(line.thought),
            calls=calls,
            stop_reason="calls" if calls else "end",
        )

    def _line(self, turn: int, offered: Collection[str]) -> ScriptedReply:
        if turn < len(self._replies):
            return self._replies[turn]
        over = "The script has come to its end."
        if self._part and self._part.worker == 0:
            return _lead(turn, offered)
        if self._part and RETURN in offered:
            return ScriptedReply(tool=RETURN, arguments={"submission": over})
        if turn == len(self._replies) and SUBMIT in offered and not self._submits:
            return ScriptedReply(tool=SUBMIT, arguments={"summary": over})
        return ScriptedReply(text=over)

    @property
    def _submits(self) -> bool:
        return any(call.tool == SUBMIT for reply in self._replies for call in reply.all_calls)

    def cost_usd(self, usage: Usage) -> float | None:
        """Nothing."""
        return 0.0

    async def close(self) -> None:
        """Nothing is held."""


def _lead(turn: int, offered: Collection[str]) -> ScriptedReply:
    """What a supervisor says that has no line left."""
    if turn == 0:
        step: dict[str, object] = {"name": "script", "task": "Play the script, line by line."}
        return ScriptedReply(thought="One worker plays the script.", tool="plan", arguments={"steps": [step]})
    if SUBMIT in offered:
        return ScriptedReply(thought="The work is done.", tool=SUBMIT, arguments={"summary": "The plan is done."})
    return ScriptedReply(text="The workers go on.")


def _as_offered(call: ScriptedCall, offered: Collection[str]) -> ScriptedCall:
    """A script for a single agent submits; a worker returns."""
    if call.tool == SUBMIT and SUBMIT not in offered and RETURN in offered:
        return ScriptedCall(RETURN, {"submission": str(call.arguments.get("summary", "")) or "done"})
    return call


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
