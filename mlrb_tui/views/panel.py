"""What a panel is, and what all of them are drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.record.values import RunSummary
from mlrb_tui.views.charts import spark
from mlrb_tui.views.rows import Row, Span, row
from mlrb_tui.views.series import Readings


@dataclass(frozen=True)
class Panel:
    """A titled box of rows."""

    title: str
    rows: list[Row]

    @property
    def height(self) -> int:
        """In rows, its frame included."""
        return len(self.rows) + 2


@dataclass(frozen=True)
class Shown:
    """What the panels are drawn from."""

    summary: RunSummary
    """Already brought forward to `now`."""
    readings: Readings
    now: float
    killing: bool = False
    """Somebody asked for the run's end, and it is not there yet."""


def sparkline(values: Sequence[float], width: int, *, high: float | None = None) -> list[Row]:
    """The values as a row of their own; none of a single value."""
    if len(values) < 2:
        return []
    return [row(Span(spark(values, width, low=0.0, high=high), "spark"))]


def percent(value: float | None) -> str:
    """A share, or n/a."""
    return "n/a" if value is None else f"{value:.0f} %"
