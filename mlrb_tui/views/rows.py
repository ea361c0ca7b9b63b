"""Rows of text as plain values: what a view says, before any terminal is asked to draw it."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_JOINER, _EMOJI_STYLE, _SYMBOLS = "\u200d", "\ufe0f", "\u2100"


class Span(NamedTuple):
    """A piece of a row: its text, and the name of the tone it is said in."""

    text: str
    tone: str = ""


Row = tuple[Span, ...]
"""One line; whatever it is drawn on cuts or fills it to its width."""

EMPTY: Row = ()


def row(*parts: Span | str) -> Row:
    """A row out of spans and plain texts; empty parts vanish."""
    spans = (part if isinstance(part, Span) else Span(part) for part in parts)
    return tuple(span for span in spans if span.text)


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cells(text: str) -> int:
    """How many columns a text takes."""
    return len(text) if text.isascii() else sum(_widths(text))


def _widths(text: str) -> Iterable[int]:
    """The columns of each character; what is joined to the one before takes none of its own."""
    if _JOINER not in text and _EMOJI_STYLE not in text:
        return map(_cells, text)
    widths: list[int] = []
    for index, character in enumerate(text):
        if index and text[index - 1] == _JOINER:
            widths.append(0)
        elif character == _EMOJI_STYLE and index and text[index - 1] >= _SYMBOLS and widths[-1] == 1:
            widths.append(1)
        else:
            widths.append(_cells(character))
    return widths


def width_of(line: Row) -> int:
    """How many columns a row takes."""
    return sum(cells(span.text) for span in line)


def cut(text: str, width: int) -> str:
    """The start of a text that fits into `width` columns, with an ellipsis where it was cut."""
    if width <= 0:
        return ""
    if len(text) <= width and cells(text) <= width:
        return text
    return head(text, width - 1) + "…"


def head(text: str, width: int) -> str:
    """As many characters of a text as fit into `width` columns."""
    if text.isascii():
        return text[:width]
    used = 0
    for index, wide in enumerate(_widths(text)):
        used += wide
        if used > width:
            return text[:index]
    return text


def cut_row(line: Row, width: int) -> Row:
    """A row cut to `width` columns."""
    kept: list[Span] = []
    for span in line:
        wide = cells(span.text)
        if wide > width:
            kept.append(Span(cut(span.text, width), span.tone))
            break
        kept.append(span)
        width -= wide
    return tuple(span for span in kept if span.text)


def padded(text: str, width: int) -> str:
    """A text cut or filled with spaces to exactly `width` columns."""
    text = cut(text, width)
    return text + " " * (width - cells(text))


def apart(left: Row, right: Row, width: int) -> Row:
    """Two rows on one line, the right one at the right edge; the left one is cut where both do not fit."""
    least = 1 if right else 0
    gap = width - width_of(left) - width_of(right)
    if gap < least:
        left = cut_row(left, max(0, width - width_of(right) - least))
        gap = max(0, width - width_of(left) - width_of(right))
    return (*left, Span(" " * gap), *right) if gap else (*left, *right)


def wrapped(text: str, width: int) -> list[str]:
    """A text as lines of at most `width` columns, broken at spaces where that is possible."""
    width = max(1, width)
    return [piece for line in text.split("\n") for piece in _wrapped_line(line.rstrip(), width)]


def folded(line: str, width: int) -> list[str]:
    """One line as pieces of `width` columns, broken anywhere: nothing of it is lost."""
    width = max(1, width)
    if line.isascii():
        return [line[at : at + width] for at in range(0, len(line), width)] or [""]
    pieces: list[str] = []
    while line:
        piece = head(line, width) or line[0]
        pieces.append(piece)
        line = line[len(piece) :]
    return pieces or [""]


def _wrapped_line(line: str, width: int) -> Iterable[str]:
    if len(line) <= width and cells(line) <= width:
        return [line]
    pieces: list[str] = []
    while line:
        piece = head(line, width) or line[0]
        if len(piece) < len(line) and (space := piece.rfind(" ")) > width // 3 and line[len(piece)] != " ":
            piece = piece[:space]
        pieces.append(piece.rstrip())
        line = line[len(piece) :].lstrip(" ")
    return pieces or [""]


def marked(line: Row, needle: str) -> Row:
    """The row with every place that holds the text (case does not matter) in the tone `found`."""
    wanted = needle.lower()
    if not wanted or not any(wanted in span.text.lower() for span in line):
        return line
    return tuple(piece for span in line for piece in _marked_span(span, wanted))


def _marked_span(span: Span, wanted: str) -> Iterable[Span]:
    text, lowered, start = span.text, span.text.lower(), 0
    if len(text) != len(lowered):
        return [span]
    pieces: list[Span] = []
    while (at := lowered.find(wanted, start)) >= 0:
        pieces += [Span(text[start:at], span.tone), Span(text[at : at + len(wanted)], "found")]
        start = at + len(wanted)
    pieces.append(Span(text[start:], span.tone))
    return [piece for piece in pieces if piece.text]
