"""Who works in a run, side by side, and the plan as it changes; at the moment at which the run's screen stands."""

import time
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from agent.record.crew import Crew
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.views import words
from mlrb_tui.views.crew import CrewView
from mlrb_tui.views.crew_rows import Page, page
from mlrb_tui.views.now import at_moment
from mlrb_tui.views.rows import Row, Span, apart, row
from mlrb_tui.views.run import RunView
from mlrb_tui.widgets.lines import Lines
from mlrb_tui.widgets.opaque import OpaqueScreen
from mlrb_tui.widgets.row_lines import KeyLine

_TICK_S = 0.2


class Steers(Protocol):
    """The run's screen, as far as what is asked here goes through it."""

    view: RunView
    live: bool
    said: tuple[str, float]
    offered: frozenset[str]

    def inject_to(self, worker: int) -> None:
        """Ask for a message to that worker and send it."""
        ...

    def interrupt_of(self, worker: int) -> None:
        """End that worker's running command."""
        ...


class WorkersScreen(OpaqueScreen):
    """A column a worker; the run's screen goes on behind, and may be playing."""

    CSS_PATH = "workers.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "choose(-1)", "worker before", id="workers.before", show=False),
        Binding("right", "choose(1)", "next worker", id="workers.next", key_display="→"),
        Binding("tab", "choose(1)", "next worker", id="workers.tab", show=False),
        Binding("i", "inject", "inject", id="workers.inject", tooltip="say something to the one that is marked"),
        Binding("x", "interrupt", "interrupt", id="workers.interrupt", tooltip="end the command of the marked one"),
        Binding("space", "play", "play", id="workers.play", key_display="space", tooltip="play on from this moment"),
        Binding("w", "leave", "run", id="workers.run", tooltip="back to the run's transcript"),
        Binding("escape", "leave", "back", id="workers.back", show=False),
        Binding("q", "leave", "back", id="workers.leave", show=False),
    ]

    def __init__(self, run: Steers, *, ascii_only: bool = False) -> None:
        super().__init__(classes="-ascii" if ascii_only else "")
        self._run = run
        self._crew = CrewView(run.view)
        self._chosen: int | None = None
        self._page = Page([], ())

    def compose(self) -> ComposeResult:
        yield Lines(id="workers-header")
        yield Lines(id="workers-body")
        yield KeyLine(applies=self.applies, id="workers-keys")

    def on_mount(self) -> None:
        for lines in self.query(Lines):
            lines.ascii_only = self.has_class("-ascii")
        self.set_interval(_TICK_S, self.paint)

    def on_resize(self) -> None:
        """Other columns fit."""
        self.call_after_refresh(self.paint)

    @property
    def chosen(self) -> int:
        """The worker that is marked: the one a person chose, else the first that works."""
        crew = self._crew.crew
        if self._chosen is not None and (self._chosen == 0 or crew.worker(self._chosen) is not None):
            return self._chosen
        return _first(crew)

    def paint(self) -> None:
        """Show everything as it stands at this moment."""
        if not self.is_attached or not self.query("#workers-body"):
            return
        view = self._run.view
        self._crew.follow()
        now = view.now(time.time(), live=self._run.live)
        body, header = self.query_one("#workers-body", Lines), self.query_one("#workers-header", Lines)
        self._page = page(self._crew, self.chosen, body.size.width, body.size.height, now)
        body.show(self._page.rows)
        said, until = self._run.said
        word = said if time.monotonic() <= until else ""
        header.show([_header(at_moment(view.summary, now), self._where(), word, header.size.width)])

    def _where(self) -> Span:
        view = self._run.view
        if view.player.playing:
            return Span(f"▶ ×{view.player.speed}", "cursor-past")
        if not view.at_end:
            return Span("an earlier moment", "cursor-past")
        return Span("LIVE", "cursor-live") if self._run.live else Span("end", "dim")

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense as the run stands."""
        name = (binding.id or "").rpartition(".")[2]
        return name not in ("inject", "interrupt") or name in self._run.offered

    def action_choose(self, by: int) -> None:
        """Mark another one."""
        members = [member.worker for member in self._crew.members]
        at = members.index(self.chosen) if self.chosen in members else 0
        self._chosen = members[(at + by) % len(members)]
        self.paint()

    def action_inject(self) -> None:
        """Say something to the marked one."""
        self._run.inject_to(self.chosen)

    def action_interrupt(self) -> None:
        """End the command of the marked one."""
        self._run.interrupt_of(self.chosen)

    def action_play(self) -> None:
        """Play on from here, or stand still."""
        self._run.view.play_or_stop()
        self.paint()

    def action_leave(self) -> None:
        """Back to the run's screen."""
        self.app.pop_screen()


def _first(crew: Crew) -> int:
    at_work = crew.at_work
    return at_work[0].worker if at_work else crew.workers[-1].worker if crew.workers else 0


def _header(summary: RunSummary, where: Span, said: str, width: int) -> Row:
    crew = summary.crew
    numbers = f"{len(crew.at_work)} at work, {crew.started} started"
    left = row(
        " ", Span("workers", "strong"), Span(f"  {one_line(summary.run, 8)}  {one_line(summary.task, 40)}", "dim"),
        Span(f"   {words.state(summary)}", "strong"), Span(f"   {numbers}", "dim"), Span("   "), where,
    )  # fmt: skip
    return apart(left, row(Span(said, "warn"), " ") if said else (), width)
