"""What somebody has done, read from their conversation: actions with what came of them, and whether they are stuck."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.models.base import Message
from agent.record.text import clip, one_line
from agent.record.values import ToolCall

SAME_IN_A_ROW = 3
FAILED_IN_A_ROW = 6


@dataclass(frozen=True)
class Action:
    """A tool call and what the model was told of it, or a thought without a call."""

    tool: str
    said: str
    """The arguments as text; the words of a thought."""
    result: str = ""
    failed: bool = False

    @property
    def line(self) -> str:
        """It on one line."""
        return f"{self.tool}: {one_line(self.said, 160)}"

    def shown(self, said: int, result: int) -> str:
        """It as text, its parts cut to so many characters."""
        outcome = "FAILED" if self.failed else "result"
        told = f"\n{outcome}: {clip(self.result.strip(), result)}" if self.result.strip() else ""
        return f"{self.tool}: {clip(self.said, said)}{told}"


def actions(conversation: Sequence[Message]) -> list[Action]:
    """All of them, oldest first."""
    answers = {message.call_id: message for message in conversation if message.role == "tool"}
    return list(_actions(conversation, answers))


def _actions(conversation: Sequence[Message], answers: Mapping[str, Message]) -> Iterator[Action]:
    for message in conversation:
        if message.role != "assistant":
            continue
        if not message.calls:
            yield Action("thought", message.text or message.reasoning or "(nothing)")
        for call in message.calls:
            answer = answers.get(call.call_id)
            result, failed = (answer.text, answer.failed) if answer is not None else ("(not run)", False)
            yield Action(call.tool, arguments_as_text(call), result, failed)


def arguments_as_text(call: ToolCall) -> str:
    """A call's arguments: one text as it is, several as lines."""
    values = call.arguments
    if call.malformed:
        return call.malformed
    if len(values) == 1:
        (value,) = values.values()
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "\n".join(
        f"{name} = {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
    )


def stuck(done: Sequence[Action]) -> str:
    """Why somebody seems stuck; empty where they do not."""
    last = done[-SAME_IN_A_ROW:]
    if len(last) == SAME_IN_A_ROW and len({(each.tool, each.said) for each in last}) == 1:
        return f"the same {last[0].tool} call {SAME_IN_A_ROW} times in a row"
    failed = done[-FAILED_IN_A_ROW:]
    if len(failed) == FAILED_IN_A_ROW and all(each.failed for each in failed):
        return f"{FAILED_IN_A_ROW} calls in a row failed"
    return ""
