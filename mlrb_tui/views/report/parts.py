"""What a report is printed from: facts, tables and the sections that hold them."""

import time
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "ok", "warn", "bad", "dim"]


@dataclass(frozen=True)
class Fact:
    """A name and its value; one without a value is left out."""

    name: str
    value: str
    tone: Tone = ""
    lines: bool = False
    """Whether its line ends are kept."""


@dataclass(frozen=True)
class Table:
    """Rows under a heading."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = ""
    """What is said where there are no rows; nothing is said where this is empty too."""


@dataclass(frozen=True)
class Section:
    """One part of a report."""

    title: str
    facts: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def says_something(self) -> bool:
        """Whether there is anything to print."""
        return any(fact.value for fact in self.facts) or any(table.rows or table.empty for table in self.tables)


def moment(at: float | None) -> str:
    """A moment as a date and a time of day, with its zone; empty where there is none."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at)) if at else ""
