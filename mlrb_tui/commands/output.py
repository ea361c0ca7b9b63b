"""How commands print: JSON for scripts, aligned columns for people, nothing raw."""

import sys
from collections.abc import Mapping, Sequence

import msgspec

from agent.record.text import printable
from agent.record.values import Score


def print_json(value: object) -> None:
    """One JSON value on one line."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def whole(value: object) -> object:
    """A value for JSON with every field that it has, also those that are as they are by default."""
    if isinstance(value, Score):
        return _fields(value) | {"beats_baseline": value.beats_baseline}
    if isinstance(value, msgspec.Struct):
        return _fields(value)
    if isinstance(value, list | tuple):
        return [whole(each) for each in value]
    return value


def _fields(value: msgspec.Struct) -> dict[str, object]:
    return {name: whole(getattr(value, name)) for name in value.__struct_fields__}


def print_table(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> None:
    """Rows under a heading, each column as wide as it must be; numbers to the right."""
    shown = [[printable(row.get(column, "")) for column in columns] for row in rows]
    widths = [max([len(column), *(len(row[index]) for row in shown)]) for index, column in enumerate(columns)]
    for line in ([*columns], *shown):
        cells = (_pad(cell, width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def print_pairs(pairs: Mapping[str, str]) -> None:
    """A name and its value a line; empty ones are left out."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        if value:
            print(f"{name:<{width}}  {printable(value)}")


def read_stdin() -> str:
    """All that is piped in; bytes that are no text are replaced."""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def say(text: str) -> None:
    """A line for people on stderr, where it does not disturb a script."""
    print(printable(text), file=sys.stderr, flush=True)


def _pad(cell: str, width: int) -> str:
    return cell.rjust(width) if cell.lstrip("$-").replace(".", "", 1).replace(",", "").isdigit() else cell.ljust(width)
