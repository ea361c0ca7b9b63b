"""What comes in pieces: text whose characters may be split, and calls whose names must not collide."""

import uuid
from collections.abc import Sequence

from agent.models.base import Channel, Delta, Message, OnDelta
from agent.record.text import storable


class Pieces:
    """Gathers one text out of its pieces and hands each on as valid Unicode.

    A server that escapes characters beyond the basic plane may send the two halves of one in two pieces: the first half
    waits for the second.
    """

    def __init__(self, channel: Channel, on_delta: OnDelta) -> None:
        self._channel = channel
        self._on_delta = on_delta
        self._gathered: list[str] = []
        self._half = ""

    def add(self, piece: str | None) -> None:
        """Take the next piece."""
        if not piece:
            return
        piece, self._half = self._half + piece, ""
        if "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        self._hand_on(storable(piece))

    def text(self) -> str:
        """The whole text, once there are no more pieces."""
        self._hand_on(storable(self._half))
        self._half = ""
        return "".join(self._gathered)

    def _hand_on(self, piece: str) -> None:
        if piece:
            self._gathered.append(piece)
            self._on_delta(Delta(self._channel, piece))


class CallIds:
    """Gives each call an id that no other call of the conversation has.

    Servers leave them out, or start again at `call_0` with every reply; a record needs them to be one of a kind.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._taken = {call.call_id for message in messages for call in message.calls}

    def unique(self, wished: str) -> str:
        """`wished` where it is free, else a new one."""
        call_id = storable(wished)
        if not call_id or call_id in self._taken:
            call_id = f"call_{uuid.uuid4().hex[:16]}"
        self._taken.add(call_id)
        return call_id
