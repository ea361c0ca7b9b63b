"""Scrolls through things of unknown number: it knows where it is, not how much there is."""

from typing import Protocol

from mlrb_tui.views.rows import Row, Span

Position = tuple[int, int]
"""A thing's key, and a row of it."""


class Source(Protocol):
    """Things in order, each with rows; keys go up and never change while a thing is there."""

    @property
    def count(self) -> int:
        """How many are loaded."""
        ...

    def key(self, index: int) -> int:
        """What names the thing at that place."""
        ...

    def find(self, key: int) -> int:
        """The place of the last thing whose key is not above this one; -1 in front of all."""
        ...

    def rows(self, index: int) -> list[Row]:
        """The thing's rows; there may be none."""
        ...

    def load_before(self) -> bool:
        """Load things in front; says whether there were any."""
        ...

    def load_after(self) -> bool:
        """Load things behind; says whether there were any."""
        ...


class Scroller:
    """A window of some height onto a source, with a cursor row in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.height = 1
        self.following = True
        """The end is shown, and stays shown when more comes."""
        self._top: Position = (0, 0)
        self._cursor: Position = (0, 0)
        self.leaps = False
        """While it follows, it moves by a quarter of its height at a time."""
        self._settled = False

    @property
    def selected(self) -> int | None:
        """The place of the thing under the cursor."""
        index = self._cursor_place()[0]
        return index if 0 <= index < self.source.count else None

    def resize(self, height: int) -> None:
        """The window's height from now on."""
        self.height = max(1, height)
        self._settled = False

    def visible(self) -> list[tuple[int, Row]]:
        """The rows in the window, each with the place of its thing; at most `height`."""
        self._load_around()
        index, at = self._start()
        shown: list[tuple[int, Row]] = []
        while len(shown) < self.height and index < self.source.count:
            shown += [(index, line) for line in self.source.rows(index)[at:]]
            index, at = index + 1, 0
        return shown[: self.height]

    def move(self, by: int) -> None:
        """Move the cursor by rows; the window goes along as far as it must."""
        if self.following and by >= 0:
            return
        self._load_around()
        start, cursor = self._start(), self._shifted(self._cursor_place(), by)
        if cursor > (last := self._shifted(start, self.height - 1)):
            start = self._shifted(start, self._distance(last, cursor))
        self._place(min(start, cursor), cursor)

    def page(self, by: int) -> None:
        """Move window and cursor by windows."""
        if self.following and by >= 0:
            return
        self._load_around()
        rows = by * max(1, self.height - 2)
        start, cursor = self._shifted(self._start(), rows), self._shifted(self._cursor_place(), rows)
        self._place(start, cursor)

    def scroll(self, by: int) -> None:
        """Move the window by rows; the cursor stays at its top."""
        if self.following and by >= 0:
            return
        self._load_around()
        start = self._shifted(self._start(), by)
        full = self._shifted(self._end(), -(self.height - 1))
        self.following = start >= full
        self._top = self._cursor = self._named(start)

    def to_start(self) -> None:
        """Show the start of what is loaded."""
        self.following = self.source.count == 0
        if self.source.count:
            self._top = self._cursor = (self.source.key(0), 0)

    def to_end(self) -> None:
        """Show the end, and follow."""
        self.following, self._settled = True, False

    def to(self, key: int) -> None:
        """Show the thing of that key, a third down the window."""
        self.following = False
        self._top = self._cursor = (key, 0)
        self._load_around()
        self._top = self._named(self._shifted(self._resolved(self._cursor), -(self.height // 3)))

    def select_row(self, y: int) -> None:
        """Put the cursor on the row at that height of the window."""
        start = self._start()
        self._place(start, self._shifted(start, y))

    # ── places: (index, row), good until something is loaded ─────────────────────────────────────────────

    def _load_around(self) -> None:
        """Load until there are two windows of rows above and below, or no more."""
        while self._above(self._start(), 2 * self.height) < 2 * self.height and self.source.load_before():
            pass
        while not self.following and self._below(self._start(), 3 * self.height) < 3 * self.height:
            if not self.source.load_after():
                break

    def _above(self, place: tuple[int, int], enough: int) -> int:
        index, rows = place
        while index > 0 and rows < enough:
            index -= 1
            rows += len(self.source.rows(index))
        return rows

    def _below(self, place: tuple[int, int], enough: int) -> int:
        index, rows = place[0], -place[1]
        while index < self.source.count and rows < enough:
            rows += len(self.source.rows(index))
            index += 1
        return rows

    def _start(self) -> tuple[int, int]:
        """The first row of the window, which is full where there is enough to fill it."""
        full = self._shifted(self._end(), -(self.height - 1))
        return self._followed(full) if self.following else min(self._resolved(self._top), full)

    def _followed(self, full: tuple[int, int]) -> tuple[int, int]:
        """Where the window stands while it follows: it stays for as long as what comes fits below.

        Scrolling line by line would repaint the whole window for each line; leaps leave the eye in peace too.
        """
        top = self._resolved(self._top)
        if not (self.leaps and self._settled) or self._distance(full, top) > self.height // 2:
            top = full
        elif top < full:
            top = self._shifted(full, self.height // 4)
        self._top, self._settled = self._named(top), True
        return top

    def _cursor_place(self) -> tuple[int, int]:
        return self._end() if self.following else self._resolved(self._cursor)

    def _place(self, start: tuple[int, int], cursor: tuple[int, int]) -> None:
        self.following = cursor >= self._end()
        self._settled = self._settled and self.following
        self._top, self._cursor = self._named(start), self._named(cursor)

    def _end(self) -> tuple[int, int]:
        """The last row there is."""
        for index in range(self.source.count - 1, -1, -1):
            if rows := self.source.rows(index):
                return index, len(rows) - 1
        return 0, 0

    def _resolved(self, position: Position) -> tuple[int, int]:
        index = self.source.find(position[0])
        if index < 0 or self.source.key(index) != position[0]:
            return max(0, index), 0
        return index, max(0, min(position[1], len(self.source.rows(index)) - 1))

    def _named(self, place: tuple[int, int]) -> Position:
        return (self.source.key(place[0]), place[1]) if place[0] < self.source.count else (0, 0)

    def _distance(self, start: tuple[int, int], stop: tuple[int, int]) -> int:
        """How many rows `stop` lies below `start`; 0 where it lies above."""
        if stop <= start:
            return 0
        if start[0] == stop[0]:
            return stop[1] - start[1]
        between = sum(len(self.source.rows(index)) for index in range(start[0], stop[0]))
        return between - start[1] + stop[1]

    def _shifted(self, place: tuple[int, int], by: int) -> tuple[int, int]:
        """A place moved by rows, as far as there are any."""
        index, at = place[0], place[1] + by
        while at < 0:
            if index == 0:
                return 0, 0
            index -= 1
            at += len(self.source.rows(index))
        while index < self.source.count and at >= (rows := len(self.source.rows(index))):
            index, at = index + 1, at - rows
        return (index, at) if index < self.source.count else self._end()


def cropped(line: Row, start: int, width: int) -> Row:
    """The columns of a row from `start` on, at most `width`; exact for text of single-width characters."""
    kept: list[Span] = []
    for span in line:
        if start >= len(span.text):
            start -= len(span.text)
            continue
        piece = span.text[start : start + width]
        kept.append(Span(piece, span.tone))
        width -= len(piece)
        start = 0
        if width <= 0:
            break
    return tuple(kept)
