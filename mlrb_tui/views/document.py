"""A long text as a source of rows to scroll through: whole in memory, or an output paged from its log."""

from collections.abc import Iterator, Sequence

from agent.record import events as ev
from agent.record import queries
from agent.record.log import EventReader
from agent.record.text import printable, settle_carriage_returns
from mlrb_tui.views.blocks import Called
from mlrb_tui.views.rows import Row, Span, folded, wrapped

_PAGE = 400
_MOST_CACHED = 4_000
_STRETCH = 4_000


class Document:
    """Lines with a tone; the base of every text that is shown whole."""

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self._lines = list(lines)
        self._first_key = 0
        self._cache: dict[int, tuple[tuple[str, str], list[Row]]] = {}
        self._wrap_width: int | None = None

    @property
    def count(self) -> int:
        """How many lines are loaded."""
        return len(self._lines)

    def key(self, index: int) -> int:
        """A number for the line that stays with it when others are loaded."""
        return self._first_key + index

    def find(self, key: int) -> int:
        """The place of that line."""
        return max(-1, min(len(self._lines) - 1, key - self._first_key))

    def rows(self, index: int) -> list[Row]:
        """The line as one row, or folded to the width."""
        line, key = self._lines[index], self.key(index)
        if not line[0] and index == len(self._lines) - 1 and index:
            return []
        kept = self._cache.get(key)
        if kept is not None and kept[0] is line:
            return kept[1]
        if len(self._cache) > _MOST_CACHED:
            self._cache.clear()
        shown = printable(settle_carriage_returns(line[0]).rstrip("\r"))
        pieces = [shown] if self._wrap_width is None else self._folded(shown, self._wrap_width)
        rows: list[Row] = [(Span(piece, line[1]),) for piece in pieces]
        self._cache[key] = (line, rows)
        return rows

    def _folded(self, line: str, width: int) -> list[str]:
        """A long line as several; words stay whole."""
        return wrapped(line, width)

    def wrap(self, width: int | None) -> None:
        """Fold lines to a width, or leave them long."""
        if width != self._wrap_width:
            self._wrap_width = width
            self._cache.clear()

    def load_before(self) -> bool:
        """Load lines in front; says whether there were any."""
        return False

    def load_after(self) -> bool:
        """Load lines behind; says whether there were any."""
        return False

    def go_to_start(self) -> None:
        """Have the first lines loaded."""

    def go_to_end(self) -> None:
        """Have the last lines loaded."""

    def places(self, needle: str, key: int, *, forwards: bool) -> Iterator[int | None]:
        """The key of the nearest line that holds the text, from a line on; None for each stretch without one."""
        yield self._loaded_place(needle.lower(), key, forwards=forwards)

    def whole(self) -> str:
        """All of the text, as it was."""
        return "\n".join(line for line, _ in self._lines)

    def _loaded_place(self, wanted: str, key: int, *, forwards: bool) -> int | None:
        index = key - self._first_key
        order = range(index + 1, self.count) if forwards else range(min(index, self.count) - 1, -1, -1)
        return next((self.key(at) for at in order if wanted in self._lines[at][0].lower()), None)


class Output(Document):
    """The output of a tool call, of which only what is looked at is read."""

    def __init__(self, reader: EventReader, block: Called, head: Sequence[tuple[str, str]], upto: int) -> None:
        super().__init__([])
        self._reader = reader
        self._block = block
        self._head = list(head)
        self.upto = upto
        """The moment as of which it is shown; may be moved on."""
        self._first_seq = self._last_seq = block.seq
        self.go_to_end()

    def _folded(self, line: str, width: int) -> list[str]:
        """A long line as several; columns of figures keep their blanks."""
        return folded(line, width)

    def go_to_start(self) -> None:
        """Have the first lines loaded."""
        self._reset(self._block.seq)
        self._lines = [*self._head, ("", "")]
        self.load_after()

    def go_to_end(self) -> None:
        """Have the last lines loaded."""
        self._reset(self.upto + 1)
        self._lines = [("", "")]
        self._last_seq = self.upto
        self.load_before()

    def load_before(self) -> bool:
        """Load older output; the call itself stands in front of the first."""
        if self._first_seq <= self._block.seq:
            return False
        page = queries.newest(
            self._reader, "tool_output", after=self._block.seq, upto=self._first_seq - 1, count=_PAGE,
            worker=self._block.place.worker,
        )  # fmt: skip
        self._first_seq = page[0].seq if len(page) == _PAGE else self._block.seq
        older = self._text(page).split("\n")
        lines = [(line, "") for line in older[:-1]] + [(older[-1] + self._lines[0][0], "")]
        head = self._head if self._first_seq == self._block.seq else []
        self._lines[:1] = [*head, *lines]
        self._first_key -= len(head) + len(lines) - 1
        return True

    def load_after(self) -> bool:
        """Load newer output."""
        page = queries.oldest(
            self._reader, "tool_output", after=self._last_seq, upto=self.upto, count=_PAGE,
            worker=self._block.place.worker,
        )  # fmt: skip
        if not page:
            return False
        self._last_seq = page[-1].seq
        first, *others = self._text(page).split("\n")
        if first:
            self._lines[-1] = (self._lines[-1][0] + first, "")
        self._lines += [(line, "") for line in others]
        return True

    def places(self, needle: str, key: int, *, forwards: bool) -> Iterator[int | None]:
        """The key of the nearest line that holds the text; looks on in the log, and loads what it finds."""
        wanted = needle.lower()
        found = self._loaded_place(wanted, key, forwards=forwards)
        if found is not None:
            yield found
            return
        low, high = (self._last_seq + 1, self.upto) if forwards else (self._block.seq + 1, self._first_seq - 1)
        edges = list(range(low, high + 1, _STRETCH))
        for edge in edges if forwards else reversed(edges):
            seq = queries.matching(
                self._reader, needle, ("tool_output",), first=edge, last=min(high, edge + _STRETCH - 1),
                newest_first=not forwards,
            )  # fmt: skip
            event = self._reader.get(seq) if seq is not None else None
            if event is not None and self._is_ours(event):
                self._reset(event.seq)
                self._last_seq = event.seq - 1
                self._lines = [("", "")]
                self.load_after()
                yield self._loaded_place(wanted, self._first_key - 1, forwards=True)
                return
            yield None

    def whole(self) -> str:
        """The call and all of its output."""
        pieces = [line for line, _ in self._head]
        after, text = self._block.seq, []
        while page := queries.oldest(self._reader, "tool_output", after=after, upto=self.upto, count=5_000):
            after = page[-1].seq
            text.append(self._text(page))
        return "\n".join([*pieces, settle_carriage_returns("".join(text))])

    def _reset(self, seq: int) -> None:
        self._first_seq = self._last_seq = seq
        self._first_key = 0
        self._cache.clear()

    def _text(self, page: Sequence[ev.Event]) -> str:
        texts = (event.body.text for event in page if isinstance(event.body, ev.ToolOutput) and self._is_ours(event))
        return "".join(self._reader.text(text) for text in texts)

    def _is_ours(self, event: ev.Event) -> bool:
        return isinstance(event.body, ev.ToolOutput) and event.body.call_id == self._block.call_id
