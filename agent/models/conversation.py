"""A conversation as vendors accept it: every call answered where it was asked, nothing blank, user texts joined.

What a run leaves behind need not be so: a crash or a kill comes between a call and its answer, a person's message
between two answers, and a scaffold with a rolling context drops a call but keeps its answer.
"""

from collections.abc import Sequence
from dataclasses import replace

from agent.models.base import Message
from agent.record.text import storable
from agent.record.values import ToolCall

NO_ANSWER = "No result: the run was interrupted before this tool had finished."
NO_TEXT = "(empty)"
NO_OUTPUT = "(no output)"


def settled(messages: Sequence[Message]) -> list[Message]:
    """The conversation in the order that vendors ask for.

    First at most one system message; then user messages, and assistant messages each followed at once by one tool
    message a call. A later system message reads as the user's, an answer without its call too; user messages in
    a row become one.
    """
    desk = _Desk()
    opening = True
    for message in messages:
        clean = replace(message, text=storable(message.text))
        opening = opening and clean.role == "system"
        if clean.role == "assistant":
            desk.add_reply(clean)
        elif clean.role == "tool":
            desk.add_answer(clean)
        elif opening:
            desk.add_opening(clean)
        else:
            desk.add_text(clean)
    return desk.close()


class _Desk:
    """Sorts messages as they come in."""

    def __init__(self) -> None:
        self._done: list[Message] = []
        self._open: tuple[ToolCall, ...] = ()
        self._answers: dict[str, Message] = {}
        self._later: list[Message] = []

    def add_opening(self, message: Message) -> None:
        if self._done:
            message = replace(self._done[0], text=f"{self._done[0].text}\n\n{message.text}")
        self._done = [message] if message.text.strip() else []

    def add_reply(self, message: Message) -> None:
        self._settle()
        if message.calls or message.text.strip():
            self._done.append(message)
            self._open = message.calls

    def add_answer(self, message: Message) -> None:
        expected = any(call.call_id == message.call_id for call in self._open)
        if expected and message.call_id not in self._answers:
            self._answers[message.call_id] = replace(message, text=message.text or NO_OUTPUT)
        else:
            self.add_text(replace(message, text=f"An earlier tool call gave:\n{message.text or NO_OUTPUT}"))

    def add_text(self, message: Message) -> None:
        message = replace(message, role="user", text=message.text if message.text.strip() else NO_TEXT)
        if self._open:
            self._later.append(message)
        elif self._done and self._done[-1].role == "user":
            self._done[-1] = replace(self._done[-1], text=f"{self._done[-1].text}\n\n{message.text}")
        else:
            self._done.append(message)

    def close(self) -> list[Message]:
        self._settle()
        return self._done

    def _settle(self) -> None:
        for call in self._open:
            made_up = Message(f"{call.call_id}-none", "tool", NO_ANSWER, call_id=call.call_id, failed=True)
            self._done.append(self._answers.get(call.call_id, made_up))
        later, self._open, self._answers, self._later = self._later, (), {}, []
        for message in later:
            self.add_text(message)
