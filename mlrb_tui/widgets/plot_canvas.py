"""The panels of a plot: curves drawn by plotext in a thread, everything that moves laid over them here."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence

from textual import events, work
from textual.message import Message

from mlrb_tui.views.plot_panels import Panel, Picture, column_of, laid_over, share_of
from mlrb_tui.views.rows import Row, Span, row
from mlrb_tui.widgets.lines import Lines

_COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
_FIRST_CODE = 16
"""Codes below stand for a terminal's own colours; ours only number the tones."""
Upright = Callable[[Picture], Mapping[int, Span]]
"""The upright lines of a picture, by column of its canvas."""


class PlotCanvas(Lines):
    """One picture under the other."""

    class Pointed(Message):
        """A person pointed at a place on the x axis, as a share of what is shown."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    class Wheeled(Message):
        """A person turned the wheel: closer, or away."""

        def __init__(self, closer: bool) -> None:
            super().__init__()
            self.closer = closer

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._panels: list[Panel] = []
        self._curves: dict[Picture, list[Row]] = {}
        self._upright: Upright = lambda _: {}
        self._note: Row = ()
        self.drawings = 0
        """How often curves were drawn anew."""

    def plot(self, panels: Sequence[Panel], upright: Upright, note: Row = ()) -> None:
        """Show these panels; curves that are not drawn yet come when they are."""
        self._panels, self._upright, self._note = list(panels), upright, note
        missing = [panel.picture for panel in panels if panel.picture not in self._curves]
        if missing:
            self._draw(missing)
        else:
            self._paint()

    @property
    def settled(self) -> bool:
        """Whether all curves are drawn."""
        return all(panel.picture in self._curves for panel in self._panels)

    def say(self, lines: Sequence[Row]) -> None:
        """Show words instead."""
        self._panels = []
        self.show([row(Span("  "), *line) for line in lines])

    @work(exclusive=True, group="draw")
    async def _draw(self, pictures: Sequence[Picture]) -> None:
        ascii_only = self.ascii_only
        for picture in pictures:
            self._curves[picture] = await asyncio.to_thread(drawn, picture, ascii_only=ascii_only)
        self.drawings += 1
        wanted = {panel.picture for panel in self._panels}
        self._curves = {picture: rows for picture, rows in self._curves.items() if picture in wanted}
        self._paint()

    def _paint(self) -> None:
        rows: list[Row] = []
        for panel in self._panels:
            if (curves := self._curves.get(panel.picture)) is None:
                return
            rows.append(panel.heading)
            rows += laid_over(curves, panel.picture, panel.marks, self._upright(panel.picture))
        self.show([*rows, self._note] if self._note else rows)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there."""
        if self._panels:
            picture = self._panels[0].picture
            self.post_message(self.Pointed(share_of(event.x - picture.left, picture.columns)))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Closer."""
        event.stop()
        self.post_message(self.Wheeled(True))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Away."""
        event.stop()
        self.post_message(self.Wheeled(False))


def drawn(picture: Picture, *, ascii_only: bool = False) -> list[Row]:
    """The curves and axes of a picture as rows; may be asked for in any thread."""
    # Here it is imported by the thread that draws, and by nothing before the first curve.
    from textual_plotext import Plot

    plot = Plot()
    plot.plotsize(picture.width, picture.height)
    # Else it is no larger than the terminal that plotext sees; textual-plotext's own widget does the same.
    plot._set_size(picture.width, picture.height)
    plot.theme("clear")
    plot.xaxes(True, False)
    plot.yaxes(True, False)
    plot.xlim(0, 1)
    plot.ylim(0, 1)
    x_ticks = picture.x_ticks if picture.x_labels else ()
    plot.xticks([at for at, _ in x_ticks], [label for _, label in x_ticks])
    plot.yticks([at for at, _ in picture.y_ticks], [label for _, label in picture.y_ticks])
    tones = list(dict.fromkeys(line.tone for line in picture.lines))
    for line in picture.lines:
        marker = line.sign if ascii_only else "braille"
        xs, ys = [x for x, _ in line.points], [y for _, y in line.points]
        plot.plot(xs, ys, marker=marker, color=_FIRST_CODE + tones.index(line.tone))
    if not picture.lines:
        # Without any data there would be no axes.
        plot.scatter([2.0], [2.0])
    return rows_of(plot.build(), tones, picture.height)


def rows_of(built: str, tones: Sequence[str], height: int) -> list[Row]:
    """What plotext built, as rows: its colours are the numbers of our tones, its axes are faint."""
    found: list[Row] = []
    for text in built.split("\n")[:height]:
        spans, tone = [], "dim"
        for index, part in enumerate(_COLOUR.split(text)):
            if index % 2:
                number = part.rpartition(";")[2]
                code = int(number) - _FIRST_CODE if part.startswith("38;5;") else -1
                tone = tones[code] if 0 <= code < len(tones) else "dim"
            elif part:
                spans.append(Span(part.replace("\u2800", " "), tone))
        found.append(row(*spans))
    return found


def cursor_lines(places: Sequence[tuple[float | None, Span]]) -> Upright:
    """Upright lines at shares of the x axis; what lies outside is left out, the last of one column holds."""

    def upright(picture: Picture) -> dict[int, Span]:
        return {
            column_of(share, picture.columns): span for share, span in places if share is not None and 0 <= share <= 1
        }

    return upright
