"""A widget that shows rows and repaints only what changed: over SSH each cell costs bytes."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from mlrb_tui.views.rows import Row, Span
from mlrb_tui.widgets.tones import tone_style

# Tones of ours, as a shared tone and attributes.
_TONES = {
    "found": ("plain", "reverse"), "person": ("warn", "bold"), "score": ("warn", ""), "output": ("plain", ""),
    "cursor": ("info", "bold"), "cursor-live": ("good", "bold"), "cursor-past": ("warn", "bold"),
    "state-ok": ("good", "bold"), "state-bad": ("bad", "bold"), "state-warn": ("warn", "bold"),
    "state-pause": ("info", "bold"),
}  # fmt: skip
# For terminals that draw little beyond ASCII; each stands for one column, as what it replaces does.
_ASCII = str.maketrans(
    "─━│┃╭╮╰╯└┬┴┊┤▌║▒×✔▲▼◆·✎▤⚙›≡■▶↻…←→±°“”–▁▂▃▄▅▆▇█",
    """-=||+++++++:|>##xv^v*.er*>=#>@~<>+o""-__..:-=+""",
) | {0x2800: " ", **dict.fromkeys(range(0x2801, 0x2900), "*")}
_STYLE_BYTES = 42
"""What a change of colours costs."""


class Lines(Widget):
    """Rows, painted as they change."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._shown: list[Row] = []
        self._styles_by_tone: dict[str, Style] = {}
        self.ascii_only = False
        """Signs of ours are drawn in ASCII; the agent's own text stays as it is but for those."""
        self.painted_bytes = 0
        """About how many bytes were repainted so far."""

    @property
    def shown(self) -> Sequence[Row]:
        """The rows as they are on the screen."""
        return self._shown

    def show(self, rows: Sequence[Row]) -> int:
        """Show these rows; returns about how many bytes that repaints."""
        before, self._shown = self._shown, list(rows)
        width = self.size.width
        regions = [
            Region(start, y, stop - start, 1)
            for y in range(max(len(before), len(rows)))
            for start, stop in [changed_columns(_at(before, y), _at(rows, y), width)]
            if stop > start
        ]
        if regions:
            self.refresh(*regions)
        cost = sum(region.width + _STYLE_BYTES * len(_at(rows, region.y)) for region in regions)
        self.painted_bytes += cost
        return cost

    def notify_style_update(self) -> None:
        """A theme came or went: no style that was looked up before holds."""
        self._styles_by_tone.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One row as a strip of exactly this widget's width."""
        base = self.rich_style
        row = merged(_at(self._shown, y))
        segments = [Segment(self._drawn(text), self._style(tone) if tone else base) for text, tone in row if text]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _drawn(self, text: str) -> str:
        return text.translate(_ASCII) if self.ascii_only else text

    def _style(self, tone: str) -> Style:
        style = self._styles_by_tone.get(tone)
        if style is None:
            shared, attributes = _TONES.get(tone, (tone, ""))
            style = self.rich_style + tone_style(self.app, shared) + Style.parse(attributes)
            self._styles_by_tone[tone] = style
        return style


def merged(row: Row) -> Row:
    """The row with blanks drawn in the style before them: nobody sees it, and each style costs bytes."""
    spans: list[Span] = []
    for span in row:
        if spans and (
            spans[-1].tone == span.tone or (span.text.isspace() and "found" not in (span.tone, spans[-1].tone))
        ):
            spans[-1] = Span(spans[-1].text + span.text, spans[-1].tone)
        elif len(spans) == 1 and spans[0].text.isspace() and "found" not in (span.tone, spans[0].tone):
            spans[0] = Span(spans[0].text + span.text, span.tone)
        else:
            spans.append(span)
    return tuple(spans)


def changed_columns(before: Row, after: Row, width: int) -> tuple[int, int]:
    """From which column to which two rows differ, at most `width`; (0, 0) where they do not."""
    if before == after:
        return 0, 0
    start = _common(before, after)
    stop = max(_width(before), _width(after)) if _width(before) != _width(after) else _last(before, after)
    return min(start, width), min(stop, width)


def _common(before: Row, after: Row) -> int:
    """How many columns of two rows are the same from the left."""
    column = 0
    for old, new in zip(before, after, strict=False):
        if old == new:
            column += cell_len(old.text)
            continue
        if old.tone == new.tone:
            same = _same_start(old.text, new.text)
            column += cell_len(old.text[:same])
        break
    return column


def _last(before: Row, after: Row) -> int:
    """The column behind the last difference of two rows of one width."""
    column = _width(after)
    for old, new in zip(reversed(before), reversed(after), strict=False):
        if old != new:
            break
        column -= cell_len(new.text)
    return column


def _same_start(one: str, other: str) -> int:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _width(row: Row) -> int:
    return sum(cell_len(span.text) for span in row)


def _at(rows: Sequence[Row], y: int) -> Row:
    return rows[y] if 0 <= y < len(rows) else ()
