"""Tones of text as styles: what each is in the theme that holds.

A style sheet's component classes say the same, but each widget resolves each of its classes at each change, which
made up half of the app's first paint.
"""

from functools import lru_cache

from rich.style import Style
from textual.app import App
from textual.color import Color

# A tone's theme variable, and its attributes; an empty variable leaves the colour as it is.
_TONES: dict[str, tuple[str, str]] = {
    "plain": ("", ""),
    "strong": ("", "bold"),
    "muted": ("text-muted", ""),
    "track": ("border", ""),
    "good": ("success", ""),
    "warn": ("warning", ""),
    "bad": ("error", ""),
    "info": ("primary", ""),
    "accent": ("accent", ""),
}
# Tones that transcripts and panels use.
_SAME_AS = {
    "dim": "muted", "faint": "track", "faint-label": "muted", "frame": "track", "ok": "good", "added": "good",
    "removed": "bad", "thought": "accent", "edit": "info", "bar": "info", "pause": "info", "command": "warn",
    "person": "warn", "validate": "warn", "score": "strong", "title": "muted", "running": "muted",
    "spark": "accent", "key": "strong", "eval": "info",
}  # fmt: skip
_FAINT = ("muted", "track")


def tone_style(app: App[object], tone: str) -> Style:
    """The tone as a style to lay over a widget's own; an unknown tone is plain."""
    name = _SAME_AS.get(tone, tone)
    variable, attributes = _TONES.get(name, ("", ""))
    theme = app.theme_variables
    if app.native_ansi_color and name in _FAINT:
        # The terminal's own palette has no grey of its own.
        return Style(dim=True)
    return _style(theme.get(variable, ""), theme["background"], theme["foreground"], attributes)


def cursor_style(app: App[object]) -> Style:
    """What is laid over the line at the cursor."""
    if app.native_ansi_color:
        return Style(reverse=True)
    background = Color.parse(app.theme_variables["block-cursor-background"])
    return Style(bgcolor=background.rich_color)


@lru_cache(maxsize=256)
def _style(colour: str, background: str, foreground: str, attributes: str) -> Style:
    if not colour:
        return Style.parse(attributes)
    below = Color.parse(background)
    if colour.startswith("auto"):
        # Themes that are not ours say "auto 60%": the foreground, that far towards the background.
        share = colour.removeprefix("auto").strip().removesuffix("%")
        parsed = Color.parse(foreground).with_alpha(float(share or 100) / 100)
    else:
        parsed = Color.parse(colour)
    if parsed.a < 1 and parsed.ansi is None and below.ansi is None:
        parsed = below + parsed
    return Style(color=parsed.rich_color) + Style.parse(attributes)
