"""The parts of a run's screen that only draw: its head, its panels, its panels in one line."""

from collections.abc import Sequence

from mlrb_tui.views import header, panels
from mlrb_tui.views.blocks import Asked
from mlrb_tui.views.control import Steers
from mlrb_tui.views.panels import Shown
from mlrb_tui.widgets.lines import Lines


class RunHeader(Lines):
    """What run this is, how it stands, what it does now."""

    def update(
        self, shown: Shown, *, lost: bool, requests: Sequence[Asked], said: str, steers: Steers, past: bool
    ) -> int:
        """Show it as it stands; returns about how many bytes that repaints."""
        rows = header.rows(
            shown.summary,
            shown.now,
            self.size.width,
            lost=lost,
            requests=requests,
            said=said,
            steers=steers,
            past=past,
        )
        return self.show(rows[: max(1, self.size.height)])


class RunPanels(Lines):
    """The panels, where there is room for them."""

    def update(self, shown: Shown) -> int:
        """Show them as they stand; returns about how many bytes that repaints."""
        if not self.display or self.size.width < 12:
            return 0
        return self.show(panels.boxes(shown, self.size.width, self.size.height))


class RunStrip(Lines):
    """The panels in one line."""

    def update(self, shown: Shown) -> int:
        """Show it as it stands; returns about how many bytes that repaints."""
        return self.show([panels.strip(shown, self.size.width)]) if self.display else 0
