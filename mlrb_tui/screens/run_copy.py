"""Copies a step: whole to a file, and to the clipboard of the terminal that the person sits at."""

from pathlib import Path

from textual.app import App

from agent.record.text import printable, storable
from mlrb_tui.views import words
from mlrb_tui.views.blocks import AnyBlock
from mlrb_tui.views.detail import step_text
from mlrb_tui.views.run import RunView

# Terminals drop longer OSC 52 strings, some of them without a word.
_CLIPBOARD_CHARACTERS = 50_000


def copy_step(app: App[object], view: RunView, block: AnyBlock) -> str:
    """Copy the block's step; says in one line where it went."""
    step = block.place.step
    blocks = [each for each in view.transcript.blocks if each.place.step == step] if step else [block]
    text = step_text(view.reader, blocks, view.position)
    app.copy_to_clipboard(printable(text[:_CLIPBOARD_CHARACTERS], lines=True))
    path = write_somewhere(f"mlrb-{view.summary.run or 'run'}-step-{step}.txt", text)
    return f"{said_of(path)} ({words.number(len(text))} characters)"


def said_of(path: Path | None) -> str:
    """Where a copy went, in few words: a narrow header cuts long ones."""
    if path is None:
        return "copied to the clipboard; no file could be written"
    return f"copied to the clipboard and to {path.name if path.parent == Path.cwd() else path}"


def write_somewhere(name: str, text: str) -> Path | None:
    """Write a file into the working folder, or where that can't be written to into the home folder."""
    safe = "".join(character if character.isalnum() or character in "-_." else "-" for character in name)[-80:]
    for folder in (Path.cwd(), Path.home()):
        path = folder / safe
        try:
            path.write_text(storable(text), encoding="utf-8")
        except OSError:
            continue
        return path
    return None
