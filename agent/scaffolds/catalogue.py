"""The scaffolds there are, by name."""

from collections.abc import Callable, Mapping

from agent.scaffolds.base import Scaffold
from agent.scaffolds.react import React
from tasks.errors import UsageError

SCAFFOLDS: Mapping[str, Callable[[], Scaffold]] = {React.name: React}
"""Each makes a fresh scaffold."""


def scaffold(name: str) -> Scaffold:
    """A fresh scaffold of that name; raises `UsageError` where there is none."""
    if name not in SCAFFOLDS:
        raise UsageError(f"there is no scaffold {name!r}", hint=f"there are: {', '.join(SCAFFOLDS)}")
    return SCAFFOLDS[name]()
