"""The hosts screen: machines, what is free on them, who is there, and the queue, which can be changed here."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.text import printable
from agent.record.values import RunSummary
from agent.sandbox.on_machine import SeenMachine
from mlrb_tui.control import hosts as control
from mlrb_tui.screens.fleet_steering import Steering
from mlrb_tui.views.host_rows import LOOKING, HostRow, Surroundings, heading, host_rows, trouble_rows
from mlrb_tui.views.rows import Span
from mlrb_tui.widgets.host_list import HostList
from mlrb_tui.widgets.row_lines import KeyLine, RowLines
from tasks.errors import MlrbError

_LOOK_EVERY_S = 5.0
_OF_RUNS = ("kill",)
_OF_WAITING = ("sooner", "later")


class HostsScreen(Steering):
    """Machines are asked again and again, all at the same time; one that hangs is shown as such."""

    CSS_PATH = "hosts.tcss"
    AUTO_FOCUS = "HostList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "u", "move(-1)", "sooner", id="hosts.sooner", tooltip="have a waiting run come before the one above it"
        ),
        Binding("d", "move(1)", "later", id="hosts.later", tooltip="let the one below it go first"),
        Binding("k", "kill", "kill", id="hosts.kill", tooltip="end the run, waiting or not"),
        Binding("escape", "leave", "back", id="hosts.back"),
        Binding("q", "leave", "back", id="hosts.leave", show=False),
    ]

    def __init__(
        self, home: Home, *, read_only: bool = False, look: Callable[[Home], list[SeenMachine]] = control.look
    ) -> None:
        super().__init__()
        self._home = home
        self.read_only = read_only
        self.sending = asyncio.Lock()
        self._look_at = look
        self._wake = asyncio.Event()
        self._found: list[SeenMachine] = []
        self._runs: dict[str, RunSummary] = {}

    def compose(self) -> ComposeResult:
        yield RowLines((Span(" hosts", "strong"),), id="hosts-header")
        yield HostList(LOOKING, id="hosts-list")
        yield KeyLine(applies=self.applies, id="hosts-keys")

    def on_mount(self) -> None:
        self._keep_looking()

    @work(group="look")
    async def _keep_looking(self) -> None:
        while True:
            try:
                self._found, self._runs = await asyncio.to_thread(self._looked)
            except MlrbError as error:
                self.query_one(HostList).take(trouble_rows(error.message, error.hint))
            else:
                self.query_one(HostList).take(self._rows())
                self._show_header(heading(self._found), "muted")
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), _LOOK_EVERY_S)
            except TimeoutError:
                continue

    def _looked(self) -> tuple[list[SeenMachine], dict[str, RunSummary]]:
        found = self._look_at(self._home)
        there = {run for one in found for run in (*one.runs, *(each.run for each in one.waiting))}
        return found, {one.run: one for one in index.summaries(self._home) if one.run in there}

    def _rows(self) -> list[HostRow]:
        width = max(1, self.size.width - HostList.MARGIN)
        return host_rows(self._found, Surroundings(width, self._runs, time.time()))

    def on_resize(self) -> None:
        """Rows are as wide as the screen is."""
        if self._found:
            self.query_one(HostList).take(self._rows())

    def _show_header(self, said: str, tone: str) -> None:
        line = (Span(" hosts", "strong"), Span(f"   {printable(said)}", tone))
        self.query_one("#hosts-header", RowLines).show((line,))

    @on(HostList.Highlighted)
    def refresh_keys(self) -> None:
        """The keys that make sense are those of the row under the cursor."""
        self.refresh_bindings()

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense for the row under the cursor."""
        name = (binding.id or "").rpartition(".")[2]
        row = self.query_one(HostList).at_cursor
        if name in _OF_WAITING:
            return row is not None and row.place > 0 and not self.read_only
        return name not in _OF_RUNS or (row is not None and bool(row.run) and not self.read_only)

    @property
    def steered(self) -> RunFolder | None:
        """The run that keys act on."""
        row = self.query_one(HostList).at_cursor
        return RunFolder(self._home.runs / row.run) if row is not None and row.run else None

    @on(HostList.Opened)
    def open_run(self, message: HostList.Opened) -> None:
        """Open that run."""
        self.app.open_run(message.run)  # type: ignore[attr-defined]

    @work(group="move")
    async def action_move(self, by: int) -> None:
        """Have the waiting run under the cursor come sooner or later."""
        row = self.query_one(HostList).at_cursor
        if row is None or not row.place or not self.may_steer():
            return
        try:
            await asyncio.to_thread(control.move, self._home, row.run, max(1, row.place + by))
        except MlrbError as error:
            self.app.complain(error)  # type: ignore[attr-defined]
        self._wake.set()

    def action_leave(self) -> None:
        """Back to all runs."""
        self.dismiss()
