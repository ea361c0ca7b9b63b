"""Keeps the beginning and the end of a text that may never stop, in little memory."""


class Clipped:
    """Takes settled pieces of output; gives back at most about `limit` characters of the whole."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit * 2 // 3
        self._tail_limit = limit - self._head_limit
        self._head = ""
        self._head_full = False
        self._tail = ""
        self._left_out = 0

    def add(self, piece: str) -> None:
        """Take a piece; one that begins with a carriage return replaces the line begun before it."""
        if piece.startswith("\r") and not piece.startswith("\r\n"):
            piece = piece[1:]
            self._drop_open_line()
        if not self._head_full:
            room = self._head_limit - len(self._head)
            self._head += piece[:room]
            piece = piece[room:]
            self._head_full = len(self._head) >= self._head_limit
        self._tail += piece
        surplus = len(self._tail) - self._tail_limit
        # Cut now and then, not each time: the cost stays in proportion to what comes in.
        if surplus > self._tail_limit * 3:
            self._tail = self._tail[surplus:]
            self._left_out += surplus

    def text(self) -> str:
        """What is kept, with a note that says how much is not."""
        surplus = max(0, len(self._tail) - self._tail_limit)
        left_out = self._left_out + surplus
        if not left_out:
            return self._head + self._tail
        return f"{self._head}\n… {left_out:,} characters left out …\n{self._tail[surplus:]}"

    def _drop_open_line(self) -> None:
        if self._tail:
            self._tail = self._tail[: self._tail.rfind("\n") + 1]
        elif not self._left_out:
            self._head = self._head[: self._head.rfind("\n") + 1]
            self._head_full = False
