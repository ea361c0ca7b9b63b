"""Help: every key of the screen it was called from, and what the words mean."""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from mlrb_tui.views.help import CONCEPTS, Key, grouped


class HelpScreen(ModalScreen[None]):
    """Keys and concepts, over the screen that they belong to."""

    CSS_PATH = "help.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close", id="help.close"),
        Binding("q", "dismiss", "close", id="help.leave", show=False),
        Binding("question_mark", "dismiss", "close", id="help.again", show=False),
    ]

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._keys = list(keys_of(about))

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=True):
            yield Static(self._key_list(), id="help-keys", markup=False)
            yield Static(_concepts(), id="help-concepts", markup=False)

    def on_mount(self) -> None:
        box = self.query_one("#help")
        box.border_title = Content("help")
        box.border_subtitle = Content("esc closes · ctrl+p finds any of these by name")

    def _key_list(self) -> Content:
        parts: list[Content | tuple[str, str]] = []
        groups = grouped(self._keys)
        listed = [key for keys in groups.values() for key in keys]
        width = max((len(key.key) for key in listed), default=0) + 2
        named = max((len(key.name) for key in listed), default=0) + 2
        for group, keys in groups.items():
            parts.append((f"{group}\n", "bold $primary"))
            for key in keys:
                parts += [
                    (f"  {key.key:<{width}}", "bold"),
                    (f"{key.name:<{named}}", "$foreground"),
                    (f"{key.about}\n", "$text-muted"),
                ]
            parts.append(("\n", ""))
        return Content.assemble(*parts).rstrip()


def keys_of(screen: Screen[object]) -> Iterable[Key]:
    """The keys that do something on that screen, from its bindings: the one list there is."""
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id and binding.description:
            key = screen.app.get_key_display(binding)
            yield Key(binding.id, key, binding.description, binding.tooltip or "")


def _concepts() -> Content:
    parts: list[tuple[str, str]] = []
    for word, meaning in CONCEPTS:
        parts += [(f"{word}\n", "bold $primary"), (f"{meaning}\n\n", "$foreground")]
    return Content.assemble(*parts).rstrip()
