"""One thing of a run, whole: a command with all of its output, a thought, a message."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agent.record.log import EventReader
from agent.record.text import printable
from mlrb_tui.screens.run_copy import said_of, write_somewhere
from mlrb_tui.views.blocks import AnyBlock
from mlrb_tui.views.detail import document_of, title_of
from mlrb_tui.views.document import Output
from mlrb_tui.widgets.opaque import OpaqueScreen
from mlrb_tui.widgets.pager import Pager
from mlrb_tui.widgets.row_lines import KeyLine

_LOOK_EVERY_S = 0.25
_CLIPBOARD_CHARACTERS = 50_000


class StepDetail(OpaqueScreen):
    """A pager on one block; follows the output of a command that still runs."""

    CSS_PATH = "step_detail.tcss"
    AUTO_FOCUS = "Pager"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", id="detail.search", key_display="/"),
        Binding("n", "search_on(True)", "next", id="detail.next"),
        Binding("N", "search_on(False)", "previous", id="detail.previous", show=False),
        Binding("z", "wrap", "wrap", id="detail.wrap"),
        Binding("y", "copy", "copy", id="detail.copy", tooltip="to a file and the clipboard"),
        Binding("q", "leave", "back", id="detail.leave"),
        Binding("escape", "leave", "back", id="detail.escape", show=False),
    ]

    def __init__(self, reader: EventReader, block: AnyBlock, *, upto: Callable[[], int]) -> None:
        super().__init__()
        self._upto = upto
        self._block = block
        self._document = document_of(reader, block, upto())
        self._needle = ""

    def compose(self) -> ComposeResult:
        yield Pager(self._document, wraps=not isinstance(self._document, Output), id="detail-pager")
        yield Input(id="detail-search", placeholder="find in this text", compact=True)
        yield KeyLine(id="detail-keys")

    def on_mount(self) -> None:
        pager = self.query_one(Pager)
        pager.ascii_only = self.has_class("-ascii")
        pager.border_title = printable(title_of(self._block))
        if not isinstance(self._document, Output):
            pager.scroller.to_start()
        else:
            self.set_interval(_LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        """More output may be there."""
        assert isinstance(self._document, Output)
        upto = self._upto()
        if upto > self._document.upto:
            self._document.upto = upto
            pager = self.query_one(Pager)
            if pager.scroller.following and self._document.load_after():
                pager.update()

    def action_search(self) -> None:
        """Open the line in which to write what to find."""
        box = self.query_one(Input)
        box.add_class("-open")
        box.focus()

    @on(Input.Submitted)
    def find(self, event: Input.Submitted) -> None:
        """Find the first place after the top of the window."""
        self._needle = event.value
        self._close_search()
        self.action_search_on(False)

    def action_search_on(self, forwards: bool) -> None:
        """The next place, or the one before."""
        if self._needle:
            self.query_one(Pager).needle = self._needle
            self.run_worker(self._search(forwards), group="search", exclusive=True)

    async def _search(self, forwards: bool) -> None:
        pager = self.query_one(Pager)
        for key in self._document.places(self._needle, pager.key, forwards=forwards):
            if key is not None:
                pager.go_to(key)
                return
            await asyncio.sleep(0)
        way = "below" if forwards else "above"
        self.app.notify(printable(f"“{self._needle}” is not {way}"), markup=False, timeout=3)
        pager.update()

    def action_wrap(self) -> None:
        """Fold long lines, or let them run out at the right."""
        self.query_one(Pager).toggle_wrap()

    def action_copy(self) -> None:
        """The whole text to a file, and to the clipboard."""
        text = self._document.whole()
        self.app.copy_to_clipboard(printable(text[:_CLIPBOARD_CHARACTERS], lines=True))
        path = write_somewhere(f"mlrb-{title_of(self._block)}-{self._block.seq}.txt", text)
        self.app.notify(printable(said_of(path)), markup=False, timeout=4)

    def action_leave(self) -> None:
        """Close the search, or go back."""
        if self.query_one(Input).has_class("-open"):
            self._close_search()
        else:
            self.dismiss()

    def _close_search(self) -> None:
        self.query_one(Input).remove_class("-open")
        self.query_one(Pager).focus()
