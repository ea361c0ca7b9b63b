"""The fleet screen: all runs, a look at the selected one, and the keys that steer it."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from agent.record.home import Home, RunFolder
from agent.record.text import printable
from agent.record.values import RunSummary, WantedApproval
from mlrb_tui.control.settings import Settings
from mlrb_tui.screens.alarm_keys import AlarmKeys
from mlrb_tui.screens.fleet_marks import Marking
from mlrb_tui.screens.fleet_steering import Steering
from mlrb_tui.views import alarms, fleet, steering
from mlrb_tui.views.fleet_columns import ASCII, UNICODE
from mlrb_tui.views.fleet_header import EMPTY_STATE, HEADING, NOTHING_FOUND, header
from mlrb_tui.widgets.fleet_look import Look
from mlrb_tui.widgets.row_lines import KeyLine, RowLines
from mlrb_tui.widgets.run_table import RunTable

if TYPE_CHECKING:
    from textual.widgets import Input

    from agent.record.watch import RunsWatch
    from mlrb_tui.control.lost_runs import LostRuns

_LOOK_EVERY_S = 1.0
# Behind another screen: a dialog's backdrop lets through what changes, and repaints itself for it.
_LOOK_BEHIND_EVERY_S = 5.0


class FleetScreen(Marking, Steering, AlarmKeys):
    """All runs; live ones are looked at once a second."""

    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (8, "-low"), (20, "-high")]  # noqa: RUF012
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012
    AUTO_FOCUS = "RunTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new_run", "new run", id="fleet.new", tooltip="launch an agent on a task"),
        *AlarmKeys.ALARM_BINDINGS,
        *Steering.ANSWER_BINDINGS,
        *Steering.STEERING_BINDINGS,
        *Marking.MARKING_BINDINGS,
        Binding("slash", "filter", "filter", id="fleet.filter", key_display="/", tooltip="show only some runs"),
        Binding("o", "order", "order", id="fleet.order", tooltip="sort by something else"),
        Binding("O", "reverse", "reverse", id="fleet.reverse", show=False, tooltip="turn the order round"),
        Binding("escape", "clear_filter", "clear filter", id="fleet.clear", show=False),
        Binding("H", "hosts", "hosts", id="fleet.hosts", show=False, tooltip="machines, their GPUs and queues"),
        Binding("q", "leave", "quit", id="fleet.quit", tooltip="close the app; runs go on without it"),
    ]

    def __init__(
        self, home: Home, settings: Settings, *, read_only: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__()
        self._clock = clock
        self.home = home
        self.settings = settings
        self.read_only = read_only
        self._glyphs = ASCII if settings.glyphs == "ascii" else UNICODE
        self._rows: list[fleet.FleetRow] = []
        self._known: dict[str, fleet.FleetRow] = {}
        self._counts = self._sums = fleet.FleetCounts()
        self._waiting: list[fleet.FleetRow] = []
        self._looked = False
        self._shown = 0
        self._id_width = 4
        self._query = ""
        self._order = "need"
        self._reversed = False
        self._offered: frozenset[str] = frozenset()
        self.sending = asyncio.Lock()

    def compose(self) -> ComposeResult:
        yield RowLines(HEADING, id="fleet-header")
        yield RunTable(id="fleet-table", glyphs=self._glyphs)
        yield RowLines(id="fleet-empty")
        yield Horizontal(Look(self.home, self._clock, id="fleet-look"), RowLines(id="fleet-notices"), id="fleet-below")
        yield KeyLine(applies=self.applies, id="fleet-keys")

    def on_mount(self) -> None:
        # What follows is imported and read once there is something on the screen.
        self.call_after_refresh(self._keep_looking)

    @work(group="look")
    async def _keep_looking(self) -> None:
        """Look at all runs once a second, in a thread of its own; one look at a time."""
        runs, lost = await asyncio.to_thread(_watch, self.home, self.settings)
        try:
            while True:
                summaries, first = await asyncio.to_thread(runs.look), not self._looked
                self._take(summaries)
                if first:
                    # What that imports and asks would hold up the first rows' way to the screen.
                    self.set_timer(_LOOK_EVERY_S, self._look_for_leftovers)
                await asyncio.to_thread(lost.look, summaries)
                await asyncio.sleep(_LOOK_EVERY_S if self.is_current else _LOOK_BEHIND_EVERY_S)
        finally:
            runs.close()

    @work(group="leftovers")
    async def _look_for_leftovers(self) -> None:
        """Say once, at the start, what earlier runs left behind."""
        if line := await asyncio.to_thread(_leftovers, self.home):
            self.app.notify(printable(line), severity="warning", timeout=15, markup=False)

    # ── what is shown ────────────────────────────────────────────────────────────────────────────────────

    def _take(self, summaries: list[RunSummary]) -> None:
        self.hear_alarms(summaries)
        self._rows = fleet.build_rows(summaries, self._known)
        self._known = {row.summary.run: row for row in self._rows}
        self._id_width = fleet.id_width(self._rows)
        self._counts = fleet.count(self._rows, fleet.midnight_before(self._clock()))
        self.app.live_runs = self._counts.live  # type: ignore[attr-defined]
        self._waiting = fleet.waiting(self._rows)
        self._looked = True
        if self.is_current or not self._shown:
            self._show()
            self._show_notices()

    def on_screen_resume(self) -> None:
        """Show what has happened meanwhile."""
        self._show()
        self._show_notices()

    def _show(self, *, anew: bool = False) -> None:
        # A look that was under way when the app was left finds nothing to show itself on.
        if not self._looked or not self.query(RunTable):
            return
        now = self._clock()
        rows = fleet.ordered(fleet.filtered(self._rows, self._query), self._order, reverse=self._reversed)
        self._shown = len(rows)
        self._sums = self._counts if len(rows) == len(self._rows) else fleet.count(rows, 0.0)
        table = self.query_one(RunTable)
        table.show(rows, now=now, id_width=self._id_width, anew=anew)
        self._show_whether_empty(not rows)
        self._show_header()
        self._look_at_selected()

    def _look_at_selected(self) -> None:
        """The look, and the keys that make sense, are those of the run under the cursor."""
        row = self.query_one(RunTable).row_at_cursor
        self.query_one(Look).look_at(row, self._waiting)
        offered = frozenset[str]()
        if row is not None and not self.read_only:
            offered = steering.applicable(row.summary, lost=row.mood == "lost")
            # On a run that waits for nothing they lead to one that does.
            offered |= frozenset(steering.ANSWERS) if self._waiting else frozenset()
        if row is not None and alarms.standing(row.summary):
            offered |= {steering.ALARMS}
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense for the run under the cursor."""
        name = (binding.id or "").rpartition(".")[2]
        if name == "plots":
            return bool(self.marked)
        return name not in steering.ONLY_WHERE_OFFERED or name in self._offered

    def _show_whether_empty(self, empty: bool) -> None:
        said = self.query_one("#fleet-empty", RowLines)
        if said.display != empty:
            said.display = empty
            table = self.query_one(RunTable)
            table.display = not empty
            if self.focused is None:
                table.focus()
            self.query_one("#fleet-below").set_class(empty, "-empty")
        said.show(NOTHING_FOUND if self._rows else EMPTY_STATE)

    def _show_header(self) -> None:
        line = self.query_one("#fleet-header", RowLines)
        order = f"{self._order}, reversed" if self._reversed else self._order
        shown = header(
            self._counts, self._sums, self._glyphs, line.size.width, shown=self._shown, query=self._query, order=order
        )  # fmt: skip
        line.show((shown,))

    def _show_notices(self) -> None:
        for box in self.query("#fleet-notices").results(RowLines):
            found = fleet.notices(self._rows, box.size.height)
            box.show([fleet.notice_line(notice, self._glyphs.moods, self._id_width) for notice in found])

    def on_resize(self) -> None:
        """Widths have changed."""
        self.call_after_refresh(self.on_screen_resume)

    @on(RunTable.Highlighted)
    def show_look(self) -> None:
        """Look at the run under the cursor."""
        self._look_at_selected()

    def summary_of(self, run: str) -> RunSummary | None:
        """What is known of that run."""
        row = self._known.get(run)
        return None if row is None else row.summary

    @property
    def in_ascii(self) -> bool:
        """Whether signs beyond ASCII are left out."""
        return self._glyphs is ASCII

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def steered(self) -> RunFolder | None:
        """The run that keys act on; None, said to the person, where there is none to act on."""
        run = self.query_one(RunTable).run_at_cursor
        return RunFolder(self.home.runs / run) if run is not None and self.may_steer() else None

    @property
    def alarmed(self) -> tuple[RunSummary, float] | None:
        """The run under the cursor."""
        row = self.query_one(RunTable).row_at_cursor
        return None if row is None else (row.summary, self._clock())

    @property
    def questioned(self) -> tuple[RunFolder, WantedApproval] | None:
        """The question of the run at the cursor; where it has none, the cursor goes to the run that waits longest."""
        if not self.may_steer():
            return None
        row = self.query_one(RunTable).row_at_cursor
        if row is not None and row.mood == "needs you" and row.summary.approval is not None:
            return RunFolder(self.home.runs / row.summary.run), row.summary.approval
        table = self.query_one(RunTable)
        gone_to = next((each.summary.run for each in self._waiting if table.go_to(each.summary.run)), None)
        self.word_failed(
            "nothing waits for a word in the runs shown" if gone_to is None else f"{gone_to} waits for a word"
        )
        return None

    @on(RunTable.Opened)
    def open_run(self, message: RunTable.Opened) -> None:
        """Open that run."""
        self.app.open_run(message.run)  # type: ignore[attr-defined]

    def action_new_run(self) -> None:
        """The launch form."""
        if self.may_steer():
            from mlrb_tui.screens.launch import LaunchScreen

            models = dict.fromkeys(row.summary.model for row in self._rows)
            self.app.push_screen(LaunchScreen(self.home, self.settings, models=list(models)), self._launched)

    def _launched(self, run: str | None) -> None:
        if run is not None:
            self.app.open_run(run)  # type: ignore[attr-defined]

    def action_hosts(self) -> None:
        """Machines and what is free on them."""
        from mlrb_tui.screens.hosts import HostsScreen

        self.app.push_screen(HostsScreen(self.home, read_only=self.read_only))

    async def action_filter(self) -> None:
        """Ask for words to look for; the list follows as they are typed."""
        from mlrb_tui.widgets.fleet_filter import FilterInput

        if not self.query(FilterInput):
            await self.mount(FilterInput(self._query), before="#fleet-keys")
        self.query_one(FilterInput).focus()

    def on_input_changed(self, event: "Input.Changed") -> None:
        """Filter as it is typed."""
        self._query = event.value.strip()
        self._show(anew=True)

    async def on_input_submitted(self) -> None:
        """Keep the filter and go back to the list."""
        await self._close_filter()

    async def action_clear_filter(self) -> None:
        """All runs again."""
        self._query = ""
        await self._close_filter()
        self._show(anew=True)

    async def _close_filter(self) -> None:
        from mlrb_tui.widgets.fleet_filter import FilterInput

        await self.query(FilterInput).remove()
        self.query_one(RunTable).focus()

    def action_order(self) -> None:
        """The next order."""
        orders = list(fleet.ORDERS)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self._show(anew=True)

    def action_reverse(self) -> None:
        """The order turned round."""
        self._reversed = not self._reversed
        self._show(anew=True)

    def action_leave(self) -> None:
        """Close the app; runs belong to no terminal."""
        self.app.exit(0)


def _watch(home: Home, settings: Settings) -> "tuple[RunsWatch, LostRuns]":
    from agent.record.watch import RunsWatch
    from mlrb_tui.control.lost_runs import LostRuns

    return RunsWatch(home), LostRuns(home, settings)


def _leftovers(home: Home) -> str:
    from agent.sandbox.leftovers import find
    from mlrb_tui.control.reaping import told

    return told(find(home))
