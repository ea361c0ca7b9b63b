"""The scaffolds there are, by name. A name costs nothing; what stands behind it is imported when it is asked for."""

from agent.scaffolds.base import Scaffold
from tasks.errors import UsageError

SCAFFOLDS = ("react", "mlrb")


def scaffold(name: str) -> Scaffold:
    """A fresh scaffold of that name; raises `UsageError` where there is none."""
    match name:
        case "react":
            from agent.scaffolds.react import React

            return React()
        case "mlrb":
            from agent.scaffolds.mlrb.scaffold import Mlrb

            return Mlrb()
        case _:
            raise UsageError(f"there is no scaffold {name!r}", hint=f"there are: {', '.join(SCAFFOLDS)}")
