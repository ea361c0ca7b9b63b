"""A screen through which nothing shows."""

from typing import Self

from textual.geometry import Region
from textual.screen import Screen


class OpaqueScreen(Screen[None]):
    """Covers what is behind it, and is not repainted on its account.

    Textual 8.2 lets the screen behind ask the one on top to repaint wherever the former changed, whether
    or not any of it shows; over SSH that is a whole screen a second for nothing.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Refresh the whole screen, or nothing: widgets repaint their own regions without this."""
        if regions and not layout and not recompose:
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
