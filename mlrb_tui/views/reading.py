"""A transcript as a source of rows to scroll through."""

from mlrb_tui.views.block_rows import Options, rows_of
from mlrb_tui.views.blocks import AnyBlock, Called
from mlrb_tui.views.rows import Row
from mlrb_tui.views.run import RunView

_MOST_CACHED = 4_000


class Reading:
    """The blocks of a run as rows, laid out once for each width."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._options = Options()
        self._now = 0.0
        self._cache: dict[int, tuple[AnyBlock, int, list[Row]]] = {}

    @property
    def options(self) -> Options:
        """How a person wants to read."""
        return self._options

    @options.setter
    def options(self, options: Options) -> None:
        if options != self._options:
            self._options = options
            self._cache.clear()

    def at(self, now: float) -> None:
        """Say what time it is for what still runs."""
        self._now = now

    @property
    def count(self) -> int:
        """How many blocks are loaded."""
        return len(self._view.transcript.blocks)

    def block(self, index: int) -> AnyBlock:
        """The block at that place."""
        return self._view.transcript.blocks[index]

    def key(self, index: int) -> int:
        """The number of the event that began the block."""
        return self._view.transcript.blocks[index].seq

    def find(self, key: int) -> int:
        """The place of the block that this event belongs to."""
        return self._view.transcript.index_of(key)

    def rows(self, index: int) -> list[Row]:
        """The block's rows."""
        block = self._view.transcript.blocks[index]
        second = int(self._now) if isinstance(block, Called) and not block.finished else 0
        kept = self._cache.get(block.seq)
        if kept is not None and kept[0] is block and kept[1] == second:
            return kept[2]
        if len(self._cache) > _MOST_CACHED:
            self._cache.clear()
        rows = rows_of(block, self._options, self._now)
        self._cache[block.seq] = (block, second, rows)
        return rows

    def load_before(self) -> bool:
        """Load older blocks."""
        return self._view.load_older()

    def load_after(self) -> bool:
        """Newer blocks come by themselves."""
        return False
