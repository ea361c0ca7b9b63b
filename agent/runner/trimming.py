"""Makes a conversation that has outgrown the model's context smaller, oldest tool output first."""

from collections.abc import Sequence
from dataclasses import replace

from agent.models.base import Message
from agent.record.text import clip

KEPT_WHOLE = 4
"""The newest messages are never shortened before all others are."""
_STUB = 160
_LONGEST = 2_000


class Trimming:
    """Remembers how far a conversation had to be cut, since what did not fit once will not fit later."""

    def __init__(self) -> None:
        self._shortened: set[str] = set()
        self._clip_all = False

    def applied(self, messages: Sequence[Message]) -> list[Message]:
        """The conversation as far as it is sent."""
        if not self._shortened and not self._clip_all:
            return list(messages)
        return [self._sent(message) for message in messages]

    def tighten(self, messages: Sequence[Message]) -> str:
        """Cut more; returns what was done in words, nothing when there is nothing left to cut."""
        candidates = [
            message
            for message in messages[: max(0, len(messages) - KEPT_WHOLE)]
            if message.role == "tool" and message.message_id not in self._shortened and len(message.text) > _STUB * 2
        ]
        if candidates:
            oldest = candidates[: (len(candidates) + 1) // 2]
            self._shortened |= {message.message_id for message in oldest}
            return f"{len(oldest)} older observations shortened"
        if not self._clip_all and any(len(message.text) > _LONGEST for message in messages):
            self._clip_all = True
            return f"every message cut to {_LONGEST:,} characters"
        return ""

    def _sent(self, message: Message) -> Message:
        if message.message_id in self._shortened:
            note = f"\n[{len(message.text) - _STUB:,} more characters were left out to make room]"
            return replace(message, text=message.text[:_STUB] + note)
        if self._clip_all and message.role != "system" and not message.calls:
            return replace(message, text=clip(message.text, _LONGEST))
        return message
