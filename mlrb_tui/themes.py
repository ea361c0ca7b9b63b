"""Our two themes, and which one a terminal starts with. Colour is kept for meaning; the rest is grey."""

import os
from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="mlrb-dark",
    primary="#7aa2f7",
    secondary="#86b5aa",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    accent="#86b5aa",
    foreground="#d5d9e0",
    background="#121419",
    surface="#161920",
    panel="#1f242d",
    boost="#232935",
    dark=True,
    variables={
        "text-muted": "#8b919c",
        "border": "#2b303a",
        "block-cursor-background": "#2a3140",
        "block-cursor-foreground": "#e6e9ef",
        "block-cursor-text-style": "none",
        "footer-background": "#1f242d",
        "scrollbar": "#39404d",
        "scrollbar-background": "#161920",
        "input-selection-background": "#7aa2f7 35%",
    },
)

LIGHT = Theme(
    name="mlrb-light",
    primary="#2f5fc4",
    secondary="#33745f",
    warning="#9a6700",
    error="#b3261e",
    success="#3b7a1a",
    accent="#33745f",
    foreground="#20242c",
    background="#f8f8f4",
    surface="#f2f2ed",
    panel="#e4e4de",
    boost="#dcdcd5",
    dark=False,
    variables={
        "text-muted": "#6b6f76",
        "border": "#d3d3cb",
        "block-cursor-background": "#d9dfec",
        "block-cursor-foreground": "#14171c",
        "block-cursor-text-style": "none",
        "footer-background": "#e4e4de",
        "scrollbar": "#bdbdb4",
        "scrollbar-background": "#f2f2ed",
        "input-selection-background": "#2f5fc4 30%",
    },
)

THEMES = (DARK, LIGHT)


def starting_theme(wish: str, environment: Mapping[str, str] = os.environ) -> str:
    """The theme to start with: the one wished for, else one that this terminal shows well.

    With 16 colours, or none, the terminal's own palette is used: it is what its owner can read.
    """
    plain = is_plain(environment)
    light = _background_is_light(environment)
    if wish != "auto":
        light = "light" in wish
        if not plain:
            return wish
    if plain:
        return "ansi-light" if light else "ansi-dark"
    return LIGHT.name if light else DARK.name


def is_plain(environment: Mapping[str, str]) -> bool:
    """Whether the terminal has 16 colours at most, or its owner wants none."""
    return "NO_COLOR" in environment or colours(environment) <= 16


def colours(environment: Mapping[str, str]) -> int:
    """How many colours the terminal says it has."""
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return 1 << 24
    term = environment.get("TERM", "").strip().lower()
    return 256 if term.endswith(("256color", "kitty", "direct")) else 16


def _background_is_light(environment: Mapping[str, str]) -> bool:
    """Whether `COLORFGBG` (set by rxvt, Konsole, iTerm and others) names a light background."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background.isdigit() and int(background) in (7, *range(9, 16))
