"""What a tool call changes in a file, as added and removed lines."""

import difflib
from collections.abc import Mapping

from agent.record.text import printable

_OLD = ("old", "old_text", "old_string", "old_str")
_NEW = ("new", "new_text", "new_string", "new_str")
_WHOLE = ("content", "text")
_MOST_LINES = 400


def changed_lines(tool: str, arguments: Mapping[str, object]) -> list[tuple[str, str]] | None:
    """Lines with their sign, `+` or `-`; None where the call edits no file."""
    if tool == "edit":
        old, new = _first(arguments, _OLD), _first(arguments, _NEW)
        return None if old is None or new is None else _difference(_lines(old), _lines(new))
    if tool == "write":
        content = _first(arguments, _WHOLE)
        return None if content is None else [("+", line) for line in _lines(content)]
    return None


def _first(arguments: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    found = (arguments.get(name) for name in names)
    return next((value for value in found if isinstance(value, str)), None)


def _lines(text: str) -> list[str]:
    return [printable(line) for line in text.splitlines()[:_MOST_LINES]]


def _difference(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    found = difflib.unified_diff(old, new, n=0, lineterm="")
    return [(line[0], line[1:]) for line in list(found)[2:] if line[:1] in ("+", "-")]
