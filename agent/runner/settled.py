"""Output with its carriage returns settled, which still knows how many raw bytes lie before each place of it."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

PIECE_CHARACTERS = 8_000


class _Slice(NamedTuple):
    """A line of the settled text: where it begins, where its raw line does, and what was kept of that."""

    start: int
    raw_line: int
    raw_start: int


class SettledOutput:
    """A batch of output as a terminal would leave it.

    The raw text is decoded with `surrogateescape`: only so does every piece of it say how many bytes it was made of,
    whatever the bytes were, and a reader that was cut off can go on at the very next one.
    """

    def __init__(self, raw: str, *, mid_line: bool) -> None:
        first, _, _ = raw.partition("\n")
        self._raw = raw
        self._slices = [_Slice(0, 0, 0)]
        self.text = self._settle() if "\r" in raw else raw
        # What goes back over a line that was begun before stays at the front.
        if mid_line and "\r" in first.removesuffix("\r") and not self.text.startswith("\r"):
            self.text = f"\r{self.text}"
            moved = [_Slice(one.start + 1, one.raw_line, one.raw_start) for one in self._slices]
            self._slices = [_Slice(0, 0, 0), *moved]

    def pieces(self, most_characters: int) -> Iterator[tuple[str, int]]:
        """The first so many characters in pieces that fit into an event, each with the raw bytes up to its end."""
        place = raw_place = raw_bytes = 0
        for piece in pieces(self.text[:most_characters]):
            place += len(piece)
            end = self._raw_place(place)
            raw_bytes += _size_bytes(self._raw[raw_place:end])
            raw_place = end
            yield valid(piece), raw_bytes

    def _settle(self) -> str:
        kept: list[str] = []
        self._slices = []
        place = raw_place = 0
        for line in self._raw.split("\n"):
            ended = raw_place + len(line) < len(self._raw)
            body = line.removesuffix("\r") if ended else line
            # Only what follows the last return stays; one at the very end waits for what replaces the line.
            start = body.rfind("\r", 0, max(0, len(body) - 1)) + 1
            self._slices.append(_Slice(place, raw_place, raw_place + start))
            kept.append(body[start:] + ("\n" if ended else ""))
            place += len(kept[-1])
            raw_place += len(line) + 1
        return "".join(kept)

    def _raw_place(self, place: int) -> int:
        """How much of the raw text is told by so much of the settled one."""
        if place >= len(self.text):
            return len(self._raw)
        found = self._slices[bisect_right(self._slices, place, key=lambda one: one.start) - 1]
        # Between two lines, what was overwritten in front of the second is still to be read.
        return found.raw_line if found.start == place else found.raw_start + place - found.start


def pieces(text: str) -> Iterator[str]:
    """`text` in pieces that lie in an event itself, cut behind a line where one ends."""
    size = PIECE_CHARACTERS if text.isascii() else PIECE_CHARACTERS // 4
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text) and (line_end := text.rfind("\n", start, end)) > start:
            end = line_end + 1
        yield text[start:end]
        start = end


def valid(text: str) -> str:
    """`text` with a mark in the place of each run of bytes that were no UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _size_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
